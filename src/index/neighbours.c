#include "index/neighbours.h"

#include <stdlib.h>

static bool is_nearer(struct neighbour a, struct neighbour b) {
    return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
}

static void sift_down(struct neighbour *items, size_t count, struct neighbour item) {
    size_t place = 0;
    for (size_t child = 1; child < count; child = 2 * place + 1) {
        if (child + 1 < count && is_nearer(items[child], items[child + 1]))
            child++;
        if (!is_nearer(item, items[child]))
            break;
        items[place] = items[child];
        place = child;
    }
    items[place] = item;
}

void neighbours_offer(struct neighbours *nearest, uint32_t row, uint32_t distance) {
    struct neighbour item = {distance, row};
    if (nearest->count == nearest->k) {
        if (nearest->k && is_nearer(item, nearest->items[0]))
            sift_down(nearest->items, nearest->count, item);
        return;
    }
    size_t place = nearest->count++;
    for (; place > 0 && is_nearer(nearest->items[(place - 1) / 2], item); place = (place - 1) / 2)
        nearest->items[place] = nearest->items[(place - 1) / 2];
    nearest->items[place] = item;
}

static int compare(const void *a, const void *b) {
    const struct neighbour *x = a, *y = b;
    return is_nearer(*x, *y) ? -1 : is_nearer(*y, *x);
}

void neighbour_array_sort(struct neighbour *items, size_t count) {
    if (count > 1)
        qsort(items, count, sizeof *items, compare);
}

void neighbours_sort(struct neighbours *nearest) {
    neighbour_array_sort(nearest->items, nearest->count);
}
