#include "hamming/hamming.h"

#include "base/hash.h"
#include "test.h"

enum { MAX_ROWS = 70 };

/* Rows of random bits (or all zero, all one, or equal to row 0) in a buffer with a given stride;
 * the bits after the width are zero, the bytes after the row are noise that no kernel may read into
 * a distance. */
static struct signatures_view make_rows(struct random *random, unsigned bits, size_t rows,
                                        size_t stride_bytes, uint8_t *storage) {
    for (size_t i = 0; i < (rows ? rows : 1) * stride_bytes; i++)
        storage[i] = (uint8_t)random_next(random);
    for (size_t row = 0; row < rows; row++) {
        uint8_t *bytes = storage + row * stride_bytes;
        uint64_t kind = random_below(random, 8);
        if (kind == 0)
            memset(bytes, 0, bits / 8);
        else if (kind == 1)
            memset(bytes, 255, bits / 8);
        else if (kind == 2 && row > 0)
            memcpy(bytes, storage, bits / 8);
        memset(bytes + bits / 8, 0, signature_stride_bytes(bits) - bits / 8);
    }
    return (struct signatures_view){storage, rows, bits, stride_bytes};
}

static uint32_t plain_distance(const uint8_t *a, const uint8_t *b, unsigned bits) {
    uint32_t distance = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        distance += signature_bit(a, bit) != signature_bit(b, bit);
    return distance;
}

/* Compares pair, scan and gather of one table with the plain distances; false on the first
 * difference. */
static bool rows_agree(const struct hamming_kernels *kernels, const struct signatures_view *view,
                       const uint8_t *query, struct random *random) {
    size_t words = hamming_words(view->bits);
    uint16_t plain[MAX_ROWS], scanned[MAX_ROWS + 1], gathered[MAX_ROWS + 1];
    uint32_t numbers[MAX_ROWS + 1];
    for (size_t row = 0; row < view->rows; row++) {
        plain[row] = (uint16_t)plain_distance(query, signature_row(view, row), view->bits);
        if (kernels->pair(query, signature_row(view, row), words) != plain[row])
            return false;
        numbers[row] = (uint32_t)random_below(random, view->rows);
    }
    scanned[view->rows] = gathered[view->rows] = 54321; /* nothing is written after the end */
    kernels->scan(query, view->data, view->stride_bytes, words, view->rows, scanned);
    kernels->gather(query, view->data, view->stride_bytes, words, numbers, view->rows, gathered);
    for (size_t row = 0; row < view->rows; row++)
        if (scanned[row] != plain[row] || gathered[row] != plain[numbers[row]])
            return false;
    return scanned[view->rows] == 54321 && gathered[view->rows] == 54321;
}

TEST(hamming_levels_agree_with_plain_bits) {
    struct random random = random_seeded(11);
    static const unsigned usual[] = {8, 64, 128, 192, 256, 512, 1024, 2048, 4096};
    for (int round = 0; round < 400; round++) {
        unsigned bits = round < 90
                            ? usual[round % 9]
                            : 8 * (unsigned)(1 + random_below(&random, HAMMING_MAX_BITS / 8));
        size_t rows = round < 9 ? (size_t)round : random_below(&random, MAX_ROWS + 1);
        size_t stride_bytes = signature_stride_bytes(bits) + 8 * random_below(&random, 3);
        uint8_t *storage = malloc((rows + 1) * stride_bytes);
        uint8_t *query = malloc(signature_stride_bytes(bits));
        CHECK(storage && query);
        struct signatures_view view = make_rows(&random, bits, rows, stride_bytes, storage);
        make_rows(&random, bits, 1, signature_stride_bytes(bits), query);
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            const struct hamming_kernels *kernels = hamming_kernels_for((enum cpu_level)level);
            CHECK_MSG(!kernels || rows_agree(kernels, &view, query, &random),
                      "%s differs at %u bits, %zu rows, stride %zu",
                      cpu_level_name((enum cpu_level)level), bits, rows, stride_bytes);
        }
        free(query);
        free(storage);
    }
}

TEST(hamming_select_lists_positions_within_the_limit) {
    struct random random = random_seeded(12);
    for (int round = 0; round < 300; round++) {
        size_t count = random_below(&random, 200);
        uint32_t bound = 1 + (uint32_t)random_below(&random, 5000);
        uint32_t limit = round % 5 ? (uint32_t)random_below(&random, bound + 1) : 100000;
        uint16_t distances[200];
        uint32_t expected[200], positions[201];
        size_t expected_count = 0;
        for (size_t i = 0; i < count; i++) {
            distances[i] = (uint16_t)random_below(&random, bound);
            if (distances[i] <= limit)
                expected[expected_count++] = (uint32_t)i;
        }
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            const struct hamming_kernels *kernels = hamming_kernels_for((enum cpu_level)level);
            if (!kernels)
                continue;
            positions[count] = UINT32_MAX;
            CHECK(kernels->select(distances, count, limit, positions) == expected_count);
            CHECK(positions[count] == UINT32_MAX);
            CHECK(memcmp(positions, expected, expected_count * sizeof *expected) == 0);
        }
    }
}

TEST(hamming_table_is_that_of_the_best_level) {
    CHECK(hamming_kernels() == hamming_kernels_for(cpu_best_level()));
    uint64_t a = 0, b = 0xff00ff;
    CHECK(hamming_distance((const uint8_t *)&a, (const uint8_t *)&b, 24) == 16);
}
