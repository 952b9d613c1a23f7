#include "collection/equal_documents.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"

struct fingerprint fingerprint_of_bag(const struct bag_view *bag) {
    struct fingerprint print = {bag->count, 0};
    for (size_t i = 0; i < bag->count; i++) {
        uint64_t frequency = bag->frequencies ? bag->frequencies[i] : 1;
        if (bag->weights) { /* clicks have fractions, which frequencies round */
            uint32_t bits;
            memcpy(&bits, &bag->weights[i], sizeof bits);
            frequency |= (uint64_t)bits << 32;
        }
        print.low += hash_pair(bag->hashes[i], frequency);
        print.high += hash_pair(frequency + 0x9e3779b97f4a7c15u, bag->hashes[i]);
    }
    return print;
}

static bool is_equal(const struct fingerprint *a, const struct fingerprint *b) {
    return a->low == b->low && a->high == b->high;
}

cog_status equal_documents_find(const struct fingerprint *prints, size_t rows, uint32_t **result,
                                size_t *groups, cog_error *error) {
    const size_t slot_count = hash_slots(rows + 1, 64);
    uint32_t *leaders = NULL, *slots = NULL; /* a slot is 1 + row, or 0 if free */
    uint8_t *is_shared = NULL;
    cog_status status = TAKEN(leaders, rows, "equal documents", error);
    THEN(status, TAKEN_ZEROED(slots, slot_count, "equal documents", error));
    THEN(status, TAKEN_ZEROED(is_shared, rows, "equal documents", error));
    *groups = 0;
    for (size_t row = 0; row < rows && status == COG_OK; row++) {
        size_t at;
        HASH_PROBE(at, prints[row].low, slot_count,
                   !slots[at] || is_equal(&prints[slots[at] - 1], &prints[row]));
        if (!slots[at])
            slots[at] = (uint32_t)row + 1;
        leaders[row] = slots[at] - 1;
        if (leaders[row] != row && !is_shared[leaders[row]])
            *groups += is_shared[leaders[row]] = 1;
    }
    FREE(slots, is_shared);
    return HAND_OUT(status, leaders, free, result);
}
