#include "search/hits/query_batch.h"

#include "base/threads.h"

struct batch_run {
    const struct query_batch *batch;
    void *searchers[COG_MAX_THREADS]; /* made by the worker that needs one */
};

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    struct batch_run *run = context;
    const struct query_batch *batch = run->batch;
    void **searcher = &run->searchers[worker];
    cog_status status = *searcher ? COG_OK : batch->create(batch->method, searcher, error);
    for (size_t query = begin; status == COG_OK && query < end; query++) {
        struct slices_answer answer;
        const float *weights =
            batch->weights ? batch->weights + query * batch->queries->bits : NULL;
        status = batch->search(batch->method, *searcher, signature_row(batch->queries, query),
                               weights, &answer, error);
        THEN(status, batch->emit(batch->context, query, &answer, error));
    }
    return status;
}

cog_status query_batch_run(const struct query_batch *batch, unsigned threads, cog_error *error) {
    enum { QUERIES_A_PIECE = 8 };
    if (batch->queries->bits != batch->signatures->bits)
        return error_set(error, COG_ERR_USAGE, "queries of %u bits for signatures of %u bits",
                         batch->queries->bits, batch->signatures->bits);
    struct batch_run run = {batch, {0}};
    cog_status status = parallel_for(threads_resolve(threads), batch->queries->rows,
                                     QUERIES_A_PIECE, search_piece, &run, error);
    for (unsigned worker = 0; worker < COG_MAX_THREADS; worker++)
        batch->release(run.searchers[worker]);
    return status;
}
