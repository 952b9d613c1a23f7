#include "search/hits/topk.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A buffer this much larger than k is sorted once for as many accepted candidates. */
enum { SPARE_ITEMS = 64 };

static void reset(struct topk *topk) {
    memset(topk->counts, 0, ((size_t)topk->bits + 1) * sizeof *topk->counts);
    topk->count = topk->within = 0;
    topk->limit = topk->bits;
    topk->last_row = 0;
    /* With k = 0 nothing enters. */
    topk->worst_row = topk->k ? UINT32_MAX : 0;
    if (topk->k == 0)
        topk->limit = 0;
}

cog_status topk_init(struct topk *topk, size_t k, uint32_t bits, cog_error *error) {
    *topk = (struct topk){.k = k, .bits = bits};
    size_t doubled;
    if (!size_multiply(k, 2, &doubled) || doubled > SIZE_MAX - SPARE_ITEMS)
        return error_memory(error, SIZE_MAX, "that many neighbours");
    topk->capacity = doubled + SPARE_ITEMS;
    topk->items = memory_array(topk->capacity, sizeof *topk->items);
    topk->counts = memory_array((size_t)bits + 1, sizeof *topk->counts);
    if (!topk->items || !topk->counts) {
        size_t size_bytes = topk->capacity * sizeof *topk->items;
        topk_free(topk);
        return error_memory(error, size_bytes, "the nearest neighbours; a smaller k needs less");
    }
    reset(topk);
    return COG_OK;
}

double topk_bytes(size_t k, uint32_t bits) {
    return (2 * (double)k + SPARE_ITEMS) * sizeof(struct neighbour) +
           ((double)bits + 1) * sizeof(uint32_t) + sizeof(struct topk);
}

void topk_free(struct topk *topk) {
    free(topk->items);
    free(topk->counts);
    *topk = (struct topk){0};
}

int neighbour_compare(const void *x, const void *y) {
    const struct neighbour *p = x, *q = y;
    if (p->distance != q->distance)
        return p->distance < q->distance ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Items beyond the limit were accepted before it fell. */
static void drop_beyond_limit(struct topk *topk) {
    size_t kept = 0;
    for (size_t i = 0; i < topk->count; i++) {
        topk->items[kept] = topk->items[i];
        kept += topk->items[i].distance <= topk->limit;
    }
    topk->count = kept;
}

static void keep_nearest(struct topk *topk) {
    qsort(topk->items, topk->count, sizeof *topk->items, neighbour_compare);
    if (topk->count <= topk->k)
        return;
    topk->count = topk->within = topk->k;
    const struct neighbour worst = topk->items[topk->k - 1];
    uint32_t at_worst = 0;
    for (size_t i = topk->count; i > 0 && topk->items[i - 1].distance == worst.distance; i--)
        at_worst++;
    topk->limit = worst.distance;
    topk->counts[worst.distance] = at_worst;
    topk->worst_row = worst.row;
}

void topk_compact(struct topk *topk) {
    drop_beyond_limit(topk);
    if (topk->count > topk->capacity / 2)
        keep_nearest(topk);
}

size_t topk_finish(struct topk *topk, struct neighbour *nearest) {
    drop_beyond_limit(topk);
    keep_nearest(topk);
    size_t count = topk->count;
    if (count)
        memcpy(nearest, topk->items, count * sizeof *nearest);
    reset(topk);
    return count;
}
