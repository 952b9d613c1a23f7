#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/heap.h"
#include "base/memory.h"

unsigned threads_resolve(unsigned threads) {
    if (threads == 0) {
        cpu_set_t set;
        threads = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    }
    return threads > COG_MAX_THREADS ? COG_MAX_THREADS : threads;
}

size_t threads_grain(unsigned threads, size_t count, size_t most) {
    const size_t share = count / (4 * (size_t)threads) + 1;
    return share < most ? share : most;
}

static _Thread_local const struct threads_watch *watch_of_thread;
static _Thread_local bool is_in_loop;

const struct threads_watch *threads_watch_set(const struct threads_watch *watch) {
    const struct threads_watch *previous = watch_of_thread;
    watch_of_thread = watch;
    return previous;
}

const struct threads_watch *threads_watch_current(void) {
    return watch_of_thread;
}

cog_status threads_check(uint64_t done, uint64_t total, cog_error *error) {
    const struct threads_watch *watch = watch_of_thread;
    return watch && watch->stops(watch->context, done, total)
               ? error_set(error, COG_ERR_CANCELLED, "stopped")
               : COG_OK;
}

struct crew_member {
    void (*body)(void *context, unsigned worker);
    void *context;
    unsigned worker;
    const struct threads_watch *watch;
    struct heap_account *account;
};

static void *crew_start(void *argument) {
    struct crew_member *member = argument;
    watch_of_thread = member->watch;
    heap_account_set(member->account);
    member->body(member->context, member->worker);
    heap_account_set(NULL);
    return NULL;
}

/* Runs body on `threads` threads, including the caller. If a thread cannot be started, the others
 * do its share. */
static void crew_run(unsigned threads, void (*body)(void *, unsigned), void *context) {
    pthread_t handles[COG_MAX_THREADS];
    struct crew_member members[COG_MAX_THREADS];
    unsigned started = 1;
    for (; started < threads; started++) {
        members[started] =
            (struct crew_member){body, context, started, watch_of_thread, heap_account_current()};
        if (pthread_create(&handles[started], NULL, crew_start, &members[started]) != 0)
            break;
    }
    body(context, 0);
    for (unsigned i = 1; i < started; i++)
        pthread_join(handles[i], NULL);
}

struct parallel_loop {
    parallel_work *work;
    void *context;
    size_t count, grain;
    size_t next; /* atomic */
    bool is_outermost;
    pthread_mutex_t lock;
    cog_status status;
    size_t failed_at;
    cog_error error;
};

static bool is_stopped(const struct parallel_loop *loop, size_t begin) {
    const struct threads_watch *watch = watch_of_thread;
    return watch && watch->stops(watch->context, loop->is_outermost ? begin : 0,
                                 loop->is_outermost ? loop->count : 0);
}

static void run_pieces(struct parallel_loop *loop, unsigned worker) {
    for (;;) {
        size_t begin = __atomic_fetch_add(&loop->next, loop->grain, __ATOMIC_RELAXED);
        if (begin >= loop->count)
            return;
        size_t end = loop->count - begin < loop->grain ? loop->count : begin + loop->grain;
        cog_error error = {0};
        cog_status status = is_stopped(loop, begin)
                                ? error_set(&error, COG_ERR_CANCELLED, "stopped")
                                : loop->work(loop->context, worker, begin, end, &error);
        if (status == COG_OK)
            continue;
        pthread_mutex_lock(&loop->lock);
        if (loop->status == COG_OK || begin < loop->failed_at) {
            loop->status = status;
            loop->error = error;
            loop->failed_at = begin;
        }
        pthread_mutex_unlock(&loop->lock);
        __atomic_store_n(&loop->next, loop->count, __ATOMIC_RELAXED);
        return;
    }
}

static void parallel_body(void *argument, unsigned worker) {
    bool was_in_loop = is_in_loop;
    is_in_loop = true;
    run_pieces(argument, worker);
    is_in_loop = was_in_loop;
}

cog_status parallel_for(unsigned threads, size_t count, size_t grain, parallel_work *work,
                        void *context, cog_error *error) {
    struct parallel_loop loop = {
        .work = work, .context = context, .count = count, .is_outermost = !is_in_loop};
    loop.grain = grain ? grain : 1;
    pthread_mutex_init(&loop.lock, NULL);
    size_t pieces = (count + loop.grain - 1) / loop.grain;
    threads = threads_resolve(threads);
    if (threads > pieces)
        threads = pieces ? (unsigned)pieces : 1;
    crew_run(threads, parallel_body, &loop);
    pthread_mutex_destroy(&loop.lock);
    if (loop.status != COG_OK && error)
        *error = loop.error;
    return loop.status;
}

