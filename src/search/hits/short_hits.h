/* Hits of searches with short signatures: which query, which stored row, how far. */
#pragma once

#include "search/keys/key_set.h"

struct short_hit {
    uint32_t query, row, distance;
};

/* Zero-initialise; short_hits_free releases. */
struct short_hits {
    struct short_hit *items;
    size_t count, capacity;
};

cog_status short_hits_add(struct short_hits *hits, struct short_hit hit, cog_error *error);
/* Replaces the positions of keys in the row fields, from number `first` on, by the rows of these
 * keys: all, or only the first of each. The memory of the row numbers is fetched ahead. */
cog_status short_hits_expand(struct short_hits *hits, size_t first, const struct key_rows *rows,
                             bool first_only, cog_error *error);
/* Adds every row of key `position`, or only the first. */
cog_status short_hits_add_rows(struct short_hits *hits, const struct key_rows *rows,
                               size_t position, uint32_t query, uint32_t distance, bool first_only,
                               cog_error *error);
/* By query, then row, from number `first` on. */
cog_status short_hits_sort(struct short_hits *hits, size_t first, unsigned threads,
                           cog_error *error);

enum { SHORT_PIECE_QUERIES = 2048 };

/* Searches queries [begin, end), at most SHORT_PIECE_QUERIES, and adds to hits; worker < threads.
 */
typedef cog_status short_search(void *context, unsigned worker, size_t begin, size_t end,
                                struct short_hits *hits, cog_error *error);
/* Searches `queries` queries on all threads; the hits come in the order of the queries, whatever
 * the number of threads. */
cog_status short_hits_gather(struct short_hits *hits, unsigned threads, size_t queries,
                             short_search *search, void *context, cog_error *error);

void short_hits_free(struct short_hits *hits);
