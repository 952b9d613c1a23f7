/* Rows on disk joined block by block, against the double loop over all rows and against one join of
 * all rows in memory, for blocks of one row up to all. */
#include "join/join_data.h"

#include "jobs/pairs/block_join.h"
#include "join/cosine/cosine_join.h"
#include "join/join_method.h"
#include "test.h"

struct side {
    struct sparse_matrix matrix;
    struct row_store store;
    struct equal_rows groups;
    uint32_t *firsts;
    struct cosine_survey survey;
};

static bool make_side(struct side *side, struct random *random, size_t rows) {
    const struct row_shape shape = {
        .rows = rows, .columns = 400, .mean_count = 12, .skew = 2, .unit = true};
    side->matrix = join_random_matrix(random, shape);
    struct row_key *keys = calloc(rows + 1, sizeof *keys);
    for (size_t row = 0; row < rows; row++) {
        const uint64_t at = side->matrix.offsets[row];
        keys[row] = row_key_of((uint32_t)row, side->matrix.columns + at, side->matrix.values + at,
                               side->matrix.offsets[row + 1] - at);
    }
    bool made = row_store_open(&side->store, NULL) == COG_OK &&
                row_store_add_vectors(&side->store, &side->matrix, 0, NULL) == COG_OK &&
                equal_rows_of_keys(keys, rows, &side->groups, NULL) == COG_OK &&
                cosine_survey_add(&side->survey, &side->matrix, NULL) == COG_OK;
    side->store.offsets = side->matrix.offsets;
    side->store.column_count = side->matrix.column_count;
    side->firsts = calloc(rows + 1, sizeof *side->firsts);
    for (size_t group = 0; group < side->groups.count; group++)
        side->firsts[group] = equal_rows_first(&side->groups, group);
    free(keys);
    return made;
}

static void free_side(struct side *side) {
    sparse_matrix_free(&side->matrix);
    row_store_close(&side->store);
    equal_rows_free(&side->groups);
    cosine_survey_free(&side->survey);
    free(side->firsts);
}

static struct match_list expected_of(struct side *const sides[2], double threshold) {
    return join_expected(&sides[0]->matrix, sides[0] == sides[1] ? NULL : &sides[1]->matrix,
                         threshold);
}

static bool make_plan(struct side *const sides[2], double threshold,
                      const struct cosine_tails *tails, struct cosine_plan *plan) {
    const struct cosine_survey surveys[2] = {sides[0]->survey, sides[1]->survey};
    uint32_t rows[2][COSINE_SAMPLE_ROWS];
    struct cosine_rows samples[2];
    for (size_t s = 0; s < 2; s++) {
        const size_t all = sides[s]->groups.count;
        size_t most = s ? COSINE_SAMPLE_ROWS : COSINE_SAMPLE_QUERIES,
               count = all < most ? all : most;
        for (size_t i = 0; i < count; i++)
            rows[s][i] = sides[s]->firsts[cosine_sample_place(all, count, i)];
        samples[s] = (struct cosine_rows){&sides[s]->matrix, rows[s], count};
    }
    return cosine_plan_make(plan, surveys, samples, threshold, tails, NULL) == COG_OK;
}

/* Joins in blocks that take that much memory together; the same side twice is a self-join. */
static bool join_in_blocks(struct side *const sides[2], const struct cosine_plan *plan,
                           double threshold, uint64_t memory_bytes, unsigned threads,
                           struct match_list *found) {
    struct pair_task task = {0};
    struct match_sorter results;
    struct block_join join = {.task = &task,
                              .method = &exact_method,
                              .join = {.threshold = threshold,
                                       .verify = true,
                                       .plan = plan,
                                       .list_bytes = memory_bytes / 3 + 1,
                                       .threads = threads},
                              .self = sides[0] == sides[1],
                              .costs = {12, 8},
                              .memory_bytes = memory_bytes,
                              .small_second = threads % 2,
                              .results = &results};
    for (size_t s = 0; s < (join.self ? 1 : 2); s++)
        join.sides[s] = (struct block_rows){.store = &sides[s]->store,
                                            .numbers = sides[s]->firsts,
                                            .count = sides[s]->groups.count,
                                            .groups = &sides[s]->groups};
    match_sorter_init(&results, 0);
    bool done = block_join_run(&join, NULL) == COG_OK &&
                match_sorter_finish(&results, found, NULL) == COG_OK;
    block_join_free(&join);
    match_sorter_free(&results);
    return done;
}

static const uint64_t budgets[] = {1, 2000, 9000, 40000, 1 << 22};

TEST(block_join_equals_the_double_loop) {
    static const double thresholds[] = {0.1, 0.5, 0.8, 0.95};
    struct random random = random_seeded(31);
    for (int round = 0; round < 8; round++) {
        struct side first = {0}, second = {0};
        struct side *const sides[2] = {&first, round % 2 ? &second : &first};
        const double threshold = thresholds[round / 2 % 4];
        struct cosine_plan plan;
        CHECK(make_side(&first, &random, 40 + 10 * (size_t)round));
        CHECK(make_side(&second, &random, 30 + 4 * (size_t)round));
        CHECK(make_plan(sides, threshold, NULL, &plan));
        struct match_list expected = expected_of(sides, threshold);
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++)
            for (unsigned threads = 1; threads <= 2; threads++) {
                struct match_list found = {0};
                CHECK(join_in_blocks(sides, &plan, threshold, budgets[b], threads, &found));
                CHECK_MSG(join_lists_equal(&found, &expected), "round %d, %llu bytes", round,
                          (unsigned long long)budgets[b]);
                match_list_free(&found);
            }
        match_list_free(&expected);
        cosine_plan_free(&plan);
        free_side(&first);
        free_side(&second);
    }
}

/* With bounds that expect little of tails, pairs are missed: the same ones for every budget, and
 * those that one join in memory misses. */
TEST(block_join_misses_what_one_join_misses) {
    struct random random = random_seeded(32);
    size_t missed = 0;
    for (int round = 0; round < 8; round++) {
        struct side first = {0}, second = {0};
        struct side *const sides[2] = {&first, round % 2 ? &second : &first};
        const double threshold = round % 4 < 2 ? 0.3 : 0.6;
        struct cosine_tails tails;
        struct cosine_plan plan;
        for (int tail = 0; tail < COSINE_TAILS; tail++)
            tails.cosines[tail] = 0.1 * round;
        CHECK(make_side(&first, &random, 150));
        CHECK(make_side(&second, &random, 90));
        CHECK(make_plan(sides, threshold, &tails, &plan));
        struct match_list in_memory = {0}, all = expected_of(sides, threshold);
        const struct join_options options = {.threshold = threshold, .threads = 2, .tails = &tails};
        CHECK_OK(cosine_join(&first.matrix, round % 2 ? &second.matrix : NULL, &options, &in_memory,
                             error));
        missed += all.count - in_memory.count;
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            struct match_list found = {0};
            CHECK(join_in_blocks(sides, &plan, threshold, budgets[b], 1 + b % 2, &found));
            CHECK_MSG(join_lists_equal(&found, &in_memory), "round %d, %llu bytes", round,
                      (unsigned long long)budgets[b]);
            match_list_free(&found);
        }
        match_list_free(&in_memory);
        match_list_free(&all);
        cosine_plan_free(&plan);
        free_side(&first);
        free_side(&second);
    }
    CHECK_MSG(missed > 0, "nothing was missed");
}
