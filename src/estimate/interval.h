/* Confidence interval of a measured share. Trials come in units (the neighbours of a query, the
 * pairs of a row), and trials of one unit tend to succeed or fail together. The interval therefore
 * follows from the variation between units: it is as wide as for a smaller number of independent
 * trials. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct share_tally {
    uint64_t hits, trials;
    size_t units; /* with trials */
    double hits_squared, products, trials_squared;
};
/* Adds the counts of one unit. */
void share_tally_add(struct share_tally *tally, uint64_t hits, uint64_t trials);

/* The 95% Wilson interval; [0, 1] if nothing was counted. `low` is never above the bound for all
 * hits, nor `high` below the bound for no hits. */
struct measured_share {
    double share, low, high;
};
struct measured_share measured_share(const struct share_tally *tally);

/* The recall to plan for, so that `recall` is reached despite sampling error in a sample worth
 * `independent` independent pairs. */
double recall_to_plan_for(double recall, double independent);
