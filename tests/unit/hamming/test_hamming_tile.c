#include "hamming/hamming_tile.h"

#include "base/hash.h"
#include "base/memory.h"
#include "test.h"

/* Rows are noisy copies of a few centres, so that distances of all sizes occur. */
static void fill_rows(struct random *random, unsigned bits, size_t rows, size_t stride_bytes,
                      uint8_t *storage) {
    memset(storage, 0, rows * stride_bytes);
    for (size_t row = 0; row < rows; row++) {
        uint64_t centre = random_below(random, 5), noise = random_below(random, 9);
        for (size_t byte = 0; byte < bits / 8; byte++) {
            uint8_t value = centre == 0   ? 0
                            : centre == 1 ? 255
                                          : (uint8_t)hash_sequence(centre, byte);
            if (random_below(random, 8) < noise)
                value ^= (uint8_t)(random_next(random) & random_next(random));
            storage[row * stride_bytes + byte] = value;
        }
    }
}

struct tile_case {
    struct signatures_view queries, rows;
    uint16_t limits[TILE_QUERIES];
};

static struct tile_case make_case(struct random *random, int round) {
    static const unsigned usual[] = {8, 64, 128, 256, 512, 1024, 4096};
    unsigned bits = round % 2 ? usual[round / 2 % 7]
                              : 8 * (unsigned)(1 + random_below(random, HAMMING_MAX_BITS / 8));
    size_t stride = signature_stride_bytes(bits) + 8 * random_below(random, 2);
    size_t queries = round % 3 ? random_below(random, TILE_QUERIES + 1) : TILE_QUERIES;
    size_t rows = round % 5 ? random_below(random, TILE_ROWS + 1) : TILE_ROWS;
    uint8_t *a = malloc((queries + 1) * stride), *b = malloc((rows + 1) * stride);
    fill_rows(random, bits, queries, stride, a);
    fill_rows(random, bits, rows, stride, b);
    struct tile_case tile_case = {{a, queries, bits, stride}, {b, rows, bits, stride}, {0}};
    uint64_t kind = random_below(random, 4);
    uint32_t common = (uint32_t)random_below(random, bits + 1);
    for (int i = 0; i < TILE_QUERIES; i++)
        tile_case.limits[i] = (uint16_t)(kind == 0   ? 0
                                         : kind == 1 ? bits
                                         : kind == 2 ? common
                                                     : random_below(random, bits + 1));
    return tile_case;
}

/* Every pair within its limit once, with its distance, and nothing else. */
static bool hits_are_right(const struct tile_case *tile_case, const struct hamming_hit *hits,
                           size_t count) {
    const struct hamming_kernels *plain = hamming_kernels_for(CPU_PORTABLE);
    size_t words = hamming_words(tile_case->rows.bits), expected = 0;
    static bool seen[TILE_QUERIES][TILE_ROWS];
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < count; i++) {
        struct hamming_hit hit = hits[i];
        if (hit.query >= tile_case->queries.rows || hit.row >= tile_case->rows.rows ||
            seen[hit.query][hit.row])
            return false;
        seen[hit.query][hit.row] = true;
        if (plain->pair(signature_row(&tile_case->queries, hit.query),
                        signature_row(&tile_case->rows, hit.row), words) != hit.distance)
            return false;
    }
    for (size_t q = 0; q < tile_case->queries.rows; q++)
        for (size_t r = 0; r < tile_case->rows.rows; r++)
            expected +=
                plain->pair(signature_row(&tile_case->queries, q),
                            signature_row(&tile_case->rows, r), words) <= tile_case->limits[q];
    return expected == count;
}

static bool method_is_right(const struct hamming_tile *tile, const struct tile_case *whole) {
    struct tile_case part = *whole, *tile_case = &part;
    if (part.rows.rows > tile->panel_rows)
        part.rows.rows = tile->panel_rows;
    size_t words = hamming_words(tile_case->rows.bits);
    size_t queries_bytes = tile->queries_bytes(words), rows_bytes = tile->rows_bytes(words);
    uint8_t *queries = aligned_alloc(64, queries_bytes), *rows = aligned_alloc(64, rows_bytes);
    struct hamming_hit *hits = malloc(sizeof *hits * TILE_QUERIES * TILE_ROWS);
    memset(queries, 0xa5, queries_bytes); /* panels need no clearing by the caller */
    memset(rows, 0xa5, rows_bytes);
    tile->prepare_queries(tile_case->queries.data, tile_case->queries.stride_bytes, words,
                          tile_case->queries.rows, queries);
    tile->prepare_rows(tile_case->rows.data, tile_case->rows.stride_bytes, words,
                       tile_case->rows.rows, rows);
    uint8_t *scratch = aligned_alloc(64, hamming_tile_scratch_bytes(tile, words) + 64);
    struct hamming_comparison comparison = {
        .scratch = scratch,
        .queries = queries,
        .rows = rows,
        .words = words,
        .query_count = tile_case->queries.rows,
        .row_count = tile_case->rows.rows,
        .limits = tile_case->limits,
    };
    bool right = hits_are_right(tile_case, hits, tile->compare(&comparison, hits));
    free(scratch);
    free(hits);
    free(rows);
    free(queries);
    return right;
}

