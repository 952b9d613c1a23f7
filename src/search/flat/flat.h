/* Exhaustive search: every query is compared with every row. Exact and the same for any number of
 * threads; the oracle and the rival of the other methods. A few queries are scans at the speed of
 * memory; more are compared in tiles. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/topk.h"

/* The neighbours of query q are items[offsets[q]] up to items[offsets[q + 1]], by distance, then
 * row. Zero-initialise; flat_results_free releases. */
struct flat_results {
    size_t queries;
    size_t *offsets;
    struct neighbour *items;
};
void flat_results_free(struct flat_results *results);

/* The k nearest rows of every query; fewer where there are fewer rows. threads = 0 means all. */
cog_status flat_search_topk(const struct signatures_view *rows,
                            const struct signatures_view *queries, size_t k, unsigned threads,
                            struct flat_results *results, cog_error *error);

/* All rows within radius_bits of every query. */
cog_status flat_search_radius(const struct signatures_view *rows,
                              const struct signatures_view *queries, uint32_t radius_bits,
                              unsigned threads, struct flat_results *results, cog_error *error);
