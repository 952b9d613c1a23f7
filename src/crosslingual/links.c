#include "crosslingual/links.h"

#include <stdlib.h>

#include "base/memory.h"

static float against(const struct link *link, struct link_means means) {
    return means.from ? 2 * link->similarity - means.from[link->from] - means.to[link->to]
                      : link->similarity;
}

void links_score(struct link *links, size_t count, struct link_means few, struct link_means many) {
    for (size_t i = 0; i < count; i++) {
        links[i].margin = against(&links[i], few);
        links[i].score = against(&links[i], many);
    }
}

static int by_rows(const void *x, const void *y) {
    const struct link *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static int by_margin(const void *x, const void *y) {
    const struct link *a = x, *b = y;
    if (a->margin != b->margin)
        return a->margin > b->margin ? -1 : 1;
    return by_rows(x, y);
}

size_t links_one_to_one(struct link *links, size_t count, size_t from_rows, size_t to_rows,
                        cog_error *error, cog_status *status) {
    uint8_t *taken = memory_zeroed_array(from_rows + to_rows, 1);
    size_t kept = 0;
    *status = taken ? COG_OK : error_memory(error, from_rows + to_rows, "links");
    if (!taken)
        return 0;
    qsort(links, count, sizeof *links, by_margin);
    for (size_t i = 0; i < count; i++) {
        struct link link = links[i];
        if (taken[link.from] || taken[from_rows + link.to])
            continue;
        taken[link.from] = taken[from_rows + link.to] = 1;
        links[kept++] = link;
    }
    free(taken);
    qsort(links, kept, sizeof *links, by_rows);
    return kept;
}

static int by_source(const void *x, const void *y) {
    const struct link *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return by_margin(x, y);
}

size_t links_best(struct link *links, size_t count) {
    size_t kept = 0;
    qsort(links, count, sizeof *links, by_source);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || links[kept - 1].from != links[i].from)
            links[kept++] = links[i];
    return kept;
}