TEST(hamming_tile_methods_list_exactly_the_pairs_within_limits) {
    struct random random = random_seeded(21);
    const struct hamming_tile *methods[HAMMING_TILE_METHODS];
    size_t count = hamming_tile_methods(methods);
    CHECK(count >= 1);
    for (int round = 0; round < 150; round++) {
        struct tile_case tile_case = make_case(&random, round);
        for (size_t m = 0; m < count; m++)
            CHECK_MSG(method_is_right(methods[m], &tile_case),
                      "%s differs at %u bits, %zu queries, %zu rows", methods[m]->name,
                      tile_case.rows.bits, tile_case.queries.rows, tile_case.rows.rows);
        free((void *)tile_case.queries.data);
        free((void *)tile_case.rows.data);
    }
}

TEST(hamming_tile_counters_do_not_wrap) {
    const struct hamming_tile *methods[HAMMING_TILE_METHODS];
    size_t count = hamming_tile_methods(methods);
    for (unsigned bits = 64; bits <= HAMMING_MAX_BITS; bits += 64) {
        size_t stride = signature_stride_bytes(bits);
        uint8_t *zeros = calloc(TILE_QUERIES, stride), *ones = malloc(TILE_ROWS * stride);
        memset(ones, 255, TILE_ROWS * stride);
        struct tile_case tile_case = {
            {zeros, TILE_QUERIES, bits, stride}, {ones, TILE_ROWS, bits, stride}, {0}};
        for (int i = 0; i < TILE_QUERIES; i++)
            tile_case.limits[i] = (uint16_t)(bits - (unsigned)i % 2);
        for (size_t m = 0; m < count; m++)
            CHECK_MSG(method_is_right(methods[m], &tile_case), "%s at %u bits", methods[m]->name,
                      bits);
        free(ones);
        free(zeros);
    }
}

/* Both ends of the band move forward, beyond the last row too. */
static void fill_band(struct random *random, size_t queries, uint32_t *begins, uint32_t *ends) {
    uint32_t begin = 0, end = 0, step = (uint32_t)random_below(random, 5);
    for (size_t q = 0; q < queries; q++) {
        begin += (uint32_t)random_below(random, step + 1);
        end += (uint32_t)random_below(random, step + 3);
        end = end < begin ? begin : end;
        begins[q] = begin;
        ends[q] = end;
    }
}

/* Panels one after the other, and a band of rows for each query. */
static bool band_is_right(const struct hamming_tile *tile, struct random *random) {
    enum { ROWS = 3 * TILE_ROWS + 5 };
    unsigned bits = 64 * (unsigned)(1 + random_below(random, 64));
    unsigned most_limit = bits >> random_below(random, 4); /* low ones abandon pairs */
    size_t stride = signature_stride_bytes(bits), words = hamming_words(bits);
    size_t query_count = 1 + random_below(random, TILE_QUERIES), panels = 0;
    uint8_t *a = malloc(TILE_QUERIES * stride), *b = malloc(ROWS * stride);
    uint8_t *queries = aligned_alloc(64, tile->queries_bytes(words));
    uint8_t *rows = aligned_alloc(64, (ROWS / tile->panel_rows + 1) * tile->rows_bytes(words));
    struct hamming_hit *hits = malloc(sizeof *hits * TILE_QUERIES * ROWS);
    uint32_t begins[TILE_QUERIES], ends[TILE_QUERIES];
    uint16_t limits[TILE_QUERIES];
    fill_rows(random, bits, TILE_QUERIES, stride, a);
    fill_rows(random, bits, ROWS, stride, b);
    tile->prepare_queries(a, stride, words, query_count, queries);
    for (size_t row = 0; row < ROWS; row += tile->panel_rows)
        tile->prepare_rows(b + row * stride, stride, words,
                           ROWS - row < tile->panel_rows ? ROWS - row : tile->panel_rows,
                           rows + panels++ * tile->rows_bytes(words));
    fill_band(random, query_count, begins, ends);
    for (size_t q = 0; q < query_count; q++)
        limits[q] = (uint16_t)random_below(random, most_limit + 1);
    uint8_t *scratch = aligned_alloc(64, hamming_tile_scratch_bytes(tile, words) + 64);
    struct hamming_comparison comparison = {.scratch = scratch,
                                            .queries = queries,
                                            .rows = rows,
                                            .words = words,
                                            .query_count = query_count,
                                            .row_count = ROWS,
                                            .limits = limits,
                                            .begins = begins,
                                            .ends = ends};
    size_t count = tile->compare(&comparison, hits), expected = 0;
    const struct hamming_kernels *plain = hamming_kernels_for(CPU_PORTABLE);
    bool right = true;
    for (size_t i = 0; i < count; i++)
        right = right && hits[i].row >= begins[hits[i].query] &&
                hits[i].row < ends[hits[i].query] &&
                hits[i].distance ==
                    plain->pair(a + hits[i].query * stride, b + hits[i].row * stride, words);
    for (size_t q = 0; q < query_count; q++)
        for (size_t row = begins[q]; row < ends[q] && row < ROWS; row++)
            expected += plain->pair(a + q * stride, b + row * stride, words) <= limits[q];
    free(scratch);
    free(hits);
    free(rows);
    free(queries);
    free(b);
    free(a);
    return right && count == expected;
}

TEST(hamming_tile_methods_keep_to_a_band) {
    struct random random = random_seeded(22);
    const struct hamming_tile *methods[HAMMING_TILE_METHODS];
    size_t count = hamming_tile_methods(methods);
    for (int round = 0; round < 60; round++)
        for (size_t m = 0; m < count; m++)
            CHECK_MSG(band_is_right(methods[m], &random), "%s, round %d", methods[m]->name, round);
}
