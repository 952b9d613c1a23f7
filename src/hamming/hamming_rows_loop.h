/* Row kernels written once over row_distance(a, b, words). The file of an instruction set defines
 * that inline function, HAMMING_LEVEL and HAMMING_TABLE (the name of its table), then includes this
 * file. The usual widths are compiled with a constant number of words. If the file also defines
 * HAMMING_TILE and HAMMING_TILE_NAME, it gets a tile whose panels are copies of the rows and whose
 * pairs are compared one by one: for instruction sets without a better layout. */
#include "hamming/hamming_tile.h"

enum { GATHER_AHEAD = 12 /* rows */ };

static uint32_t rows_pair(const uint8_t *a, const uint8_t *b, size_t words) {
    return row_distance(a, b, words);
}

static inline __attribute__((always_inline)) void scan_words(const uint8_t *query,
                                                             const uint8_t *rows,
                                                             size_t stride_bytes, size_t words,
                                                             size_t count, uint16_t *distances) {
    for (size_t i = 0; i < count; i++) {
        const uint8_t *row = rows + i * stride_bytes;
        if (words * 8 >= HAMMING_LINE_BYTES)
            hamming_prefetch(row + HAMMING_SCAN_AHEAD_BYTES, words * 8);
        distances[i] = (uint16_t)row_distance(query, row, words);
    }
}

static void rows_scan(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
                      size_t count, uint16_t *distances) {
    if (words == 1)
        scan_words(query, rows, stride_bytes, 1, count, distances);
    else if (words == 2)
        scan_words(query, rows, stride_bytes, 2, count, distances);
    else if (words == 4)
        scan_words(query, rows, stride_bytes, 4, count, distances);
    else if (words == 8)
        scan_words(query, rows, stride_bytes, 8, count, distances);
    else if (words == 16)
        scan_words(query, rows, stride_bytes, 16, count, distances);
    else
        scan_words(query, rows, stride_bytes, words, count, distances);
}

static inline __attribute__((always_inline)) void
gather_words(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
             const uint32_t *numbers, size_t count, uint16_t *distances) {
    for (size_t i = 0; i < count; i++) {
        if (i + GATHER_AHEAD < count)
            hamming_prefetch(rows + numbers[i + GATHER_AHEAD] * stride_bytes, words * 8);
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

#ifdef HAMMING_TILE
static size_t copy_queries_bytes(size_t words) {
    return TILE_QUERIES * words * 8;
}

static size_t copy_rows_bytes(size_t words) {
    return TILE_ROWS * words * 8;
}

static void copy_rows(const uint8_t *rows, size_t stride_bytes, size_t words, size_t count,
                      uint8_t *panel) {
    for (size_t i = 0; i < count; i++)
        memcpy(panel + i * words * 8, rows + i * stride_bytes, words * 8);
}

static inline __attribute__((always_inline)) size_t
compare_words(const struct hamming_comparison *comparison, size_t words, size_t early,
              struct hamming_hit *hits) {
    size_t found = 0;
    for (size_t query = 0; query < comparison->query_count; query++) {
        const uint8_t *a = comparison->queries + query * words * 8;
        uint32_t limit = comparison->limits[query];
        const size_t row_end = comparison_row_end(comparison, query);
        comparison_look_ahead(comparison, 1);
        for (size_t row = comparison_row_begin(comparison, query); row < row_end; row++) {
            const uint8_t *b = comparison->rows + row * words * 8;
            uint32_t distance = row_distance(a, b, early);
            if (distance > limit)
                continue;
            distance += row_distance(a + early * 8, b + early * 8, words - early);
            if (distance <= limit)
                hits[found++] = (struct hamming_hit){distance, (uint16_t)query, (uint16_t)row};
        }
    }
    return found;
}

static size_t rows_compare(const struct hamming_comparison *comparison, struct hamming_hit *hits) {
    size_t early = abandon_words(comparison->words, comparison_limit(comparison));
    if (comparison->words == 16 && early == 16)
        return compare_words(comparison, 16, 16, hits);
    return compare_words(comparison, comparison->words, early, hits);
}

const struct hamming_tile HAMMING_TILE = {
    .name = HAMMING_TILE_NAME,
    .panel_rows = TILE_ROWS,
    .worthwhile_queries = 4,
    .band_queries = 32,
    .queries_bytes = copy_queries_bytes,
    .rows_bytes = copy_rows_bytes,
    .prepare_queries = copy_rows,
    .prepare_rows = copy_rows,
    .compare = rows_compare,
};
#endif
