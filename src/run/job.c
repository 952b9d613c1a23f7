#include "run/job.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"

static uint64_t interval_ns = 100000000;

static bool watch_stops(void *context, uint64_t done, uint64_t total);

void progress_show_every_call(bool every) {
    interval_ns = every ? 0 : 100000000;
}

static bool is_cancelled(const cog_run_options *run) {
    return run->cancel && cog_cancel_is_set(run->cancel);
}

/* The job of the calling thread, or NULL. */
static struct job *current_job(void) {
    const struct threads_watch *watch = threads_watch_current();
    while (watch && watch->stops != watch_stops)
        watch = watch->outer;
    return watch ? watch->context : NULL;
}

void job_begin(struct job *job, const cog_run_options *run, cog_report *report) {
    *job = (struct job){.report = report, .threads = threads_resolve(run ? run->threads : 0)};
    if (run)
        job->run = *run;
    job->previous_watch = threads_watch_current();
    if (!heap_account_current())
        heap_account_set(&job->memory);
    pthread_mutex_init(&job->lock, NULL);
    if (!job->run.progress && !job->run.cancel)
        return;
    job->watch = (struct threads_watch){.stops = watch_stops, .context = job};
    threads_watch_set(&job->watch);
}

void job_end(struct job *job) {
    job_stage(job, NULL);
    report_peak(job->report);
    if (heap_account_current() == &job->memory)
        heap_account_set(NULL);
    threads_watch_set(job->previous_watch);
    pthread_mutex_destroy(&job->lock);
}

void job_stage(struct job *job, const char *name) {
    if (job->stage)
        report_stage(job->report, job->stage, clock_seconds_since(job->stage_ns));
    __atomic_store_n(&job->stage, name, __ATOMIC_RELAXED);
    job->stage_ns = clock_ns();
    job_part(job, 0, 0);
}

void job_part(struct job *job, uint64_t before, uint64_t whole) {
    __atomic_store_n(&job->before, before, __ATOMIC_RELAXED);
    __atomic_store_n(&job->whole, whole, __ATOMIC_RELAXED);
}

void job_announce(const struct job *job, const char *text) {
    if (job->run.announce)
        job->run.announce(job->run.progress_context, text);
}

/* How far the outermost loop is, as a part of its stage. */
static cog_progress state_of(const struct job *job) {
    const char *stage = __atomic_load_n(&job->stage, __ATOMIC_RELAXED);
    stage = stage ? stage : __atomic_load_n(&job->shown, __ATOMIC_RELAXED);
    const uint64_t whole = __atomic_load_n(&job->whole, __ATOMIC_RELAXED);
    uint64_t done = __atomic_load_n(&job->loop_done, __ATOMIC_RELAXED);
    uint64_t total = __atomic_load_n(&job->loop_total, __ATOMIC_RELAXED);
    if (whole) {
        done += __atomic_load_n(&job->before, __ATOMIC_RELAXED);
        total = done < whole ? whole : done;
    }
    return (cog_progress){stage ? stage : "working", done < total ? done : total, total};
}

/* Asks the callback at most once per interval, whichever thread comes first. A loop inside another
 * one has no total, and shows the outer one's. */
