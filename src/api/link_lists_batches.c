/* Batches: the public functions of cognate_batch.h that link two languages in steps: candidates by
 * posting lists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/arrow_table.h"
#include "api/number_rows.h"
#include "base/arguments.h"
#include "base/memory.h"
#include "collection/options.h"
#include "jobs/link/blocks/link_lists.h"
#include "jobs/link/blocks/lists_plan.h"
#include "jobs/link/blocks/vector_block.h"
#include "search/hits/hit_lists.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

size_t cog_link_block_rows(const uint64_t *offsets, size_t rows, size_t first) {
    const struct sparse_matrix vectors = {.rows = rows, .offsets = (uint64_t *)offsets};
    return offsets && first < rows ? vector_block_rows(&vectors, first, vector_block_entries()) : 0;
}

static cog_status take_search(const cog_link_options *options, struct link_search *search,
                              cog_error *error) {
    TRY(link_search_take(options, search, error));
    return search->method == COG_METHOD_LISTS
               ? COG_OK
               : error_about(error, COG_ERR_USAGE, "method",
                             "posting lists belong to the method lists");
}

static cog_status check_lists(const cog_link_lists *lists, cog_error *error) {
    TRY(check_given(lists, "lists", error));
    TRY(options_check_reserved(lists->reserved, 2, "link_lists", error));
    if (lists->column_count)
        TRY(check_given(lists->frequencies, "frequencies", error));
    return lists->block_count ? COG_OK
                              : error_set(error, COG_ERR_USAGE, "no blocks: there is at least one");
}

/* Source rows and a block of target rows, with what the block proposes to one of them. */
struct meeting {
    struct sparse_matrix queries, rows;
    uint32_t *frequencies; /* by column of either matrix */
    struct posting_block postings;
    struct asking asking;
};

static void meeting_free(struct meeting *meeting) {
    sparse_matrix_free(&meeting->queries);
    sparse_matrix_free(&meeting->rows);
    free(meeting->frequencies);
    posting_block_free(&meeting->postings);
    asking_free(&meeting->asking);
}

static cog_status take_frequencies(struct meeting *meeting, const cog_link_lists *lists,
                                   size_t columns, cog_error *error) {
    const struct sparse_matrix *rows = &meeting->rows;
    TAKE_ZEROED(meeting->frequencies, columns, "posting lists", error);
    if (lists->column_count)
        memcpy(meeting->frequencies, lists->frequencies,
               (columns < lists->column_count ? columns : lists->column_count) *
                   sizeof *meeting->frequencies);
    for (uint64_t i = 0; i < rows->offsets[rows->rows]; i++)
        if (!meeting->frequencies[rows->columns[i]])
            return error_set(error, COG_ERR_USAGE,
                             "column %u is in the block and has the frequency 0: count all target "
                             "rows",
                             rows->columns[i]);
    meeting->postings.frequencies = meeting->frequencies;
    return COG_OK;
}

static cog_status meet(struct meeting *meeting, const cog_number_rows *queries,
                       const cog_number_rows *block, const cog_link_lists *lists,
                       const struct link_search *search, cog_error *error) {
    struct sparse_matrix *rows = &meeting->rows;
    TRY(number_rows_check(queries, "queries", error));
    TRY(number_rows_check(block, "block", error));
    TRY(check_lists(lists, error));
    TRY(vectors_take(queries, "queries", &meeting->queries, error));
    TRY(vectors_take(block, "block", rows, error));
    const uint64_t entries = rows->offsets[rows->rows];
    if (entries >= UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "the block has 4 billion entries: cut it");
    if (rows->column_count < meeting->queries.column_count)
        rows->column_count = meeting->queries.column_count;
    const size_t columns = rows->column_count;
    TRY(take_frequencies(meeting, lists, columns, error));
    TRY(posting_block_take(&meeting->postings, columns, (size_t)entries, error));
    posting_block_fill(&meeting->postings, rows);
    return asking_take(&meeting->asking, rows->rows, columns,
                       proposal_limits_of(link_lists_proposals(search), lists->block_count).most,
                       error);
}

