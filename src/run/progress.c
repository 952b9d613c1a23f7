#include "run/progress.h"

#include "base/cpu.h"

enum { PROGRESS_INTERVAL_NS = 100000000 };

static bool watch_stops(void *context);

static struct job_watch *current_watch(void) {
    const struct threads_watch *watch = threads_watch_current();
    return watch && watch->stops == watch_stops ? watch->context : NULL;
}

static cog_status call(struct progress *progress, uint64_t done, cog_error *error) {
    cog_progress state = {progress->stage, done, progress->total};
    struct job_watch *watch = current_watch();
    if (watch)
        pthread_mutex_lock(&watch->lock);
    bool goes_on = progress->run->progress(progress->run->progress_context, &state);
    if (watch)
        pthread_mutex_unlock(&watch->lock);
    if (goes_on)
        return COG_OK;
    return error_set(error, COG_ERR_CANCELLED, "stopped while %s", progress->stage);
}

void progress_start(struct progress *progress, const cog_run_options *run, const char *stage,
                    uint64_t total) {
    *progress = (struct progress){run && run->progress ? run : NULL, stage, total, 0};
}

cog_status progress_report(struct progress *progress, uint64_t done, cog_error *error) {
    if (!progress->run)
        return COG_OK;
    uint64_t now = clock_ns();
    if (now < progress->next_ns)
        return COG_OK;
    progress->next_ns = now + PROGRESS_INTERVAL_NS;
    return call(progress, done, error);
}

cog_status progress_finish(struct progress *progress, cog_error *error) {
    return progress->run ? call(progress, progress->total, error) : COG_OK;
}

/* Asks the callback at most once an interval, whoever comes first. */
static bool watch_stops(void *context) {
    struct job_watch *watch = context;
    if (__atomic_load_n(&watch->stopped, __ATOMIC_RELAXED))
        return true;
    uint64_t now = clock_ns();
    if (now < __atomic_load_n(&watch->next_ns, __ATOMIC_RELAXED) ||
        pthread_mutex_trylock(&watch->lock) != 0)
        return false;
    cog_progress state = {"working", 0, 0};
    __atomic_store_n(&watch->next_ns, now + PROGRESS_INTERVAL_NS, __ATOMIC_RELAXED);
    bool stops = !watch->run->progress(watch->run->progress_context, &state);
    if (stops)
        __atomic_store_n(&watch->stopped, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&watch->lock);
    return stops;
}

void job_watch_begin(struct job_watch *watch, const cog_run_options *run) {
    *watch = (struct job_watch){.run = run && run->progress ? run : NULL};
    if (!watch->run)
        return;
    pthread_mutex_init(&watch->lock, NULL);
    watch->watch = (struct threads_watch){watch_stops, watch};
    watch->previous = threads_watch_set(&watch->watch);
}

void job_watch_end(struct job_watch *watch) {
    if (!watch->run)
        return;
    threads_watch_set(watch->previous);
    pthread_mutex_destroy(&watch->lock);
    watch->run = NULL;
}
