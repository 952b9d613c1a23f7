/* How two sets are compared: Jaccard |a and b| / |a or b|, or containment |a and b| / min(|a|,
 * |b|). Quotients of integers as doubles are compared with the threshold. They are monotone in both
 * integers, so every bound here holds for the rounded quotient too. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct set_measure {
    bool containment;
    double threshold; /* above 0, at most 1 */
};

/* The similarity of sets of a and b members that share `overlap`; 0 if either is empty. */
double set_similarity(const struct set_measure *measure, uint64_t a, uint64_t b, uint64_t overlap);
/* The smallest overlap that reaches the threshold; more than min(a, b) if no overlap does. */
uint64_t set_needed_overlap(const struct set_measure *measure, uint64_t a, uint64_t b);
/* The smallest overlap of a set of that size with any partner (containment: with any larger one)
 * that reaches the threshold. */
uint64_t set_least_overlap(const struct set_measure *measure, uint64_t size);
/* The number of first members of which any partner at the threshold has at least one. */
uint64_t set_prefix_places(const struct set_measure *measure, uint64_t size);
