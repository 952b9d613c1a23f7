/* Sampled truth: the true matches of a few rows or queries, found by brute force, and the recall of
 * an approximate run measured against them. Every job that plans by true pairs or reports a recall
 * uses this.
 *
 * In: the rows that a job joins (struct truth_rows), or lists of true and of found neighbours per
 * query. Out: true pairs for planning, a tally of found ones, and the sentence of the report. All
 * inputs are borrowed. Planning samples rows with a different seed than measuring, so a plan is
 * never evaluated on the rows it was made from. A sample of 1,000 rows costs as much as an exact
 * join of 1,000 rows with the whole collection. */
#pragma once

#include "estimate/interval.h"
#include "hamming/hamming.h"
#include "run/job.h"
#include "search/hits/hit_lists.h"
#include "vector/sparse.h"

/* ---- Drawing rows ---------------------------------------------------------------------------- */

/* Distinct numbers below `rows`, ascending; all of them if there are at most `most`. `sample` has
 * room for `most`. */
size_t sample_rows(size_t rows, size_t most, uint64_t seed, uint32_t *sample);

/* Copies the given signatures to contiguous memory; free() the data of the copy. */
cog_status sample_signatures(const struct signatures_view *view, const uint32_t *rows, size_t count,
                             struct signatures_view *copy, cog_error *error);

/* ---- True pairs ------------------------------------------------------------------------------ */

/* The rows of a join and the measure that decides about a pair: the dot product of vectors, the
 * distance of signatures if `vectors` is NULL, or `find`. In a self-join, side 1 is side 0. */
struct truth_rows {
    const struct sparse_matrix *vectors[2];
    const struct signatures_view *signatures[2];
    double threshold;        /* of the dot product */
    uint32_t radius_bits;    /* of signatures */
    const uint32_t *numbers; /* rows of side 0 to sample from, ascending; NULL: 0, 1, ... */
    size_t count;            /* of the rows to sample from */
    size_t first_row; /* the row number of the first row of side 1, if side 1 is part of a larger
                         side */
    bool self;        /* self-join: a sampled row may be either row of a pair */
    bool same_rows;   /* the sides have the same row numbers, and no row is paired with itself */
    uint64_t seed;
    unsigned threads;
    /* If not NULL, finds all matches of rows of side 0 instead of the fields above: for sets, and
     * for rows that do not fit in memory. The list's limit applies; `a` is a position in the
     * sample, `b` a row. */
    cog_status (*find)(void *context, const uint32_t *sample, size_t count,
                       struct match_list *truth, cog_error *error);
    void *context;
    size_t side_rows; /* of side 1, if `find` is given */
};

/* The matches of at most rows_max sampled rows (1 to TRUTH_ROWS_MAX); of fewer rows if they have
 * very many matches. `truth` must be zeroed. */
enum { TRUTH_ROWS_MAX = 2000 };
cog_status truth_of_rows(const struct truth_rows *rows, size_t rows_max, struct match_list *truth,
                         cog_error *error);

/* All matches of these rows of side 0; `a` is a position among them, and a row may match itself.
 * `matches` must be empty; its limit holds. */
cog_status truth_find(const struct truth_rows *rows, const uint32_t *numbers, size_t count,
                      struct match_list *matches, cog_error *error);

/* Pairs for planning: matches of TRUTH_ROWS_MAX rows, evenly sampled and sorted by ascending
 * similarity; at most PLANNED_PAIRS_MAX, and none if there are too few to plan with. *independent
 * is the equivalent number of independent pairs, as the pairs of one row are found or missed
 * together. */
enum { PLANNED_PAIRS_MIN = 50, PLANNED_PAIRS_MAX = 1000 };
cog_status truth_to_plan_by(const struct truth_rows *rows, struct match_list *truth,
                            double *independent, cog_error *error);

/* ---- Measured recall ------------------------------------------------------------------------- */

/* A sample of rows, with the number of true matches of each and how many of them were found. */
enum { RECALL_ROWS = 1000 };
struct recall_sample {
    uint32_t rows[RECALL_ROWS]; /* of side 0, ascending */
    size_t count;
    uint64_t hits[RECALL_ROWS], trials[RECALL_ROWS];
    size_t most_at_once; /* largest number of true matches in memory at a time */
};
/* Draws at most `most` rows. */
void recall_sample_draw(struct recall_sample *sample, const struct truth_rows *rows, size_t most);
/* Counts the true matches of the sampled rows with side 1 against `matches`, which must be sorted.
 * True matches are processed in parts of about a million. */
cog_status recall_sample_count(struct recall_sample *sample, const struct truth_rows *rows,
                               const struct match_list *matches, cog_error *error);
/* Draws a sample, counts and reports its recall. */
cog_status recall_measure(const struct truth_rows *rows, const struct match_list *matches,
                          double wanted, const char *exact_method, cog_report *report,
                          cog_error *error);

/* Counts one query's answers. A found hit counts if it is as good as the last true one, by distance
 * or by similarity, so ties count as equal. */
enum recall_key { RECALL_BY_DISTANCE, RECALL_BY_SIMILARITY };
void recall_count_nearest(const struct match *truth, size_t truth_count, const struct match *found,
                          size_t found_count, enum recall_key key, struct share_tally *tally);

struct noun {
    const char *one, *many;
};
/* Reports the share of the true `things` ("pairs", "neighbours") of sample_size `units` ("rows",
 * "queries") that were found, with its 95% interval. */
void report_recall(cog_report *report, const struct share_tally *tally, size_t sample_size,
                   struct noun things, struct noun units);
/* Reports that the answer is exact. */
void report_exact(cog_report *report);
