/* The k nearest rows seen so far: by distance, ties by row. */
#ifndef COGNATE_INDEX_NEIGHBOURS_H
#define COGNATE_INDEX_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct neighbour {
    uint32_t distance; /* Hamming distance in bits */
    uint32_t row;
};

/* A heap with the farthest on top, over memory of k entries that the caller owns. */
struct neighbours {
    struct neighbour *items;
    size_t count, k;
};

/* What a row must not exceed to be worth offering: the k-th distance, or the highest number while
 * fewer than k are held. */
static inline uint32_t neighbours_limit(const struct neighbours *nearest) {
    return nearest->count < nearest->k ? UINT32_MAX : nearest->k ? nearest->items[0].distance : 0;
}

/* Keeps the row if it is among the k nearest. O(log k). */
void neighbours_offer(struct neighbours *nearest, uint32_t row, uint32_t distance);
/* Orders by distance, then row; nothing may be offered afterwards. */
void neighbours_sort(struct neighbours *nearest);

/* By distance, then row. */
void neighbour_array_sort(struct neighbour *items, size_t count);

#endif