/* ---- The plan -------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct lists_tally) == COG_LINK_LISTS_TALLY * sizeof(uint64_t), "one tally");
_Static_assert((int)COG_LINK_LISTS_NEAREST == (int)LISTS_PLAN_NEAREST, "one sample");

/* The true neighbours of the sample, and the cosine below which they are not needed. */
static cog_status take_truth(const cog_link_neighbours *given, size_t wanted,
                             struct cosine_neighbours *truth, float *floor, cog_error *error) {
    TRY(check_given(given, "truth", error));
    if (given->documents > LINK_RADIUS_ROWS)
        return error_set(error, COG_ERR_USAGE, "truth: give the neighbours of the sampled rows");
    TRY(neighbours_take(given, UINT32_MAX, LISTS_PLAN_NEAREST, truth, error));
    return lists_floor(truth, wanted, floor, error);
}

cog_status cog_link_lists_try(const cog_number_rows *sample, const cog_number_rows *block,
                              uint64_t first, const cog_link_neighbours *truth,
                              const cog_link_lists *lists, const cog_link_options *options,
                              uint64_t tally[COG_LINK_LISTS_TALLY], cog_error *error) {
    struct link_search search;
    struct meeting meeting = {0};
    struct cosine_neighbours nearest = {0};
    struct lists_tally total = {0};
    float floor = 0;
    TRY(check_given(tally, "tally", error));
    TRY(take_search(options, &search, error));
    cog_status status = take_truth(truth, search.wanted[0], &nearest, &floor, error);
    THEN(status, meet(&meeting, sample, block, lists, &search, error));
    if (status == COG_OK && nearest.queries != meeting.queries.rows)
        status = error_set(error, COG_ERR_USAGE, "truth: give the neighbours of the sampled rows");
    for (size_t query = 0; query < nearest.queries && status == COG_OK; query++)
        lists_try_budgets(&meeting.asking, &meeting.postings, (size_t)first, &meeting.queries,
                          query, &nearest, floor, &total);
    if (status == COG_OK)
        memcpy(tally, &total, sizeof total);
    meeting_free(&meeting);
    cosine_topk_free(&nearest);
    return status;
}

cog_status cog_link_lists_plan(const cog_link_neighbours *truth,
                               const uint64_t tally[COG_LINK_LISTS_TALLY],
                               const cog_link_options *options, double *budget, double *beyond,
                               cog_error *error) {
    struct link_search search;
    struct cosine_neighbours nearest = {0};
    struct lists_tally total;
    float floor = 0;
    TRY(check_given(tally, "tally", error));
    TRY(check_given(budget, "budget", error));
    TRY(check_given(beyond, "beyond", error));
    TRY(take_search(options, &search, error));
    cog_status status = take_truth(truth, search.wanted[0], &nearest, &floor, error);
    cosine_topk_free(&nearest);
    TRY(status);
    memcpy(&total, tally, sizeof total);
    *budget = lists_choose_budget(&total, 1, options->recall);
    *beyond = (double)floor;
    return COG_OK;
}

/* ---- Proposals ------------------------------------------------------------------------------- */

struct found_proposals {
    struct match_list pairs; /* with cosines */
    float *sums;
    size_t capacity;
};

