/* How far wrong links stand out: the distribution of decoys, with weights.
 *
 * Up to the last decoys, a given share, it is the weighted share itself. Above, where few decoys
 * are left, it is a generalized Pareto distribution fitted to them by probability-weighted moments
 * (Hosking and Wallis 1987), with a tail never lighter than the exponential. A threshold is chosen
 * far out, where counting decoys would give either no wrong link or many. */
#pragma once

#include <stddef.h>

struct link_null {
    const float *values;   /* ascending; borrowed */
    const double *weights; /* of the values; borrowed */
    size_t count;
    double total;        /* weight */
    double edge;         /* beginning of the tail */
    double tail;         /* share above the edge */
    double scale, shape; /* of the tail */
};
void link_null_fit(struct link_null *null, const float *values, const double *weights, size_t count,
                   double tail);

/* Computes the share of decoys at or above a value; values must be passed in ascending order. */
struct link_null_cursor {
    const struct link_null *null;
    size_t at;
    double below; /* weight of the values before `at` */
};
double link_null_above(struct link_null_cursor *cursor, double value);

/* The probability that a link is wrong, by its strength, if there are too few decoys for a
 * distribution. The logarithm of the odds of right against wrong is assumed to be a linear
 * function. Links are a mixture of right and wrong, decoys are wrong, so the links determine the
 * slope and the few decoys the constant (a density ratio; the likelihood is maximised by Newton's
 * method). */
struct link_odds {
    double slope, constant;
};
/* `doubt` is a weight at 0, the smallest possible strength, for decoys missing by chance. */
struct link_odds link_odds_fit(const float *links, size_t link_count, const float *decoys,
                               const double *weights, size_t decoy_count, double doubt);
double link_odds_wrong(const struct link_odds *odds, double strength);
