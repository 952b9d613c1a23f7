#include "base/hash.h"
#include "hamming/hamming.h"
#include "search/flat/flat_join.h"
#include "search/keys/bit_permutation.h"
#include "search/window/window_join.h"
#include "test.h"

/* Noisy copies of a few centres, equal rows among them. */
static struct signatures_view make_rows(struct random *random, unsigned bits, size_t rows) {
    size_t stride = signature_stride_bytes(bits);
    uint8_t *data = calloc(rows + 1, stride);
    for (size_t row = 0; row < rows; row++) {
        uint64_t centre = random_below(random, 6), noise = random_below(random, 5);
        for (unsigned bit = 0; bit < bits; bit++) {
            unsigned value = hash_sequence(centre, bit) & 1;
            value ^= random_below(random, 16) < noise;
            data[row * stride + bit / 8] |= (uint8_t)(value << (7 - bit % 8));
        }
    }
    return (struct signatures_view){data, rows, bits, stride};
}

struct plain_row {
    const struct signatures_view *view;
    size_t row;
    int side;
    const uint16_t *order;
};

/* The whole permuted signatures from the first bit to the last; ties by collection and row. */
static int by_permuted_bits(const void *x, const void *y) {
    const struct plain_row *p = x, *q = y;
    const uint8_t *a = signature_row(p->view, p->row), *b = signature_row(q->view, q->row);
    for (unsigned i = 0; i < p->view->bits; i++) {
        int difference = (int)signature_bit(a, p->order[i]) - (int)signature_bit(b, q->order[i]);
        if (difference)
            return difference;
    }
    if (p->side != q->side)
        return p->side - q->side;
    return p->row < q->row ? -1 : 1;
}

static uint32_t plain_distance(const struct plain_row *x, const struct plain_row *y) {
    uint32_t distance = 0;
    for (unsigned i = 0; i < x->view->bits; i++)
        distance += signature_bit(signature_row(x->view, x->row), i) !=
                    signature_bit(signature_row(y->view, y->row), i);
    return distance;
}

static void mark(uint8_t *found, size_t columns, const struct plain_row *x,
                 const struct plain_row *y) {
    bool swap = x->side == y->side ? x->row > y->row : x->side > y->side;
    found[(swap ? y : x)->row * columns + (swap ? x : y)->row] = 1;
}

/* Figure 2 for one table: a queue of the last B rows. Of two collections only pairs across count;
 * unless the window is shared, each collection has a queue of its own. */
static uint64_t plain_table(const struct plain_row *sorted, size_t count, bool cross,
                            const struct window_options *options, uint8_t *found, size_t columns) {
    uint64_t comparisons = 0;
    for (size_t i = 0; i < count; i++) {
        size_t queued = 0;
        for (size_t j = i; j-- > 0 && queued < options->window;) {
            bool counts = !cross || sorted[i].side != sorted[j].side;
            queued += counts || options->shared_window;
            comparisons += counts;
            if (counts && plain_distance(&sorted[i], &sorted[j]) <= options->radius_bits)
                mark(found, columns, &sorted[i], &sorted[j]);
        }
    }
    return comparisons;
}

/* second is NULL for a self-join; found has a byte for each pair. */
static uint64_t plain_join(const struct signatures_view *first,
                           const struct signatures_view *second,
                           const struct window_options *options, uint8_t *found) {
    size_t count = first->rows + (second ? second->rows : 0);
    size_t columns = second ? second->rows : first->rows;
    struct plain_row *sorted = malloc((count + 1) * sizeof *sorted);
    uint64_t comparisons = 0;
    for (unsigned table = 0; table < options->tables; table++) {
        struct bit_permutation permutation;
        if (bit_permutation_create(&permutation, first->bits, options->seed, table, NULL))
            abort();
        for (size_t i = 0; i < count; i++)
            sorted[i] = i < first->rows
                            ? (struct plain_row){first, i, 0, permutation.order}
                            : (struct plain_row){second, i - first->rows, 1, permutation.order};
        qsort(sorted, count, sizeof *sorted, by_permuted_bits);
        comparisons += plain_table(sorted, count, second != NULL, options, found, columns);
        bit_permutation_free(&permutation);
    }
    free(sorted);
    return comparisons;
}

