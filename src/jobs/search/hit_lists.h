/* Answers to many queries: for each a list of hits in order. A hit is a match whose a is the query
 * and whose b is the row. */
#pragma once

#include "jobs/index/index_handle.h"
#include "search/hits/match_list.h"

/* The hits of query q are items[offsets[q]] up to items[offsets[q + 1]]. Zero-initialise;
 * hit_lists_free releases. */
struct hit_lists {
    size_t queries;
    size_t *offsets;
    struct match *items;
};
/* Room for `hits`, all lists empty. */
cog_status hit_lists_init(struct hit_lists *lists, size_t queries, size_t hits, cog_error *error);
void hit_lists_free(struct hit_lists *lists);

enum hit_order {
    HITS_BY_DISTANCE,   /* then row */
    HITS_BY_SIMILARITY, /* the greatest first, then row */
};
void hits_sort(struct match *items, size_t count, enum hit_order order);

/* Searches one segment; rows of the hits count from its first. k = 0 asks for all hits. */
typedef cog_status part_search(void *context, size_t part, size_t k, struct hit_lists *lists,
                               cog_error *error);
/* Searches all segments and merges: rows that are not removed, the best k of each query (0: all).
 */
cog_status hit_lists_search(const cog_index *index, size_t queries, size_t k, enum hit_order order,
                            part_search *search, void *context, struct hit_lists *lists,
                            cog_error *error);
