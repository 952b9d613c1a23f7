/* Exact search: for each query the k rows of a collection with the largest dot products above zero,
 * the largest first, ties by row. Products are sparse_dot's. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

struct cosine_neighbour {
    uint32_t row;
    float similarity;
};

/* Neighbours of query q: items[q * k .. q * k + counts[q]). Zero-initialise; cosine_topk_free
 * releases. */
struct cosine_neighbours {
    size_t queries, k;
    uint32_t *counts;
    struct cosine_neighbour *items;
};

cog_status cosine_topk(const struct sparse_matrix *queries, const struct sparse_matrix *collection,
                       size_t k, unsigned threads, struct cosine_neighbours *neighbours,
                       cog_error *error);
void cosine_topk_free(struct cosine_neighbours *neighbours);
/* What the search takes at its peak, its result included. */
size_t cosine_topk_memory_bytes(const struct sparse_matrix *queries,
                                const struct sparse_matrix *collection, size_t k, unsigned threads);
