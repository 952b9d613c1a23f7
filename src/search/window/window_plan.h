/* Chooses tables and window of the sliding windows for a wanted recall, by predicting the share of
 * true pairs that they will find.
 *
 * In: the pairs to be found, and how closely rows stand around them. Out: a setting and its
 * expected recall. Everything is borrowed. A plan takes some milliseconds; measuring how closely
 * rows stand scans the collection SHARING_SAMPLE times.
 *
 * The model differs in three points from that of the paper (Ture et al. 2011, equations 4 and 5;
 * see bench/papers). All tables are made of the same D bits: given the distance d of two rows, the
 * first bit in which they differ in a random order follows from drawing without replacement, and
 * only then are tables independent. The number of rows that share a prefix with a row comes from
 * measured distances, not from C / 2^n. And the window is where it is: two rows that differ first
 * in bit l are as far apart as the rows between them, and equal rows as those that equal them too,
 * in all tables alike. */
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
 * row whose distances to all rows (or to a sample, of which each stands for `scale` rows) have this
 * histogram. */
enum { WINDOW_PREFIX_MAX = 64 };
void window_rows_sharing(const uint32_t *histogram, unsigned bits, double scale,
                         double sharing[WINDOW_PREFIX_MAX + 1]);
/* The same, measured, on average over the rows of `first` at these places, at least one, among the
 * rows of `second`, or of `first` if second is NULL. If `shared`, windows hold rows of both
 * collections; else those of the larger number. O(count * rows). */
enum { SHARING_SAMPLE = 64 };
cog_status window_measure_sharing(const struct signatures_view *first,
                                  const struct signatures_view *second, bool shared,
                                  const uint32_t *places, size_t count,
                                  double sharing[WINDOW_PREFIX_MAX + 1], cog_error *error);

/* found[d], d = 0 .. radius_bits: probability that a row at distance d comes into the window in at
 * least one table. */
void window_found(const struct window_setting *setting, const double *sharing, double *found);
/* The recall at a cosine: found[] over the binomial distribution of the distance. */
double window_recall(const struct window_setting *setting, const double *found, double cosine);

/* The pairs that are to be found: at these cosines, or of signatures at these distances within the
 * radius, or (both NULL) at the radius itself; and how many rows share prefixes with theirs, or
 * (NULL) as many as among evenly spread rows. */
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

/* Comparisons in a table of these rows of one collection, or of two (second_rows not 0) whose rows
 * come in random order. */
double window_pairs(size_t first_rows, size_t second_rows, size_t window, bool shared);
