#include "search/hits/hit_lists.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/threads.h"

cog_status hit_lists_init(struct hit_lists *lists, size_t queries, size_t hits, cog_error *error) {
    *lists = (struct hit_lists){.queries = queries};
    TAKE_ZEROED(lists->offsets, queries + 1, "the hits", error);
    cog_status status = TAKEN(lists->items, hits, "the hits", error);
    if (status != COG_OK)
        hit_lists_free(lists);
    return status;
}

void hit_lists_free(struct hit_lists *lists) {
    FREE(lists->offsets, lists->items);
    *lists = (struct hit_lists){0};
}

void hit_lists_cut(struct hit_lists *lists, const size_t *counts) {
    size_t begin = 0, at = 0;
    for (size_t query = 0; query < lists->queries; query++) {
        for (size_t i = 0; i < counts[query]; i++)
            lists->items[at++] = lists->items[begin + i];
        begin = lists->offsets[query + 1];
        lists->offsets[query + 1] = at;
    }
}

static int by_distance(const void *a, const void *b) {
    const struct match *x = a, *y = b;
    return x->distance != y->distance ? ORDER(x->distance, y->distance) : ORDER(x->b, y->b);
}

static int by_similarity(const void *a, const void *b) {
    const struct match *x = a, *y = b;
    return x->similarity != y->similarity ? ORDER(y->similarity, x->similarity) : ORDER(x->b, y->b);
}

void hits_sort(struct match *items, size_t count, enum hit_order order) {
    if (count > 1 && order != HITS_AS_ADDED)
        qsort(items, count, sizeof *items, order == HITS_BY_DISTANCE ? by_distance : by_similarity);
}

/* ---- The sink -------------------------------------------------------------------------------- */

cog_status hit_sink_init(struct hit_sink *sink, unsigned count, cog_error *error) {
    *sink = (struct hit_sink){.count = count};
    return TAKEN_ZEROED(sink->workers, count, "hits", error);
}

void hit_sink_free(struct hit_sink *sink) {
    for (unsigned i = 0; sink->workers && i < sink->count; i++)
        match_list_free(&sink->workers[i].hits);
    free(sink->workers);
    *sink = (struct hit_sink){0};
}

void hit_sink_share(struct hit_sink *sink, struct match_list *matches) {
    matches->count = matches->sieved = 0;
    for (unsigned i = 0; sink->workers && i < sink->count; i++) {
        match_list_share(&sink->workers[i].hits, matches->limit, &sink->listed);
        sink->workers[i].hits.sieve = matches->sieve;
    }
}

cog_status hit_sink_pairs(struct hit_sink *sink, unsigned bits, struct match_list *matches,
                          cog_error *error) {
    for (unsigned i = 0; i < sink->count; i++)
        TRY(match_list_move(matches, &sink->workers[i].hits, error));
    match_list_sort(matches);
    if (!matches->sieve)
        match_list_estimate(matches, bits);
    return COG_OK;
}

/* The only list with hits, if it has them in the order of the queries; NULL otherwise. */
static struct match_list *list_in_order(struct hit_sink *sink) {
    struct match_list *only = &sink->workers[0].hits;
    for (unsigned i = 0; i < sink->count; i++)
        if (sink->workers[i].hits.count) {
            if (only->count && only != &sink->workers[i].hits)
                return NULL;
            only = &sink->workers[i].hits;
        }
    for (size_t i = 1; i < only->count; i++)
        if (only->items[i - 1].a > only->items[i].a)
            return NULL;
    return only;
}

cog_status hit_sink_finish(struct hit_sink *sink, size_t queries, enum hit_order order,
                           struct hit_lists *lists, cog_error *error) {
    size_t total = 0;
    for (unsigned i = 0; i < sink->count; i++)
        total += sink->workers[i].hits.count;
    struct match_list *whole = list_in_order(sink);
    TRY(hit_lists_init(lists, queries, whole ? 0 : total, error));
    if (whole && whole->items) {
        free(lists->items);
        lists->items = whole->items;
    }
    /* starts[q] runs from the first place of query q to its end, which is where q + 1 begins. */
    size_t *starts = lists->offsets + 1, start = 0;
    for (unsigned i = 0; i < sink->count; i++)
        for (size_t j = 0; j < sink->workers[i].hits.count; j++)
            starts[sink->workers[i].hits.items[j].a]++;
    for (size_t query = 0; query < queries; query++) {
        size_t count = starts[query];
        starts[query] = start;
        start += count;
    }
    for (unsigned i = 0; i < sink->count; i++) {
        struct match_list *list = &sink->workers[i].hits;
        for (size_t j = 0; j < list->count; j++) /* onto its own place if they are in order */
            lists->items[starts[list->items[j].a]++] = list->items[j];
        if (list == whole)
            list->items = NULL;
        match_list_free(list);
    }
    for (size_t query = 0; query < queries; query++)
        hits_sort(lists->items + lists->offsets[query],
                  lists->offsets[query + 1] - lists->offsets[query], order);
    return COG_OK;
}

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
    if (list->count == list->capacity || (list->limit && list->count >= list->limit))
        TRY(reserve(list, list->count + 1, error));
    list->items[list->count++] = match;
    if (list->sieve)
        return list->count - list->sieved < MATCH_BATCH ? COG_OK : match_list_sieve(list, error);
    return list->listed && list->count % COUNTED_AT_A_TIME == 0
               ? check_listed(list, COUNTED_AT_A_TIME, error)
               : COG_OK;
}