static bool agrees(const struct signatures_view *first, const struct signatures_view *second,
                   const struct window_options *options) {
    size_t columns = second ? second->rows : first->rows;
    uint8_t *expected = calloc(first->rows * columns + 1, 1);
    uint64_t comparisons = plain_join(first, second, options, expected);
    struct match_list matches = {0};
    struct window_work work;
    cog_status status = second ? window_join(first, second, options, &matches, &work, NULL)
                               : window_join(first, NULL, options, &matches, &work, NULL);
    bool agree = status == COG_OK && work.comparisons == comparisons;
    size_t next = 0;
    for (size_t a = 0; a < first->rows && agree; a++)
        for (size_t b = 0; b < columns && agree; b++) {
            if (!expected[a * columns + b])
                continue;
            struct plain_row x = {first, a, 0, NULL}, y = {second ? second : first, b, 1, NULL};
            const struct match *match = &matches.items[next++];
            agree = next <= matches.count && match->a == a && match->b == b &&
                    match->distance == plain_distance(&x, &y);
        }
    agree = agree && next == matches.count;
    free(expected);
    match_list_free(&matches);
    return agree;
}

TEST(window_join_is_the_queue_of_the_paper) {
    struct random random = random_seeded(41);
    static const size_t row_counts[] = {0, 1, 2, 30, 65, 200, 400};
    static const size_t windows[] = {1, 3, 20, 64, 100, 500};
    for (int round = 0; round < 90; round++) {
        unsigned bits = (unsigned)(8 * (1 + random_below(&random, 24)));
        struct signatures_view rows =
            make_rows(&random, bits, row_counts[random_below(&random, 7)]);
        struct window_options options = {.tables = (unsigned)random_below(&random, 10) + 1,
                                         .window = windows[random_below(&random, 6)],
                                         .chunk_rows = random_below(&random, 3) * 37,
                                         .radius_bits = (uint32_t)random_below(&random, bits / 2),
                                         .seed = (uint64_t)round,
                                         .threads = 1 + (unsigned)round % 3};
        CHECK_MSG(agrees(&rows, NULL, &options), "round %d", round);
        free((void *)rows.data);
    }
}

TEST(window_cross_join_is_a_queue_for_each_collection) {
    struct random random = random_seeded(42);
    static const size_t row_counts[] = {0, 1, 2, 40, 90, 300};
    static const size_t windows[] = {1, 3, 20, 64, 100, 500};
    for (int round = 0; round < 90; round++) {
        unsigned bits = (unsigned)(8 * (1 + random_below(&random, 24)));
        struct signatures_view first =
            make_rows(&random, bits, row_counts[random_below(&random, 6)]);
        struct signatures_view second =
            make_rows(&random, bits, row_counts[random_below(&random, 6)]);
        struct window_options options = {.tables = (unsigned)random_below(&random, 5) + 1,
                                         .window = windows[random_below(&random, 6)],
                                         .chunk_rows = random_below(&random, 3) * 37,
                                         .radius_bits = (uint32_t)random_below(&random, bits / 2),
                                         .seed = (uint64_t)round,
                                         .threads = 1 + (unsigned)round % 3,
                                         .shared_window = round % 2};
        CHECK_MSG(agrees(&first, &second, &options), "round %d", round);
        free((void *)first.data);
        free((void *)second.data);
    }
}

TEST(window_join_of_everything_is_the_flat_join) {
    struct random random = random_seeded(43);
    struct signatures_view rows = make_rows(&random, 1000, 1500);
    struct window_options options = {.tables = 1, .window = 1500, .radius_bits = 200};
    struct match_list found = {0}, expected = {0};
    CHECK_OK(window_join(&rows, NULL, &options, &found, NULL, error));
    CHECK_OK(flat_join(&rows, NULL, 200, 2, &expected, NULL, error));
    CHECK(found.count == expected.count && found.count > 1000);
    CHECK(memcmp(found.items, expected.items, found.count * sizeof *found.items) == 0);
    match_list_free(&found);
    match_list_free(&expected);
    free((void *)rows.data);
}

TEST(window_join_says_what_is_wrong) {
    uint8_t data[64] = {0};
    struct signatures_view rows = {data, 2, 64, 8}, wide = {data, 1, 128, 16};
    struct window_options options = {.tables = 1, .window = 1};
    struct match_list matches = {0};
    cog_error error = {0};
    CHECK(window_join(&rows, &wide, &options, &matches, NULL, &error) == COG_ERR_USAGE);
    CHECK(strstr(error.message, "128"));
    options.tables = 0;
    CHECK(window_join(&rows, NULL, &options, &matches, NULL, &error) == COG_ERR_USAGE);
    match_list_free(&matches);
}

