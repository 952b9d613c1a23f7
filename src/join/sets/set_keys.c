#include "join/sets/set_keys.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "vector/member_set.h"

/* ---- Counts ---------------------------------------------------------------------------------- */

enum { SLOT_FULL = 15 };
#define MEMBER_MASK (((uint64_t)1 << MEMBER_BITS) - 1)
/* Entries for members with full slots are found by bits of the member that slots do not use first.
 */
#define FREQUENT_SHIFT 21

static uint64_t slot_of(const struct key_counts *counts, uint64_t member) {
    return member & (((uint64_t)1 << counts->slot_bits) - 1);
}

static uint32_t *frequent_of(const struct key_counts *counts, uint64_t member) {
    const uint64_t mask = ((uint64_t)1 << counts->frequent_bits) - 1;
    return &counts->frequent[(member >> FREQUENT_SHIFT ^ member) & mask];
}

static unsigned slot_get(const struct key_counts *counts, uint64_t slot) {
    return counts->slots[slot / 2] >> slot % 2 * 4 & SLOT_FULL;
}

static void slot_set(struct key_counts *counts, uint64_t slot, unsigned value) {
    const unsigned shift = slot % 2 * 4;
    counts->slots[slot / 2] =
        (uint8_t)((counts->slots[slot / 2] & ~(SLOT_FULL << shift)) | value << shift);
}

static uint32_t sum_below(uint32_t a, uint32_t b) {
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

void key_counts_add(struct key_counts *counts, const int64_t *members, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t member = (uint64_t)members[i] & MEMBER_MASK, slot = slot_of(counts, member);
        const unsigned value = slot_get(counts, slot);
        uint32_t *frequent = frequent_of(counts, member);
        if (value < SLOT_FULL)
            slot_set(counts, slot, value + 1);
        *frequent = sum_below(*frequent, 1);
    }
}

void key_counts_merge(struct key_counts *counts, const struct key_counts *other) {
    for (uint64_t slot = 0; slot < (uint64_t)1 << counts->slot_bits; slot++) {
        const unsigned sum = slot_get(counts, slot) + slot_get(other, slot);
        slot_set(counts, slot, sum < SLOT_FULL ? sum : SLOT_FULL);
    }
    for (size_t i = 0; i < (size_t)1 << counts->frequent_bits; i++)
        counts->frequent[i] = sum_below(counts->frequent[i], other->frequent[i]);
}

uint32_t key_count(const struct key_counts *counts, uint64_t member) {
    const unsigned value = slot_get(counts, slot_of(counts, member));
    if (value < SLOT_FULL)
        return value ? value : 1;
    const uint32_t more = *frequent_of(counts, member);
    return more > SLOT_FULL ? more : SLOT_FULL;
}

/* ---- Keys of sets ---------------------------------------------------------------------------- */

/* Counts as classes that fit above a member in 64 bits: the count itself, then steps of an eighth.
 */
static uint64_t class_of_count(uint32_t count) {
    if (count < 16)
        return count;
    const unsigned log = 31 - (unsigned)__builtin_clz(count);
    return 16 + (log - 4) * 8 + (count >> (log - 3) & 7);
}

cog_status set_keys_add(struct set_key_list *list, int64_t row, const int64_t *members,
                        size_t count, const struct key_counts *counts,
                        const struct set_measure *measure, cog_error *error) {
    const size_t places = set_prefix_places(measure, count);
    const size_t last = measure->containment ? count : places;
    size_t alone = 0, at = list->count;
    if (count > INT32_MAX)
        return error_set(error, COG_ERR_INPUT,
                         "a document has %zu terms, more than a set holds: split it", count);
    GROW(list->order, list->order_capacity, count + 1, "keys", error);
    for (size_t i = 0; i < count; i++) {
        const uint64_t member = (uint64_t)members[i] & MEMBER_MASK;
        const uint32_t times = key_count(counts, member);
        alone += times < 2;
        list->order[i] = class_of_count(times) << MEMBER_BITS | member;
    }
    if (alone >= last)
        return COG_OK;
    qsort(list->order, count, sizeof *list->order, compare_u64);
    GROW(list->items, list->capacity, list->count + last - alone, "keys", error);
    const int64_t first = (int64_t)(list->order[alone] & MEMBER_MASK);
    const int64_t second =
        alone + 1 < places ? (int64_t)(list->order[alone + 1] & MEMBER_MASK) : KEY_NONE;
    for (size_t i = alone; i < last; i++)
        list->items[at++] = (struct set_key){.row = row,
                                             .key = (int64_t)(list->order[i] & MEMBER_MASK),
                                             .place = (int32_t)i,
                                             .size = (int32_t)count,
                                             .first = alone < places ? first : KEY_NONE,
                                             .second = second};
    list->count = at;
    return COG_OK;
}

