#include "jobs/link/link_proposals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collection/options.h"
#include "collection/vector_sign.h"
#include "jobs/pairs/pair_join.h"
#include "join/cosine_topk.h"
#include "plan/sampled_truth.h"
#include "search/slices/slices.h"

/* More are proposed than wanted: the means that tell how far a link stands out are those of the
 * truly nearest. */
enum { PROPOSALS = 128 };

struct proposing {
    const struct link_space *space;
    const struct link_search *search;
    struct signature_options signature;
    struct signatures_view views[2];
    struct link_proposals *result;
};

static size_t proposals_of(const struct link_search *search, int side) {
    return search->wanted[side] > PROPOSALS ? search->wanted[side] : (size_t)PROPOSALS;
}

/* Its signature, its proposals, its postings in slices or its sums in hash tables. */
size_t link_proposals_row_bytes(const struct link_search *search, int side) {
    unsigned bits = search->method == COG_METHOD_LISTS ? 0 : search->options->bits;
    size_t signature = signature_stride_bytes(bits);
    size_t sums = search->method == COG_METHOD_LSH ? bits * sizeof(float) : 0;
    return 4 * signature + sums + proposals_of(search, side) * sizeof(struct match);
}

static cog_status sign_side(struct proposing *work, int side, float *sums, size_t sums_stride,
                            cog_error *error) {
    const struct sparse_matrix *vectors = &work->space->vectors[side];
    struct vector_rows rows = {vectors, NULL, vectors->rows};
    return vector_sign(&rows, &work->signature, work->space->threads, &work->views[side], sums,
                       sums_stride, error);
}

static cog_status sign_both(struct proposing *work, cog_error *error) {
    TRY(sign_side(work, 0, NULL, 0, error));
    return sign_side(work, 1, NULL, 0, error);
}

/* ---- The nearest ----------------------------------------------------------------------------- */

static cog_status propose_flat(const struct proposing *work, int side, cog_error *error) {
    return flat_search_topk(&work->views[!side], &work->views[side],
                            proposals_of(work->search, side), work->space->threads,
                            &work->result->sides[side], error);
}

static cog_status propose_slices(const struct proposing *work, int side, cog_error *error) {
    enum { DISTANCES_A_PROPOSAL = 16 };
    const struct signatures_view *queries = &work->views[side], *rows = &work->views[!side];
    size_t most = proposals_of(work->search, side);
    struct slice_lists lists = {0};
    struct slices_request request = {
        .k = most, .expand = 1, .admit = 1, .verify = most * DISTANCES_A_PROPOSAL};
    cog_status status = slice_lists_build(&lists, rows, 0, work->space->threads, error);
    THEN(status, slices_search_all(&lists.view, rows, queries, NULL, &request, work->space->threads,
                                   &work->result->sides[side], error));
    slice_lists_free(&lists);
    return status;
}

static cog_status propose_nearest(struct proposing *work, cog_error *error) {
    cog_status status = sign_both(work, error);
    for (int side = 0; side < 2 && status == COG_OK; side++)
        if (work->search->wanted[side])
            status = work->search->method == COG_METHOD_FLAT ? propose_flat(work, side, error)
                                                             : propose_slices(work, side, error);
    return status;
}

/* ---- Pairs within a radius ------------------------------------------------------------------- */

/* The rows of some signatures end to end; free() the data. */
static cog_status copy_rows(const struct signatures_view *view, const uint32_t *rows, size_t count,
                            struct signatures_view *copy, cog_error *error) {
    uint8_t *data = memory_array(count + 1, view->stride_bytes);
    if (!data)
        return error_memory(error, count * view->stride_bytes, "a sample");
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * view->stride_bytes, signature_row(view, rows[i]), view->stride_bytes);
    *copy = (struct signatures_view){data, count, view->bits, view->stride_bytes};
    return COG_OK;
}

/* The radius within which a source document has about PROPOSALS others: enough of the nearest, and
 * pairs that memory holds. */
