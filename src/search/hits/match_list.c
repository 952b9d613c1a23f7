#include "search/hits/match_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { COUNTED_AT_A_TIME = 1024 };

void match_list_share(struct match_list *list, size_t limit, size_t *listed) {
    list->limit = limit;
    list->listed = listed;
}

static cog_status too_many(const struct match_list *list, cog_error *error) {
    return error_about(error, COG_ERR_MEMORY, "memory_bytes",
                       "more than %zu matches do not fit the memory budget; raise it, or ask "
                       "for nearer pairs",
                       list->limit);
}

static cog_status reserve(struct match_list *list, size_t needed, cog_error *error) {
    if (!list->sieve && list->limit && needed > list->limit)
        return too_many(list, error);
    if (memory_grow((void **)&list->items, &list->capacity, needed, sizeof *list->items))
        return COG_OK;
    return error_memory(error, needed * sizeof *list->items,
                        "matches; a higher threshold gives fewer");
}

static cog_status check_listed(const struct match_list *list, size_t added, cog_error *error) {
    size_t listed = __atomic_add_fetch(list->listed, added, __ATOMIC_RELAXED);
    return list->limit && listed > list->limit ? too_many(list, error) : COG_OK;
}

cog_status match_list_sieve(struct match_list *list, cog_error *error) {
    size_t kept = list->count - list->sieved;
    if (!list->sieve || kept == 0)
        return COG_OK;
    TRY(list->sieve->keep(list->sieve->context, list->items + list->sieved, &kept, error));
    list->sieved += kept;
    list->count = list->sieved;
    if (list->limit && list->count > list->limit)
        return too_many(list, error);
    return list->listed ? check_listed(list, kept, error) : COG_OK;
}

cog_status match_list_add(struct match_list *list, struct match match, cog_error *error) {
    if (list->count == list->capacity || (list->limit && list->count >= list->limit)) {
        TRY(reserve(list, list->count + 1, error));
    }
    list->items[list->count++] = match;
    if (list->sieve)
        return list->count - list->sieved < MATCH_BATCH ? COG_OK : match_list_sieve(list, error);
    return list->listed && list->count % COUNTED_AT_A_TIME == 0
               ? check_listed(list, COUNTED_AT_A_TIME, error)
               : COG_OK;
}

cog_status match_list_move(struct match_list *to, struct match_list *from, cog_error *error) {
    cog_status status = match_list_sieve(from, error);
    if (status != COG_OK)
        return status;
    if (to->count == 0 && !to->limit) {
        struct match_list empty = {.items = to->items,
                                   .capacity = to->capacity,
                                   .sieve = from->sieve,
                                   .limit = from->limit,
                                   .listed = from->listed};
        *to = *from;
        match_list_share(to, 0, NULL);
        *from = empty;
        return COG_OK;
    }
    if (from->count == 0)
        return COG_OK;
    status = reserve(to, to->count + from->count, error);
    if (status != COG_OK)
        return status;
    memcpy(to->items + to->count, from->items, from->count * sizeof *from->items);
    to->count += from->count;
    to->sieved = to->count;
    from->count = from->sieved = 0;
    return COG_OK;
}

static int by_rows(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

void match_list_sort(struct match_list *list) {
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_rows);
}

void match_list_free(struct match_list *list) {
    free(list->items);
    *list = (struct match_list){0};
}

bool match_list_holds(const struct match_list *list, uint32_t a, uint32_t b) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct match *match = &list->items[middle];
        if (match->a < a || (match->a == a && match->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->items[low].a == a && list->items[low].b == b;
}

cog_status signatures_check(const struct signatures_view *first,
                            const struct signatures_view *second, cog_error *error) {
    if (first->bits == 0 || first->bits > HAMMING_MAX_BITS)
        return error_set(error, COG_ERR_USAGE, "signatures have %u bits; 1 to %d can be joined",
                         first->bits, HAMMING_MAX_BITS);
    if (second && first->bits != second->bits)
        return error_set(
            error, COG_ERR_USAGE,
            "one collection has %u bits, the other %u: make both with the same settings",
            first->bits, second->bits);
    if (first->rows > UINT32_MAX || (second && second->rows > UINT32_MAX))
        return error_set(error, COG_ERR_USAGE, "more than 4294967295 rows: join in parts");
    return COG_OK;
}
