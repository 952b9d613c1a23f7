/* Batches: the public functions of cognate_batch.h that link two languages in steps: neighbours and
 * the decision. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/arrow_table.h"
#include "api/number_rows.h"
#include "base/arguments.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "jobs/link/link_block.h"
#include "jobs/link/link_job.h"
#include "jobs/link/link_options.h"
#include "jobs/link/link_vectors.h"
#include "join/pair_check.h"

/* ---- Neighbours ------------------------------------------------------------------------------ */

cog_status cog_link_plan_of(const cog_link_options *options, cog_link_plan *plan,
                            cog_error *error) {
    struct link_search search;
    TRY(check_given(plan, "plan", error));
    TRY(link_search_take(options, &search, error));
    for (int side = 0; side < 2; side++) {
        plan->neighbours[side] = search.wanted[side];
        plan->proposals[side] =
            search.method == COG_METHOD_EXACT ? 0 : link_proposals(&search, side);
    }
    return COG_OK;
}

/* With the cosine in full: two rows whose cosines are one float have an order. The cosines of the
 * method flat are floats on one machine, too. */
static cog_status export_hits(const struct match_list *hits, const struct sparse_matrix blocks[2],
                              bool exact, struct ArrowArrayStream *stream, cog_error *error) {
    struct arrow_table table = {.rows = hits->count};
    arrow_table_hits(&table, hits->items);
    double *similarities = arrow_table_double(&table, "similarity");
    for (size_t i = 0; i < hits->count && similarities; i++) {
        const struct match *hit = &hits->items[i];
        similarities[i] = exact ? sparse_row_dot(&blocks[0], hit->a, &blocks[1], hit->b)
                                : (double)hit->similarity;
    }
    return arrow_table_finish(&table, stream, error);
}

cog_status cog_link_nearest(const cog_number_rows *queries, const cog_number_rows *rows, int side,
                            const cog_link_options *options, const cog_run_options *run,
                            struct ArrowArrayStream *stream, cog_error *error) {
    struct link_search search;
    struct sparse_matrix blocks[2] = {{0}};
    struct match_list hits = {0};
    TRY(check_given(stream, "stream", error));
    TRY(link_side_check(side, error));
    TRY(number_rows_check(queries, "queries", error));
    TRY(number_rows_check(rows, "rows", error));
    TRY(link_search_take(options, &search, error));
    if (!link_block_has_method(options->method))
        return error_about(error, COG_ERR_USAGE, "method",
                           "blocks are compared by the methods exact and flat");
    cog_status status = vectors_take(queries, "queries", &blocks[0], error);
    THEN(status, vectors_take(rows, "rows", &blocks[1], error));
    vectors_share_columns(blocks);
    THEN(status, link_block_nearest(blocks, &search, side, threads_resolve(run ? run->threads : 0),
                                    &hits, error));
    THEN(status, export_hits(&hits, blocks, search.method == COG_METHOD_EXACT, stream, error));
    match_list_free(&hits);
    sparse_matrix_free(&blocks[0]);
    sparse_matrix_free(&blocks[1]);
    return status;
}

/* ---- The method window ----------------------------------------------------------------------- */

cog_status cog_link_sign(const cog_number_rows *vectors, const cog_link_options *options,
                         const cog_run_options *run, uint8_t *signatures, cog_error *error) {
    struct sparse_matrix matrix = {0};
    struct signature_options made;
    struct signatures_view view = {0};
    TRY(number_rows_check(vectors, "vectors", error));
    TRY(link_options_check(options, error));
    if (vectors->count == 0)
        return COG_OK;
    TRY(check_given(signatures, "signatures", error));
    signature_options_init(&made, SIGNATURE_RP);
    made.bits = options->bits;
    cog_status status = vectors_take(vectors, "vectors", &matrix, error);
    THEN(status,
         vector_sign(&(struct signable_rows){.matrix = &matrix, .count = matrix.rows}, &made,
                     threads_resolve(run ? run->threads : 0), &view, NULL, 0, error));
    for (size_t row = 0; row < vectors->count && status == COG_OK; row++)
        memcpy(signatures + row * (made.bits / 8), signature_row(&view, row), made.bits / 8);
    free((void *)view.data);
    sparse_matrix_free(&matrix);
    return status;
}

size_t cog_link_radius_rows(uint64_t documents, uint32_t rows[COG_LINK_RADIUS_ROWS]) {
    _Static_assert((int)COG_LINK_RADIUS_ROWS == (int)LINK_RADIUS_ROWS, "one sample");
    return rows && documents <= UINT32_MAX ? link_radius_rows((size_t)documents, rows) : 0;
}

cog_status cog_link_radius(const uint64_t *distances, size_t count, const cog_link_options *options,
                           uint32_t *radius_bits, double *beyond, cog_error *error) {
    struct link_search search;
    size_t *histogram;
    TRY(check_given(radius_bits, "radius", error));
    TRY(check_given(beyond, "beyond", error));
    TRY(link_search_take(options, &search, error));
    if (count)
        TRY(check_given(distances, "distances", error));
    TAKE_ZEROED(histogram, (size_t)options->bits + 1, "distances", error);
    for (size_t row = 0; row < count; row++) {
        uint64_t left = LINK_RADIUS_NEAREST * link_proposals(&search, 0);
        for (uint32_t d = 0; d <= options->bits && left; d++) {
            const uint64_t own = distances[row * ((size_t)options->bits + 1) + d];
            histogram[d] += own < left ? own : left;
            left -= own < left ? own : left;
        }
    }
    *radius_bits = link_radius_of(histogram, count, &search, options->bits);
    *beyond = hamming_cosine(*radius_bits, options->bits);
    free(histogram);
    return COG_OK;
}

