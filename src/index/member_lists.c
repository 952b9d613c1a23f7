#include "index/member_lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum {
    BUCKET_ENTRIES = 16,
    BITS_MOST = 36,
    INSERTION_MOST = 96, /* up to this many entries are sorted by insertion */
    GRAIN = 4096,
    PARTS_BITS_MOST = 12,
    PART_MEMBERS = 1 << 20, /* approximate */
    ROWS_AT_ONCE = 1024     /* between two checks whether to stop */
};

unsigned member_lists_bits(uint64_t entries) {
    unsigned bits = 0;
    while (bits < BITS_MOST && entries >> bits > BUCKET_ENTRIES)
        bits++;
    return bits;
}

void member_lists_free(struct member_lists *lists) {
    room_free(&lists->starts_room);
    room_free(&lists->entries_room);
    *lists = (struct member_lists){0};
}

/* ---- Looking up ------------------------------------------------------------------------------ */

/* The first entry of [begin, end) that is at least `value`. */
static uint64_t first_from(const uint64_t *entries, uint64_t begin, uint64_t end, uint64_t value) {
    uint64_t at;
    FIND_FIRST_NOT(at, begin, end, entries[at] < value);
    return at;
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
           lists->entries[last] >> MEMBER_TAG_SHIFT == tag >> MEMBER_TAG_SHIFT)
        last++;
    if (last == first + BUCKET_ENTRIES) {
        const uint64_t next = (tag >> MEMBER_TAG_SHIFT) + 1;
        last = next >> (64 - MEMBER_TAG_SHIFT)
                   ? end
                   : first_from(lists->entries, last, end, next << MEMBER_TAG_SHIFT);
    }
    return (struct member_list){lists->entries + first, last - first};
}

uint64_t member_list_upto(const struct member_list *list, unsigned most) {
    if (most + 1 >= MEMBER_LIST_CLASSES || list->count == 0)
        return list->count;
    const uint64_t tag = list->entries[0] >> MEMBER_TAG_SHIFT << MEMBER_TAG_SHIFT;
    return first_from(list->entries, 0, list->count,
                      tag | (uint64_t)(most + 1) << MEMBER_CLASS_SHIFT);
}

/* ---- Building -------------------------------------------------------------------------------- */

struct noted_list {
    uint64_t begin, length;
};

/* A member and its row, before they are put into the buckets of their part. */
struct staged_member {
    uint32_t low, row;
    uint16_t high;
};

/* With a file, members are first sorted into parts: ranges of buckets that fit in memory, so that
 * random access stays within a part. In memory there is one part, and members are read from their
 * rows. */
struct building {
    const struct member_source *source;
    struct member_lists *lists;
    const char *near_path;
    unsigned threads, part_bits;
    uint64_t part_starts[(1 << PARTS_BITS_MOST) + 1]; /* members before each part */
    struct room staged;
    struct room sizes,
        places; /* by row, u32: number of members, and number of members with an assigned place */
    struct room longer; /* lists of two or more entries, in their order */
    uint64_t longer_count, longest;
    uint64_t first_bucket; /* of the current part */
    uint64_t *fill;        /* by bucket of the part: position of the next entry */
};

static cog_status take_room(const struct building *building, struct room *room, uint64_t count,
                            size_t item_bytes, cog_error *error) {
    return room_take(room, building->near_path, (size_t)count, item_bytes, "posting lists", error);
}

static unsigned part_of(uint64_t member, unsigned part_bits) {
    return (unsigned)(member >> (MEMBER_BITS - part_bits));
}

static cog_status check_stop(uint64_t at, uint64_t count, cog_error *error) {
    return at % ROWS_AT_ONCE == 0 ? threads_check(at, count, error) : COG_OK;
}

/* Counts the members of part p, of 2^PARTS_BITS_MOST parts, in part_starts[p + 1]. */
static cog_status count_members(struct building *building, cog_error *error) {
    const struct member_source *source = building->source;
    const uint64_t *members;
    TRY(take_room(building, &building->sizes, source->rows, sizeof(uint32_t), error));
    TRY(take_room(building, &building->places, source->rows, sizeof(uint32_t), error));
    uint32_t *sizes = building->sizes.data;
    for (size_t row = 0; row < source->rows; row++) {
        TRY(check_stop(row, source->rows, error));
        sizes[row] = (uint32_t)source->members(source->context, row, &members);
        building->lists->count += sizes[row];
        for (size_t left = sizes[row]; left > 0; left--)
            building->part_starts[part_of(*members++, PARTS_BITS_MOST) + 1]++;
    }
    return COG_OK;
}

