/* The answers to a batch of queries: for each query a list of hits, the best first.
 *
 * A hit is a struct match from the method that finds it to the result that is written: `a` is the
 * query and `b` the row. Methods put their hits into a hit_sink, from several threads and in any
 * order of the queries; hit_sink_finish turns them into hit_lists. 16 bytes per hit, twice while
 * finishing. */
#pragma once

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
    HITS_AS_ADDED,
    HITS_BY_DISTANCE,   /* then row */
    HITS_BY_SIMILARITY, /* the greatest first, then row */
};
void hits_sort(struct match *items, size_t count, enum hit_order order);

/* Collects hits of many queries. Each worker adds to its own list, without a lock. Zero-initialise,
 * hit_sink_init, hit_sink_free. */
struct hit_sink {
    struct match_list *workers;
    unsigned count;
};
/* For workers 0 to count - 1. */
cog_status hit_sink_init(struct hit_sink *sink, unsigned count, cog_error *error);
static inline cog_status hit_sink_add(struct hit_sink *sink, unsigned worker, struct match hit,
                                      cog_error *error) {
    return match_list_add(&sink->workers[worker], hit, error);
}
/* Sorts the hits by query, and within a query as ordered; HITS_AS_ADDED needs all hits of a query
 * to come from one worker. `lists` is overwritten; the sink is empty afterwards. */
cog_status hit_sink_finish(struct hit_sink *sink, size_t queries, enum hit_order order,
                           struct hit_lists *lists, cog_error *error);
void hit_sink_free(struct hit_sink *sink);
