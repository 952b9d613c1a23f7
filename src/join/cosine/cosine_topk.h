/* Exact search: for each query, the k rows of a collection with the largest dot products above
 * zero, in descending order, ties by row. Products are those of sparse_dot. */
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

/* Allocates room for k neighbours per query, all empty. */
cog_status cosine_neighbours_take(struct cosine_neighbours *neighbours, size_t queries, size_t k,
                                  cog_error *error);
/* Inserts a row into the neighbours of a query if it is among the k nearest so far. The result does
 * not depend on the order of calls. Each row may be offered only once. */
void cosine_neighbours_offer(struct cosine_neighbours *neighbours, size_t query,
                             struct cosine_neighbour item);
/* Drops neighbours with a similarity below `least`. */
void cosine_neighbours_cut(struct cosine_neighbours *neighbours, float least);

cog_status cosine_topk(const struct sparse_matrix *queries, const struct sparse_matrix *collection,
                       size_t k, unsigned threads, struct cosine_neighbours *neighbours,
                       cog_error *error);
/* The same for up to COSINE_SCAN_QUERIES queries on one thread. `dense` is scratch memory of one
 * float per column: zero before and after the call. */
cog_status cosine_topk_kept(const struct sparse_matrix *queries,
                            const struct sparse_matrix *collection, size_t k, float *dense,
                            struct cosine_neighbours *neighbours, cog_error *error);
void cosine_topk_free(struct cosine_neighbours *neighbours);
/* Peak memory of the search, including its result. */
size_t cosine_topk_memory_bytes(const struct sparse_matrix *queries,
                                const struct sparse_matrix *collection, size_t k, unsigned threads);

/* Computes the products of a few queries with all rows of a collection, row by row. This is cheaper
 * than storing blocks of the collection by column; measured on pages and articles of 100 to 1000
 * terms, tiles cost as much as 15 to 20 scans. */
enum { COSINE_SCAN_QUERIES = 8 };

/* Called for each product above zero, on any thread; worker < threads. Products are those of
 * sparse_dot. */
typedef cog_status cosine_scan_work(void *context, unsigned worker, size_t query, uint32_t row,
                                    double product, cog_error *error);

/* The matrices have the same columns; `threads` is not 0. `kept` is NULL or, with one thread,
 * zeroed scratch memory as in cosine_topk_kept. */
cog_status cosine_scan(const struct sparse_matrix *queries, const struct sparse_matrix *collection,
                       unsigned threads, float *kept, cosine_scan_work *work, void *context,
                       cog_error *error);
