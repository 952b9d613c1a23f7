/* A job shows the outermost loop of its stage, and ends its stages and its watch. */
#include <string.h>

#include "run/job.h"
#include "test.h"

struct seen {
    unsigned calls, wrong;
};

static bool see(void *context, const cog_progress *progress) {
    struct seen *seen = context;
    seen->calls++;
    seen->wrong += strcmp(progress->stage, "joining") != 0 || progress->total != 40 ||
                   progress->done >= progress->total;
    return true;
}

static cog_status nothing(void *context, unsigned worker, size_t begin, size_t end,
                          cog_error *error) {
    (void)context, (void)worker, (void)begin, (void)end, (void)error;
    return COG_OK;
}

TEST(run_a_job_shows_the_loop_of_its_stage) {
    struct seen seen = {0};
    cog_run_options run = {.threads = 1, .progress = see, .progress_context = &seen};
    cog_report *report = NULL;
    cog_error error = {0};
    CHECK(cog_report_create(&report, &error) == COG_OK);
    struct job job;
    job_begin(&job, &run, report);
    CHECK(job.threads == 1);
    job_stage(&job, "joining");
    CHECK(parallel_for(job.threads, 40, 1, nothing, NULL, &error) == COG_OK);
    job_end(&job);
    CHECK(seen.calls >= 1 && seen.wrong == 0);
    CHECK(threads_watch_current() == NULL);
    CHECK(cog_report_number(report, "peak_memory_bytes") > 0);
    CHECK(strstr(cog_report_json(report), "\"joining\""));
    cog_report_free(report);
}

TEST(run_a_job_without_options_has_threads_and_no_budget) {
    struct job job;
    job_begin(&job, NULL, NULL);
    CHECK(job.threads >= 1);
    CHECK(job_check_memory(&job, 1e18, NULL) == COG_OK);
    job_end(&job);
}
