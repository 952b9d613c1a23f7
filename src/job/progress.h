/* Progress of a job's stage: throttled calls to the user's callback, which may ask the job to stop.
 */
#ifndef COGNATE_JOB_PROGRESS_H
#define COGNATE_JOB_PROGRESS_H

#include "base/error.h"

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

#endif
