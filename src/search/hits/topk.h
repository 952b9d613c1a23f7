/* The k nearest of a stream of candidates.
 *
 * Distances are small integers, so candidates are counted by distance, and the limit falls as soon
 * as k candidates are within it. Candidates wait in a bounded buffer instead of a heap. Of equal
 * distances the smaller row wins. The result does not depend on the order of arrival. Memory: 16
 * bytes per neighbour and 4 bytes per bit (topk_bytes). */
#pragma once

#include "base/error.h"

struct neighbour {
    uint32_t row, distance;
};

/* Zero-initialise or topk_init; topk_free releases. */
struct topk {
    struct neighbour *items;
    uint32_t *counts; /* of the items at each distance up to limit */
    size_t k, count, capacity;
    size_t within;      /* items at limit or below */
    uint32_t limit;     /* no greater distance can be among the k nearest */
    uint32_t worst_row; /* at the limit itself only smaller rows can */
    uint32_t last_row;  /* greatest row so far */
    uint32_t bits;
};

/* Distances will be at most bits. */
cog_status topk_init(struct topk *topk, size_t k, uint32_t bits, cog_error *error);
void topk_free(struct topk *topk);
/* What topk_init allocates. */
double topk_bytes(size_t k, uint32_t bits);

/* Makes room in a full buffer; for topk_add. */
void topk_compact(struct topk *topk);

/* The greatest distance with which rows from next_row on may enter; -1 when none can. */
static inline int32_t topk_limit(const struct topk *topk, uint32_t next_row) {
    bool ties_lose = topk->within >= topk->k && (topk->k == 0 || next_row > topk->last_row);
    return (int32_t)topk->limit - ties_lose;
}

/* A row may be added once only. */
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

/* Writes the k nearest (fewer if fewer came), by distance, then row; returns how many. Leaves topk
 * as after topk_init. */
size_t topk_finish(struct topk *topk, struct neighbour *nearest);

/* As qsort wants it: by distance, then row. */
int neighbour_compare(const void *x, const void *y);
