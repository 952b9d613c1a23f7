/* The exact cosine join: all pairs of rows of unit length whose dot product is at or above a
 * threshold. Empty rows match nothing. Decisions and reported similarities use the value of
 * sparse_dot. With options->tails pairs may be missed, but listed pairs are correct.
 *
 * There are two algorithms, and a sample of the rows decides which is cheaper: posting lists
 * (cosine_lists.h), or tiles of products of the columns before a cut (cosine_tiles.h). Both skip
 * pairs by a bound on what the tails of two rows (the columns from some column on) can add to the
 * product. The exact bound is the product of the tails' norms. In nearly all pairs the tails add
 * much less; the share that they add is the cosine of the tails. A join that assumes a smaller
 * share skips more pairs and misses a few. */
#pragma once

#include "join/cosine/cosine_cuts.h"
#include "join/cosine/cosine_tiles.h"
#include "join/join.h"
#include "vector/sparse.h"

/* Vectors are in single precision: the product of a vector with itself may differ from 1 by this
 * much. Callers subtract it from the requested threshold, so that a cosine within this error of the
 * threshold counts. */
#define COSINE_PRECISION 2e-7

/* Pairs of rows a < b of one matrix if b is NULL, otherwise of rows of a and rows of b. Both have
 * the same columns. `matches` must be empty. */
cog_status cosine_join(const struct sparse_matrix *a, const struct sparse_matrix *b,
                       const struct join_options *options, struct match_list *matches,
                       cog_error *error);

/* ---- Joins in blocks --------------------------------------------------------------------------
 *
 * Rows that do not fit in memory are joined block by block, with one plan for all blocks
 * (join_options.plan). Whether a pair is skipped depends on the plan and the two rows, never on
 * other rows, so the pairs are those of one join of all rows. Equal rows of a block are compared
 * like others: the caller groups them. With tails, a pair whose bound is closer to the threshold
 * than the error of float sums may be listed with one division into blocks and skipped with
 * another. */

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
    double listed; /* share of the entries of b that posting lists hold, estimated */
    struct cosine_tails tails;
};

/* Sample sizes for the plan, and the position of sample row i among the `count` distinct rows of a
 * side, for i < sampled = min(count, sample size). */
enum { COSINE_SAMPLE_QUERIES = 128, COSINE_SAMPLE_ROWS = 1024 };
size_t cosine_sample_place(size_t count, size_t sampled, size_t i);

/* surveys and samples: of the rows a and of the rows b; the same rows twice for a self-join. The
 * samples list their rows. `tails` may be NULL. */
cog_status cosine_plan_make(struct cosine_plan *plan, const struct cosine_survey surveys[2],
                            const struct cosine_rows samples[2], double threshold,
                            const struct cosine_tails *tails, cog_error *error);
void cosine_plan_free(struct cosine_plan *plan);
/* Memory of the posting lists without a limit, for rows of row_entries entries on average. */
uint64_t cosine_join_list_bytes(const struct cosine_plan *plan, double row_entries);
