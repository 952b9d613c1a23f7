/* What the tile methods share, and their tables; hamming_tile.c chooses among them. */
#pragma once

#include "hamming/hamming_tile.h"

extern const struct hamming_tile hamming_tile_portable;
#if defined(__x86_64__)
extern const struct hamming_tile hamming_tile_popcnt;
extern const struct hamming_tile hamming_tile_avx2;
extern const struct hamming_tile hamming_tile_avx512;
extern const struct hamming_tile hamming_tile_amx;
/* Asks the system for the tile registers; false where the CPU or the system has none. */
bool hamming_tile_amx_available(void);
#elif defined(__aarch64__)
extern const struct hamming_tile hamming_tile_neon;
#endif

static inline uint32_t comparison_limit(const struct hamming_comparison *comparison) {
    uint32_t limit = 0;
    for (size_t i = 0; i < comparison->query_count; i++)
        if (comparison->limits[i] > limit)
            limit = comparison->limits[i];
    return limit;
}

static inline size_t comparison_row_begin(const struct hamming_comparison *comparison,
                                          size_t query) {
    return comparison->begins ? comparison->begins[query] : 0;
}

static inline size_t comparison_row_end(const struct hamming_comparison *comparison, size_t query) {
    return comparison->ends && comparison->ends[query] < comparison->row_count
               ? comparison->ends[query]
               : comparison->row_count;
}

/* Whether a query of [first_query, last_query] wants a row of [row, row_end). */
static inline bool comparison_wants(const struct hamming_comparison *comparison, size_t first_query,
                                    size_t last_query, size_t row, size_t row_end) {
    if (!comparison->begins)
        return true;
    if (last_query >= comparison->query_count)
        last_query = comparison->query_count - 1;
    return comparison->begins[first_query] < row_end && comparison->ends[last_query] > row;
}

/* Prefetches up to `count` rows of those that come next. */
static inline void comparison_look_ahead(const struct hamming_comparison *comparison,
                                         size_t count) {
    struct hamming_ahead *ahead = comparison->ahead;
    for (; ahead && ahead->count && count; ahead->count--, count--) {
        const uint8_t *row = ahead->data + *ahead->rows++ * ahead->stride_bytes;
        for (size_t byte = 0; byte < ahead->row_bytes; byte += 64)
            __builtin_prefetch(row + byte, 0, 2);
    }
}

/* After how many words an unrelated pair (each bit differs with probability 1/2) is above the limit
 * by four standard deviations: there a look at the partial distances pays. `words` when it never
 * does. */
static inline size_t abandon_words(size_t words, uint32_t limit) {
    for (size_t w = limit / 32 + 1; w < words; w++) {
        size_t margin = w * 32 - limit;
        if (margin * margin > 16 * 16 * w)
            return w;
    }
    return words;
}