static cog_status choose_radius(const struct proposing *work, uint32_t *radius_bits,
                                cog_error *error) {
    enum { SAMPLE = 256 };
    uint32_t sample[SAMPLE];
    size_t count = sample_rows(work->views[0].rows, SAMPLE, 1, sample);
    size_t most = proposals_of(work->search, 0), left = count * most;
    struct signatures_view queries = {0};
    struct hit_lists nearest = {0};
    unsigned bits = work->views[0].bits;
    size_t *histogram = memory_zeroed_array((size_t)bits + 1, sizeof *histogram);
    cog_status status = histogram ? copy_rows(&work->views[0], sample, count, &queries, error)
                                  : error_memory(error, bits, "distances");
    THEN(status, flat_search_topk(&work->views[1], &queries, 4 * most, work->space->threads,
                                  &nearest, error));
    for (size_t i = 0; status == COG_OK && i < nearest.offsets[count]; i++)
        histogram[nearest.items[i].distance]++;
    *radius_bits = 0;
    while (status == COG_OK && *radius_bits < bits / 2 && histogram[*radius_bits] <= left)
        left -= histogram[(*radius_bits)++];
    hit_lists_free(&nearest);
    free((void *)queries.data);
    free(histogram);
    return status;
}

/* Pairs by the method, planned for the recall at this cosine. The task borrows the vectors. */
static cog_status join_pairs(struct proposing *work, double cosine, uint32_t radius_bits,
                             const cog_run_options *run, cog_report *report,
                             struct match_list *matches, cog_error *error) {
    const struct link_space *space = work->space;
    cog_pairs_options options;
    struct pair_task task = {0};
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.method = work->search->method;
    options.knobs = work->search->options->knobs;
    options.recall = work->search->options->recall;
    options.sign.signature.bits = work->search->options->bits;
    options.threshold = cosine;
    cog_status status = pair_task_init(&task, &options, 2, run, report, error);
    task.threads = space->threads;
    task.projected = true;
    for (int side = 0; side < 2; side++) {
        task.vectors[side] = space->vectors[side];
        task.corpora[side].rows = task.compared[side].count = space->vectors[side].rows;
    }
    if (radius_bits == COG_RADIUS_NONE) {
        THEN(status, pair_task_list_rows(&task, error));
        matches->limit = pair_task_max_matches(&task);
    }
    THEN(status, pair_join_propose(&task, work->views, radius_bits, matches, error));
    memset(task.vectors, 0, sizeof task.vectors);
    pair_task_free(&task);
    return status;
}

/* The pairs as proposals of one side. */
static cog_status take_pairs(const struct match_list *matches, int side, size_t rows,
                             struct hit_lists *results, cog_error *error) {
    results->queries = rows;
    results->offsets = memory_zeroed_array(rows + 2, sizeof *results->offsets);
    results->items = memory_array(matches->count + 1, sizeof *results->items);
    if (!results->offsets || !results->items)
        return error_memory(error, matches->count * sizeof *results->items, "candidates");
    /* next[r] runs from the start of row r to its end, which is the start of row r + 1. */
    size_t *next = results->offsets + 1;
    for (size_t i = 0; i < matches->count; i++)
        next[(side ? matches->items[i].b : matches->items[i].a) + 1]++;
    for (size_t row = 0; row < rows; row++)
        next[row + 1] += next[row];
    for (size_t i = 0; i < matches->count; i++) {
        const struct match *match = &matches->items[i];
        results->items[next[side ? match->b : match->a]++] =
            (struct match){.a = side ? match->b : match->a,
                           .b = side ? match->a : match->b,
                           .distance = match->distance};
    }
    return COG_OK;
}

static cog_status take_sides(struct proposing *work, const struct match_list *matches,
                             cog_error *error) {
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && status == COG_OK; side++)
        if (work->search->wanted[side])
            status = take_pairs(matches, side, work->space->vectors[side].rows,
                                &work->result->sides[side], error);
    return status;
}

