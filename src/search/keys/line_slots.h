/* The slots of a line bucket one by one, with a population count each; compiled once with and once
 * without the instruction. */
#pragma once

#include "search/keys/line_table.h"

enum { LINE_SLOTS_COMPARED = 16 }; /* a cache line of filters */

static inline unsigned line_slots_near(const uint8_t *bucket, uint32_t filter,
                                       unsigned radius_bits) {
    unsigned slots = 0;
    for (unsigned i = 0; i < LINE_SLOTS_COMPARED; i++) {
        uint32_t stored;
        memcpy(&stored, bucket + sizeof stored * i, sizeof stored);
        slots |= (unsigned)((unsigned)__builtin_popcount(stored ^ filter) <= radius_bits) << i;
    }
    return slots;
}
