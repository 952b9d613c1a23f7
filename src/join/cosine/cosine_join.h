/* All pairs of rows whose dot product is at or above a threshold: the exact cosine join for rows of
 * unit length. Empty rows match nothing. The decision and the reported similarity are sparse_dot's
 * value. With options->tails pairs may be missed; what is listed is right.
 *
 * Two ways lead to the pairs, and the cheaper one by a sample of the rows is taken: posting lists
 * (cosine_lists.h), or tiles of the products of the columns before a cut (cosine_tiles.h). Both
 * leave out pairs by a bound on what the tails of two rows, the columns from some column on, may
 * add to their product. Exactly that bound is the product of the norms of the tails. In nearly all
 * pairs the tails add much less, a share that is the cosine of the tails; a join that expects less
 * of them leaves out more, and misses a pair here and there. */
#pragma once

#include "join/cosine/cosine_cuts.h"
#include "join/cosine/cosine_tiles.h"
#include "join/join.h"
#include "vector/sparse.h"

/* Vectors are of single precision: the product of a vector with itself may miss 1 by this much. Who
 * asks for a threshold takes it off, so that a cosine that is nearer to the threshold than that
 * counts as reaching it. */
#define COSINE_PRECISION 2e-7

/* Pairs of rows a < b of one matrix if b is NULL, else of rows of a and rows of b; both have the
 * same columns. `matches` must be empty. */
cog_status cosine_join(const struct sparse_matrix *a, const struct sparse_matrix *b,
                       const struct join_options *options, struct match_list *matches,
                       cog_error *error);

/* ---- Joins in blocks --------------------------------------------------------------------------
 *
 * Rows that do not fit memory are joined block by block, with one plan for all blocks
 * (join_options.plan). What a join leaves out depends on the plan and on the two rows, never on the
 * rows around them, so the pairs are those of one join of all rows. Equal rows of a block are
 * compared like others: the caller groups them. With tails, a pair whose bound
 * lies nearer to the threshold than the error of float sums may be listed under one division into
 * blocks and left out under another. */

/* cosine_plan_free releases. */
struct cosine_plan {
    double threshold;
    float filter_threshold; /* lowered by the error of float sums */
    struct cosine_extent extents[2];
    uint8_t *spans;
    struct cosine_cuts cuts;
    int cut;
    bool by_lists, has_tails;
    bool is_empty; /* one side has no entries */
    double listed; /* the share of the entries of b that posting lists hold, about */
    struct cosine_tails tails;
};

/* The rows that a plan is judged by: of `count` different rows of a side, in order, the rows at
 * these places, for i below `sampled`, which is the least of `count` and the number here. */
enum { COSINE_SAMPLE_QUERIES = 128, COSINE_SAMPLE_ROWS = 1024 };
size_t cosine_sample_place(size_t count, size_t sampled, size_t i);

/* surveys and samples: of the rows a and of the rows b; inside one collection both of the same
 * rows. The rows of samples are listed. tails may be NULL. */
cog_status cosine_plan_make(struct cosine_plan *plan, const struct cosine_survey surveys[2],
                            const struct cosine_rows samples[2], double threshold,
                            const struct cosine_tails *tails, cog_error *error);
void cosine_plan_free(struct cosine_plan *plan);
/* What posting lists take without a limit, for rows of row_entries entries on average. */
uint64_t cosine_join_list_bytes(const struct cosine_plan *plan, double row_entries);