enum slot_state { SLOT_FREE, SLOT_WORKING, SLOT_DONE };

/* Batches go round a ring: slot s holds the batches s, s + n, s + 2n, ... of the sequence. */
struct pipeline_run {
    const struct pipeline *pipeline;
    enum slot_state *states;
    size_t produced, consumed; /* sequence numbers of the next batch for each stage */
    bool producing, consuming, ended;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    cog_status status;
    cog_error error;
};

static size_t slot_of(const struct pipeline_run *run, size_t sequence) {
    return sequence % run->pipeline->batch_count;
}

/* Keeps the first failure. */
static void note_status(struct pipeline_run *run, cog_status status, const cog_error *error) {
    if (status != COG_OK && run->status == COG_OK) {
        run->status = status;
        run->error = *error;
    }
}

/* Each step is entered and left with the lock held, and drops it around the stage's work. */
static void step_consume(struct pipeline_run *run) {
    size_t slot = slot_of(run, run->consumed);
    run->consuming = true;
    pthread_mutex_unlock(&run->lock);
    cog_error error = {0};
    const struct pipeline *p = run->pipeline;
    cog_status status = p->source ? p->accept(p->source, p->batches[slot], &error) : COG_OK;
    if (p->consume)
        THEN(status, p->consume(p->context, p->batches[slot], &error));
    pthread_mutex_lock(&run->lock);
    run->consuming = false;
    run->states[slot] = SLOT_FREE;
    run->consumed++;
    note_status(run, status, &error);
}

/* True when the batch was filled. */
static bool produce(struct pipeline_run *run, void *batch) {
    const struct pipeline *p = run->pipeline;
    cog_error error = {0};
    bool end = false;
    pthread_mutex_unlock(&run->lock);
    cog_status status = p->produce(p->source ? p->source : p->context, batch, &end, &error);
    pthread_mutex_lock(&run->lock);
    note_status(run, status, &error);
    run->ended |= end;
    return status == COG_OK && !end;
}

/* The thread that read a batch works on it while it is in the cache of that core; meanwhile another
 * thread reads. */
static void step_produce_and_work(struct pipeline_run *run, unsigned worker) {
    const struct pipeline *p = run->pipeline;
    size_t slot = slot_of(run, run->produced);
    run->producing = true;
    bool filled = produce(run, p->batches[slot]);
    run->producing = false;
    if (!filled)
        return;
    run->produced++;
    run->states[slot] = SLOT_WORKING;
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
    cog_error error = {0};
    cog_status status = p->work(p->context, worker, p->batches[slot], &error);
    pthread_mutex_lock(&run->lock);
    run->states[slot] = SLOT_DONE;
    note_status(run, status, &error);
}

static void pipeline_body(void *argument, unsigned worker) {
    struct pipeline_run *run = argument;
    pthread_mutex_lock(&run->lock);
    while (run->status == COG_OK && !(run->ended && run->consumed == run->produced)) {
        if (!run->consuming && run->consumed < run->produced &&
            run->states[slot_of(run, run->consumed)] == SLOT_DONE)
            step_consume(run);
        else if (!run->producing && !run->ended &&
                 run->produced - run->consumed < run->pipeline->batch_count)
            step_produce_and_work(run, worker);
        else {
            pthread_cond_wait(&run->changed, &run->lock);
            continue;
        }
        pthread_cond_broadcast(&run->changed);
    }
    pthread_cond_broadcast(&run->changed);
    pthread_mutex_unlock(&run->lock);
}

cog_status pipeline_run(const struct pipeline *pipeline, unsigned threads, cog_error *error) {
    struct pipeline_run run = {.pipeline = pipeline};
    TAKE_ZEROED(run.states, pipeline->batch_count, "a pipeline", error);
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    crew_run(threads_resolve(threads), pipeline_body, &run);
    pthread_cond_destroy(&run.changed);
    pthread_mutex_destroy(&run.lock);
    free(run.states);
    if (run.status != COG_OK && error)
        *error = run.error;
    return run.status;
}