static cog_status take_pairs(const cog_number_rows *first, const cog_number_rows *second,
                             const int64_t *a, const int64_t *b, size_t count,
                             struct match_list *pairs, cog_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (a[i] < 0 || (size_t)a[i] >= first->count || b[i] < 0 || (size_t)b[i] >= second->count)
            return error_set(error, COG_ERR_USAGE, "pair %zu has a row that is not there", i);
        TRY(match_list_add(pairs, (struct match){.a = (uint32_t)a[i], .b = (uint32_t)b[i]}, error));
    }
    return COG_OK;
}

cog_status cog_link_cosines(const cog_number_rows *first, const cog_number_rows *second,
                            const int64_t *a, const int64_t *b, size_t count,
                            const cog_run_options *run, double *cosines, cog_error *error) {
    struct sparse_matrix matrices[2] = {{0}};
    struct match_list pairs = {0};
    const struct pair_check check = {.vectors = {&matrices[0], &matrices[1]},
                                     .threshold = -INFINITY, /* keeps all */
                                     .threads = run ? run->threads : 0};
    TRY(number_rows_check(first, "first", error));
    TRY(number_rows_check(second, "second", error));
    if (count == 0)
        return COG_OK;
    TRY(check_given(a, "a", error));
    TRY(check_given(b, "b", error));
    TRY(check_given(cosines, "cosines", error));
    cog_status status = vectors_take(first, "first", &matrices[0], error);
    THEN(status, vectors_take(second, "second", &matrices[1], error));
    THEN(status, take_pairs(first, second, a, b, count, &pairs, error));
    vectors_share_columns(matrices);
    THEN(status, pair_check_run(&check, &pairs, error));
    for (size_t i = 0; i < count && status == COG_OK; i++)
        cosines[i] = (double)pairs.items[i].similarity;
    match_list_free(&pairs);
    sparse_matrix_free(&matrices[0]);
    sparse_matrix_free(&matrices[1]);
    return status;
}

/* ---- Decision -------------------------------------------------------------------------------- */

static cog_status take_lengths(const cog_link_neighbours *given, float **lengths,
                               cog_error *error) {
    TAKE(*lengths, given->documents, "lengths", error);
    for (uint64_t row = 0; row < given->documents; row++)
        (*lengths)[row] = link_length(given->lengths[row]);
    return COG_OK;
}

static cog_status export_links(const cog_links *links, struct ArrowArrayStream *stream,
                               cog_error *error) {
    struct arrow_table table = {.rows = links->count};
    int64_t *from = arrow_table_int64(&table, "from"), *to = arrow_table_int64(&table, "to");
    double *similarities = arrow_table_double(&table, "similarity");
    double *scores = arrow_table_double(&table, "score");
    double *probabilities = arrow_table_double(&table, "probability");
    for (size_t i = 0; i < table.rows && probabilities; i++) {
        const struct link *link = &links->items[i];
        from[i] = link->from;
        to[i] = link->to;
        similarities[i] = (double)link->similarity;
        scores[i] = (double)link->score;
        probabilities[i] = (double)link->probability;
    }
    return arrow_table_finish(&table, stream, error);
}

static cog_status check_neighbours(const cog_link_neighbours *given, const char *name,
                                   cog_error *error) {
    TRY(check_given(given, name, error));
    if (given->documents == 0)
        return COG_OK;
    if (given->documents >= UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "%s: give fewer than 4 billion documents", name);
    return check_given(given->lengths, name, error);
}

cog_status cog_link_decide(const cog_link_neighbours *from, const cog_link_neighbours *to,
                           const cog_link_options *options, const cog_run_options *run,
                           struct ArrowArrayStream *stream, cog_report *report, cog_error *error) {
    const cog_link_neighbours *const sides[2] = {from, to};
    struct link_search search;
    struct link_candidates candidates = {0};
    float *lengths[2] = {NULL, NULL};
    cog_links links = {0};
    struct job job;
    TRY(check_neighbours(from, "from", error));
    TRY(check_neighbours(to, "to", error));
    TRY(check_given(stream, "stream", error));
    TRY(link_search_take(options, &search, error));
    job_begin(&job, run, report);
    cog_status status =
        neighbours_take(from, to->documents, search.wanted[0], &candidates.sides[0], error);
    THEN(status,
         neighbours_take(to, from->documents, search.wanted[1], &candidates.sides[1], error));
    for (int side = 0; side < 2 && status == COG_OK; side++) {
        status = take_lengths(sides[side], &lengths[side], error);
        candidates.lengths[side] = lengths[side];
    }
    candidates.beyond = (float)from->beyond;
    THEN(status, links_choose(&links, &candidates, options, job.threads, job.report, error));
    THEN(status, export_links(&links, stream, error));
    link_candidates_free(&candidates);
    links_reset(&links);
    FREE(lengths[0], lengths[1]);
    job_end(&job);
    return status;
}
