/* How good a list of nearest neighbours is, measured against the exhaustive answer. */
#pragma once

#include "search/hits/topk.h"

/* CDR@p of "Approximate Nearest-Neighbour Search with Inverted Signature Slice Lists", section 6:
 * the mean over i <= p of DR(i), the sum of the i least true distances by the sum of the first i
 * found ones, where 0 / 0 is 1. Both lists by distance. p is at most truth_count; a place that
 * found does not fill counts as missing_distance (the bits of a signature, say). 1 for p = 0. */
double cumulative_distance_ratio(const struct neighbour *truth, size_t truth_count,
                                 const struct neighbour *found, size_t found_count, size_t p,
                                 uint32_t missing_distance);

/* Share of the first k places that are as good as in the truth: a found row counts if its distance
 * is at most the true k-th distance, so ties are worth the same whichever of them is found. k is at
 * most truth_count; 1 for k = 0. */
double neighbour_recall(const struct neighbour *truth, size_t truth_count,
                        const struct neighbour *found, size_t found_count, size_t k);
