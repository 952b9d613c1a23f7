/* The interval of a measured share. Trials come in units (the neighbours of a query, the pairs of a
 * row), and trials of one unit tend to be found or missed together, so the interval follows from
 * how units differ: it is as wide as that of a smaller number of independent trials. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct share_tally {
    uint64_t hits, trials;
    size_t units; /* with trials */
    double hits_squared, products, trials_squared;
};
/* What was counted of one unit. */
void share_tally_add(struct share_tally *tally, uint64_t hits, uint64_t trials);

/* The 95% interval of Wilson; [0, 1] if nothing was counted. low is never above that of finding
 * everything, nor high below that of finding nothing. */
struct measured_share {
    double share, low, high;
};
struct measured_share measured_share(const struct share_tally *tally);

/* The recall to plan for so that `recall` is reached in spite of chance in a sample that is worth
 * this number of independent pairs. */
double recall_to_plan_for(double recall, double independent);
