#include "match/match_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static cog_status reserve(struct match_list *list, size_t needed, cog_error *error) {
    if (memory_grow((void **)&list->items, &list->capacity, needed, sizeof *list->items))
        return COG_OK;
    return error_memory(error, needed * sizeof *list->items,
                        "matches; a higher threshold gives fewer");
}

cog_status match_list_add(struct match_list *list, struct match match, cog_error *error) {
    if (list->count == list->capacity) {
        cog_status status = reserve(list, list->count + 1, error);
        if (status != COG_OK)
            return status;
    }
    list->items[list->count++] = match;
    return COG_OK;
}

cog_status match_list_move(struct match_list *to, struct match_list *from, cog_error *error) {
    if (to->count == 0) {
        struct match_list empty = *to;
        *to = *from;
        *from = empty;
        return COG_OK;
    }
    if (from->count == 0)
        return COG_OK;
    cog_status status = reserve(to, to->count + from->count, error);
    if (status != COG_OK)
        return status;
    memcpy(to->items + to->count, from->items, from->count * sizeof *from->items);
    to->count += from->count;
    from->count = 0;
    return COG_OK;
}

static int by_rows(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/* Distributes the matches over their a, and sorts what is not in order of b already. starts has
 * room for largest + 2 and is zero. */
static void sort_by_counting(struct match_list *list, uint32_t largest, size_t *starts,
                             struct match *copy) {
    for (size_t i = 0; i < list->count; i++)
        starts[list->items[i].a + 1]++;
    for (size_t a = 0; a < largest; a++)
        starts[a + 1] += starts[a];
    for (size_t i = 0; i < list->count; i++)
        copy[starts[list->items[i].a]++] = list->items[i];
    for (size_t begin = 0, end; begin < list->count; begin = end) {
        bool rising = true;
        for (end = begin + 1; end < list->count && copy[end].a == copy[begin].a; end++)
            rising = rising && copy[end - 1].b <= copy[end].b;
        if (!rising)
            qsort(copy + begin, end - begin, sizeof *copy, by_rows);
    }
    memcpy(list->items, copy, list->count * sizeof *copy);
}

void match_list_sort(struct match_list *list) {
    uint32_t largest = 0;
    for (size_t i = 0; i < list->count; i++)
        largest = list->items[i].a > largest ? list->items[i].a : largest;
    size_t *starts = NULL;
    struct match *copy = NULL;
    if (largest < list->count) {
        starts = memory_zeroed_array((size_t)largest + 2, sizeof *starts);
        copy = memory_array(list->count, sizeof *copy);
    }
    if (starts && copy)
        sort_by_counting(list, largest, starts, copy);
    else if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_rows);
    free(starts);
    free(copy);
}

void match_list_free(struct match_list *list) {
    free(list->items);
    *list = (struct match_list){0};
}
