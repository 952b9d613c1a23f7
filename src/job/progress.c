#include "job/progress.h"

#include "base/clock.h"

enum { PROGRESS_INTERVAL_NS = 100000000 };

static cog_status call(struct progress *progress, uint64_t done, cog_error *error) {
    cog_progress state = {progress->stage, done, progress->total};
    if (progress->run->progress(progress->run->progress_context, &state))
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
