/* Adds a collection to a live index, some hundred documents per commit. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/strings.h"
#include "jobs/index/index_languages.h"
#include "jobs/live/live.h"
#include "run/job.h"

enum { BATCH_ROWS = 256 };

struct live_batch {
    cog_live *live;
    const struct corpus *corpus;
    const cog_add_options *options;
    cog_live_matched *matched;
    void *context;
    cog_report *report;
    uint64_t added, replaced, matches, known;
};

/* Prepares the requests of rows begin .. end: their vectors, and whether there already is a match.
 */
static cog_status prepare_requests(struct live_batch *batch, struct live_worker *worker,
                                   size_t begin, size_t end, struct live_request *requests,
                                   cog_error *error) {
    cog_status status = COG_OK;
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        struct live_request *request = &requests[row - begin];
        bool found = false;
        *request = (struct live_request){.id = corpus_id(batch->corpus, row),
                                         .bag = corpus_bag(batch->corpus, row),
                                         .options = *batch->options};
        status = live_prepare_request(batch->live, worker, request, &found, error);
    }
    return status;
}

/* Submits the requests that no match rejects. */
static void submit_requests(struct live_batch *batch, struct live_request *requests, size_t count) {
    struct live_request *first = NULL, **link = &first, *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (requests[i].outcome.similarity == 0) {
            requests[i].previous = last;
            *link = last = &requests[i];
            link = &requests[i].next;
        }
    if (first)
        live_submit(batch->live, first, last);
}

static cog_status take_answers(struct live_batch *batch, const struct live_request *requests,
                               size_t count, cog_error *error) {
    enum { NAMED = 10 };
    cog_status status = COG_OK;
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        const struct live_request *request = &requests[i];
        batch->added += request->outcome.added;
        batch->replaced += request->outcome.replaced;
        if (request->status == COG_ERR_INPUT && batch->known++ < NAMED)
            report_notice(batch->report, "skipped: %s", request->error.message);
        if (request->status != COG_OK && request->status != COG_ERR_INPUT) {
            status = request->status;
            if (error)
                *error = request->error;
        }
        if (request->status == COG_OK && request->outcome.similarity > 0) {
            batch->matches++;
            if (batch->matched)
                batch->matched(batch->context, request->id.data, request->id.size,
                               &request->outcome);
        }
    }
    return status;
}

static cog_status add_rows(struct live_batch *batch, cog_error *error) {
    struct live_request *requests;
    struct live_worker *worker = NULL;
    size_t rows = batch->corpus->rows;
    TAKE_ZEROED(requests, BATCH_ROWS, "documents", error);
    cog_status status = live_take_worker(batch->live, &worker, error);
    for (size_t begin = 0; begin < rows && status == COG_OK; begin += BATCH_ROWS) {
        size_t end = rows - begin < BATCH_ROWS ? rows : begin + BATCH_ROWS;
        status = prepare_requests(batch, worker, begin, end, requests, error);
        if (status == COG_OK) {
            submit_requests(batch, requests, end - begin);
            status = take_answers(batch, requests, end - begin, error);
        }
        for (size_t i = 0; i < BATCH_ROWS; i++)
            live_request_free(&requests[i]);
    }
    if (worker)
        live_return_worker(batch->live, worker);
    free(requests);
    return status;
}

cog_status cog_live_add_documents(cog_live *live, cog_documents *documents,
                                  const cog_add_options *asked, const cog_run_options *run,
                                  cog_live_matched *matched, void *context, cog_report *report,
                                  cog_error *error) {
    TRY(check_given(live, "live", error));
    TRY(check_given(documents, "documents", error));
    struct corpus corpus = {0};
    cog_add_options options;
    cog_add_options_init(&options);
    if (asked)
        options = *asked;
    TRY(live_check_options(&options, error));
    struct live_batch batch = {.live = live,
                               .corpus = &corpus,
                               .options = &options,
                               .matched = matched,
                               .context = context,
                               .report = report};
    uint64_t number;
    documents->wants_ids = options.upsert;
    cog_index *shown = live_take_shown(live, &number);
    struct corpus_options reading = {.terms = &shown->terms,
                                     .want_frequencies = true,
                                     .as_sets = index_is_of_sets(shown),
                                     .takes_foreign = shown->measure == COG_MEASURE_COSINE};
    struct job job;
    job_begin(&job, run, report);
    cog_status status = index_expect_lexicon(shown, documents->foreign, error);
    THEN(status, index_check_memory(documents, index_is_of_sets(shown), run, report, error));
    THEN(status, corpus_read(&corpus, documents, &reading, run, report, error));
    THEN(status, add_rows(&batch, error));
    job_end(&job);
    corpus_free(&corpus);
    cog_index_close(shown);
    report_number(report, "added", (double)batch.added);
    report_number(report, "replaced", (double)batch.replaced);
    report_number(report, "matched", (double)batch.matches);
    report_number(report, "known_ids", (double)batch.known);
    return status;
}
