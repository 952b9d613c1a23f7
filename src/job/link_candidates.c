#include "job/link_candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "index/flat.h"
#include "job/vector_sign.h"

enum { ROWS_A_PIECE = 64 };

/* ---- True cosines of what the signatures propose --------------------------------------------- */

/* The best of the proposals by their true cosines. A query's values stand in an array by column, so
 * that a product costs as much as the candidate has terms. */
struct rescoring {
    const struct sparse_matrix *queries, *collection;
    const struct flat_results *proposed;
    struct cosine_neighbours *neighbours;
    struct rescore_bench {
        float *dense; /* a value a column, zero between queries */
        struct cosine_neighbour *items;
    } * benches; /* one a worker */
};

static int by_similarity(const void *x, const void *y) {
    const struct cosine_neighbour *a = x, *b = y;
    if (a->similarity != b->similarity)
        return a->similarity > b->similarity ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void rescore_row(const struct rescoring *rescoring, const struct rescore_bench *bench,
                        size_t row) {
    const struct sparse_matrix *queries = rescoring->queries;
    struct cosine_neighbours *neighbours = rescoring->neighbours;
    size_t count = 0;
    sparse_spread(queries, row, bench->dense);
    for (size_t p = rescoring->proposed->offsets[row]; p < rescoring->proposed->offsets[row + 1];
         p++) {
        uint32_t other = rescoring->proposed->items[p].row;
        double cosine = sparse_dense_dot(bench->dense, rescoring->collection, other);
        if (cosine > 0)
            bench->items[count++] = (struct cosine_neighbour){other, (float)cosine};
    }
    sparse_clear(queries, row, bench->dense);
    if (count)
        qsort(bench->items, count, sizeof *bench->items, by_similarity);
    count = count < neighbours->k ? count : neighbours->k;
    if (count)
        memcpy(neighbours->items + row * neighbours->k, bench->items, count * sizeof *bench->items);
    neighbours->counts[row] = (uint32_t)count;
}

static cog_status rescore_rows(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)error;
    const struct rescoring *rescoring = context;
    for (size_t row = begin; row < end; row++)
        rescore_row(rescoring, &rescoring->benches[worker], row);
    return COG_OK;
}

static bool benches_init(struct rescoring *rescoring, unsigned threads, size_t proposals) {
    rescoring->benches = memory_zeroed_array(threads, sizeof *rescoring->benches);
    bool enough = rescoring->benches != NULL;
    for (unsigned i = 0; enough && i < threads; i++) {
        struct rescore_bench *bench = &rescoring->benches[i];
        bench->dense =
            memory_zeroed_array((size_t)rescoring->queries->column_count + 1, sizeof *bench->dense);
        bench->items = memory_array(proposals, sizeof *bench->items);
        enough = bench->dense && bench->items;
    }
    return enough;
}

static void benches_free(struct rescoring *rescoring, unsigned threads) {
    for (unsigned i = 0; rescoring->benches && i < threads; i++) {
        free(rescoring->benches[i].dense);
        free(rescoring->benches[i].items);
    }
    free(rescoring->benches);
}

static cog_status rescore(const struct link_space *space, int side, size_t k, size_t proposals,
                          const struct flat_results *proposed, struct cosine_neighbours *neighbours,
                          cog_error *error) {
    size_t rows = space->vectors[side].rows;
    struct rescoring rescoring = {.queries = &space->vectors[side],
                                  .collection = &space->vectors[!side],
                                  .proposed = proposed,
                                  .neighbours = neighbours};
    *neighbours = (struct cosine_neighbours){.queries = rows, .k = k};
    neighbours->counts = memory_zeroed_array(rows, sizeof *neighbours->counts);
    neighbours->items = memory_array(rows * k, sizeof *neighbours->items);
    cog_status status = COG_OK;
    if (!neighbours->counts || !neighbours->items ||
        !benches_init(&rescoring, space->threads, proposals))
        status = error_memory(error, rows * k * sizeof *neighbours->items, "candidates");
    else
        status = parallel_for(space->threads, rows, ROWS_A_PIECE, rescore_rows, &rescoring, error);
    benches_free(&rescoring, space->threads);
    return status;
}

/* Nearest by signature, then by cosine. More are proposed than wanted: the means that tell how far
 * a link stands out are those of the truly nearest. */
static cog_status propose(const struct link_space *space, const struct signatures_view *views,
                          int side, size_t k, struct cosine_neighbours *neighbours,
                          cog_error *error) {
    enum { PROPOSALS = 128 };
    size_t proposals = k > PROPOSALS ? k : (size_t)PROPOSALS;
    struct flat_results proposed = {0};
    cog_status status =
        flat_search_topk(&views[!side], &views[side], proposals, space->threads, &proposed, error);
    if (status == COG_OK)
        status = rescore(space, side, k, proposals, &proposed, neighbours, error);
    flat_results_free(&proposed);
    return status;
}

static cog_status find_by_signatures(const struct link_space *space, size_t k, size_t back,
                                     unsigned bits, struct cosine_neighbours *forward,
                                     struct cosine_neighbours *backward, cog_error *error) {
    struct signature_options options;
    struct signatures_view views[2] = {{0}, {0}};
    signature_options_init(&options, SIGNATURE_RP);
    options.bits = bits;
    cog_status status = COG_OK;
    for (int i = 0; i < 2 && status == COG_OK; i++) {
        struct vector_rows rows = {&space->vectors[i], NULL, space->vectors[i].rows};
        status = vector_sign(&rows, &options, space->threads, &views[i], NULL, 0, error);
    }
    if (status == COG_OK)
        status = propose(space, views, 0, k, forward, error);
    if (status == COG_OK && back)
        status = propose(space, views, 1, back, backward, error);
    free((void *)views[0].data);
    free((void *)views[1].data);
    return status;
}

cog_status link_candidates_find(const struct link_space *space, size_t k, size_t back,
                                unsigned bits, struct cosine_neighbours *forward,
                                struct cosine_neighbours *backward, cog_error *error) {
    const struct sparse_matrix *from = &space->vectors[0], *to = &space->vectors[1];
    if (bits)
        return find_by_signatures(space, k, back, bits, forward, backward, error);
    cog_status status = cosine_topk(from, to, k, space->threads, forward, error);
    if (status == COG_OK && back)
        status = cosine_topk(to, from, back, space->threads, backward, error);
    return status;
}

static double mean_terms(const struct sparse_matrix *matrix) {
    return matrix->rows ? (double)matrix->offsets[matrix->rows] / (double)matrix->rows : 0;
}

/* Measured on 112 and 388 million pairs of documents (575 terms on both sides together), one
 * thread: the exact search takes 25 ns a pair; signatures take 1 ns a pair, and 135 us a document
 * for signing and for the cosines of its proposals. */
bool link_signatures_pay(const struct link_space *space) {
    const double exact_term_ns = 25.0 / 575, signature_pair_ns = 1, signature_row_ns = 135e3;
    const double worth_ns = 10e9;
    const struct sparse_matrix *from = &space->vectors[0], *to = &space->vectors[1];
    double pairs = (double)from->rows * (double)to->rows;
    double exact_ns = pairs * (mean_terms(from) + mean_terms(to)) * exact_term_ns;
    double signature_ns =
        pairs * signature_pair_ns + (double)(from->rows + to->rows) * signature_row_ns;
    return exact_ns - signature_ns > worth_ns;
}
