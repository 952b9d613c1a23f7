#include "collection/statistics_job.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "collection/ingest.h"
#include "run/job.h"
#include "vector/statistics.h"

/* A batch's result is a buffer of its bags for the spool. Counts need no order and are added at
 * once. */
struct collect {
    struct ingest *ingest;
    struct statistics_batch **batches; /* one per worker */
    struct bag_spool *spool;           /* may be NULL */
};

static cog_status add_documents(void *context, unsigned worker, void *batch, cog_error *error) {
    struct collect *collect = context;
    struct buffer *bags = ((struct ingest_batch *)batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(collect->ingest, worker, batch, &item, error));
        if (!item.document)
            return COG_OK;
        TRY(ingest_count(collect->ingest, worker, &item, error));
        if (collect->spool && !bag_spool_encode(bags, item.document->id, &item.bag))
            return error_memory(error, item.bag.count * 12, "a document's terms");
        TRY(statistics_batch_add(collect->batches[worker], &item.bag, error));
    }
}

static cog_status deliver_bags(void *context, void *batch, cog_error *error) {
    (void)error;
    struct collect *collect = context;
    struct buffer *bags = ((struct ingest_batch *)batch)->result;
    if (collect->spool)
        bag_spool_write(collect->spool, bags);
    buffer_reset(bags);
    return COG_OK;
}

static cog_status collect_counts(cog_documents *documents, const struct term_options *terms,
                                 const cog_run_options *run, struct statistics *counts,
                                 struct bag_spool *spool, cog_report *report, cog_error *error) {
    unsigned workers = threads_resolve(run ? run->threads : 0);
    struct collect collect = {.batches = memory_zeroed_array(workers, sizeof *collect.batches),
                              .spool = spool};
    if (!collect.batches)
        return error_memory(error, workers * sizeof *collect.batches, "statistics");
    cog_status status = COG_OK;
    for (unsigned i = 0; i < workers && status == COG_OK; i++)
        status = statistics_batch_create(counts, &collect.batches[i], error);
    THEN(status, ingest_open(documents, terms, sizeof(struct buffer), "collecting statistics", run,
                             report, false, &collect.ingest, error));
    THEN(status, ingest_run(collect.ingest, &collect, add_documents, deliver_bags, error));
    for (size_t i = 0; collect.ingest && i < collect.ingest->batch_count; i++)
        buffer_free(collect.ingest->batches[i].result);
    ingest_close(collect.ingest);
    for (unsigned i = 0; i < workers; i++) {
        THEN(status, statistics_batch_flush(collect.batches[i], error));
        statistics_batch_free(collect.batches[i]);
    }
    free(collect.batches);
    return status;
}

cog_status statistics_collect(cog_documents *documents, const cog_term_options *terms,
                              const cog_run_options *run, struct bag_spool *spool,
                              cog_statistics **result, cog_report *report, cog_error *error) {
    struct term_options internal;
    cog_statistics *statistics;
    TRY(options_terms(terms, &internal, error));
    TAKE_ZEROED(statistics, 1, "statistics", error);
    cog_status status = options_record_terms(terms, &statistics->terms, error);
    THEN(status, statistics_create(&statistics->counts, error));
    THEN(status,
         collect_counts(documents, &internal, run, statistics->counts, spool, report, error));
    if (status == COG_OK) {
        const struct statistics *counts = statistics->counts;
        report_number(report, "vocabulary_terms", (double)statistics_term_count(counts));
        report_number(report, "vocabulary_bytes", (double)statistics_memory_bytes(counts));
    }
    return HAND_OUT(status, statistics, statistics_release, result);
}

cog_status statistics_read(const char *path, const cog_term_options *terms, cog_statistics **result,
                           cog_error *error) {
    cog_statistics *statistics;
    TAKE_ZEROED(statistics, 1, "statistics", error);
    cog_status status = statistics_load(path, &statistics->counts, &statistics->terms, error);
    THEN(status, options_check_statistics(terms, statistics, error));
    return HAND_OUT(status, statistics, statistics_release, result);
}

cog_statistics *statistics_retain(cog_statistics *statistics) {
    __atomic_add_fetch(&statistics->extra_owners, 1, __ATOMIC_RELAXED);
    return statistics;
}

bool statistics_are_shared(const cog_statistics *statistics) {
    return __atomic_load_n(&statistics->extra_owners, __ATOMIC_ACQUIRE) != 0;
}

cog_status statistics_copy(const cog_statistics *statistics, cog_statistics **copy,
                           cog_error *error) {
    cog_statistics *made;
    TAKE_ZEROED(made, 1, "statistics", error);
    cog_status status = statistics_clone(statistics->counts, &made->counts, error);
    THEN(status, settings_copy(&made->terms, &statistics->terms, error));
    return HAND_OUT(status, made, statistics_release, copy);
}

void statistics_assign_state(cog_statistics *statistics) {
    static uint64_t last;
    statistics->state = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

void statistics_release(cog_statistics *statistics) {
    if (!statistics || __atomic_fetch_sub(&statistics->extra_owners, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    statistics_free(statistics->counts);
    settings_free(&statistics->terms);
    free(statistics);
}
