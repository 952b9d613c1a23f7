#include "jobs/search/segment_hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Takes removed rows out and numbers the others through the index. *is_short tells whether a query
 * was left with fewer than k although the segment has more. */
static void drop_removed(struct hit_lists *lists, const struct manifest_entry *entry,
                         uint64_t first_row, size_t k, size_t asked, bool *is_short) {
    size_t at = 0, begin = 0;
    *is_short = false;
    for (size_t query = 0; query < lists->queries; query++) {
        size_t end = lists->offsets[query + 1], first = at;
        for (size_t i = begin; i < end; i++) {
            struct match hit = lists->items[i];
            if (entry->removed_count && manifest_is_removed(entry, hit.b))
                continue;
            hit.b += (uint32_t)first_row;
            lists->items[at++] = hit;
        }
        *is_short |= k && at - first < k && end - begin == asked && asked < entry->rows;
        begin = end;
        lists->offsets[query + 1] = at;
    }
}

/* Asks for a few hits more than k where rows are removed, and again for more until k are left. */
static cog_status search_part(const cog_index *index, size_t part, uint64_t first_row, size_t k,
                              part_search *search, void *context, struct hit_lists *lists,
                              cog_error *error) {
    enum { SPARE_HITS = 16 };
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    size_t spare = entry->removed_count < SPARE_HITS ? entry->removed_count : SPARE_HITS;
    for (;;) {
        bool is_short = false;
        size_t asked = k && k + spare < entry->rows ? k + spare : k ? entry->rows : 0;
        TRY(search(context, part, asked, lists, error));
        drop_removed(lists, entry, first_row, k, asked, &is_short);
        if (!is_short)
            return COG_OK;
        hit_lists_free(lists);
        spare = spare * 4 < entry->removed_count ? spare * 4 : entry->removed_count;
    }
}

/* One list for each query out of those of all segments. */
static cog_status merge_parts(const struct hit_lists *parts, size_t part_count, size_t queries,
                              size_t k, enum hit_order order, struct hit_lists *lists,
                              cog_error *error) {
    size_t total = 0, at = 0;
    for (size_t part = 0; part < part_count; part++)
        total += parts[part].offsets[queries];
    cog_status status = hit_lists_init(lists, queries, total, error);
    for (size_t query = 0; query < queries && status == COG_OK; query++) {
        size_t first = at;
        for (size_t part = 0; part < part_count; part++) {
            size_t begin = parts[part].offsets[query];
            size_t count = parts[part].offsets[query + 1] - begin;
            if (count)
                memcpy(lists->items + at, parts[part].items + begin, count * sizeof *lists->items);
            at += count;
        }
        hits_sort(lists->items + first, at - first, order);
        if (k && at - first > k)
            at = first + k;
        lists->offsets[query + 1] = at;
    }
    return status;
}

cog_status hit_lists_search(const cog_index *index, size_t queries, size_t k, enum hit_order order,
                            part_search *search, void *context, struct hit_lists *lists,
                            cog_error *error) {
    size_t count = index->parts.manifest.count, searched = 0;
    struct hit_lists *parts = memory_zeroed_array(count + 1, sizeof *parts);
    if (!parts)
        return error_memory(error, count * sizeof *parts, "segments");
    uint64_t first_row = 0;
    cog_status status = COG_OK;
    for (size_t part = 0; part < count && status == COG_OK; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        if (entry->rows > entry->removed_count)
            status =
                search_part(index, part, first_row, k, search, context, &parts[searched++], error);
        first_row += entry->rows;
    }
    THEN(status, merge_parts(parts, searched, queries, k, order, lists, error));
    for (size_t part = 0; part < searched; part++)
        hit_lists_free(&parts[part]);
    free(parts);
    return status;
}
