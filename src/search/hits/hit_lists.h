/* Matches and hits: lists of matched rows, the sieve that verifies candidates, the k nearest rows
 * of a query, and the answers to a batch of queries.
 *
 * A hit is a struct match all the way from the method that finds it to the written result: `a` is
 * the query and `b` the row. Methods put hits into a hit_sink, from several threads and in any
 * order of queries; hit_sink_finish turns them into hit_lists. 16 bytes per hit, twice that while
 * finishing. */
#pragma once

#include "base/error.h"
#include "base/io/files.h"
#include "hamming/hamming.h"

/* Matches: pairs of rows with their measure, collected by several workers, delivered sorted. */

/* The distance of a match that was found without signatures, in a list that has distances. */
#define DISTANCE_NONE UINT32_MAX

/* a is the earlier row, or the row of the first collection. */
struct match {
    uint32_t a, b;
    uint32_t distance; /* Hamming distance in bits; 0 in a list without signatures */
    float similarity;  /* the true measure, or the estimate if there are no vectors */
};

/* Decides which candidates are matches, one batch at a time. */
struct match_sieve {
    /* Moves the items to keep to the front, in any order, and sets their number and similarities.
     * Called by several threads at once. */
    cog_status (*keep)(void *context, struct match *items, size_t *count, cog_error *error);
    void *context;
};

enum { MATCH_BATCH = 16384 };

/* Zero-initialise; match_list_free releases. */
struct match_list {
    struct match *items;
    size_t count, capacity;
    const struct match_sieve *sieve; /* NULL: everything that is added stays */
    size_t sieved;                   /* items at the front that have passed the sieve */
    size_t limit;        /* more matches than this are COG_ERR_MEMORY; 0: no limit. With a sieve the
                          * limit applies to what stays; a batch of candidates comes on top. */
    size_t *listed;      /* atomic; the total of all lists that share the limit; NULL: not shared */
    struct mapping file; /* if not zero, the items are in this file and cannot be changed */
};

/* Makes an empty list of a worker share a limit and a count with others. */
void match_list_share(struct match_list *list, size_t limit, size_t *listed);

cog_status match_list_add(struct match_list *list, struct match match, cog_error *error);
/* Passes the remaining candidates through the sieve, if there is one. */
cog_status match_list_sieve(struct match_list *list, cog_error *error);
/* Appends everything of `from`, sieved, to `to`; leaves `from` empty. */
cog_status match_list_move(struct match_list *to, struct match_list *from, cog_error *error);
/* Sorts by a, then b. */
void match_list_sort(struct match_list *list);
/* The same, and keeps one of equal pairs, with the least of their distances. */
void match_list_sort_distinct(struct match_list *list);
/* Sets every similarity to the cosine that random projection estimates, cos(pi distance / bits). */
void match_list_estimate(struct match_list *list, unsigned bits);
/* Whether a sorted list has the pair. */
bool match_list_holds(const struct match_list *list, uint32_t a, uint32_t b);
/* Items of a mapped file before this one are not needed soon: releases their memory. */
void match_list_release(const struct match_list *list, size_t before);
void match_list_free(struct match_list *list);

/* COG_ERR_USAGE if signatures of one collection, or of two, cannot be compared: their width is out
 * of range or differs, or there are too many rows. `second` may be NULL. */
cog_status signatures_check(const struct signatures_view *first,
                            const struct signatures_view *second, cog_error *error);

/* The hits of query q are items[offsets[q]] up to items[offsets[q + 1]]. Zero-initialise;
 * hit_lists_free releases. */
struct hit_lists {
    size_t queries;
    size_t *offsets;
    struct match *items;
};
/* Makes room for `hits` hits; all lists are empty. */
cog_status hit_lists_init(struct hit_lists *lists, size_t queries, size_t hits, cog_error *error);
void hit_lists_free(struct hit_lists *lists);
/* Keeps the first counts[query] hits of each list. */
void hit_lists_cut(struct hit_lists *lists, const size_t *counts);

enum hit_order {
    HITS_AS_ADDED,
    HITS_BY_DISTANCE,   /* then row */
    HITS_BY_SIMILARITY, /* descending, then row */
};
void hits_sort(struct match *items, size_t count, enum hit_order order);

