#include "evaluate/interval.h"

#include <math.h>

struct measured_share measured_share(uint64_t hits, uint64_t trials) {
    if (trials == 0)
        return (struct measured_share){1, 0, 1, 0, 0};
    const double z = 1.959963984540054; /* two-sided 95% of the normal distribution */
    double n = (double)trials, p = (double)hits / n;
    double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    double low = hits == 0 ? 0 : centre - half, high = hits == trials ? 1 : centre + half;
    return (struct measured_share){p, low, high, hits, trials};
}