/* Chooses the parts and accumulates the counts of count_members. */
static cog_status plan_parts(struct building *building, cog_error *error) {
    struct member_lists *lists = building->lists;
    uint64_t *starts = building->part_starts;
    lists->bits = member_lists_bits(lists->count);
    while (building->near_path && building->part_bits < PARTS_BITS_MOST &&
           building->part_bits < lists->bits && lists->count >> building->part_bits > PART_MEMBERS)
        building->part_bits++;
    for (size_t i = 0; i < (size_t)1 << PARTS_BITS_MOST; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i <= (size_t)1 << building->part_bits; i++)
        starts[i] = starts[i << (PARTS_BITS_MOST - building->part_bits)];
    TRY(take_room(building, &lists->starts_room, ((uint64_t)1 << lists->bits) + 1,
                  sizeof *lists->starts, error));
    TRY(take_room(building, &lists->entries_room, lists->count, sizeof *lists->entries, error));
    lists->starts = lists->starts_room.data;
    lists->entries = lists->entries_room.data;
    return COG_OK;
}

/* Writes the members of all rows to their parts, in ascending order of rows. */
static cog_status stage_members(struct building *building, cog_error *error) {
    const struct member_source *source = building->source;
    uint64_t next[1 << PARTS_BITS_MOST];
    const uint64_t *members;
    memcpy(next, building->part_starts, sizeof next);
    TRY(take_room(building, &building->staged, building->lists->count, sizeof(struct staged_member),
                  error));
    struct staged_member *staged = building->staged.data;
    for (size_t row = 0; row < source->rows; row++) {
        TRY(check_stop(row, source->rows, error));
        for (size_t left = source->members(source->context, row, &members); left > 0; left--) {
            const uint64_t member = *members++;
            staged[next[part_of(member, building->part_bits)]++] =
                (struct staged_member){(uint32_t)member, (uint32_t)row, (uint16_t)(member >> 32)};
        }
    }
    return COG_OK;
}

typedef void member_taker(struct building *building, uint64_t member, uint32_t row);

/* Calls take for the members of a part, in ascending order of rows. */
static inline cog_status visit_part(struct building *building, size_t part, member_taker *take,
                                    cog_error *error) {
    const struct member_source *source = building->source;
    const struct staged_member *staged = building->staged.data;
    const uint64_t *members;
    if (staged) {
        for (uint64_t i = building->part_starts[part]; i < building->part_starts[part + 1]; i++)
            take(building, (uint64_t)staged[i].high << 32 | staged[i].low, staged[i].row);
        return COG_OK;
    }
    for (size_t row = 0; row < source->rows; row++) {
        TRY(check_stop(row, source->rows, error));
        for (size_t left = source->members(source->context, row, &members); left > 0; left--)
            take(building, *members++, (uint32_t)row);
    }
    return COG_OK;
}

static void count_in_bucket(struct building *building, uint64_t member, uint32_t row) {
    (void)row;
    building->lists->starts[member_list_bucket(building->lists, member) + 1]++;
}

