#include "estimate/interval.h"

#include <math.h>

void share_tally_add(struct share_tally *tally, uint64_t hits, uint64_t trials) {
    if (trials == 0)
        return;
    tally->hits += hits;
    tally->trials += trials;
    tally->units++;
    tally->hits_squared += (double)hits * (double)hits;
    tally->products += (double)hits * (double)trials;
    tally->trials_squared += (double)trials * (double)trials;
}

/* If everything is found, or nothing, the units do not show how they vary: each counts once, by its
 * size. */
static double trials_by_size(const struct share_tally *tally) {
    return (double)tally->trials * (double)tally->trials / tally->trials_squared;
}

/* The number of independent trials that would vary as much: the variance of a ratio of sums over
 * units. */
static double independent_trials(const struct share_tally *tally, double share) {
    const double trials = (double)tally->trials, units = (double)tally->units;
    double squares =
        tally->hits_squared - 2 * share * tally->products + share * share * tally->trials_squared;
    if (tally->units < 2 || tally->hits == 0 || tally->hits == tally->trials || squares <= 0)
        return trials_by_size(tally);
    double variance = units / (units - 1) * squares / (trials * trials);
    return fmin(trials, share * (1 - share) / variance);
}

struct measured_share measured_share(const struct share_tally *tally) {
    if (tally->trials == 0)
        return (struct measured_share){1, 0, 1};
    const double z = 1.959963984540054; /* two-sided 95% of the normal distribution */
    double p = (double)tally->hits / (double)tally->trials, n = independent_trials(tally, p);
    double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    /* Few misses, each in a unit of its own, vary little. That is no reason to be surer than
     * without them: the bounds of finding everything, or nothing, are the limits. */
    double extreme = z * z / (trials_by_size(tally) + z * z);
    double low = tally->hits == 0 ? 0 : tally->hits == tally->trials ? 1 : centre - half;
    double high = tally->hits == 0 ? 0 : tally->hits == tally->trials ? 1 : centre + half;
    return (struct measured_share){p, fmin(low, 1 - extreme), fmax(high, extreme)};
}

double recall_to_plan_for(double recall, double independent) {
    enum { FEW = 50 }; /* pairs: a smaller sample is not planned by */
    return fmin(recall + 0.01 + sqrt(recall * (1 - recall) / (independent + FEW)), 0.995);
}
