/* The loops of struct flip_kernels, written once and compiled for each instruction set; the
 * compiler vectorises them. */
#pragma once

#include <math.h>

#include "search/lsh/lsh_across.h"
#include "search/probes/volatility.h"

static void fill_penalties(const float *restrict margins, size_t count, double scale,
                           uint32_t *restrict penalties, double *restrict differs) {
    for (size_t i = 0; i < count; i++) {
        differs[i] = volatility_at_cosine(fabs((double)margins[i]) * scale);
        penalties[i] = probe_penalty(differs[i]);
    }
}

static void fill_costs(const double *restrict probabilities, size_t count,
                       int32_t *restrict costs) {
    for (size_t i = 0; i < count; i++)
        costs[i] =
            (int32_t)probe_penalty(probabilities[i]) - (int32_t)probe_penalty(1 - probabilities[i]);
}

/* Sets of the second half below this number may be combined with a set of `flips`. */
static inline uint32_t flips_below(uint32_t flips) {
    return (FLIPS_MAX + 1 - (flips >> FLIP_COUNT_SHIFT)) << FLIP_COUNT_SHIFT;
}

static inline uint64_t flip_mask(uint32_t flips) {
    return flips & (((uint32_t)1 << FLIP_COUNT_SHIFT) - 1);
}

static size_t count_within(const int32_t *costs, size_t count, int32_t bound) {
    uint32_t within = 0;
    for (size_t i = 0; i < count; i++)
        within += costs[i] <= bound;
    return within;
}

/* The portable version, for levels without a better one. */
void collect_flips(struct flip_keys *keys, const struct flip_sets *first,
                   const struct flip_sets *second, struct lsh_key own, unsigned half_bits,
                   int32_t bound);

#define FLIP_KERNELS(collect)                                                                      \
    { fill_penalties, fill_costs, collect, count_within }
