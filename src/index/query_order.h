/* The order in which a batch of queries is searched: by some bits of their keys, so that queries
 * which read the same part of a table follow each other and find it in the cache. */
#ifndef COGNATE_INDEX_QUERY_ORDER_H
#define COGNATE_INDEX_QUERY_ORDER_H

#include "index/short_key.h"

/* Fills order[0 .. count - 1] with the queries of `list` (NULL: all rows of the view, count of
 * them) by the bits of their keys from first_bit on, as many as one pass sorts by; equal ones keep
 * their order. */
cog_status query_order_fill(const struct signatures_view *view, const uint32_t *list, size_t count,
                            unsigned first_bit, unsigned threads, uint32_t *order,
                            cog_error *error);

#endif
