/* Measured recall: how sure it is, and that its truth is looked at in parts. */
#include "base/hash.h"
#include "plan/sampled_truth.h"
#include "test.h"

TEST(measured_share_of_single_trials_is_wilsons) {
    struct share_tally tally = {0};
    CHECK(measured_share(&tally).low == 0 && measured_share(&tally).high == 1);
    for (int i = 0; i < 100; i++)
        share_tally_add(&tally, i < 90, 1);
    struct measured_share share = measured_share(&tally);
    CHECK(near(share.share, 0.9, 1e-12));
    CHECK_MSG(near(share.low, 0.8256, 0.001) && near(share.high, 0.9448, 0.001), "%g to %g",
              share.low, share.high);
}

/* Ten trials that are found or missed as one are worth one; and so where all are found. */
TEST(measured_share_counts_units) {
    struct share_tally single = {0}, tens = {0}, all = {0}, all_tens = {0};
    for (int i = 0; i < 100; i++) {
        share_tally_add(&single, i < 90, 1);
        share_tally_add(&tens, i < 90 ? 10 : 0, 10);
        share_tally_add(&all, 1, 1);
        share_tally_add(&all_tens, 10, 10);
        share_tally_add(&all_tens, 0, 0);
    }
    CHECK(near(measured_share(&single).low, measured_share(&tens).low, 0.001));
    CHECK(near(measured_share(&single).high, measured_share(&tens).high, 0.001));
    CHECK(near(measured_share(&all).low, measured_share(&all_tens).low, 1e-12));
    CHECK(measured_share(&all).high == 1);
}

/* 594 trials in 27 units, with fewer and fewer misses, each in a unit of its own. */
TEST(measured_share_is_no_surer_of_less) {
    double last_low = 0;
    for (int misses = 27; misses >= 0; misses--) {
        struct share_tally tally = {0};
        for (int unit = 0; unit < 27; unit++)
            share_tally_add(&tally, unit < misses ? 21 : 22, 22);
        struct measured_share share = measured_share(&tally);
        CHECK_MSG(share.low >= last_low, "%d misses: %g after %g", misses, share.low, last_low);
        CHECK(share.low <= share.share && share.share <= share.high);
        last_low = share.low;
    }
}

/* Units of 1 to 20 trials, each with a rate of its own: 95 of 100 intervals hold the mean rate. */
TEST(measured_share_holds_the_truth_as_often_as_it_says) {
    enum { RUNS = 1000, UNITS = 200 };
    struct random random = random_seeded(11);
    int inside = 0;
    for (int run = 0; run < RUNS; run++) {
        struct share_tally tally = {0};
        for (int unit = 0; unit < UNITS; unit++) {
            uint64_t trials = 1 + random_below(&random, 20), hits = 0;
            double rate = random_unit(&random) < 0.7 ? 1 : 0.5; /* on average 0.85 */
            for (uint64_t i = 0; i < trials; i++)
                hits += random_unit(&random) < rate;
            share_tally_add(&tally, hits, trials);
        }
        struct measured_share share = measured_share(&tally);
        inside += share.low <= 0.85 && share.high >= 0.85;
    }
    CHECK_MSG(inside > 0.93 * RUNS && inside < 0.97 * RUNS, "%d of %d", inside, RUNS);
}

/* Every row matches all of 30,000 others. */
TEST(recall_sample_looks_at_its_truth_in_parts) {
    enum { ROWS = 200, OTHERS = 30000 };
    static uint64_t zeros[OTHERS];
    static struct recall_sample sample;
    const struct signatures_view first = {(const uint8_t *)zeros, ROWS, 64, 8};
    const struct signatures_view second = {(const uint8_t *)zeros, OTHERS, 64, 8};
    uint32_t even[ROWS / 2];
    const struct truth_rows rows = {
        .signatures = {&first, &second}, .numbers = even, .count = ROWS / 2};
    struct match_list matches = {0};
    for (uint32_t i = 0; i < ROWS / 2; i++) {
        even[i] = 2 * i;
        CHECK_OK(match_list_add(&matches, (struct match){2 * i, i, 0, 1}, error));
    }
    recall_sample_draw(&sample, &rows, RECALL_ROWS);
    CHECK(sample.count == ROWS / 2 && sample.rows[7] == 14);
    CHECK_OK(recall_sample_count(&sample, &rows, &matches, error));
    for (size_t i = 0; i < sample.count; i++)
        CHECK(sample.hits[i] == 1 && sample.trials[i] == OTHERS);
    CHECK_MSG(sample.most_at_once <= 1 << 20, "%zu matches at once", sample.most_at_once);
    match_list_free(&matches);
}
