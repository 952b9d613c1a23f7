#include "jobs/pairs/pair_join.h"
#include "test.h"

static cog_status init_by(int method, double recall, cog_error *error) {
    cog_pairs_options options;
    struct pair_task task = {0};
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.method = (cog_method)method;
    options.recall = recall;
    cog_status status = pair_join_init(&task, &options, 1, NULL, NULL, error);
    pair_task_free(&task);
    return status;
}

TEST(pairs_refuse_a_number_that_is_no_method) {
    static const int wrong[] = {-1, COG_METHOD_COUNT, COG_METHOD_COUNT + 1000, INT32_MAX,
                                INT32_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cog_error error = {0};
        CHECK_MSG(init_by(wrong[i], 0.95, &error) == COG_ERR_USAGE, "method %d", wrong[i]);
        CHECK(error.message[0]);
    }
}

TEST(pairs_take_the_methods_that_join_and_refuse_the_others) {
    for (int method = COG_METHOD_AUTO; method < COG_METHOD_COUNT; method++) {
        bool joins = method == COG_METHOD_AUTO || method == COG_METHOD_EXACT ||
                     method == COG_METHOD_FLAT || method == COG_METHOD_LSH ||
                     method == COG_METHOD_WINDOW || method == COG_METHOD_LISTS;
        bool certain = joins && method != COG_METHOD_LSH && method != COG_METHOD_WINDOW;
        CHECK_MSG(init_by(method, 0.95, NULL) == (joins ? COG_OK : COG_ERR_USAGE), "%d", method);
        CHECK_MSG(init_by(method, 1, NULL) == (certain ? COG_OK : COG_ERR_USAGE), "%d", method);
    }
}

TEST(pairs_refuse_a_number_that_is_no_measure_and_no_format) {
    cog_pairs_options options;
    cog_pairs *pairs = NULL;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.measure = (cog_measure)7;
    CHECK(cog_pairs_find((cog_documents *)&options, NULL, &options, NULL, &pairs, NULL, NULL) ==
          COG_ERR_USAGE);
    struct cog_pairs empty = {.sides = 1};
    CHECK(cog_pairs_write(&empty, (cog_output_format)9, "/dev/null", NULL) == COG_ERR_USAGE);
}

TEST(pairs_are_read_at_any_position) {
    struct cog_pairs empty = {.sides = 1, .has_ids = true};
    size_t size = 1;
    CHECK(cog_pairs_get(&empty, 5).distance == -1);
    CHECK(cog_pairs_read(&empty, SIZE_MAX, 2, NULL) == 0);
    CHECK(cog_pairs_id(&empty, 7, 9, &size) == NULL && size == 0);
}
