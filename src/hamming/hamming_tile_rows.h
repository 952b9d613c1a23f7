/* The tile written over row_distance(a, b, words), for instruction sets without a better layout:
 * panels are copies of the rows, pairs are compared one by one. The including file defines
 * row_distance and the name HAMMING_TILE of its table, and HAMMING_TILE_NAME. */
#include "hamming/hamming_tile_levels.h"

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