static bool watch_stops(void *context, uint64_t done, uint64_t total) {
    struct job *job = context;
    if (__atomic_load_n(&job->stopped, __ATOMIC_RELAXED) || is_cancelled(&job->run))
        return true;
    if (!job->run.progress)
        return false;
    uint64_t now = clock_ns();
    if (total) {
        __atomic_store_n(&job->loop_done, done, __ATOMIC_RELAXED);
        __atomic_store_n(&job->loop_total, total, __ATOMIC_RELAXED);
    }
    if (now < __atomic_load_n(&job->next_ns, __ATOMIC_RELAXED) ||
        pthread_mutex_trylock(&job->lock) != 0)
        return false;
    __atomic_store_n(&job->next_ns, now + interval_ns, __ATOMIC_RELAXED);
    const cog_progress state = state_of(job);
    bool stops = !job->run.progress(job->run.progress_context, &state);
    if (stops)
        __atomic_store_n(&job->stopped, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&job->lock);
    return stops;
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

struct cog_cancel {
    bool is_set; /* atomic */
};

cog_status cog_cancel_create(cog_cancel **result, cog_error *error) {
    if (!result)
        return error_set(error, COG_ERR_USAGE, "cancel must not be NULL");
    cog_cancel *cancel;
    TAKE_ZEROED(cancel, 1, "a cancel token", error);
    *result = cancel;
    return COG_OK;
}

void cog_cancel_set(cog_cancel *cancel) {
    if (cancel)
        __atomic_store_n(&cancel->is_set, true, __ATOMIC_RELAXED);
}

bool cog_cancel_is_set(const cog_cancel *cancel) {
    return cancel && __atomic_load_n(&cancel->is_set, __ATOMIC_RELAXED);
}

void cog_cancel_free(cog_cancel *cancel) {
    free(cancel);
}

/* ---- Progress -------------------------------------------------------------------------------- */

static cog_status call(struct progress *progress, uint64_t done, cog_error *error) {
    cog_progress state = {progress->stage, done, progress->total};
    struct job *job = current_job();
    bool goes_on = !is_cancelled(progress->run);
    if (job)
        pthread_mutex_lock(&job->lock);
    if (goes_on && progress->run->progress)
        goes_on = progress->run->progress(progress->run->progress_context, &state);
    if (job)
        pthread_mutex_unlock(&job->lock);
    if (goes_on)
        return COG_OK;
    return error_set(error, COG_ERR_CANCELLED, "stopped while %s", progress->stage);
}

void progress_show(const char *stage) {
    struct job *job = current_job();
    if (job)
        __atomic_store_n(&job->shown, stage, __ATOMIC_RELAXED);
}

void progress_start(struct progress *progress, const cog_run_options *run, const char *stage,
                    uint64_t total) {
    *progress =
        (struct progress){run && (run->progress || run->cancel) ? run : NULL, stage, total, 0};
}

cog_status progress_report(struct progress *progress, uint64_t done, cog_error *error) {
    if (!progress->run)
        return COG_OK;
    uint64_t now = clock_ns();
    if (now < progress->next_ns && !is_cancelled(progress->run))
        return COG_OK;
    progress->next_ns = now + interval_ns;
    return call(progress, done, error);
}

cog_status progress_finish(struct progress *progress, cog_error *error) {
    return progress->run && progress->total ? call(progress, progress->total, error) : COG_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

double memory_of_statistics(double text_bytes, unsigned ngram) {
    enum { TERM_BYTES = 64 }; /* per distinct term, while a table of terms grows */
    if (ngram > 1)
        return text_bytes * 4;
    return TERM_BYTES * 30000 * pow(text_bytes / 5e6, 0.7);
}

double memory_of_parallel_text(double text_bytes) {
    return 410e6 * pow(text_bytes / 25e6, 0.75);
}

cog_status memory_budget_keep(double needed_bytes, const cog_run_options *run, cog_error *error) {
    uint64_t budget = run ? run->memory_bytes : 0;
    if (budget == 0 || needed_bytes <= (double)budget)
        return COG_OK;
    /* Rounded, the two are still to differ. */
    double given = (double)budget / (1 << 20),
           needed = fmax(needed_bytes / (1 << 20), floor(given) + 1);
    return error_about(
        error, COG_ERR_MEMORY, "memory_bytes",
        "the job needs about %.0f MB of memory and the budget is %.0f MB; raise the budget "
        "or split the input",
        needed, floor(given));
}

/* The budget, or without one the memory of the machine. */
static double memory_limit(const cog_run_options *run) {
    return run->memory_bytes ? (double)run->memory_bytes
                             : (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

void memory_budget_announce(double needed_bytes, const cog_run_options *run, cog_report *report) {
    report_number(report, "predicted_memory_bytes", ceil(needed_bytes));
    if (run && run->announce && needed_bytes > memory_limit(run) / 4) {
        char text[64];
        snprintf(text, sizeof text, "needs about %.0f MB of memory", needed_bytes / (1 << 20));
        run->announce(run->progress_context, text);
    }
}

void disk_announce(double needed_bytes, const cog_run_options *run, cog_report *report) {
    report_number(report, "predicted_disk_bytes", needed_bytes);
    if (run && run->announce && needed_bytes > 0) {
        char text[96];
        snprintf(text, sizeof text, "works from disk: needs about %.0f MB in TMPDIR",
                 needed_bytes / (1 << 20));
        run->announce(run->progress_context, text);
    }
}

cog_status memory_budget_check(double needed_bytes, const cog_run_options *run, cog_report *report,
                               cog_error *error) {
    memory_budget_announce(needed_bytes, run, report);
    return memory_budget_keep(needed_bytes, run, error);
}

cog_status job_check_memory(const struct job *job, double needed_bytes, cog_error *error) {
    return memory_budget_check(needed_bytes, &job->run, job->report, error);
}
