/* The linear scan of sorted keys for those within a radius, as the published forms of PSM and BPHS
 * do it. */
#pragma once

#include "search/keys/key_set.h"

/* The first of keys [begin, end) within the radius of `key`; KEY_SCAN_ENDED if there is none before
 * the end, or before the first key that differs from `key` in a bit of `header`. */
typedef size_t key_scan(const uint64_t *keys, unsigned words, size_t begin, size_t end,
                        short_key key, short_key header, unsigned radius_bits);

#define KEY_SCAN_ENDED SIZE_MAX

/* The best that this machine can run. */
key_scan *key_scan_choose(void);

key_scan key_scan_portable;
#if defined(__x86_64__)
key_scan key_scan_popcnt;
#endif

static inline __attribute__((always_inline)) size_t
key_scan_loop(const uint64_t *keys, unsigned words, size_t begin, size_t end, short_key key,
              short_key header, unsigned radius_bits) {
    for (size_t i = begin; i < end; i++) {
        short_key difference = short_key_at(keys, words, i) ^ key;
        if (difference & header)
            return KEY_SCAN_ENDED;
        if (short_key_distance(difference, 0) <= radius_bits)
            return i;
    }
    return KEY_SCAN_ENDED;
}
