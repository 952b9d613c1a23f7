/* Evaluates lists of nearest neighbours against the true lists: recall@k and CDR@k.
 *
 * In: hits in memory, or two files written by `cognate search`. Out: means over the queries of the
 * truth. Files are mapped and sorted by query: 64 bytes of memory per line. */
#pragma once

#include "search/hits/hit_lists.h"

/* CDR@p of "Approximate Nearest-Neighbour Search with Inverted Signature Slice Lists", section 6:
 * the mean over i <= p of DR(i), the sum of the i smallest true distances divided by the sum of the
 * first i found distances; 0 / 0 is 1. Both lists are sorted by distance. p is at most truth_count;
 * a place missing in `found` counts as missing_distance, for example the number of bits of a
 * signature. 1 for p = 0. */
double cumulative_distance_ratio(const struct match *truth, size_t truth_count,
                                 const struct match *found, size_t found_count, size_t p,
                                 uint32_t missing_distance);

/* For answers to the same queries of one index. */
void evaluate_hits(const struct hit_lists *found, const struct hit_lists *truth, size_t k,
                   bool has_distances, uint32_t missing_distance, cog_neighbour_quality *quality);
/* For two files; queries and rows are matched by id. */
cog_status evaluate_neighbour_files(const char *found_path, const char *truth_path, size_t k,
                                    uint32_t missing_distance, cog_neighbour_quality *quality,
                                    cog_error *error);
