#include <math.h>

#include "join/cosine/cosine_join.h"
#include "join/cosine/cosine_tiles.h"
#include "join/pair_check.h"
#include "join_data.h"
#include "test.h"

static const double thresholds[] = {0.05, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.99, 1.0};
enum { THRESHOLD_COUNT = sizeof thresholds / sizeof *thresholds };

static bool join_agrees(const struct sparse_matrix *a, const struct sparse_matrix *b,
                        double threshold, unsigned threads) {
    struct match_list expected = join_expected(a, b, threshold), found = {0};
    struct join_options options = {.threshold = threshold, .threads = threads};
    cog_status status = b ? cosine_join(a, b, &options, &found, NULL)
                          : cosine_join(a, NULL, &options, &found, NULL);
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
        double dot = sparse_row_dot(&matrix, i, &matrix, j);
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
    CHECK_OK(cosine_join(&matrix, NULL, &options, &found, error));
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
    CHECK_OK(cosine_join(&matrix, NULL, &options, &found, error));
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
    CHECK(cosine_join(&none, NULL, &options, &found, &error) == COG_ERR_USAGE);
    options.threshold = 1.5;
    CHECK(cosine_join(&none, NULL, &options, &found, &error) == COG_ERR_USAGE);
    options.threshold = 0.5;
    CHECK(cosine_join(&none, &other, &options, &found, &error) == COG_ERR_USAGE);
    CHECK(cosine_join(&none, NULL, &options, &found, &error) == COG_OK && found.count == 0);
}

/* What the least of the rows' ends can be at a cut, from the definition. */
static double rest_needed_at(const struct sparse_matrix *a, size_t i, const struct sparse_matrix *b,
                             size_t j, double threshold, uint32_t column) {
    uint64_t at_a = a->offsets[i], at_b = b->offsets[j];
    double head = sparse_dot(a->columns + at_a, a->values + at_a, sparse_row_before(a, i, column),
                             b->columns + at_b, b->values + at_b, sparse_row_before(b, j, column));
    double lengths =
        (double)cosine_tail_length(a, i, column) * (double)cosine_tail_length(b, j, column);
    return head >= threshold || lengths == 0 ? 0 : fmin(1, (threshold - head) / lengths);
}

TEST(join_cosine_tails_needed_are_those_of_the_definition) {
    struct random random = random_seeded(22);
    struct row_shape shape = {.rows = 60, .columns = 80, .mean_count = 9, .skew = 2, .unit = true};
    struct sparse_matrix a = join_random_matrix(&random, shape);
    struct sparse_matrix b = join_random_matrix(&random, shape);
    struct match_list truth = join_expected(&a, &b, 0.3);
    struct cosine_cuts cuts;
    CHECK(cosine_cuts_find(&a, &b, &cuts, NULL) == COG_OK);
    CHECK(cuts.columns[COSINE_CUTS - 1] == 80);
    for (int cut = 1; cut < COSINE_CUTS; cut++)
        CHECK(cuts.columns[cut] >= cuts.columns[cut - 1] &&
              cuts.products[cut] >= cuts.products[cut - 1]);
    CHECK(truth.count > 50);
    for (size_t n = 0; n < truth.count; n++) {
        uint32_t i = truth.items[n].a, j = truth.items[n].b;
        struct cosine_tails needed;
        double met = 0;
        cosine_tails_needed(&a, i, &b, j, 0.3, &cuts, &needed);
        for (int cut = 0; cut < COSINE_CUTS; cut++)
            CHECK(fabs(needed.cosines[cut] - rest_needed_at(&a, i, &b, j, 0.3, cuts.columns[cut])) <
                  1e-4);
        for (uint32_t c = 0; c < 80; c++)
            if (sparse_row_before(&a, i, c) < sparse_row_before(&a, i, c + 1) &&
                sparse_row_before(&b, j, c) < sparse_row_before(&b, j, c + 1))
                met = fmax(met, rest_needed_at(&a, i, &b, j, 0.3, c));
        CHECK(fabs(needed.cosines[COSINE_TAIL_MET] - met) < 1e-4);
    }
    match_list_free(&truth);
    sparse_matrix_free(&a);
    sparse_matrix_free(&b);
}

/* A join that expects less of the rows' ends, and what it found of the truth. */
struct rests_trial {
    struct sparse_matrix a, b;
    struct cosine_cuts cuts;
    struct cosine_tails tails;
    struct match_list truth, found;
};

