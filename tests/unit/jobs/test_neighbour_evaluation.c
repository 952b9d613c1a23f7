#include "jobs/evaluate/neighbour_evaluation.h"
#include "plan/sampled_truth.h"
#include "test.h"

static const struct match exact[] = {{.b = 1, .distance = 0},
                                     {.b = 5, .distance = 2},
                                     {.b = 3, .distance = 4},
                                     {.b = 9, .distance = 4}};
static const struct match found[] = {{.b = 1, .distance = 0},
                                     {.b = 9, .distance = 4},
                                     {.b = 8, .distance = 5},
                                     {.b = 2, .distance = 9}};

static double recall_at(size_t found_count, size_t k) {
    struct share_tally tally = {0};
    recall_count_nearest(exact, k, found, found_count < k ? found_count : k, RECALL_BY_DISTANCE,
                         &tally);
    return tally.trials ? (double)tally.hits / (double)tally.trials : 1;
}

TEST(neighbour_measures_follow_their_definitions) {
    /* DR: 0/0 = 1, 2/4, 6/9, 10/18 */
    double expected = (1 + 0.5 + 6.0 / 9 + 10.0 / 18) / 4;
    CHECK(cumulative_distance_ratio(exact, 4, found, 4, 4, 64) - expected < 1e-12);
    CHECK(expected - cumulative_distance_ratio(exact, 4, found, 4, 4, 64) < 1e-12);
    CHECK(cumulative_distance_ratio(exact, 4, exact, 4, 10, 64) == 1);
    CHECK(cumulative_distance_ratio(exact, 4, found, 1, 2, 64) == (1 + 2.0 / 64) / 2);
    CHECK(cumulative_distance_ratio(exact, 4, found, 4, 0, 64) == 1);
    CHECK(recall_at(4, 4) == 0.5);
    CHECK(recall_at(4, 3) == 2.0 / 3);
    CHECK(recall_at(1, 4) == 0.25);
    CHECK(recall_at(4, 0) == 1);
}
