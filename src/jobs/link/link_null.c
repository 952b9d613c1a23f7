#include "jobs/link/link_null.h"

#include <math.h>

#include "base/numbers.h"

static const double MOST_SHAPE = 0.8;

/* The first value at which the weight up to it reaches the tail's begin. */
static size_t find_edge(const struct link_null *null, double tail) {
    double weight = 0;
    for (size_t i = 0; i < null->count; i++) {
        weight += null->weights[i];
        if (weight >= (1 - tail) * null->total)
            return i;
    }
    return null->count - 1;
}

/* Scale and shape by the mean excess, and the mean of excess times the share above it. */
static void fit_tail(struct link_null *null, size_t begin) {
    double weight = 0, sum = 0, sum_above = 0, passed = 0;
    for (size_t i = begin; i < null->count; i++)
        weight += null->weights[i];
    null->tail = weight / null->total;
    null->scale = null->shape = 0;
    if (!(weight > 0))
        return;
    for (size_t i = begin; i < null->count; i++) {
        double excess = (double)null->values[i] - null->edge, counted = null->weights[i];
        double above = 1 - (passed + counted / 2) / weight;
        sum += counted * excess / weight;
        sum_above += counted * excess * above / weight;
        passed += counted;
    }
    double spread = sum - 2 * sum_above;
    null->shape = spread > 0 ? fmin(fmax(2 - sum / spread, 0), MOST_SHAPE) : 0;
    null->scale = sum * (1 - null->shape);
}

void link_null_fit(struct link_null *null, const float *values, const double *weights, size_t count,
                   double tail) {
    *null = (struct link_null){.values = values, .weights = weights, .count = count};
    for (size_t i = 0; i < count; i++)
        null->total += weights[i];
    if (!(null->total > 0)) {
        null->edge = INFINITY;
        return;
    }
    size_t edge = find_edge(null, tail), begin = edge;
    null->edge = (double)values[edge];
    while (begin < count && values[begin] <= values[edge])
        begin++;
    if (isinf(null->edge)) /* decoys of documents that would have no link */
        null->edge = begin < count ? (double)values[begin] : 0;
    fit_tail(null, begin);
}

static double tail_above(const struct link_null *null, double value) {
    double excess = value - null->edge;
    if (!(null->scale > 0))
        return 0;
    const double straight = 1e-6;
    double steps = excess / null->scale;
    double fall =
        null->shape < straight ? steps : portable_log(1 + null->shape * steps) / null->shape;
    return fall < 700 ? null->tail * portable_exp(-fall) : 0;
}

double link_null_above(struct link_null_cursor *cursor, double value) {
    const struct link_null *null = cursor->null;
    if (!(null->total > 0))
        return 0;
    if (value > null->edge)
        return tail_above(null, value);
    for (; cursor->at < null->count && (double)null->values[cursor->at] < value; cursor->at++)
        cursor->below += null->weights[cursor->at];
    return fmax(1 - cursor->below / null->total, null->tail);
}
