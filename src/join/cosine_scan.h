/* The products of a few rows with all rows of a collection, one by one: for so few queries that
 * turning the collection round, as tiles and inverted lists do, costs more than the products. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

/* Measured on pages and articles of 100 to 1000 terms, of which tiles cost 15 to 20 scans. */
enum { COSINE_SCAN_QUERIES = 8 };

/* Called for each product above zero, on any thread, worker < threads. Products are sparse_dot's.
 */
typedef cog_status cosine_scan_work(void *context, unsigned worker, size_t query, uint32_t row,
                                    double product, cog_error *error);

/* The matrices have the same columns; threads is not 0. */
cog_status cosine_scan(const struct sparse_matrix *queries, const struct sparse_matrix *collection,
                       unsigned threads, cosine_scan_work *work, void *context, cog_error *error);
