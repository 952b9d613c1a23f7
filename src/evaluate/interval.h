/* How sure a measured share is. */
#ifndef COGNATE_EVALUATE_INTERVAL_H
#define COGNATE_EVALUATE_INTERVAL_H

#include <stdint.h>

struct measured_share {
    double share, low, high; /* the 95% interval of Wilson; [0, 1] where nothing was counted */
    uint64_t hits, trials;
};
struct measured_share measured_share(uint64_t hits, uint64_t trials);

#endif
