#include "search/hits/hit_lists.h"

#include <stdlib.h>

#include "base/memory.h"

cog_status hit_lists_init(struct hit_lists *lists, size_t queries, size_t hits, cog_error *error) {
    *lists = (struct hit_lists){.queries = queries};
    lists->offsets = memory_zeroed_array(queries + 1, sizeof *lists->offsets);
    lists->items = memory_array(hits + 1, sizeof *lists->items);
    if (lists->offsets && lists->items)
        return COG_OK;
    hit_lists_free(lists);
    return error_memory(error, hits * sizeof *lists->items + queries * sizeof *lists->offsets,
                        "the hits");
}

void hit_lists_free(struct hit_lists *lists) {
    free(lists->offsets);
    free(lists->items);
    *lists = (struct hit_lists){0};
}

static int by_distance(const void *a, const void *b) {
    const struct match *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static int by_similarity(const void *a, const void *b) {
    const struct match *x = a, *y = b;
    if (x->similarity != y->similarity)
        return x->similarity > y->similarity ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

void hits_sort(struct match *items, size_t count, enum hit_order order) {
    if (count > 1 && order != HITS_AS_ADDED)
        qsort(items, count, sizeof *items, order == HITS_BY_DISTANCE ? by_distance : by_similarity);
}

/* ---- The sink -------------------------------------------------------------------------------- */

cog_status hit_sink_init(struct hit_sink *sink, unsigned count, cog_error *error) {
    *sink = (struct hit_sink){memory_zeroed_array(count + 1, sizeof *sink->workers), count};
    return sink->workers ? COG_OK : error_memory(error, count * sizeof *sink->workers, "hits");
}

void hit_sink_free(struct hit_sink *sink) {
    for (unsigned i = 0; sink->workers && i < sink->count; i++)
        match_list_free(&sink->workers[i]);
    free(sink->workers);
    *sink = (struct hit_sink){0};
}

/* The only list with hits, if it has them in the order of the queries; NULL otherwise. */
static struct match_list *list_in_order(struct hit_sink *sink) {
    struct match_list *only = &sink->workers[0];
    for (unsigned i = 0; i < sink->count; i++)
        if (sink->workers[i].count) {
            if (only->count && only != &sink->workers[i])
                return NULL;
            only = &sink->workers[i];
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
        total += sink->workers[i].count;
    struct match_list *whole = list_in_order(sink);
    TRY(hit_lists_init(lists, queries, whole ? 0 : total, error));
    if (whole && whole->items) {
        free(lists->items);
        lists->items = whole->items;
    }
    /* starts[q] runs from the first place of query q to its end, which is where q + 1 begins. */
    size_t *starts = lists->offsets + 1, start = 0;
    for (unsigned i = 0; i < sink->count; i++)
        for (size_t j = 0; j < sink->workers[i].count; j++)
            starts[sink->workers[i].items[j].a]++;
    for (size_t query = 0; query < queries; query++) {
        size_t count = starts[query];
        starts[query] = start;
        start += count;
    }
    for (unsigned i = 0; i < sink->count; i++) {
        struct match_list *list = &sink->workers[i];
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
