#include "base/memory.h"
#include "base/threads.h"
#include "index/slices.h"

struct batch {
    const struct slices_view *view;
    const struct signatures_view *signatures, *queries;
    const float *weights;
    const struct slices_request *request;
    slices_emit *emit;
    void *context;
    struct slices_searcher *searchers[COG_MAX_THREADS]; /* made by the worker that needs one */
};

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    struct batch *batch = context;
    struct slices_searcher **searcher = &batch->searchers[worker];
    cog_status status = COG_OK;
    if (!*searcher)
        status = slices_searcher_create(batch->view, batch->signatures, searcher, error);
    for (size_t query = begin; status == COG_OK && query < end; query++) {
        struct slices_request request = *batch->request;
        struct slices_answer answer;
        request.weights = batch->weights ? batch->weights + query * batch->queries->bits : NULL;
        status = slices_search(*searcher, signature_row(batch->queries, query), &request, &answer,
                               error);
        if (status == COG_OK)
            status = batch->emit(batch->context, query, &answer, error);
    }
    return status;
}

cog_status slices_search_all(const struct slices_view *view,
                             const struct signatures_view *signatures,
                             const struct signatures_view *queries, const float *weights,
                             const struct slices_request *request, unsigned threads,
                             slices_emit *emit, void *context, cog_error *error) {
    if (queries->bits != signatures->bits)
        return error_set(error, COG_ERR_USAGE, "queries of %u bits for signatures of %u bits",
                         queries->bits, signatures->bits);
    struct batch batch = {view, signatures, queries, weights, request, emit, context, {0}};
    cog_status status =
        parallel_for(threads_resolve(threads), queries->rows, 8, search_piece, &batch, error);
    for (unsigned worker = 0; worker < COG_MAX_THREADS; worker++)
        slices_searcher_free(batch.searchers[worker]);
    return status;
}