cog_status match_list_move(struct match_list *to, struct match_list *from, cog_error *error) {
    TRY(match_list_sieve(from, error));
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
    TRY(reserve(to, to->count + from->count, error));
    memcpy(to->items + to->count, from->items, from->count * sizeof *from->items);
    to->count += from->count;
    to->sieved = to->count;
    from->count = from->sieved = 0;
    return COG_OK;
}

static int by_rows(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    return p->a != q->a ? ORDER(p->a, q->a) : ORDER(p->b, q->b);
}

enum { DIGIT_BITS = 11, RADIX_FROM = 1 << 10 };

static uint32_t digit_of(const struct match *match, bool of_b, unsigned shift) {
    return (of_b ? match->b : match->a) >> shift & ((1u << DIGIT_BITS) - 1);
}

/* Moves the items by one digit, equal ones in their order. False if all have the same. */
static bool sort_by_digit(struct match *to, const struct match *from, size_t count, bool of_b,
                          unsigned shift) {
    size_t starts[(1 << DIGIT_BITS) + 1] = {0};
    for (size_t i = 0; i < count; i++)
        starts[digit_of(&from[i], of_b, shift) + 1]++;
    if (starts[digit_of(&from[0], of_b, shift) + 1] == count)
        return false;
    for (size_t digit = 0; digit < 1u << DIGIT_BITS; digit++)
        starts[digit + 1] += starts[digit];
    for (size_t i = 0; i < count; i++)
        to[starts[digit_of(&from[i], of_b, shift)]++] = from[i];
    return true;
}

/* By digits if there is memory for the items a second time, otherwise by comparisons in place. */
void match_list_sort(struct match_list *list) {
    struct match *items = list->items, *from = items;
    struct match *to = list->count < RADIX_FROM ? NULL : memory_array(list->count, sizeof *to);
    if (!to) {
        if (list->count > 1)
            qsort(items, list->count, sizeof *items, by_rows);
        return;
    }
    struct match *second = to;
    for (unsigned of_a = 0; of_a < 2; of_a++)
        for (unsigned shift = 0; shift < 32; shift += DIGIT_BITS)
            if (sort_by_digit(to, from, list->count, !of_a, shift)) {
                struct match *sorted = to;
                to = from;
                from = sorted;
            }
    if (from != items)
        memcpy(items, from, list->count * sizeof *items);
    free(second);
}

void match_list_sort_distinct(struct match_list *list) {
    size_t kept = 0;
    match_list_sort(list);
    for (size_t i = 0; i < list->count; i++) {
        const struct match *match = &list->items[i];
        struct match *last = kept ? &list->items[kept - 1] : NULL;
        if (!last || by_rows(last, match) != 0)
            list->items[kept++] = *match;
        else if (match->distance < last->distance)
            last->distance = match->distance;
    }
    list->count = list->sieved = kept;
}

void match_list_release(const struct match_list *list, size_t before) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (list->file.data)
        (void)madvise((void *)list->file.data, before * sizeof *list->items / page * page,
                      MADV_DONTNEED);
}

void match_list_estimate(struct match_list *list, unsigned bits) {
    float similarities[HAMMING_MAX_BITS + 1];
    for (unsigned distance = 0; distance <= bits; distance++)
        similarities[distance] = (float)hamming_cosine(distance, bits);
    for (size_t i = 0; i < list->count; i++)
        list->items[i].similarity = similarities[list->items[i].distance];
}

void match_list_free(struct match_list *list) {
    if (list->file.data)
        mapping_close(&list->file);
    else
        free(list->items);
    *list = (struct match_list){0};
}

bool match_list_holds(const struct match_list *list, uint32_t a, uint32_t b) {
    const struct match *items = list->items;
    size_t at;
    FIND_FIRST_NOT(at, 0, list->count, items[at].a < a || (items[at].a == a && items[at].b < b));
    return at < list->count && items[at].a == a && items[at].b == b;
}

