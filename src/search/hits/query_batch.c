#include "search/hits/query_batch.h"

#include "base/memory.h"
#include "base/threads.h"

struct batch_scratch {
    void *searchers[COG_MAX_THREADS]; /* made by the worker that needs one */
};

struct batch_run {
    struct query_batch *batch;
    struct batch_scratch *scratch;
    struct hit_sink sink;
    bool inexact; /* atomic */
    uint64_t verified;
};

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    struct batch_run *run = context;
    const struct query_batch *batch = run->batch;
    void **searcher = &run->scratch->searchers[worker];
    cog_status status = *searcher ? COG_OK : batch->create(batch->method, searcher, error);
    for (size_t query = begin; status == COG_OK && query < end; query++) {
        struct query_answer answer;
        const float *margins =
            batch->margins ? batch->margins + query * batch->queries->bits : NULL;
        status = batch->search(batch->method, *searcher, signature_row(batch->queries, query),
                               margins, &answer, error);
        for (size_t i = 0; status == COG_OK && i < answer.count; i++)
            status = hit_sink_add(&run->sink, worker,
                                  (struct match){.a = (uint32_t)query,
                                                 .b = answer.hits[i].row,
                                                 .distance = answer.hits[i].distance},
                                  error);
        if (status == COG_OK && !answer.exact)
            __atomic_store_n(&run->inexact, true, __ATOMIC_RELAXED);
        if (status == COG_OK)
            __atomic_add_fetch(&run->verified, answer.verified, __ATOMIC_RELAXED);
    }
    return status;
}

void query_batch_free_scratch(void *scratch, void (*release)(void *searcher)) {
    struct batch_scratch *own = scratch;
    for (unsigned worker = 0; own && worker < COG_MAX_THREADS; worker++)
        release(own->searchers[worker]);
    free(own);
}

cog_status query_batch_run(struct query_batch *batch, struct hit_lists *hits, cog_error *error) {
    enum { QUERIES_PER_PIECE = 8 };
    unsigned threads = threads_resolve(batch->threads);
    struct batch_run run = {.batch = batch, .scratch = batch->scratch ? *batch->scratch : NULL};
    if (batch->queries->bits != batch->rows->bits)
        return error_set(error, COG_ERR_USAGE, "queries of %u bits for signatures of %u bits",
                         batch->queries->bits, batch->rows->bits);
    if (!run.scratch && !(run.scratch = memory_zeroed_array(1, sizeof *run.scratch)))
        return error_memory(error, sizeof *run.scratch, "searchers");
    cog_status status = hit_sink_init(&run.sink, threads, error);
    THEN(status,
         parallel_for(threads, batch->queries->rows, QUERIES_PER_PIECE, search_piece, &run, error));
    THEN(status, hit_sink_finish(&run.sink, batch->queries->rows, HITS_AS_ADDED, hits, error));
    hit_sink_free(&run.sink);
    if (batch->scratch)
        *batch->scratch = run.scratch;
    else
        query_batch_free_scratch(run.scratch, batch->release);
    batch->exact_out = !run.inexact;
    batch->verified_out = run.verified;
    return status;
}
