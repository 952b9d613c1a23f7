/* A job: the state that every job of the library carries from the call of its public function to
 * its return.
 *
 * In: the caller's run options and report; either may be NULL. Out: the resolved number of threads,
 * the memory budget and its checks, progress and cancellation, seconds per stage.
 *
 * A public function makes a job on its stack with job_begin and ends it with job_end; it must not
 * move in between. New code takes `struct job *`; older functions still take run options, threads
 * and report one by one. Progress and cancellation cost one clock reading per piece of a parallel
 * loop. */
#pragma once

#include <pthread.h>

#include "base/error.h"
#include "base/heap.h"
#include "base/threads.h"
#include "run/report.h"

struct job {
    cog_run_options run;    /* all zero if the caller gave none */
    cog_report *report;     /* may be NULL; borrowed */
    unsigned threads;       /* 1 or more */
    const char *stage;      /* atomic; the stage that job_stage began, or NULL */
    const char *shown;      /* atomic; the stage that progress_show named, or NULL */
    uint64_t stage_ns;      /* when it began */
    uint64_t before, whole; /* atomic; see job_part. 0: parallel loops are the whole stage */
    uint64_t loop_done, loop_total; /* atomic; of the outermost loop that runs */
    struct threads_watch watch;
    const struct threads_watch *previous_watch;
    struct heap_account
        memory;           /* unless the job runs inside another one, whose account then counts */
    pthread_mutex_t lock; /* the callback is never called from two threads at once */
    uint64_t next_ns;     /* atomic; the callback is not called again before */
    bool stopped;         /* atomic */
};

/* Until job_end, parallel loops started by the calling thread call the progress callback now and
 * then; they end with COG_ERR_CANCELLED if it returns false or the cancel token is set. */
void job_begin(struct job *job, const cog_run_options *run, cog_report *report);
/* Ends the stage and reports the peak memory of the job and of the process. */
void job_end(struct job *job);

/* Ends the current stage, adds its seconds and memory to the report, and begins the stage `name` (a
 * literal), which progress shows. NULL begins no stage. */
void job_stage(struct job *job, const char *name);
/* From here to the end of the stage, or to the next call, each parallel loop is one part of a
 * larger whole, counted in the same unit: `before` units are done already, and progress is shown as
 * a share of `whole`. */
void job_part(struct job *job, uint64_t before, uint64_t whole);
/* Passes a text to the caller at once, not in the report. */
void job_announce(const struct job *job, const char *text);

/* ---- Progress -------------------------------------------------------------------------------- */

/* Progress of a stage that counts in its own unit (bytes, documents). */
struct progress {
    const cog_run_options *run; /* NULL: no callback and no cancel token */
    const char *stage;
    uint64_t total;
    uint64_t next_ns; /* the callback is not called again before this time */
};

void progress_start(struct progress *progress, const cog_run_options *run, const char *stage,
                    uint64_t total);
/* From one thread at a time. COG_ERR_CANCELLED if the callback returns false. */
cog_status progress_report(struct progress *progress, uint64_t done, cog_error *error);
/* From now on, parallel loops of the calling thread's job show this stage with their own counts.
 * The caller measures its seconds. */
void progress_show(const char *stage);
/* The callback is called at most ten times a second; tests may want every call. */
void progress_show_every_call(bool every);
/* The last call of a stage, never throttled. Makes no call if there was nothing to do or the size
 * is not known. */
cog_status progress_finish(struct progress *progress, cog_error *error);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Memory that a job needs in addition to its documents: program, dictionaries, buffers. */
enum { MEMORY_BASE_BYTES = 40 << 20 };

/* Bytes of memory per byte of text if documents stay in memory as distinct terms with frequencies
 * and as vectors; measured and rounded up. */
enum { MEMORY_OF_TERMS = 3 };

/* The same for documents of two languages: one term becomes several terms of the other language. */
enum { MEMORY_OF_PROJECTION = 5 };

/* Approximate bytes of the statistics of `text_bytes` of text. Distinct terms grow as the text to
 * the power of 0.7; n-grams (size above 1) are nearly all distinct. */
double memory_of_statistics(double text_bytes, unsigned ngram);

/* Approximate bytes that parallel text takes while a lexicon learns from it. Most of it is pairs of
 * words that occur in one sentence pair; their number grows as the text to the power of 0.75. Plus
 * MEMORY_BASE_BYTES it exceeded the measured peaks for 1.5, 3, 6, 10, 13, 19, 26 and 39 MB of
 * debates (German and English, default options) by 78, 67, 53, 18, 1, 23, 20 and 36%, because
 * tables grow by doubling. Fewer words per sentence or a higher minimum frequency take much less.
 */
double memory_of_parallel_text(double text_bytes);

/* COG_ERR_MEMORY if the job needs more than the budget. */
cog_status memory_budget_keep(double needed_bytes, const cog_run_options *run, cog_error *error);
/* Reports the need before the job starts, and announces it if it is more than a quarter of the
 * budget (without a budget: of the machine's memory). */
void memory_budget_announce(double needed_bytes, const cog_run_options *run, cog_report *report);
/* Reports and announces the scratch files of a job that works from disk. */
void disk_announce(double needed_bytes, const cog_run_options *run, cog_report *report);
/* memory_budget_announce, then memory_budget_keep. */
cog_status memory_budget_check(double needed_bytes, const cog_run_options *run, cog_report *report,
                               cog_error *error);
/* The same for a job. */
cog_status job_check_memory(const struct job *job, double needed_bytes, cog_error *error);