cog_status signatures_check(const struct signatures_view *first,
                            const struct signatures_view *second, cog_error *error) {
    if (first->bits == 0 || first->bits > HAMMING_MAX_BITS)
        return error_set(error, COG_ERR_USAGE, "signatures have %u bits; 1 to %d can be compared",
                         first->bits, HAMMING_MAX_BITS);
    if (second && first->bits != second->bits)
        return error_set(error, COG_ERR_USAGE,
                         "signatures of %u bits and of %u bits: make both with the same settings",
                         first->bits, second->bits);
    if (first->rows > UINT32_MAX || (second && second->rows > UINT32_MAX))
        return error_set(error, COG_ERR_USAGE, "more than 4294967295 rows: compare them in parts");
    return COG_OK;
}

/* Room in addition to 2 k items: a larger buffer is compacted less often. */
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
    TAKE(topk->items, topk->capacity, "the nearest neighbours; a smaller k needs less", error);
    cog_status status = TAKEN(topk->counts, (size_t)bits + 1, "the nearest neighbours", error);
    if (status == COG_OK)
        reset(topk);
    else
        topk_free(topk);
    return status;
}

double topk_bytes(size_t k, uint32_t bits) {
    return (2 * (double)k + SPARE_ITEMS) * sizeof(struct neighbour) +
           ((double)bits + 1) * sizeof(uint32_t) + sizeof(struct topk);
}

void topk_free(struct topk *topk) {
    FREE(topk->items, topk->counts);
    *topk = (struct topk){0};
}

int neighbour_compare(const void *x, const void *y) {
    const struct neighbour *p = x, *q = y;
    return p->distance != q->distance ? ORDER(p->distance, q->distance) : ORDER(p->row, q->row);
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

/* Moves the items at the limit after all others, sorted by row; returns where they begin. */
static size_t put_limit_last(struct topk *topk) {
    size_t below = 0;
    for (size_t i = 0; i < topk->count; i++)
        if (topk->items[i].distance < topk->limit) {
            struct neighbour nearer = topk->items[i];
            topk->items[i] = topk->items[below];
            topk->items[below++] = nearer;
        }
    qsort(topk->items + below, topk->count - below, sizeof *topk->items, neighbour_compare);
    return below;
}

/* Whether the items at the limit are in ascending order of rows. */
static bool limit_rises(const struct topk *topk) {
    uint32_t least = 0;
    for (size_t i = 0; i < topk->count; i++)
        if (topk->items[i].distance == topk->limit) {
            if (topk->items[i].row < least)
                return false;
            least = topk->items[i].row;
        }
    return true;
}

/* Keeps the k nearest of the items within the limit. They need no sorting, because only items at
 * the limit can be too many. */
static void keep_nearest(struct topk *topk) {
    if (topk->count <= topk->k)
        return;
    uint32_t at_limit = (uint32_t)(topk->k - (topk->count - topk->counts[topk->limit])), taken = 0;
    size_t kept = limit_rises(topk) ? 0 : put_limit_last(topk);
    for (size_t i = kept; i < topk->count; i++) {
        struct neighbour item = topk->items[i];
        bool is_at_limit = item.distance == topk->limit;
        if (is_at_limit && taken == at_limit)
            continue;
        taken += is_at_limit;
        topk->worst_row = is_at_limit ? item.row : topk->worst_row;
        topk->items[kept++] = item;
    }
    topk->count = topk->within = kept;
    topk->counts[topk->limit] = at_limit;
}

void topk_compact(struct topk *topk) {
    drop_beyond_limit(topk);
    if (topk->count > topk->capacity / 2)
        keep_nearest(topk);
}

static void sort_if_needed(struct neighbour *items, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (items[i - 1].row > items[i].row) {
            qsort(items, count, sizeof *items, neighbour_compare);
            return;
        }
}

/* By counting: the number of items at each distance is known. */
static void sort_into(const struct topk *topk, struct neighbour *nearest) {
    uint32_t *ends = topk->counts, start = 0;
    for (uint32_t distance = 0; distance <= topk->limit; distance++) {
        uint32_t count = ends[distance];
        ends[distance] = start;
        start += count;
    }
    for (size_t i = 0; i < topk->count; i++)
        nearest[ends[topk->items[i].distance]++] = topk->items[i];
    for (uint32_t distance = 0, begin = 0; distance <= topk->limit; distance++) {
        sort_if_needed(nearest + begin, ends[distance] - begin);
        begin = ends[distance];
    }
}

size_t topk_finish(struct topk *topk, struct neighbour *nearest) {
    enum { COUNTING_FROM = 64 };
    drop_beyond_limit(topk);
    keep_nearest(topk);
    size_t count = topk->count;
    if (count >= COUNTING_FROM && count > topk->limit / 8) {
        sort_into(topk, nearest);
    } else if (count) {
        memcpy(nearest, topk->items, count * sizeof *nearest);
        qsort(nearest, count, sizeof *nearest, neighbour_compare);
    }
    reset(topk);
    return count;
}
