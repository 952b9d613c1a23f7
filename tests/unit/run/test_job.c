/* A job shows the outermost loop of its stage, and ends its stages and its watch. */
#include <string.h>

#include "base/memory.h"
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

/* ---- Memory ---------------------------------------------------------------------------------- */

struct hoard {
    size_t bytes;
    double peak;
};

static cog_status take_a_share(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker, (void)error;
    for (size_t i = begin; i < end; i++) {
        char *block = heap_malloc(((struct hoard *)context)->bytes);
        if (!block)
            return COG_ERR_MEMORY;
        block[0] = 1;
        heap_free(block);
    }
    return COG_OK;
}

/* Holds `bytes` in one piece, and then as much for each piece of a loop. */
static void hold(struct hoard *hoard) {
    const cog_run_options run = {.threads = 3};
    cog_report *report = NULL;
    struct job job;
    CHECK(cog_report_create(&report, NULL) == COG_OK);
    job_begin(&job, &run, report);
    void *block = heap_calloc(1, hoard->bytes), *large = memory_large(hoard->bytes);
    CHECK(block && large);
    memory_large_free(large, hoard->bytes);
    CHECK((block = heap_realloc(block, 2 * hoard->bytes)));
    CHECK(parallel_for(3, 30, 1, take_a_share, hoard, NULL) == COG_OK);
    heap_free(block);
    job_end(&job);
    hoard->peak = cog_report_number(report, "peak_memory_bytes");
    CHECK(cog_report_number(report, "process_peak_bytes") > 0);
    cog_report_free(report);
}

static void *start_holding(void *argument) {
    hold(argument);
    return NULL;
}

TEST(run_jobs_of_one_process_report_their_own_memory) {
    struct hoard hoards[] = {{.bytes = 24 << 20}, {.bytes = 3 << 20}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, start_holding, &hoards[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    hold(&hoards[1]);
    for (int i = 0; i < 2; i++) { /* two, and one more per thread */
        const double bytes = (double)hoards[i].bytes, share = hoards[i].peak / bytes;
        CHECK_MSG(share > 2.9 && share < 5.3, "job %d held %.2f blocks", i, share);
    }
}

TEST(run_a_job_inside_another_counts_for_both) {
    struct job outer, inner;
    job_begin(&outer, NULL, NULL);
    void *block = heap_malloc(5 << 20);
    job_begin(&inner, NULL, NULL);
    void *more = heap_malloc(5 << 20);
    CHECK(memory_job_peak_bytes() >= 10 << 20);
    heap_free(more);
    job_end(&inner);
    CHECK(memory_job_peak_bytes() >= 10 << 20);
    heap_free(block);
    job_end(&outer);
    CHECK(heap_account_current() == NULL);
}
