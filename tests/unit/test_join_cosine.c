#include <math.h>

#include "join_data.h"
#include "match/cosine_join.h"
#include "test.h"

static const double thresholds[] = {0.05, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99, 1.0};
enum { THRESHOLD_COUNT = sizeof thresholds / sizeof *thresholds };

static double row_dot(const struct sparse_matrix *a, size_t i, const struct sparse_matrix *b,
                      size_t j) {
    uint64_t at_a = a->offsets[i], at_b = b->offsets[j];
    return sparse_dot(a->columns + at_a, a->values + at_a, (size_t)(a->offsets[i + 1] - at_a),
                      b->columns + at_b, b->values + at_b, (size_t)(b->offsets[j + 1] - at_b));
}

/* The plain double loop; b is NULL for a self-join. */
static struct match_list expected_matches(const struct sparse_matrix *a,
                                          const struct sparse_matrix *b, double threshold) {
    struct match_list list = {0};
    const struct sparse_matrix *other = b ? b : a;
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = b ? 0 : i + 1; j < other->rows; j++) {
            double dot = row_dot(a, i, other, j);
            struct match match = {(uint32_t)i, (uint32_t)j, 0, (float)dot};
            if (dot >= threshold && match_list_add(&list, match, NULL) != COG_OK)
                abort();
        }
    return list;
}

static bool join_agrees(const struct sparse_matrix *a, const struct sparse_matrix *b,
                        double threshold, unsigned threads) {
    struct match_list expected = expected_matches(a, b, threshold), found = {0};
    struct join_options options = {.threshold = threshold, .threads = threads};
    cog_status status = b ? cosine_join_cross(a, b, &options, &found, NULL)
                          : cosine_join_self(a, &options, &found, NULL);
    bool agrees = status == COG_OK && join_lists_equal(&found, &expected);
    match_list_free(&expected);
    match_list_free(&found);
    return agrees;
}

TEST(join_cosine_self_equals_the_double_loop) {
    struct random random = random_seeded(7);
    for (int round = 0; round < 12; round++) {
        struct row_shape shape = {.rows = 30 + 40 * (size_t)round,
                                  .columns = round % 3 == 0 ? 40 : 3000,
                                  .mean_count = 5 + 5 * (uint32_t)round,
                                  .skew = 1 + round % 4,
                                  .signed_values = round % 4 == 3,
                                  .unit = round % 5 != 4};
        struct sparse_matrix matrix = join_random_matrix(&random, shape);
        for (int t = 0; t < THRESHOLD_COUNT; t++)
            CHECK_MSG(join_agrees(&matrix, NULL, thresholds[t], 1 + (unsigned)(t + round) % 4),
                      "round %d, threshold %g", round, thresholds[t]);
        sparse_matrix_free(&matrix);
    }
}

TEST(join_cosine_cross_equals_the_double_loop) {
    struct random random = random_seeded(8);
    for (int round = 0; round < 8; round++) {
        struct row_shape shape = {.rows = 10 + 40 * (size_t)round,
                                  .columns = 500,
                                  .mean_count = 10 + 5 * (uint32_t)round,
                                  .skew = 2 + round % 3,
                                  .signed_values = round % 4 == 1,
                                  .unit = round % 5 != 2};
        struct sparse_matrix a = join_random_matrix(&random, shape);
        shape.rows = 200;
        struct sparse_matrix b = join_random_matrix(&random, shape);
        for (int t = 0; t < THRESHOLD_COUNT; t++) {
            CHECK_MSG(join_agrees(&a, &b, thresholds[t], 1 + (unsigned)(t + round) % 4),
                      "round %d, threshold %g", round, thresholds[t]);
            CHECK_MSG(join_agrees(&a, &a, thresholds[t], 2), "with itself, threshold %g",
                      thresholds[t]);
        }
        sparse_matrix_free(&a);
        sparse_matrix_free(&b);
    }
}

TEST(join_cosine_includes_the_threshold_itself) {
    struct random random = random_seeded(9);
    struct row_shape shape = {150, 300, 12, 2, false, true};
    struct sparse_matrix matrix = join_random_matrix(&random, shape);
    int tried = 0;
    for (size_t i = 0; i < 150; i++) {
        size_t j = (i + 1 + (size_t)random_below(&random, 149)) % 150;
        double dot = row_dot(&matrix, i, &matrix, j);
        if (!(dot > 0 && dot < 1))
            continue;
        tried++;
        CHECK(join_agrees(&matrix, NULL, dot, 2));
        CHECK(join_agrees(&matrix, NULL, nextafter(dot, 0), 1));
        CHECK(join_agrees(&matrix, NULL, nextafter(dot, 1), 1));
    }
    CHECK(tried > 20);
    sparse_matrix_free(&matrix);
}

TEST(join_cosine_of_equal_rows_is_found_at_one) {
    uint64_t offsets[] = {0, 1, 1, 2, 4, 5};
    uint32_t columns[] = {3, 3, 1, 3, 1};
    float values[] = {1, 1, 0.6f, 0.8f, 1};
    struct sparse_matrix matrix = {5, 4, offsets, columns, values};
    struct join_options options = {.threshold = 1, .threads = 1};
    struct match_list found = {0};
    CHECK_OK(cosine_join_self(&matrix, &options, &found, error));
    CHECK(found.count == 1 && found.items[0].a == 0 && found.items[0].b == 2);
    CHECK(found.items[0].similarity == 1);
    match_list_free(&found);
}

TEST(join_cosine_of_a_huge_group_verifies_no_pair_of_it) {
    enum { COPIES = 2000 };
    static uint64_t offsets[COPIES + 1];
    static uint32_t columns[COPIES * 2];
    static float values[COPIES * 2];
    for (uint32_t i = 0; i < COPIES; i++) {
        offsets[i + 1] = offsets[i] + 2;
        columns[2 * i] = i % 2;
        columns[2 * i + 1] = 5;
        values[2 * i] = 0.6f;
        values[2 * i + 1] = 0.8f;
    }
    struct sparse_matrix matrix = {COPIES, 6, offsets, columns, values};
    struct join_work work;
    struct join_options options = {.threshold = 0.9, .threads = 2, .work = &work};
    struct match_list found = {0};
    CHECK_OK(cosine_join_self(&matrix, &options, &found, error));
    CHECK(found.count == 2 * (size_t)(COPIES / 2) * (COPIES / 2 - 1) / 2);
    CHECK(work.verified <= 1);
    match_list_free(&found);
}

TEST(join_cosine_refuses_what_it_cannot_do) {
    uint64_t offsets[] = {0};
    struct sparse_matrix none = {0, 4, offsets, NULL, NULL}, other = {0, 5, offsets, NULL, NULL};
    struct match_list found = {0};
    cog_error error = {0};
    struct join_options options = {.threshold = 0};
    CHECK(cosine_join_self(&none, &options, &found, &error) == COG_ERR_USAGE);
    options.threshold = 1.5;
    CHECK(cosine_join_self(&none, &options, &found, &error) == COG_ERR_USAGE);
    options.threshold = 0.5;
    CHECK(cosine_join_cross(&none, &other, &options, &found, &error) == COG_ERR_USAGE);
    CHECK(cosine_join_self(&none, &options, &found, &error) == COG_OK && found.count == 0);
}
