#include "search/hits/query_batch.h"

struct slices_method {
    const struct slices_view *view;
    const struct signatures_view *signatures;
    const struct slices_request *request;
};

static cog_status create_searcher(const void *context, void **searcher, cog_error *error) {
    const struct slices_method *method = context;
    struct slices_searcher *made = NULL;
    cog_status status = slices_searcher_create(method->view, method->signatures, &made, error);
    *searcher = made;
    return status;
}

static cog_status search_one(const void *context, void *searcher, const uint8_t *query,
                             const float *weights, struct slices_answer *answer, cog_error *error) {
    const struct slices_method *method = context;
    struct slices_request request = *method->request;
    request.weights = weights;
    return slices_search(searcher, query, &request, answer, error);
}

static void release_searcher(void *searcher) {
    slices_searcher_free(searcher);
}

cog_status slices_search_all(const struct slices_view *view,
                             const struct signatures_view *signatures,
                             const struct signatures_view *queries, const float *weights,
                             const struct slices_request *request, unsigned threads,
                             slices_emit *emit, void *context, cog_error *error) {
    struct slices_method method = {view, signatures, request};
    struct query_batch batch = {signatures, queries,          weights, &method, create_searcher,
                                search_one, release_searcher, emit,    context};
    return query_batch_run(&batch, threads, error);
}
