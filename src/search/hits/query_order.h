/* The order in which a batch of queries is searched: by some bits of their keys, so that queries
 * which read the same part of a table follow each other and find it in the cache. */
#pragma once

#include "search/hits/short_hits.h"
#include "search/keys/key_sort.h"

/* query_order_free releases. */
struct query_order {
    struct key_array keys, ordered; /* rows of `ordered`: the queries in their order */
    size_t rows;                    /* at first, and what both have room for */
};

/* All rows of the view, not ordered yet. */
cog_status query_order_init(struct query_order *order, const struct signatures_view *view,
                            unsigned threads, cog_error *error);
/* By the bits of the keys from first_bit on, as many as one pass sorts by; equal ones as they are.
 */
cog_status query_order_by(struct query_order *order, unsigned first_bit, unsigned threads,
                          cog_error *error);
/* Queries that have a hit from number `first` on take no part in further orders. */
cog_status query_order_drop(struct query_order *order, const struct short_hits *hits, size_t first,
                            cog_error *error);
void query_order_free(struct query_order *order);