/* Adds an entry; its class is set later. */
static void put_in_bucket(struct building *building, uint64_t member, uint32_t row) {
    const struct member_lists *lists = building->lists;
    uint64_t *place = &building->fill[member_list_bucket(lists, member) - building->first_bucket];
    lists->entries[(*place)++] = member_list_tag(lists, member) | row;
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

/* Sorts by `bits` bits, stably. */
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

/* Sorts entries that are in the order of their rows, by tag (in two digits) or by class. */
static cog_status sort_entries(const struct building *building, uint64_t *items, uint64_t count,
                               bool by_class, cog_error *error) {
    struct room scratch;
    if (count <= INSERTION_MOST) {
        insertion_sort(items, count);
        return COG_OK;
    }
    TRY(take_room(building, &scratch, count, sizeof *items, error));
    uint64_t *other = scratch.data;
    if (by_class) {
        sort_by_digit(items, other, count, MEMBER_CLASS_SHIFT, 8);
        memcpy(items, other, count * sizeof *items);
    } else {
        sort_by_digit(items, other, count, MEMBER_TAG_SHIFT, 12);
        sort_by_digit(other, items, count, MEMBER_TAG_SHIFT + 12, 12);
    }
    room_free(&scratch);
    return COG_OK;
}

static cog_status sort_buckets(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    const struct building *building = context;
    const struct member_lists *lists = building->lists;
    const uint64_t *starts = lists->starts + building->first_bucket;
    for (size_t bucket = begin; bucket < end; bucket++)
        TRY(sort_entries(building, lists->entries + starts[bucket],
                         starts[bucket + 1] - starts[bucket], false, error));
    return COG_OK;
}

/* Fills the buckets of a part with sorted entries. Parts must be filled in order. */
static cog_status fill_part(struct building *building, size_t part, cog_error *error) {
    const struct member_lists *lists = building->lists;
    const size_t buckets = (size_t)1 << (lists->bits - building->part_bits);
    building->first_bucket = (uint64_t)part * buckets;
    uint64_t *starts = lists->starts + building->first_bucket;
    TRY(visit_part(building, part, count_in_bucket, error));
    for (size_t i = 0; i < buckets; i++)
        starts[i + 1] += starts[i];
    TAKE(building->fill, buckets, "posting lists", error);
    memcpy(building->fill, starts, buckets * sizeof *building->fill);
    cog_status status = visit_part(building, part, put_in_bucket, error);
    free(building->fill);
    building->fill = NULL;
    THEN(status, parallel_for(building->threads, buckets, GRAIN, sort_buckets, building, error));
    return status;
}

static cog_status fill_parts(struct building *building, cog_error *error) {
    if (building->part_bits)
        TRY(stage_members(building, error));
    for (size_t part = 0; part < (size_t)1 << building->part_bits; part++)
        TRY(fill_part(building, part, error));
    room_free(&building->staged);
    return COG_OK;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* The length of the list that starts at `begin`, in a bucket that ends at `end`. */
static uint64_t list_length(const uint64_t *entries, uint64_t begin, uint64_t end) {
    uint64_t at = begin + 1;
    while (at < end && entries[at] >> MEMBER_TAG_SHIFT == entries[begin] >> MEMBER_TAG_SHIFT)
        at++;
    return at - begin;
}

/* Assigns the next place in the order of the row's members to this entry. */
static void take_place(struct building *building, uint64_t *entry) {
    const uint32_t *sizes = building->sizes.data;
    uint32_t *places = building->places.data;
    const uint32_t row = member_entry_row(*entry);
    const uint64_t place = places[row]++;
    *entry |= place * MEMBER_LIST_CLASSES / sizes[row] << MEMBER_CLASS_SHIFT;
}

typedef void list_taker(struct building *building, uint64_t begin, uint64_t length);

static inline cog_status visit_lists(struct building *building, list_taker *take,
                                     cog_error *error) {
    const struct member_lists *lists = building->lists;
    for (uint64_t bucket = 0; bucket < (uint64_t)1 << lists->bits; bucket++) {
        const uint64_t end = lists->starts[bucket + 1];
        TRY(check_stop(bucket, (uint64_t)1 << lists->bits, error));
        for (uint64_t at = lists->starts[bucket], length; at < end; at += length) {
            length = list_length(lists->entries, at, end);
            take(building, at, length);
        }
    }
    return COG_OK;
}

/* Members with one row come first in the order. Other lists are counted, and noted in a second
 * pass. */
static void place_single(struct building *building, uint64_t begin, uint64_t length) {
    if (length == 1)
        take_place(building, &building->lists->entries[begin]);
    else
        building->longer_count++;
    building->longest = length > building->longest ? length : building->longest;
}

static void note_longer(struct building *building, uint64_t begin, uint64_t length) {
    struct noted_list *longer = building->longer.data;
    if (length > 1)
        longer[building->longer_count++] = (struct noted_list){begin, length};
}

/* Sorts by length, stably. */
static cog_status sort_lists(struct building *building, cog_error *error) {
    const uint64_t count = building->longer_count;
    const struct noted_list *longer = building->longer.data;
    struct room starts_room = {0}, sorted_room = {0};
    cog_status status =
        take_room(building, &starts_room, building->longest + 2, sizeof(uint64_t), error);
    THEN(status, take_room(building, &sorted_room, count, sizeof *longer, error));
    uint64_t *starts = starts_room.data;
    struct noted_list *sorted = sorted_room.data;
    for (uint64_t i = 0; i < count && status == COG_OK; i++)
        starts[longer[i].length + 1]++;
    for (uint64_t i = 0; i <= building->longest && status == COG_OK; i++)
        starts[i + 1] += starts[i];
    for (uint64_t i = 0; i < count && status == COG_OK; i++)
        sorted[starts[longer[i].length]++] = longer[i];
    room_free(&starts_room);
    room_free(status == COG_OK ? &building->longer : &sorted_room);
    if (status == COG_OK)
        building->longer = sorted_room;
    return status;
}

static cog_status place_members(struct building *building, cog_error *error) {
    TRY(visit_lists(building, place_single, error));
    TRY(take_room(building, &building->longer, building->longer_count, sizeof(struct noted_list),
                  error));
    building->longer_count = 0;
    TRY(visit_lists(building, note_longer, error));
    TRY(sort_lists(building, error));
    const struct noted_list *longer = building->longer.data;
    for (uint64_t i = 0; i < building->longer_count; i++) {
        uint64_t *entries = building->lists->entries + longer[i].begin;
        TRY(check_stop(i, building->longer_count, error));
        for (uint64_t j = 0; j < longer[i].length; j++)
            take_place(building, &entries[j]);
        TRY(sort_entries(building, entries, longer[i].length, true, error));
    }
    return COG_OK;
}

cog_status member_lists_build(const struct member_source *source, unsigned threads,
                              const char *near_path, struct member_lists *lists, cog_error *error) {
    struct building *building;
    *lists = (struct member_lists){0};
    TAKE_ZEROED(building, 1, "posting lists", error);
    building->source = source;
    building->lists = lists;
    building->near_path = near_path;
    building->threads = threads;
    cog_status status = count_members(building, error);
    THEN(status, plan_parts(building, error));
    THEN(status, fill_parts(building, error));
    THEN(status, place_members(building, error));
    struct room *rooms[] = {&building->staged, &building->sizes, &building->places,
                            &building->longer};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        room_free(rooms[i]);
    free(building);
    if (status != COG_OK)
        member_lists_free(lists);
    return status;
}
