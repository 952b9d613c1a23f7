/* How sure a measured share is. What is counted comes in units (the neighbours of a query, the
 * pairs of a row) of which one is found or missed with another, so the interval follows from how
 * units differ: it is as wide as that of fewer, independent trials. */
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

struct measured_share {
    double share, low, high; /* the 95% interval of Wilson; [0, 1] where nothing was counted */
};
struct measured_share measured_share(const struct share_tally *tally);