static cog_status propose_pairs(struct proposing *work, cog_error *error) {
    struct match_list matches = {0};
    uint32_t radius_bits = 0;
    cog_status status = sign_both(work, error);
    THEN(status, choose_radius(work, &radius_bits, error));
    THEN(status, join_pairs(work, COG_THRESHOLD_ACROSS, radius_bits, NULL, NULL, &matches, error));
    THEN(status, take_sides(work, &matches, error));
    work->result->beyond = (float)hamming_cosine(radius_bits, work->search->options->bits);
    match_list_free(&matches);
    return status;
}

/* ---- Pairs at a cosine -------------------------------------------------------------------------
 */

static int by_similarity(const void *x, const void *y) {
    const struct cosine_neighbour *a = x, *b = y;
    return (a->similarity < b->similarity) - (a->similarity > b->similarity);
}

/* The cosine that a document has with about as many others as are wanted, or that of likely
 * partners where that is less; but not one that more reach than memory is counted for, as where all
 * documents follow a few templates. */
static cog_status choose_cosine(const struct proposing *work, double *cosine, cog_error *error) {
    enum { SAMPLE = 256 };
    const struct sparse_matrix *vectors = work->space->vectors;
    uint32_t sample[SAMPLE];
    size_t count = sample_rows(vectors[0].rows, SAMPLE, 1, sample), found = 0;
    size_t wanted = work->search->wanted[0], most = proposals_of(work->search, 0);
    struct sparse_matrix queries = {0};
    struct cosine_neighbours nearest = {0};
    cog_status status =
        sparse_matrix_select(&vectors[0], sample, count, &queries)
            ? cosine_topk(&queries, &vectors[1], 4 * most, work->space->threads, &nearest, error)
            : error_memory(error, count, "a sample");
    for (size_t q = 0; status == COG_OK && q < count; q++)
        for (size_t i = 0; i < nearest.counts[q]; i++)
            nearest.items[found++] = nearest.items[q * nearest.k + i];
    *cosine = COG_THRESHOLD_ACROSS;
    if (found) {
        qsort(nearest.items, found, sizeof *nearest.items, by_similarity);
        size_t last = (count * wanted < found ? count * wanted : found) - 1;
        *cosine = fmin(*cosine, (double)nearest.items[last].similarity);
    }
    if (found > count * most)
        *cosine = fmax(*cosine, (double)nearest.items[count * most].similarity);
    sparse_matrix_free(&queries);
    cosine_topk_free(&nearest);
    return status;
}

static cog_status propose_lists(struct proposing *work, cog_error *error) {
    struct match_list matches = {0};
    double cosine = 0;
    cog_status status = choose_cosine(work, &cosine, error);
    THEN(status, join_pairs(work, cosine, COG_RADIUS_NONE, work->space->run, work->space->report,
                            &matches, error));
    THEN(status, take_sides(work, &matches, error));
    work->result->beyond = (float)cosine;
    match_list_free(&matches);
    return status;
}

cog_status link_proposals_find(struct link_proposals *proposals, const struct link_space *space,
                               const struct link_search *search, cog_error *error) {
    struct proposing work = {.space = space, .search = search, .result = proposals};
    signature_options_init(&work.signature, SIGNATURE_RP);
    work.signature.bits = search->options->bits;
    bool nearest = search->method == COG_METHOD_FLAT || search->method == COG_METHOD_SLICES;
    cog_status status = search->method == COG_METHOD_LISTS ? propose_lists(&work, error)
                        : nearest                          ? propose_nearest(&work, error)
                                                           : propose_pairs(&work, error);
    free((void *)work.views[0].data);
    free((void *)work.views[1].data);
    return status;
}

void link_proposals_free(struct link_proposals *proposals) {
    hit_lists_free(&proposals->sides[0]);
    hit_lists_free(&proposals->sides[1]);
}
