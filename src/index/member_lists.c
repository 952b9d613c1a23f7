#include "index/member_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum {
    BUCKET_ENTRIES = 16,
    BITS_MOST = 36,
    TAG_SHIFT = 40,
    CLASS_SHIFT = 32,
    INSERTION_MOST = 96, /* entries that need no other sorting */
    GRAIN = 4096
};

unsigned member_lists_bits(uint64_t entries) {
    unsigned bits = 0;
    while (bits < BITS_MOST && entries >> bits > BUCKET_ENTRIES)
        bits++;
    return bits;
}

void member_lists_free(struct member_lists *lists) {
    free(lists->starts);
    free(lists->entries);
    *lists = (struct member_lists){0};
}

/* ---- Looking up ------------------------------------------------------------------------------ */

/* The first entry of [begin, end) that is not below `value`. */
static uint64_t first_from(const uint64_t *entries, uint64_t begin, uint64_t end, uint64_t value) {
    while (begin < end) {
        const uint64_t middle = begin + (end - begin) / 2;
        if (entries[middle] < value)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

struct member_list member_lists_find(const struct member_lists *lists, uint64_t member) {
    const uint64_t bucket = member_list_bucket(lists, member);
    const uint64_t tag = member_list_tag(lists, member);
    const uint64_t begin = lists->starts[bucket], end = lists->starts[bucket + 1];
    if (begin >= end || end > lists->count)
        return (struct member_list){0};
    const uint64_t first = first_from(lists->entries, begin, end, tag);
    uint64_t last = first;
    while (last < end && last < first + BUCKET_ENTRIES &&
           lists->entries[last] >> TAG_SHIFT == tag >> TAG_SHIFT)
        last++;
    if (last == first + BUCKET_ENTRIES) {
        const uint64_t next = (tag >> TAG_SHIFT) + 1;
        last = next >> (64 - TAG_SHIFT) ? end
                                        : first_from(lists->entries, last, end, next << TAG_SHIFT);
    }
    return (struct member_list){lists->entries + first, last - first};
}

uint64_t member_list_upto(const struct member_list *list, unsigned most) {
    if (most + 1 >= MEMBER_LIST_CLASSES || list->count == 0)
        return list->count;
    const uint64_t tag = list->entries[0] >> TAG_SHIFT << TAG_SHIFT;
    return first_from(list->entries, 0, list->count, tag | (uint64_t)(most + 1) << CLASS_SHIFT);
}

/* ---- Building -------------------------------------------------------------------------------- */

struct noted_list {
    uint64_t begin, length;
};

struct building {
    const struct member_source *source;
    struct member_lists *lists;
    uint64_t *fill;            /* of buckets: where the next entry goes */
    uint32_t *sizes;           /* of rows: members */
    uint32_t *places;          /* of rows: members that have their places */
    struct noted_list *longer; /* lists of two entries or more, in their order */
    uint64_t longer_count, longest;
};

static cog_status count_members(struct building *building, cog_error *error) {
    const struct member_source *source = building->source;
    struct member_lists *lists = building->lists;
    const uint64_t *members;
    TAKE(building->sizes, source->rows + 1, "posting lists", error);
    TAKE_ZEROED(building->places, source->rows + 1, "posting lists", error);
    for (size_t row = 0; row < source->rows; row++) {
        building->sizes[row] = (uint32_t)source->members(source->context, row, &members);
        lists->count += building->sizes[row];
    }
    lists->bits = member_lists_bits(lists->count);
    const uint64_t buckets = (uint64_t)1 << lists->bits;
    TAKE_ZEROED(lists->starts, buckets + 1, "posting lists", error);
    TAKE(lists->entries, lists->count + 1, "posting lists", error);
    for (size_t row = 0; row < source->rows; row++)
        for (size_t left = source->members(source->context, row, &members); left > 0; left--)
            lists->starts[member_list_bucket(lists, *members++) + 1]++;
    for (uint64_t i = 0; i < buckets; i++)
        lists->starts[i + 1] += lists->starts[i];
    return COG_OK;
}

/* Entries without classes into their buckets, rows rising. */
static cog_status spread_members(struct building *building, cog_error *error) {
    const struct member_source *source = building->source;
    const struct member_lists *lists = building->lists;
    const uint64_t buckets = (uint64_t)1 << lists->bits;
    const uint64_t *members;
    TAKE(building->fill, buckets, "posting lists", error);
    memcpy(building->fill, lists->starts, buckets * sizeof *building->fill);
    for (size_t row = 0; row < source->rows; row++)
        for (size_t left = source->members(source->context, row, &members); left > 0; left--) {
            const uint64_t member = *members++;
            uint64_t *place = &building->fill[member_list_bucket(lists, member)];
            lists->entries[(*place)++] = member_list_tag(lists, member) | row;
        }
    free(building->fill);
    building->fill = NULL;
    return COG_OK;
}

static void insertion_sort(uint64_t *items, uint64_t count) {
    for (uint64_t i = 1; i < count; i++) {
        const uint64_t item = items[i];
        uint64_t at = i;
        for (; at > 0 && items[at - 1] > item; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* Stable, by `bits` bits. */
static void sort_by_digit(const uint64_t *from, uint64_t *to, uint64_t count, unsigned shift,
                          unsigned bits) {
    uint64_t starts[(1 << 12) + 1] = {0};
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    for (uint64_t i = 0; i < count; i++)
        starts[(from[i] >> shift & mask) + 1]++;
    for (uint64_t i = 0; i < mask; i++)
        starts[i + 1] += starts[i];
    for (uint64_t i = 0; i < count; i++)
        to[starts[from[i] >> shift & mask]++] = from[i];
}

/* Entries that are in the order of their rows, by tags (in two digits) or by classes. */
static cog_status sort_entries(uint64_t *items, uint64_t count, bool by_class, cog_error *error) {
    uint64_t *scratch;
    if (count <= INSERTION_MOST) {
        insertion_sort(items, count);
        return COG_OK;
    }
    TAKE(scratch, count, "posting lists", error);
    if (by_class) {
        sort_by_digit(items, scratch, count, CLASS_SHIFT, 8);
        memcpy(items, scratch, count * sizeof *items);
    } else {
        sort_by_digit(items, scratch, count, TAG_SHIFT, 12);
        sort_by_digit(scratch, items, count, TAG_SHIFT + 12, 12);
    }
    free(scratch);
    return COG_OK;
}

static cog_status sort_buckets(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    const struct member_lists *lists = ((const struct building *)context)->lists;
    for (size_t bucket = begin; bucket < end; bucket++)
        TRY(sort_entries(lists->entries + lists->starts[bucket],
                         lists->starts[bucket + 1] - lists->starts[bucket], false, error));
    return COG_OK;
}

/* The entries of the list that begins there, in a bucket that ends at `end`. */
static uint64_t list_length(const uint64_t *entries, uint64_t begin, uint64_t end) {
    uint64_t at = begin + 1;
    while (at < end && entries[at] >> TAG_SHIFT == entries[begin] >> TAG_SHIFT)
        at++;
    return at - begin;
}

/* The next place in the order of a row's members goes to this entry. */
static void take_place(struct building *building, uint64_t *entry) {
    const uint32_t row = member_entry_row(*entry);
    const uint64_t place = building->places[row]++;
    *entry |= place * MEMBER_LIST_CLASSES / building->sizes[row] << CLASS_SHIFT;
}

/* Members of one row come first in the order; the other lists are noted. */
static cog_status place_single(struct building *building, cog_error *error) {
    const struct member_lists *lists = building->lists;
    size_t capacity = 0;
    for (uint64_t bucket = 0; bucket < (uint64_t)1 << lists->bits; bucket++) {
        const uint64_t end = lists->starts[bucket + 1];
        for (uint64_t at = lists->starts[bucket], length; at < end; at += length) {
            length = list_length(lists->entries, at, end);
            if (length == 1) {
                take_place(building, &lists->entries[at]);
                continue;
            }
            GROW(building->longer, capacity, building->longer_count + 1, "posting lists", error);
            building->longer[building->longer_count++] = (struct noted_list){at, length};
            building->longest = length > building->longest ? length : building->longest;
        }
    }
    return COG_OK;
}

/* By length; lists of one length keep their order. */
static cog_status sort_lists(struct building *building, cog_error *error) {
    const uint64_t count = building->longer_count;
    struct noted_list *sorted = NULL;
    uint64_t *starts;
    TAKE_ZEROED(starts, building->longest + 2, "posting lists", error);
    cog_status status = TAKEN(sorted, count + 1, "posting lists", error);
    for (uint64_t i = 0; i < count; i++)
        starts[building->longer[i].length + 1]++;
    for (uint64_t i = 0; i <= building->longest; i++)
        starts[i + 1] += starts[i];
    for (uint64_t i = 0; i < count && status == COG_OK; i++)
        sorted[starts[building->longer[i].length]++] = building->longer[i];
    free(starts);
    if (status == COG_OK) {
        free(building->longer);
        building->longer = sorted;
    }
    return status;
}

static cog_status place_longer(struct building *building, cog_error *error) {
    TRY(sort_lists(building, error));
    for (uint64_t i = 0; i < building->longer_count; i++) {
        uint64_t *entries = building->lists->entries + building->longer[i].begin;
        for (uint64_t j = 0; j < building->longer[i].length; j++)
            take_place(building, &entries[j]);
        TRY(sort_entries(entries, building->longer[i].length, true, error));
    }
    return COG_OK;
}

cog_status member_lists_build(const struct member_source *source, unsigned threads,
                              struct member_lists *lists, cog_error *error) {
    struct building building = {.source = source, .lists = lists};
    *lists = (struct member_lists){0};
    cog_status status = count_members(&building, error);
    THEN(status, spread_members(&building, error));
    THEN(status,
         parallel_for(threads, (size_t)1 << lists->bits, GRAIN, sort_buckets, &building, error));
    THEN(status, place_single(&building, error));
    THEN(status, place_longer(&building, error));
    FREE(building.fill, building.sizes, building.places, building.longer);
    if (status != COG_OK)
        member_lists_free(lists);
    return status;
}
