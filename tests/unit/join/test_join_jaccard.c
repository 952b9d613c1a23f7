#include <math.h>

#include "join/jaccard_join.h"
#include "join_data.h"
#include "test.h"

static const double thresholds[] = {0.05, 0.2, 1.0 / 3, 0.5, 2.0 / 3, 0.75, 0.8, 0.9, 1.0};
enum { THRESHOLD_COUNT = sizeof thresholds / sizeof *thresholds };

static double row_jaccard(const struct set_collection *a, size_t i, const struct set_collection *b,
                          size_t j) {
    uint64_t at_a = a->offsets[i], at_b = b->offsets[j];
    size_t shared = set_overlap(a->members + at_a, (size_t)(a->offsets[i + 1] - at_a),
                                b->members + at_b, (size_t)(b->offsets[j + 1] - at_b));
    size_t either = (size_t)a->sizes[i] + b->sizes[j] - shared;
    return either ? (double)shared / (double)either : 0;
}

static struct match_list expected_matches(const struct set_collection *a,
                                          const struct set_collection *b, double threshold) {
    struct match_list list = {0};
    const struct set_collection *other = b ? b : a;
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = b ? 0 : i + 1; j < other->rows; j++) {
            double jaccard = row_jaccard(a, i, other, j);
            struct match match = {(uint32_t)i, (uint32_t)j, 0, (float)jaccard};
            if (jaccard >= threshold && match_list_add(&list, match, NULL) != COG_OK)
                abort();
        }
    return list;
}

static bool join_agrees(const struct set_collection *a, const struct set_collection *b,
                        double threshold, unsigned threads) {
    struct match_list expected = expected_matches(a, b, threshold), found = {0};
    struct join_options options = {.threshold = threshold, .threads = threads};
    cog_status status = b ? jaccard_join(a, b, &options, &found, NULL)
                          : jaccard_join(a, NULL, &options, &found, NULL);
    bool agrees = status == COG_OK && join_lists_equal(&found, &expected);
    match_list_free(&expected);
    match_list_free(&found);
    return agrees;
}

TEST(join_jaccard_self_equals_the_double_loop) {
    struct random random = random_seeded(17);
    for (int round = 0; round < 12; round++) {
        struct row_shape shape = {.rows = 30 + 40 * (size_t)round,
                                  .columns = round % 3 == 0 ? 40 : 3000,
                                  .mean_count = 5 + 5 * (uint32_t)round,
                                  .skew = 1 + round % 4};
        struct set_collection sets = join_random_sets(&random, shape);
        for (int t = 0; t < THRESHOLD_COUNT; t++)
            CHECK_MSG(join_agrees(&sets, NULL, thresholds[t], 1 + (unsigned)(t + round) % 4),
                      "round %d, threshold %g", round, thresholds[t]);
        set_collection_free(&sets);
    }
}

TEST(join_jaccard_cross_equals_the_double_loop) {
    struct random random = random_seeded(18);
    for (int round = 0; round < 8; round++) {
        struct row_shape shape = {.rows = 10 + 40 * (size_t)round,
                                  .columns = 200,
                                  .mean_count = 8 + 5 * (uint32_t)round,
                                  .skew = 1 + round % 3};
        struct set_collection a = join_random_sets(&random, shape);
        shape.rows = 200;
        shape.mean_count = 20;
        struct set_collection b = join_random_sets(&random, shape);
        for (int t = 0; t < THRESHOLD_COUNT; t++) {
            CHECK_MSG(join_agrees(&a, &b, thresholds[t], 1 + (unsigned)(t + round) % 4),
                      "round %d, threshold %g", round, thresholds[t]);
            CHECK_MSG(join_agrees(&b, &a, thresholds[t], 2), "other way round, threshold %g",
                      thresholds[t]);
        }
        set_collection_free(&a);
        set_collection_free(&b);
    }
}

/* Every quotient that small sets can have, as the threshold, just below and just above it. */
TEST(join_jaccard_includes_the_threshold_itself) {
    struct random random = random_seeded(19);
    struct row_shape shape = {120, 14, 5, 1, false, false};
    struct set_collection sets = join_random_sets(&random, shape);
    for (int either = 1; either <= 12; either++)
        for (int shared = 1; shared <= either; shared++) {
            double quotient = (double)shared / either;
            CHECK_MSG(join_agrees(&sets, NULL, quotient, 1), "%d / %d", shared, either);
            CHECK_MSG(join_agrees(&sets, NULL, nextafter(quotient, 0), 1), "below %d / %d", shared,
                      either);
            CHECK_MSG(shared == either || join_agrees(&sets, NULL, nextafter(quotient, 1), 1),
                      "above %d / %d", shared, either);
        }
    set_collection_free(&sets);
}

TEST(join_jaccard_counts_unlisted_members) {
    uint64_t offsets[] = {0, 4, 8, 8, 8};
    uint32_t members[] = {0, 1, 2, 3, 0, 1, 2, 3};
    uint32_t sizes[] = {4, 5, 0, 0};
    struct set_collection sets = {4, 4, offsets, members, sizes};
    struct join_options options = {.threshold = 0.8, .threads = 1};
    struct match_list found = {0};
    CHECK_OK(jaccard_join(&sets, NULL, &options, &found, error));
    CHECK(found.count == 1 && found.items[0].similarity == 0.8f);
    match_list_free(&found);
    options.threshold = 0.81;
    CHECK_OK(jaccard_join(&sets, NULL, &options, &found, error));
    CHECK(found.count == 0);
}

/* Copies with one member of their own each list the same members: they are a group as well. */
TEST(join_jaccard_of_a_huge_group_verifies_no_pair_of_it) {
    enum { COPIES = 3000, MEMBERS = 20 };
    static uint64_t offsets[COPIES + 1];
    static uint32_t members[COPIES * MEMBERS], sizes[COPIES];
    for (uint32_t i = 0; i < COPIES; i++) {
        offsets[i + 1] = offsets[i] + MEMBERS;
        sizes[i] = MEMBERS + i % 2;
        for (uint32_t m = 0; m < MEMBERS; m++)
            members[i * MEMBERS + m] = m;
    }
    struct set_collection sets = {COPIES, MEMBERS, offsets, members, sizes};
    struct join_work work;
    struct join_options options = {.threshold = 0.9, .threads = 2, .work = &work};
    struct match_list found = {0};
    CHECK_OK(jaccard_join(&sets, NULL, &options, &found, error));
    CHECK(found.count == (size_t)COPIES * (COPIES - 1) / 2);
    CHECK(work.verified <= 1);
    match_list_free(&found);
}

TEST(join_jaccard_refuses_what_it_cannot_do) {
    uint64_t offsets[] = {0};
    struct set_collection none = {0, 4, offsets, NULL, NULL}, other = {0, 5, offsets, NULL, NULL};
    struct match_list found = {0};
    struct join_options options = {.threshold = 0};
    CHECK(jaccard_join(&none, NULL, &options, &found, NULL) == COG_ERR_USAGE);
    options.threshold = 0.5;
    CHECK(jaccard_join(&none, &other, &options, &found, NULL) == COG_ERR_USAGE);
    CHECK(jaccard_join(&none, NULL, &options, &found, NULL) == COG_OK && found.count == 0);
}
