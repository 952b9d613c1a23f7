/* Exhaustive search: every query is compared with every row. Exact, and the same for any number of
 * threads; other methods are tested and timed against it.
 *
 * In: rows and queries as signatures of the same width. Out: the hits of each query by distance,
 * then row, without similarities; the caller frees them. A few queries are scanned at memory speed;
 * more queries are compared in tiles. Memory: per thread a top-k for each query of a block
 * (flat_search_bytes). */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"

/* The k nearest rows of every query; fewer if there are fewer rows. threads = 0 means all. */
cog_status flat_search_topk(const struct signatures_view *rows,
                            const struct signatures_view *queries, size_t k, unsigned threads,
                            struct hit_lists *hits, cog_error *error);

/* All rows within radius_bits of every query. */
cog_status flat_search_radius(const struct signatures_view *rows,
                              const struct signatures_view *queries, uint32_t radius_bits,
                              unsigned threads, struct hit_lists *hits, cog_error *error);

/* Memory that a search for the k nearest takes in addition to its hits. */
double flat_search_bytes(size_t queries, unsigned bits, size_t k, unsigned threads);
