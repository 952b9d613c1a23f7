#include "search/window/band_scan.h"

#include "base/hash.h"
#include "hamming/hamming.h"
#include "test.h"

/* A pair that is met, in a table of all. */
struct met_pairs {
    uint8_t *counts;
    size_t columns;
    bool right;
    const struct signatures_view *queries, *rows;
};

static uint32_t distance_of(const struct met_pairs *met, uint32_t query, uint32_t row) {
    return hamming_kernels_for(CPU_PORTABLE)
        ->pair(signature_row(met->queries, query), signature_row(met->rows, row),
               hamming_words(met->rows->bits));
}

static cog_status note_pair(void *context, uint32_t query_row, uint32_t row, uint32_t distance,
                            cog_error *error) {
    (void)error;
    struct met_pairs *met = context;
    met->counts[query_row * met->columns + row]++;
    met->right = met->right && distance == distance_of(met, query_row, row);
    return COG_OK;
}

static struct signatures_view random_rows(struct random *random, unsigned bits, size_t rows) {
    size_t stride = signature_stride_bytes(bits);
    uint64_t *data = malloc((rows + 1) * stride);
    for (size_t i = 0; i < (rows + 1) * stride / 8; i++)
        data[i] = random_next(random) & random_next(random);
    return (struct signatures_view){(uint8_t *)data, rows, bits, stride};
}

static uint32_t *shuffled(struct random *random, size_t rows) {
    uint32_t *order = malloc((rows + 1) * sizeof *order);
    for (size_t i = 0; i < rows; i++) {
        size_t j = random_below(random, i + 1);
        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    return order;
}

/* Both ends move forward, now by nothing and now by a jump; the first may wait for long. */
static void random_band(struct random *random, size_t queries, size_t rows, uint32_t *begins,
                        uint32_t *ends) {
    size_t begin = 0, end = random_below(random, 2) * random_below(random, 600);
    size_t step = 1 + random_below(random, 4), jump = random_below(random, rows / 3 + 1);
    size_t wait = random_below(random, 600);
    for (size_t i = 0; i < queries; i++) {
        if (i >= wait)
            begin += random_below(random, step) + (random_below(random, 40) == 0 ? jump : 0);
        end += random_below(random, step) + (random_below(random, 60) == 0 ? jump : 0);
        begin = begin < rows ? begin : rows;
        end = end < begin ? begin : end < rows ? end : rows;
        begins[i] = (uint32_t)begin;
        ends[i] = (uint32_t)end;
    }
}

/* Every pair of the band within the radius once, and no other. */
static bool band_is_right(struct random *random, size_t width, size_t most_rows) {
    unsigned bits = 64 * (unsigned)(1 + random_below(random, 17));
    bool self = random_below(random, 2);
    struct signatures_view rows = random_rows(random, bits, 1 + random_below(random, most_rows));
    struct signatures_view others = random_rows(random, bits, 1 + random_below(random, 900));
    const struct signatures_view *queries = self ? &rows : &others;
    uint32_t *row_order = shuffled(random, rows.rows), *other_order = shuffled(random, others.rows);
    const uint32_t *query_order = self ? row_order : other_order;
    uint32_t *begins = malloc(queries->rows * sizeof *begins);
    uint32_t *ends = malloc(queries->rows * sizeof *ends);
    uint32_t radius = bits / 4 + (uint32_t)random_below(random, bits / 4);
    random_band(random, queries->rows, rows.rows, begins, ends);
    struct band band = {
        {queries, query_order, queries->rows}, {&rows, row_order, rows.rows}, begins, ends};
    struct met_pairs met = {calloc(queries->rows * rows.rows, 1), rows.rows, true, queries, &rows};
    struct band_scanner scanner;
    bool right = band_scanner_create(&scanner, bits, radius, width, NULL) == COG_OK;
    size_t middle = random_below(random, queries->rows + 1);
    right = right && band_scan(&scanner, &band, 0, middle, note_pair, &met, NULL) == COG_OK &&
            band_scan(&scanner, &band, middle, queries->rows, note_pair, &met, NULL) == COG_OK;
    band_scanner_free(&scanner);
    for (size_t i = 0; i < queries->rows && right; i++)
        for (size_t j = 0; j < rows.rows && right; j++) {
            bool inside = j >= begins[i] && j < ends[i];
            uint32_t query = query_order[i], row = row_order[j];
            right = met.counts[query * rows.rows + row] ==
                    (inside && distance_of(&met, query, row) <= radius);
        }
    right = right && met.right;
    free(met.counts);
    free(begins);
    free(ends);
    free(row_order);
    free(other_order);
    free((void *)rows.data);
    free((void *)others.data);
    return right;
}

TEST(band_scan_meets_every_pair_of_the_band_once) {
    struct random random = random_seeded(81);
    for (int round = 0; round < 100; round++)
        CHECK_MSG(band_is_right(&random, round % 2 ? 10 : 100000, 900), "round %d", round);
}

/* The windows of one block of queries may lie further apart than the belt is long. */
TEST(band_scan_of_rows_that_jump_over_the_belt) {
    struct random random = random_seeded(82);
    for (int round = 0; round < 20; round++)
        CHECK_MSG(band_is_right(&random, 50, 6000), "round %d", round);
}
