#include "jobs/link/link_candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "plan/sampled_truth.h"

enum { ROWS_A_PIECE = 64 };

/* ---- True cosines of what the signatures propose --------------------------------------------- */

/* The best of the proposals by their true cosines. A query's values stand in an array by column, so
 * that a product costs as much as the candidate has terms. */
struct rescoring {
    const struct sparse_matrix *queries, *collection;
    const struct hit_lists *proposed;
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
        uint32_t other = rescoring->proposed->items[p].b;
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

static size_t most_proposed(const struct hit_lists *proposed) {
    size_t most = 1;
    for (size_t row = 0; row < proposed->queries; row++) {
        size_t count = proposed->offsets[row + 1] - proposed->offsets[row];
        most = count > most ? count : most;
    }
    return most;
}

static cog_status rescore(const struct link_space *space, int side, size_t k,
                          const struct hit_lists *proposed, struct cosine_neighbours *neighbours,
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
        !benches_init(&rescoring, space->threads, most_proposed(proposed)))
        status = error_memory(error, rows * k * sizeof *neighbours->items, "candidates");
    else
        status = parallel_for(space->threads, rows, ROWS_A_PIECE, rescore_rows, &rescoring, error);
    benches_free(&rescoring, space->threads);
    return status;
}

/* ---- Measured recall ------------------------------------------------------------------------- */

static bool holds(const struct cosine_neighbours *neighbours, size_t row, uint32_t other) {
    const struct cosine_neighbour *items = neighbours->items + row * neighbours->k;
    for (size_t i = 0; i < neighbours->counts[row]; i++)
        if (items[i].row == other)
            return true;
    return false;
}

/* The nearest of some source documents, of those that may be partners by their cosine, against what
 * was found of them. */
static cog_status measure_recall(const struct link_space *space,
                                 const struct cosine_neighbours *found, cog_error *error) {
    enum { SAMPLE = 500, NEAREST = 10 };
    uint32_t sample[SAMPLE];
    size_t count = sample_rows(found->queries, SAMPLE, 2, sample);
    size_t k = found->k < NEAREST ? found->k : (size_t)NEAREST;
    struct sparse_matrix queries = {0};
    struct cosine_neighbours truth = {0};
    struct share_tally tally = {0};
    cog_status status =
        sparse_matrix_select(&space->vectors[0], sample, count, &queries)
            ? cosine_topk(&queries, &space->vectors[1], k, space->threads, &truth, error)
            : error_memory(error, count, "the recall sample");
    for (size_t q = 0; status == COG_OK && q < count; q++) {
        const struct cosine_neighbour *items = &truth.items[q * k];
        size_t hits = 0, i = 0;
        for (; i < truth.counts[q] && (double)items[i].similarity >= COG_THRESHOLD_ACROSS; i++)
            hits += holds(found, sample[q], items[i].row);
        share_tally_add(&tally, hits, i);
    }
    if (status == COG_OK)
        report_recall(space->report, &tally, count, (struct noun){"neighbour", "neighbours"},
                      (struct noun){"document", "documents"});
    sparse_matrix_free(&queries);
    cosine_topk_free(&truth);
    return status;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static cog_status find_exactly(const struct link_space *space, const struct link_search *search,
                               struct link_candidates *candidates, cog_error *error) {
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && status == COG_OK; side++)
        if (search->wanted[side])
            status =
                cosine_topk(&space->vectors[side], &space->vectors[!side], search->wanted[side],
                            space->threads, &candidates->sides[side], error);
    report_exact(space->report);
    return status;
}

static cog_status find_by_signatures(const struct link_space *space,
                                     const struct link_search *search,
                                     struct link_candidates *candidates, cog_error *error) {
    struct link_proposals proposals = {0};
    cog_status status = link_proposals_find(&proposals, space, search, error);
    for (int side = 0; side < 2 && status == COG_OK; side++)
        if (search->wanted[side])
            status = rescore(space, side, search->wanted[side], &proposals.sides[side],
                             &candidates->sides[side], error);
    candidates->beyond = proposals.beyond;
    link_proposals_free(&proposals);
    return status == COG_OK ? measure_recall(space, &candidates->sides[0], error) : status;
}

cog_status link_candidates_find(struct link_candidates *candidates, const struct link_space *space,
                                const struct link_search *search, cog_error *error) {
    static const char *const names[COG_METHOD_COUNT] = {
        [COG_METHOD_EXACT] = "exact", [COG_METHOD_LISTS] = "lists",
        [COG_METHOD_FLAT] = "flat",   [COG_METHOD_SLICES] = "slices",
        [COG_METHOD_LSH] = "lsh",     [COG_METHOD_WINDOW] = "window"};
    if (!names[search->method])
        return error_set(error, COG_ERR_USAGE,
                         "partners are found by the methods exact, lists, flat, slices, lsh and "
                         "window");
    report_text(space->report, "method", names[search->method]);
    return search->method == COG_METHOD_EXACT
               ? find_exactly(space, search, candidates, error)
               : find_by_signatures(space, search, candidates, error);
}

void link_candidates_free(struct link_candidates *candidates) {
    cosine_topk_free(&candidates->sides[0]);
    cosine_topk_free(&candidates->sides[1]);
}

/* One side after the other: the lists of the first stay. */
uint64_t link_candidates_memory_bytes(const struct link_space *space,
                                      const struct link_search *search) {
    uint64_t most = 0, kept = 0, proposed = 0;
    for (int side = 0; side < 2; side++) {
        const struct sparse_matrix *queries = &space->vectors[side];
        size_t wanted = search->wanted[side];
        uint64_t peak = kept;
        if (search->method == COG_METHOD_EXACT && wanted)
            peak +=
                cosine_topk_memory_bytes(queries, &space->vectors[!side], wanted, space->threads);
        kept += queries->rows * wanted * sizeof(struct cosine_neighbour);
        proposed += queries->rows * link_proposals_row_bytes(search, side);
        most = peak > most ? peak : most;
    }
    return search->method == COG_METHOD_EXACT ? most : kept + proposed;
}
