/* Progress of a job's stage: throttled calls to the user's callback, which may ask the job to stop.
 */
#pragma once

#include <pthread.h>

#include "base/error.h"
#include "base/threads.h"

struct progress {
    const cog_run_options *run; /* may be NULL: no callback */
    const char *stage;
    uint64_t total;
    uint64_t next_ns; /* not before this is the callback called again */
};

void progress_start(struct progress *progress, const cog_run_options *run, const char *stage,
                    uint64_t total);
/* From one thread at a time. COG_ERR_CANCELLED when the callback says stop. */
cog_status progress_report(struct progress *progress, uint64_t done, cog_error *error);
/* The last call of a stage, never throttled. */
cog_status progress_finish(struct progress *progress, cog_error *error);

/* From begin to end, loops over many pieces that the calling thread starts ask the callback now and
 * then whether to stop. */
struct job_watch {
    struct threads_watch watch;
    const struct threads_watch *previous;
    const cog_run_options *run;
    pthread_mutex_t lock; /* the callback is never called from two threads at once */
    uint64_t next_ns;     /* atomic */
    bool stopped;         /* atomic */
};
/* The watch must stay where it is until it ends. Nothing happens where run has no callback. */
void job_watch_begin(struct job_watch *watch, const cog_run_options *run);
void job_watch_end(struct job_watch *watch);