TEST(window_join_keeps_to_the_limit_of_matches) {
    struct random random = random_seeded(44);
    struct signatures_view rows = make_rows(&random, 64, 300);
    struct window_options options = {.tables = 3, .window = 100, .radius_bits = 20};
    struct match_list matches = {0};
    cog_error failure = {0};
    CHECK_OK(window_join(&rows, NULL, &options, &matches, NULL, error));
    size_t count = matches.count;
    CHECK(count > 100);
    matches.limit = count - 1;
    CHECK(window_join(&rows, NULL, &options, &matches, NULL, &failure) == COG_ERR_MEMORY);
    CHECK(strcmp(failure.option, "memory_bytes") == 0);
    CHECK(flat_join(&rows, NULL, 20, 2, &matches, NULL, &failure) == COG_ERR_MEMORY);
    matches.limit = count;
    CHECK(window_join(&rows, NULL, &options, &matches, NULL, &failure) == COG_OK);
    CHECK(matches.count == count);
    match_list_free(&matches);
    free((void *)rows.data);
}

/* The budget that leaves room for pieces of this number of rows. */
static uint64_t budget_for_pieces(const struct signatures_view *first,
                                  const struct signatures_view *second,
                                  struct window_options options, size_t piece_rows) {
    size_t rows = first->rows + (second ? second->rows : 0);
    options.tables = 1;
    return window_join_memory_bytes(first, second, &options) + rows * 4 +
           piece_rows * (2 * signature_stride_bytes(first->bits) + 12);
}

TEST(window_join_on_disk_is_the_join_in_memory) {
    struct random random = random_seeded(45);
    for (int round = 0; round < 40; round++) {
        unsigned bits = 64 * (unsigned)(1 + random_below(&random, 3));
        struct signatures_view first = make_rows(&random, bits, 1 + random_below(&random, 500));
        struct signatures_view second = make_rows(&random, bits, 1 + random_below(&random, 500));
        const struct signatures_view *other = round % 2 ? &second : NULL;
        struct window_options options = {.tables = 8,
                                         .window = 1 + random_below(&random, 30),
                                         .radius_bits = (uint32_t)random_below(&random, bits / 2),
                                         .seed = (uint64_t)round,
                                         .threads = 1 + (unsigned)round % 3,
                                         .shared_window = round % 4 == 3};
        struct match_list found = {0}, expected = {0};
        struct window_work work, plain_work;
        CHECK_OK(other ? window_join(&first, other, &options, &expected, &plain_work, error)
                       : window_join(&first, NULL, &options, &expected, &plain_work, error));
        CHECK(plain_work.pieces == 0);
        options.memory_bytes = budget_for_pieces(&first, other, options,
                                                 2 * options.window + random_below(&random, 50));
        CHECK_OK(other ? window_join(&first, other, &options, &found, &work, error)
                       : window_join(&first, NULL, &options, &found, &work, error));
        CHECK_MSG(found.count == expected.count && work.comparisons == plain_work.comparisons &&
                      (found.count == 0 ||
                       memcmp(found.items, expected.items, found.count * sizeof *found.items) == 0),
                  "round %d", round);
        if (first.rows > 200)
            CHECK(work.pieces > 8);
        match_list_free(&found);
        match_list_free(&expected);
        free((void *)first.data);
        free((void *)second.data);
    }
}

TEST(window_join_says_how_much_memory_a_window_needs) {
    struct random random = random_seeded(46);
    struct signatures_view rows = make_rows(&random, 64, 300);
    struct window_options options = {.tables = 8, .window = 100, .radius_bits = 9, .threads = 1};
    struct match_list matches = {0};
    cog_error error = {0};
    options.memory_bytes = budget_for_pieces(&rows, NULL, options, 190);
    CHECK(window_join(&rows, NULL, &options, &matches, NULL, &error) == COG_ERR_MEMORY);
    CHECK(strcmp(error.option, "memory_bytes") == 0);
    match_list_free(&matches);
    free((void *)rows.data);
}