/* Whether what is found is every pair that needs no more of one of the tails; by heads, at a cut,
 * no other pair either. */
static bool rest_explains(const struct rests_trial *trial, int rest) {
    for (size_t i = 0; i < trial->truth.count; i++) {
        struct match match = trial->truth.items[i];
        struct cosine_tails needed;
        cosine_tails_needed(&trial->a, match.a, &trial->b, match.b, 0.3, &trial->cuts, &needed);
        double lacking = needed.cosines[rest] - trial->tails.cosines[rest];
        bool kept = match_list_holds(&trial->found, match.a, match.b);
        if (kept ? rest != COSINE_TAIL_MET && lacking > 1e-3 : lacking < -1e-5)
            return false;
    }
    return true;
}

/* Bounds that expect less of the rows' ends list no false pair, and every pair that needs no more:
 * by lists, which many columns suit, and by heads, at one cut with its own cosine. */
TEST(join_cosine_with_less_expected_of_the_rests_keeps_what_needs_no_more) {
    struct random random = random_seeded(23);
    size_t missed[2] = {0};
    for (int round = 0; round < 8; round++) {
        struct row_shape shape = {.rows = 600,
                                  .columns = round % 2 ? 3000 : 100,
                                  .mean_count = 12,
                                  .skew = 2 + round / 2 % 2,
                                  .signed_values = round >= 6,
                                  .unit = true};
        struct rests_trial trial = {.a = join_random_matrix(&random, shape),
                                    .b = join_random_matrix(&random, shape)};
        struct join_work work;
        struct join_options options = {
            .threshold = 0.3, .threads = 2, .work = &work, .tails = &trial.tails};
        for (int rest = 0; rest < COSINE_TAILS; rest++)
            trial.tails.cosines[rest] = 0.36 + 0.05 * round + 0.02 * (5 * rest % COSINE_TAILS);
        trial.truth = join_expected(&trial.a, &trial.b, 0.3);
        CHECK(cosine_cuts_find(&trial.a, &trial.b, &trial.cuts, NULL) == COG_OK);
        CHECK(cosine_join(&trial.a, &trial.b, &options, &trial.found, NULL) == COG_OK);
        for (size_t i = 0; i < trial.found.count; i++)
            CHECK(match_list_holds(&trial.truth, trial.found.items[i].a, trial.found.items[i].b));
        bool lists = work.postings > 0;
        int rest = lists ? COSINE_TAIL_MET : 0;
        while (!lists && rest < COSINE_CUTS - 1 && !rest_explains(&trial, rest))
            rest++;
        CHECK_MSG(rest_explains(&trial, rest), "round %d", round);
        missed[lists] += trial.truth.count - trial.found.count;
        match_list_free(&trial.truth);
        match_list_free(&trial.found);
        sparse_matrix_free(&trial.a);
        sparse_matrix_free(&trial.b);
    }
    CHECK(missed[0] > 0 && missed[1] > 0);
}

TEST(pair_check_keeps_what_the_double_loop_keeps) {
    struct random random = random_seeded(29);
    struct row_shape shape = {.rows = 90, .columns = 60, .mean_count = 8, .skew = 2, .unit = true};
    struct sparse_matrix a = join_random_matrix(&random, shape);
    struct sparse_matrix b = join_random_matrix(&random, shape);
    struct match_list truth = join_expected(&a, &b, 0.2), all = {0};
    for (uint32_t i = 0; i < a.rows; i++)
        for (uint32_t j = 0; j < b.rows; j++)
            CHECK(match_list_add(&all, (struct match){i, j, 7, 0.5f}, NULL) == COG_OK);
    struct pair_check check = {.vectors = {&a, &b}, .threshold = 0.2, .threads = 3};
    CHECK(pair_check_run(&check, &all, NULL) == COG_OK);
    for (size_t i = 0; i < all.count; i++)
        CHECK(all.items[i].distance == 7);
    for (size_t i = 0; i < all.count; i++)
        all.items[i].distance = 0;
    CHECK(truth.count > 100 && join_lists_equal(&all, &truth));
    all.count = 0;
    CHECK(pair_check_run(&check, &all, NULL) == COG_OK && all.count == 0);
    match_list_free(&truth);
    match_list_free(&all);
    sparse_matrix_free(&a);
    sparse_matrix_free(&b);
}
