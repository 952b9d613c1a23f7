#include "jobs/link/link_null.h"

#include <math.h>
#include <stdbool.h>

#include "base/numbers.h"

static const double MOST_SHAPE = 0.8;

/* The first value at which the cumulative weight reaches the beginning of the tail. */
static size_t find_edge(const struct link_null *null, double tail) {
    double weight = 0;
    for (size_t i = 0; i < null->count; i++) {
        weight += null->weights[i];
        if (weight >= (1 - tail) * null->total)
            return i;
    }
    return null->count - 1;
}

/* Fits scale and shape from the mean excess and the mean of excess times the share above it. */
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

/* ---- Odds ------------------------------------------------------------------------------------ */

/* The probability of one kind, from the logarithm of its odds against all others. */
static double share_of(double log_odds) {
    double small = portable_exp(-fabs(log_odds));
    return (log_odds > 0 ? 1 : small) / (1 + small);
}

double link_odds_wrong(const struct link_odds *odds, double strength) {
    return share_of(-(odds->constant + odds->slope * strength));
}

/* First and second derivatives of the likelihood with respect to the constant and the slope. */
struct odds_step {
    double slope[2], curve[2][2];
};

/* Adds a link (which may be right) or a decoy. Wrong links are in the data twice, as links and as
 * decoys. */
static void add_value(struct odds_step *step, const struct link_odds *odds, double value,
                      double weight, bool is_link) {
    const double log_2 = 0.69314718055994531;
    double log_odds = odds->constant + odds->slope * value;
    double expected = share_of(log_odds - log_2), curve = weight * expected * (1 - expected);
    double miss = weight * ((is_link ? share_of(log_odds) : 0) - expected);
    step->slope[0] += miss;
    step->slope[1] += miss * value;
    step->curve[0][0] += curve;
    step->curve[0][1] += curve * value;
    step->curve[1][1] += curve * value * value;
}

/* Twice the reciprocal of the standard deviation: the slope if nothing else is known. */
static double usual_slope(const float *values, size_t count) {
    double sum = 0, squares = 0, all = (double)count;
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
    }
    double variance = count ? squares / all - sum / all * (sum / all) : 0;
    return 2 / sqrt(fmax(variance, 1e-9));
}

struct link_odds link_odds_fit(const float *links, size_t link_count, const float *decoys,
                               const double *weights, size_t decoy_count, double doubt) {
    enum { PASSES = 200 };
    const double usual = usual_slope(links, link_count), tolerance = 1e-5;
    struct link_odds odds = {.slope = usual};
    for (int pass = 0; pass < PASSES; pass++) {
        struct odds_step step = {.curve = {{1e-9, 0}, {0, 1 / (usual * usual)}}};
        step.slope[1] = (usual - odds.slope) / (usual * usual);
        for (size_t i = 0; i < link_count; i++)
            add_value(&step, &odds, (double)links[i], 1, true);
        for (size_t i = 0; i < decoy_count; i++)
            add_value(&step, &odds, (double)decoys[i], weights[i], false);
        add_value(&step, &odds, 0, doubt, false);
        double mixed = step.curve[0][1];
        double area = step.curve[0][0] * step.curve[1][1] - mixed * mixed;
        double by_constant = (step.curve[1][1] * step.slope[0] - mixed * step.slope[1]) / area;
        double by_slope = (step.curve[0][0] * step.slope[1] - mixed * step.slope[0]) / area;
        odds.constant += by_constant;
        odds.slope = fmax(odds.slope + by_slope, usual / 20);
        if (fabs(by_constant) < tolerance * (1 + fabs(odds.constant)) &&
            fabs(by_slope) < tolerance * usual)
            break;
    }
    return odds;
}
