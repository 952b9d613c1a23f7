#include "search/hits/query_batch.h"

#include "base/memory.h"
#include "base/threads.h"

struct batch_scratch {
    const struct query_searching *searching;
    void *searchers[COG_MAX_THREADS]; /* made by the worker that needs one */
};

struct batch_run {
    const struct query_searching *searching;
    const void *context;
    const struct method_rows *queries;
    struct batch_scratch *scratch;
    struct hit_sink sink;
    bool inexact; /* atomic */
    uint64_t verified;
    float *covered; /* of each query, or NULL */
};

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    struct batch_run *run = context;
    const struct signatures_view *queries = run->queries->signatures;
    const float *margins = run->queries->margins;
    void **searcher = &run->scratch->searchers[worker];
    if (!*searcher)
        TRY(run->searching->create(run->context, searcher, error));
    for (size_t query = begin; query < end; query++) {
        struct query_answer answer;
        TRY(run->searching->search(run->context, *searcher, signature_row(queries, query),
                                   margins ? margins + query * queries->bits : NULL, &answer,
                                   error));
        for (size_t i = 0; i < answer.count; i++)
            TRY(hit_sink_add(&run->sink, worker,
                             (struct match){.a = (uint32_t)query,
                                            .b = answer.hits[i].row,
                                            .distance = answer.hits[i].distance},
                             error));
        if (run->covered && (double)run->covered[query] < answer.covered)
            run->covered[query] = (float)answer.covered;
        if (!answer.exact)
            __atomic_store_n(&run->inexact, true, __ATOMIC_RELAXED);
        __atomic_add_fetch(&run->verified, answer.verified, __ATOMIC_RELAXED);
    }
    return COG_OK;
}

void query_batch_free_scratch(void *scratch) {
    struct batch_scratch *own = scratch;
    for (unsigned worker = 0; own && worker < COG_MAX_THREADS; worker++)
        own->searching->release(own->searchers[worker]);
    free(own);
}

cog_status query_batch_run(const struct query_searching *searching, const void *context,
                           struct method_search *asked, struct hit_lists *hits, cog_error *error) {
    enum { QUERIES_PER_PIECE = 8 };
    const struct signatures_view *queries = asked->queries.signatures;
    unsigned threads = threads_resolve(asked->threads);
    struct batch_run run = {.searching = searching,
                            .context = context,
                            .queries = &asked->queries,
                            .scratch = asked->scratch ? *asked->scratch : NULL,
                            .covered = asked->covered_out};
    if (queries->bits != asked->rows.signatures->bits)
        return error_set(error, COG_ERR_USAGE, "queries of %u bits for signatures of %u bits",
                         queries->bits, asked->rows.signatures->bits);
    if (!run.scratch)
        TAKE_ZEROED(run.scratch, 1, "searchers", error);
    run.scratch->searching = searching;
    cog_status status = hit_sink_init(&run.sink, threads, error);
    THEN(status,
         parallel_for(threads, queries->rows, QUERIES_PER_PIECE, search_piece, &run, error));
    THEN(status, hit_sink_finish(&run.sink, queries->rows, HITS_AS_ADDED, hits, error));
    hit_sink_free(&run.sink);
    if (asked->scratch)
        *asked->scratch = run.scratch;
    else
        query_batch_free_scratch(run.scratch);
    asked->is_exact_out = !run.inexact;
    asked->compared_out = run.verified;
    return status;
}