/* Collects the hits of many queries, or pairs of rows. Each worker adds to its own list, without a
 * lock. Zero-initialise, hit_sink_init, hit_sink_free. */
struct hit_sink {
    struct sink_worker {
        struct match_list hits;
        uint64_t unused[9]; /* padding: workers write to different cache lines */
    } * workers;
    unsigned count;
    size_t listed; /* by all workers, if they share a limit; atomic */
};
/* For workers 0 to count - 1. */
cog_status hit_sink_init(struct hit_sink *sink, unsigned count, cog_error *error);
static inline cog_status hit_sink_add(struct hit_sink *sink, unsigned worker, struct match hit,
                                      cog_error *error) {
    return match_list_add(&sink->workers[worker].hits, hit, error);
}
/* Sorts the hits by query, and within a query by `order`; with HITS_AS_ADDED all hits of a query
 * must come from one worker. `lists` is overwritten; the sink is empty afterwards. */
cog_status hit_sink_finish(struct hit_sink *sink, size_t queries, enum hit_order order,
                           struct hit_lists *lists, cog_error *error);
/* For a join: empties `matches`; all workers then share its limit and use its sieve. The sink must
 * not move. */
void hit_sink_share(struct hit_sink *sink, struct match_list *matches);
/* Moves the pairs of all workers to `matches`, sorted by rows. Without a sieve, the similarity of a
 * pair is the cosine estimated from its distance in `bits` bits. */
cog_status hit_sink_pairs(struct hit_sink *sink, unsigned bits, struct match_list *matches,
                          cog_error *error);
void hit_sink_free(struct hit_sink *sink);

/* The k nearest of a stream of candidates.
 *
 * Distances are small integers, so candidates are counted by distance, and the limit drops as soon
 * as k candidates are within it. Candidates wait in a bounded buffer instead of a heap. Among equal
 * distances the smaller row wins, so the result does not depend on the order of arrival. Memory: 16
 * bytes per neighbour and 4 bytes per bit (topk_bytes). */

struct neighbour {
    uint32_t row, distance;
};

/* Zero-initialise or topk_init; topk_free releases. */
struct topk {
    struct neighbour *items;
    uint32_t *counts; /* of the items at each distance up to limit */
    size_t k, count, capacity;
    size_t within;      /* items at limit or below */
    uint32_t limit;     /* no larger distance can be among the k nearest */
    uint32_t worst_row; /* at the limit itself, only smaller rows can enter */
    uint32_t last_row;  /* greatest row so far */
    uint32_t bits;
};

/* Distances will be at most bits. */
cog_status topk_init(struct topk *topk, size_t k, uint32_t bits, cog_error *error);
void topk_free(struct topk *topk);
/* The bytes that topk_init allocates. */
double topk_bytes(size_t k, uint32_t bits);

/* Makes room in a full buffer; for topk_add. */
void topk_compact(struct topk *topk);

/* The largest distance with which rows from next_row on may enter; -1 if none can. */
static inline int32_t topk_limit(const struct topk *topk, uint32_t next_row) {
    bool ties_lose = topk->within >= topk->k && (topk->k == 0 || next_row > topk->last_row);
    return (int32_t)topk->limit - ties_lose;
}

/* A row may be added only once. */
static inline void topk_add(struct topk *topk, uint32_t row, uint32_t distance) {
    if (distance > topk->limit || (distance == topk->limit && row >= topk->worst_row))
        return;
    if (topk->count == topk->capacity)
        topk_compact(topk);
    topk->items[topk->count++] = (struct neighbour){row, distance};
    topk->counts[distance]++;
    topk->within++;
    if (row > topk->last_row)
        topk->last_row = row;
    while (topk->within - topk->counts[topk->limit] >= topk->k && topk->limit > 0) {
        topk->within -= topk->counts[topk->limit--];
        topk->worst_row = UINT32_MAX;
    }
}

/* Writes the k nearest (fewer if fewer were added), by distance, then row; returns their number.
 * Resets topk to its state after topk_init. */
size_t topk_finish(struct topk *topk, struct neighbour *nearest);

/* For qsort: by distance, then row. */
int neighbour_compare(const void *x, const void *y);
