/* How far wrong links stand out: the distribution of decoys, each counted by a weight.
 *
 * Below the last decoys, a given share, it is the weighted share itself. Above, where few
 * decoys are left, it is a generalized Pareto distribution fitted to them by probability-weighted
 * moments (Hosking and Wallis 1987), with a tail that is never lighter than the exponential: a
 * threshold is chosen far out, where counting decoys would give no wrong link or many. */
#pragma once

#include <stddef.h>

struct link_null {
    const float *values;   /* rising; borrowed */
    const double *weights; /* of the values; borrowed */
    size_t count;
    double total;        /* weight */
    double edge;         /* where the tail begins */
    double tail;         /* share above the edge */
    double scale, shape; /* of the tail */
};
void link_null_fit(struct link_null *null, const float *values, const double *weights, size_t count,
                   double tail);

/* Shares of decoys at or above values that are asked for in rising order. */
struct link_null_cursor {
    const struct link_null *null;
    size_t at;
    double below; /* weight of the values before `at` */
};
double link_null_above(struct link_null_cursor *cursor, double value);

/* The probability that a link is wrong, by its strength, if decoys are too few for a distribution
 * of their own. The logarithm of the odds of right against wrong is taken to be a line. Links are a
 * mixture of both, decoys are wrong ones, so the links say how the line rises and the few decoys
 * where it lies (a density ratio; the likelihood is maximised by Newton's steps). */
struct link_odds {
    double slope, constant;
};
/* `doubt` is a weight at 0, the least strength there is, for decoys that are missing by chance. */
struct link_odds link_odds_fit(const float *links, size_t link_count, const float *decoys,
                               const double *weights, size_t decoy_count, double doubt);
double link_odds_wrong(const struct link_odds *odds, double strength);
