#include "signature/patterns.h"

#include <string.h>

#include "base/hash.h"

void pattern_ternary(uint64_t hash, uint64_t seed, unsigned bits, unsigned ones,
                     uint16_t *positions, unsigned words, uint64_t *plus, uint64_t *minus) {
    struct random random = random_seeded(pattern_key(hash, seed));
    for (unsigned i = 0; i < bits; i++)
        positions[i] = (uint16_t)i;
    memset(plus, 0, words * sizeof *plus);
    memset(minus, 0, words * sizeof *minus);
    for (unsigned i = 0; i < 2 * ones; i++) {
        unsigned other = i + (unsigned)random_below(&random, bits - i);
        uint16_t position = positions[other];
        positions[other] = positions[i];
        uint64_t *plane = i < ones ? plus : minus;
        plane[position / 64] |= 1ull << (position % 64);
    }
}

/* The standard normal density, by plain operations only: exp(-x^2/2) as 1 / (e^{x^2/2}) through its
 * series, which for |x| < 3.1 converges in 40 terms. */
static double normal_density(double x) {
    double z = x * x / 2, term = 1, sum = 1;
    for (int k = 1; k <= 60; k++) {
        term *= z / k;
        sum += term;
    }
    return 0.39894228040143267794 / sum;
}

/* The middle of step i has cumulative probability (i + 1/2) / 256: found by integrating the density
 * outwards from zero with the midpoint rule. */
void gaussian_steps(int16_t steps[GAUSSIAN_STEPS]) {
    const double width = 1.0 / 4096;
    double x = 0, area = 0;
    for (int i = GAUSSIAN_STEPS / 2; i < GAUSSIAN_STEPS; i++) {
        double wanted = (i + 0.5) / GAUSSIAN_STEPS - 0.5;
        while (area < wanted) {
            area += normal_density(x + width / 2) * width;
            x += width;
        }
        steps[i] = (int16_t)(x * 1024 + 0.5);
        steps[GAUSSIAN_STEPS - 1 - i] = (int16_t)-steps[i];
    }
}
