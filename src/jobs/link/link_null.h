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