void set_key_list_free(struct set_key_list *list) {
    free(list->items);
    free(list->order);
    *list = (struct set_key_list){0};
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Whether this shared key proposes the pair: it is the first shared one of the first two keys of
 * both sets, or there is no such key. The first two keys are in the order of members, so the first
 * key of either set that is among the first two of the other is the first of all. */
static bool proposes(const struct key_rows *rows, size_t i, size_t j, int64_t key) {
    const int64_t first = rows->first[i], second = rows->second[i];
    if (first != KEY_NONE && (first == rows->first[j] || first == rows->second[j]))
        return first == key;
    if (second != KEY_NONE && (second == rows->first[j] || second == rows->second[j]))
        return second == key;
    return true;
}

static bool are_compared(uint8_t one, uint8_t other, bool by_words) {
    if ((one & KEY_ACROSS) && ((one ^ other) & KEY_SIDE) == 0)
        return false;
    return !(by_words && (one & other & KEY_HAS_TERMS));
}

static cog_status add_pair(struct key_pairs *pairs, const struct key_rows *rows, size_t i, size_t j,
                           cog_error *error) {
    const bool turned = (rows->flags[i] & KEY_SIDE) > (rows->flags[j] & KEY_SIDE);
    GROW(pairs->a, pairs->capacity_a, pairs->count + 1, "candidates", error);
    GROW(pairs->b, pairs->capacity_b, pairs->count + 1, "candidates", error);
    pairs->a[pairs->count] = (int64_t)(turned ? j : i);
    pairs->b[pairs->count++] = (int64_t)(turned ? i : j);
    return COG_OK;
}

/* Adds the pairs of row i with the larger sets after it. The overlap that a pair needs increases
 * with the larger set and is bounded by the members after the key, so the loop ends when row i has
 * too few of them. For a key common in its sets, that is at once for most rows. */
static cog_status pairs_of_row(const struct key_rows *rows, size_t i, size_t end, int64_t key,
                               const struct set_measure *measure, struct key_pairs *pairs,
                               cog_error *error) {
    const bool by_words = key >> MEMBER_BITS;
    const uint64_t size = (uint64_t)rows->sizes[i], after = size - (uint64_t)rows->places[i];
    uint64_t needed = 0;
    for (size_t j = i + 1; j < end; j++) {
        const uint64_t other = (uint64_t)rows->sizes[j];
        if (j == i + 1 || rows->sizes[j] != rows->sizes[j - 1])
            needed = set_needed_overlap(measure, size, other);
        if (after < needed)
            break;
        pairs->comparisons++;
        if (other - (uint64_t)rows->places[j] >= needed &&
            are_compared(rows->flags[i], rows->flags[j], by_words) && proposes(rows, i, j, key))
            TRY(add_pair(pairs, rows, i, j, error));
    }
    return COG_OK;
}

static cog_status pairs_of_run(const struct key_rows *rows, size_t begin, size_t end,
                               const struct set_measure *measure, struct key_pairs *pairs,
                               cog_error *error) {
    const int64_t key = rows->keys[begin] & (((int64_t)1 << KEY_BITS) - 1);
    for (size_t i = begin; i < end; i++)
        if (!(rows->flags[i] & KEY_LARGER) &&
            (size_t)rows->places[i] < set_prefix_places(measure, (size_t)rows->sizes[i]))
            TRY(pairs_of_row(rows, i, end, key, measure, pairs, error));
    return COG_OK;
}

cog_status key_pairs_find(const struct key_rows *rows, const struct set_measure *measure,
                          struct key_pairs *pairs, cog_error *error) {
    for (size_t begin = 0, end; begin < rows->count; begin = end) {
        for (end = begin + 1; end < rows->count && rows->keys[end] == rows->keys[begin]; end++)
            if (rows->sizes[end] < rows->sizes[end - 1])
                return error_set(error, COG_ERR_USAGE,
                                 "row %zu: the rows of a key must be sorted by size", end);
        TRY(pairs_of_run(rows, begin, end, measure, pairs, error));
    }
    return COG_OK;
}

void key_pairs_free(struct key_pairs *pairs) {
    free(pairs->a);
    free(pairs->b);
    *pairs = (struct key_pairs){0};
}
