#include "base/random.h"
#include "hamming/hamming.h"
#include "index/columns_search.h"
#include "test.h"

enum { MAX_ROWS = 5000, MAX_STRIDE = 136 };

static uint64_t words[MAX_ROWS * MAX_STRIDE / 8];
static struct signatures_view rows;

/* Rows that differ from one another in about `noise` of a hundred bits from a few centres. */
static void make_rows(size_t count, unsigned bits, uint64_t seed) {
    struct random random = random_seeded(seed);
    memset(words, 0, sizeof words);
    rows =
        (struct signatures_view){(const uint8_t *)words, count, bits, signature_stride_bytes(bits)};
    for (size_t row = 0; row < count; row++) {
        uint8_t *bytes = (uint8_t *)words + row * rows.stride_bytes;
        uint64_t centre = random_below(&random, 1 + count / 30), noise = random_below(&random, 50);
        for (unsigned bit = 0; bit < bits; bit++) {
            unsigned value = hash_sequence(centre + seed, bit) & 1;
            value ^= random_below(&random, 100) < noise;
            bytes[bit / 8] |= (uint8_t)(value << (7 - bit % 8));
        }
    }
}

static const struct {
    size_t rows;
    unsigned bits;
} shapes[] = {{0, 64},    {1, 1},      {2, 14},     {511, 64},   {512, 63},
              {513, 100}, {1000, 128}, {5000, 256}, {700, 1024}, {3000, 1030}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

TEST(columns_hold_every_bit) {
    for (size_t shape = 0; shape < SHAPES; shape++) {
        make_rows(shapes[shape].rows, shapes[shape].bits, shape);
        struct bit_columns columns;
        CHECK_OK(bit_columns_build(&columns, &rows, 2, error));
        size_t column = column_words(rows.rows);
        for (unsigned bit = 0; bit < rows.bits; bit++)
            for (size_t row = 0; row < column * 64; row++) {
                unsigned seen = columns.words[bit * column + row / 64] >> row % 64 & 1;
                CHECK(seen ==
                      (row < rows.rows ? signature_bit(signature_row(&rows, row), bit) : 0));
            }
        CHECK_OK(columns_check(&columns.view, &rows, error));
        if (rows.rows) {
            columns.words[(rows.bits - 1) * column] ^= 1;
            CHECK(columns_check(&columns.view, &rows, NULL) == COG_ERR_FORMAT);
        }
        bit_columns_free(&columns);
    }
}

/* Columns whose weight is among the greatest, chosen by looking at all pairs. */
static bool is_chosen(const float *weights, unsigned bits, unsigned wanted, unsigned bit) {
    unsigned before = 0;
    for (unsigned other = 0; other < bits; other++) {
        float x = weights[other] < 0 ? -weights[other] : weights[other];
        float y = weights[bit] < 0 ? -weights[bit] : weights[bit];
        before += x > y || (x == y && other < bit);
    }
    return before < wanted;
}

static unsigned plain_count(const uint8_t *query, size_t row, const bool *chosen) {
    unsigned count = 0;
    for (unsigned bit = 0; bit < rows.bits; bit++)
        count += chosen[bit] &&
                 signature_bit(query, bit) != signature_bit(signature_row(&rows, row), bit);
    return count;
}

TEST(columns_are_counted_alike_on_every_level) {
    struct random random = random_seeded(5);
    for (size_t shape = 1; shape < SHAPES; shape++) {
        float weights[1030];
        uint32_t selected[MAX_ROWS];
        struct bit_columns columns;
        struct column_counts counts = {0};
        make_rows(shapes[shape].rows < 600 ? shapes[shape].rows : 600, shapes[shape].bits, shape);
        for (unsigned bit = 0; bit < rows.bits; bit++)
            weights[bit] = (float)((int)random_below(&random, 40) - 20);
        CHECK_OK(bit_columns_build(&columns, &rows, 1, error));
        CHECK_OK(column_counts_init(&counts, &columns.view, error));
        const uint8_t *query = signature_row(&rows, random_below(&random, rows.rows));
        unsigned wanted = 1 + (unsigned)random_below(&random, rows.bits < 70 ? rows.bits : 70);
        bool chosen[1030];
        for (unsigned bit = 0; bit < rows.bits; bit++)
            chosen[bit] = is_chosen(weights, rows.bits, wanted, bit);
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            if (!cpu_supports((enum cpu_level)level))
                continue;
            counts.kernels = column_kernels_for((enum cpu_level)level);
            column_counts_start(&counts, query, weights, wanted);
            unsigned threshold = column_counts_threshold(&counts, rows.rows / 3);
            size_t found = column_counts_select(&counts, threshold, selected, MAX_ROWS), at = 0;
            for (size_t row = 0; row < rows.rows; row++)
                if (plain_count(query, row, chosen) <= threshold)
                    CHECK(at < found && selected[at++] == row);
            CHECK(at == found);
        }
        column_counts_free(&counts);
        bit_columns_free(&columns);
    }
}

static size_t plain_nearest(const uint8_t *query, struct neighbour *nearest) {
    for (size_t row = 0; row < rows.rows; row++)
        nearest[row] = (struct neighbour){
            (uint32_t)row, hamming_distance(query, signature_row(&rows, row), rows.bits)};
    qsort(nearest, rows.rows, sizeof *nearest, neighbour_compare);
    return rows.rows;
}

/* All columns give the true distances, so that the nearest are among the candidates. */
TEST(columns_find_the_nearest) {
    static struct neighbour truth[MAX_ROWS];
    for (size_t shape = 1; shape < SHAPES; shape++) {
        struct bit_columns columns;
        struct columns_searcher *searcher = NULL;
        make_rows(shapes[shape].rows, shapes[shape].bits, shape + 9);
        CHECK_OK(bit_columns_build(&columns, &rows, 1, error));
        CHECK_OK(columns_searcher_create(&columns.view, &rows, &searcher, error));
        for (size_t query = 0; query < 20 && query < rows.rows; query++) {
            const uint8_t *signature = signature_row(&rows, query);
            struct slices_answer answer;
            size_t count = plain_nearest(signature, truth), k = count < 10 ? count : 10;
            struct columns_request request = {.k = 10, .columns = rows.bits, .verify = rows.rows};
            CHECK_OK(columns_search(searcher, signature, &request, &answer, error));
            CHECK(answer.count == k);
            for (size_t i = 0; i < k; i++)
                CHECK(answer.hits[i].row == truth[i].row &&
                      answer.hits[i].distance == truth[i].distance);
            request.columns = 15;
            request.verify = 0;
            CHECK_OK(columns_search(searcher, signature, &request, &answer, error));
            CHECK(answer.count == k && answer.hits[0].distance == 0);
            CHECK(answer.verified <= 2 * (k > request.verify ? k : request.verify));
        }
        columns_searcher_free(searcher);
        bit_columns_free(&columns);
    }
}

TEST(columns_of_other_signatures_are_refused) {
    struct bit_columns columns;
    struct columns_searcher *searcher = NULL;
    make_rows(100, 64, 1);
    CHECK_OK(bit_columns_build(&columns, &rows, 1, error));
    struct signatures_view fewer = rows;
    fewer.rows--;
    CHECK(columns_searcher_create(&columns.view, &fewer, &searcher, NULL) == COG_ERR_USAGE);
    bit_columns_free(&columns);
}
