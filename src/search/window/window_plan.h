/* Chooses the number of tables and the window of the sliding window join for a wanted recall, by
 * predicting the share of true pairs that they will find.
 *
 * In: the pairs to be found, and how densely rows lie around them. Out: a setting and its expected
 * recall. Everything is borrowed. A plan takes some milliseconds; measuring the density scans the
 * collection SHARING_SAMPLE times.
 *
 * The model differs from the paper's (Ture et al. 2011, equations 4 and 5; see bench/papers) in
 * three points. All tables are made of the same D bits: given the distance d of two rows, the first
 * bit in which they differ in a random order follows from drawing without replacement, and tables
 * are independent only given d. The number of rows that share a prefix with a row comes from
 * measured distances, not from C / 2^n. And the position of the window matters: two rows that
 * differ first in bit l are as far apart as the rows between them, and equal rows are separated by
 * all other rows equal to them, in every table. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

struct window_setting {
    unsigned bits;        /* D */
    unsigned tables;      /* Q */
    size_t window;        /* B */
    uint32_t radius_bits; /* T */
};

/* sharing[l] is the expected number of rows that share the first l bits of a random order with a
 * row whose distances to all rows have this histogram (or to a sample, in which each row stands for
 * `scale` rows). */
enum { WINDOW_PREFIX_MAX = 64 };
void window_rows_sharing(const uint32_t *histogram, unsigned bits, double scale,
                         double sharing[WINDOW_PREFIX_MAX + 1]);
/* The same, measured: the average over the rows of `first` at these places (at least one), among
 * the rows of `second`, or of `first` if second is NULL. If `shared`, windows hold rows of both
 * collections; otherwise those of the larger one. O(count * rows). */
enum { SHARING_SAMPLE = 64 };
cog_status window_measure_sharing(const struct signatures_view *first,
                                  const struct signatures_view *second, bool shared,
                                  const uint32_t *places, size_t count,
                                  double sharing[WINDOW_PREFIX_MAX + 1], cog_error *error);

/* found[d], d = 0 .. radius_bits: the probability that a row at distance d is in the window in at
 * least one table. */
void window_found(const struct window_setting *setting, const double *sharing, double *found);
/* The recall at a cosine: found[] over the binomial distribution of the distance. */
double window_recall(const struct window_setting *setting, const double *found, double cosine);

/* The pairs to be found: at these cosines, or signatures at these distances within the radius, or
 * (both NULL) at the radius itself. `sharing` is how many rows share prefixes with theirs; NULL
 * assumes evenly spread rows. */
struct window_targets {
    const double *cosines;
    const uint32_t *distances;
    size_t count;
    const double *sharing;
};

/* Tables and window for a wanted recall of the targets, with the fewest comparisons. Given values
 * (not 0) stay. Returns the expected recall, which is lower than the wanted one if the radius alone
 * misses too many pairs. */
double window_plan(struct window_setting *setting, size_t rows,
                   const struct window_targets *targets, double recall);

/* The number of comparisons in a table of rows of one collection, or of two (second_rows not 0)
 * whose rows come in random order. */
double window_pairs(size_t first_rows, size_t second_rows, size_t window, bool shared);
