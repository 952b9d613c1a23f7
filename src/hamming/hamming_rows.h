/* The row kernels written once over row_distance(a, b, words): an instruction-set file defines that
 * inline function and HAMMING_TABLE, the name of its table, and includes this. The usual widths are
 * compiled with their number of words known. */
#include "hamming/hamming_levels.h"

enum {
    GATHER_AHEAD = 12, /* rows */
    SCAN_AHEAD_BYTES = 4096,
    CACHE_LINE_BYTES = 64,
};

static inline void prefetch_bytes(const uint8_t *from, size_t size_bytes) {
    for (size_t byte = 0; byte < size_bytes; byte += CACHE_LINE_BYTES)
        __builtin_prefetch(from + byte);
}

static uint32_t rows_pair(const uint8_t *a, const uint8_t *b, size_t words) {
    return row_distance(a, b, words);
}

static inline __attribute__((always_inline)) void scan_words(const uint8_t *query,
                                                             const uint8_t *rows,
                                                             size_t stride_bytes, size_t words,
                                                             size_t count, uint16_t *distances) {
    for (size_t i = 0; i < count; i++) {
        const uint8_t *row = rows + i * stride_bytes;
        /* Counting fills the window in which the processor itself would look ahead. */
        if (words * 8 >= CACHE_LINE_BYTES)
            prefetch_bytes(row + SCAN_AHEAD_BYTES, words * 8);
        distances[i] = (uint16_t)row_distance(query, row, words);
    }
}

static void rows_scan(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
                      size_t count, uint16_t *distances) {
    switch (words) {
    case 1:
        scan_words(query, rows, stride_bytes, 1, count, distances);
        return;
    case 2:
        scan_words(query, rows, stride_bytes, 2, count, distances);
        return;
    case 4:
        scan_words(query, rows, stride_bytes, 4, count, distances);
        return;
    case 8:
        scan_words(query, rows, stride_bytes, 8, count, distances);
        return;
    case 16:
        scan_words(query, rows, stride_bytes, 16, count, distances);
        return;
    default:
        scan_words(query, rows, stride_bytes, words, count, distances);
    }
}

static inline __attribute__((always_inline)) void
gather_words(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
             const uint32_t *numbers, size_t count, uint16_t *distances) {
    for (size_t i = 0; i < count; i++) {
        if (i + GATHER_AHEAD < count)
            prefetch_bytes(rows + numbers[i + GATHER_AHEAD] * stride_bytes, words * 8);
        distances[i] = (uint16_t)row_distance(query, rows + numbers[i] * stride_bytes, words);
    }
}

static void rows_gather(const uint8_t *query, const uint8_t *rows, size_t stride_bytes,
                        size_t words, const uint32_t *numbers, size_t count, uint16_t *distances) {
    if (words == 1)
        gather_words(query, rows, stride_bytes, 1, numbers, count, distances);
    else if (words == 16)
        gather_words(query, rows, stride_bytes, 16, numbers, count, distances);
    else
        gather_words(query, rows, stride_bytes, words, numbers, count, distances);
}

#ifndef HAMMING_SELECT
#define HAMMING_SELECT rows_select
static size_t rows_select(const uint16_t *distances, size_t count, uint32_t limit,
                          uint32_t *positions) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        positions[found] = (uint32_t)i;
        found += distances[i] <= limit;
    }
    return found;
}
#endif

const struct hamming_kernels HAMMING_TABLE = {
    .level = HAMMING_LEVEL,
    .pair = rows_pair,
    .scan = rows_scan,
    .gather = rows_gather,
    .select = HAMMING_SELECT,
};