static cog_status propose_to(struct meeting *meeting, size_t query, double budget,
                             struct found_proposals *found, cog_error *error) {
    struct asking *asking = &meeting->asking;
    const size_t before = found->pairs.count;
    asking_propose(asking, &meeting->postings, &meeting->queries, query,
                   asking_least_worth(meeting->frequencies, &meeting->queries, query, budget));
    proposals_sort(asking->proposed, asking->proposed_count);
    GROW(found->sums, found->capacity, before + asking->proposed_count, "proposals", error);
    sparse_spread(&meeting->queries, query, asking->dense);
    cog_status status = COG_OK;
    for (size_t i = 0; i < asking->proposed_count && status == COG_OK; i++) {
        const struct proposal *other = &asking->proposed[i];
        found->sums[before + i] = other->sum;
        status = match_list_add(&found->pairs,
                                (struct match){.a = (uint32_t)query,
                                               .b = other->row,
                                               .similarity = (float)sparse_dense_dot(
                                                   asking->dense, &meeting->rows, other->row)},
                                error);
    }
    sparse_clear(&meeting->queries, query, asking->dense);
    return status;
}

static cog_status export_proposals(const struct found_proposals *found,
                                   struct ArrowArrayStream *stream, cog_error *error) {
    struct arrow_table table = {.rows = found->pairs.count};
    int64_t *queries = arrow_table_int64(&table, "query");
    int64_t *rows = arrow_table_int64(&table, "row");
    double *sums = arrow_table_double(&table, "sum");
    double *similarities = arrow_table_double(&table, "similarity");
    for (size_t i = 0; i < table.rows && similarities; i++) {
        queries[i] = found->pairs.items[i].a;
        rows[i] = found->pairs.items[i].b;
        sums[i] = (double)found->sums[i];
        similarities[i] = (double)found->pairs.items[i].similarity;
    }
    return arrow_table_finish(&table, stream, error);
}

cog_status cog_link_lists_propose(const cog_number_rows *queries, const cog_number_rows *block,
                                  const cog_link_lists *lists, double budget,
                                  const cog_link_options *options, struct ArrowArrayStream *stream,
                                  cog_error *error) {
    struct link_search search;
    struct meeting meeting = {0};
    struct found_proposals found = {0};
    TRY(check_given(stream, "stream", error));
    TRY(take_search(options, &search, error));
    if (!(budget > 0))
        return error_set(error, COG_ERR_USAGE, "a budget of %g products: give one above 0", budget);
    cog_status status = meet(&meeting, queries, block, lists, &search, error);
    for (size_t query = 0; query < meeting.queries.rows && status == COG_OK; query++)
        status = propose_to(&meeting, query, budget, &found, error);
    THEN(status, export_proposals(&found, stream, error));
    match_list_free(&found.pairs);
    free(found.sums);
    meeting_free(&meeting);
    return status;
}

cog_status cog_link_lists_keep(const int64_t *rows, const int64_t *blocks, const int64_t *offsets,
                               size_t count, const double *sums, const cog_link_lists *lists,
                               const cog_link_options *options, int64_t *kept, cog_error *error) {
    struct link_search search;
    struct proposal *proposals = NULL;
    size_t capacity = 0;
    float bar = 0;
    TRY(take_search(options, &search, error));
    TRY(check_lists(lists, error));
    if (count == 0)
        return COG_OK;
    const void *const arrays[] = {rows, blocks, sums, kept};
    for (size_t i = 0; i < 4; i++)
        TRY(check_given(arrays[i], "proposals", error));
    TRY(offsets_check(offsets, count, "proposals", error));
    const struct proposal_limits limits =
        proposal_limits_of(link_lists_proposals(&search), lists->block_count);
    cog_status status = COG_OK;
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        const size_t first = (size_t)offsets[i], own = (size_t)offsets[i + 1] - first;
        status = GROWN(proposals, capacity, own, "proposals", error);
        for (size_t j = 0; j < own && status == COG_OK; j++)
            proposals[j] = (struct proposal){0, (float)sums[first + j]};
        if (i == 0 || rows[i] != rows[i - 1])
            bar = 0;
        if (status == COG_OK)
            kept[i] = (int64_t)proposals_kept(&limits, (size_t)blocks[i], proposals, own, &bar);
    }
    free(proposals);
    return status;
}
