#include <math.h>

#include "base/hash.h"
#include "estimate/radius.h"
#include "hamming/hamming.h"
#include "search/keys/bit_permutation.h"
#include "search/lsh/lsh_plan.h"
#include "search/window/window_join.h"
#include "search/window/window_plan.h"
#include "test.h"

/* Rows of random bits, and for each of the first `pairs` a partner at cosine `cosine`. */
static struct signatures_view make_pairs(struct random *random, size_t rows, size_t pairs,
                                         double cosine, unsigned bits) {
    size_t stride = signature_stride_bytes(bits);
    uint8_t *data = calloc(rows, stride);
    double p = bit_flip_probability_cosine(cosine);
    for (size_t i = 0; i < rows * stride; i++)
        data[i] = (uint8_t)random_next(random);
    for (size_t row = 0; row < pairs; row++) {
        uint8_t *partner = data + (rows - 1 - row) * stride;
        memcpy(partner, data + row * stride, stride);
        for (unsigned bit = 0; bit < bits; bit++)
            if (random_unit(random) < p)
                partner[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
    }
    return (struct signatures_view){data, rows, bits, stride};
}

TEST(recall_model_of_the_window_is_near_the_join) {
    struct random random = random_seeded(61);
    enum { ROWS = 6000, PAIRS = 1000, BITS = 256 };
    static const double cosines[] = {0.5, 0.7, 0.9};
    for (int i = 0; i < 3; i++) {
        struct signatures_view rows = make_pairs(&random, ROWS, PAIRS, cosines[i], BITS);
        uint32_t histogram[BITS + 1] = {0};
        for (size_t row = 1; row < ROWS; row++)
            histogram[hamming_distance(rows.data, signature_row(&rows, row), BITS)]++;
        for (int size = 0; size < 2; size++) {
            struct window_setting setting = {
                .bits = BITS, .tables = 12, .window = size ? 100 : 20, .radius_bits = 100};
            struct window_options options = {.tables = setting.tables,
                                             .window = setting.window,
                                             .radius_bits = setting.radius_bits,
                                             .seed = 5};
            struct match_list matches = {0};
            CHECK_OK(window_join(&rows, NULL, &options, &matches, NULL, error));
            size_t found = 0;
            for (size_t m = 0; m < matches.count; m++)
                found += matches.items[m].a + matches.items[m].b == ROWS - 1;
            double sharing[WINDOW_PREFIX_MAX + 1], by_distance[101];
            window_rows_sharing(histogram, BITS, 1, sharing);
            window_found(&setting, sharing, by_distance);
            double expected = window_recall(&setting, by_distance, cosines[i]);
            CHECK_MSG(near(expected, (double)found / PAIRS, 0.05),
                      "cosine %g window %zu: model %.3f, join %.3f", cosines[i], setting.window,
                      expected, (double)found / PAIRS);
            match_list_free(&matches);
        }
        free((void *)rows.data);
    }
}

/* More tables do not help rows that are all equal: their order is the same in each. */
TEST(recall_model_of_the_window_knows_equal_rows) {
    struct random random = random_seeded(62);
    enum { ROWS = 3000, EQUAL = 1000, BITS = 256 };
    struct signatures_view rows = make_pairs(&random, ROWS, 0, 1, BITS);
    for (size_t row = 1; row < EQUAL; row++)
        memcpy((uint8_t *)rows.data + 2 * row * rows.stride_bytes, rows.data, rows.stride_bytes);
    uint32_t histogram[BITS + 1] = {0};
    for (size_t row = 1; row < ROWS; row++)
        histogram[hamming_distance(rows.data, signature_row(&rows, row), BITS)]++;
    double sharing[WINDOW_PREFIX_MAX + 1], found[1], cosine = 1;
    window_rows_sharing(histogram, BITS, 1, sharing);
    for (size_t window = 50; window <= 1600; window *= 2) {
        struct window_setting setting = {.bits = BITS, .tables = 8, .window = window};
        struct window_options options = {.tables = 8, .window = window, .seed = 5};
        struct match_list matches = {0};
        CHECK_OK(window_join(&rows, NULL, &options, &matches, NULL, error));
        double share = (double)matches.count / ((double)EQUAL * (EQUAL - 1) / 2);
        window_found(&setting, sharing, found);
        CHECK_MSG(near(window_recall(&setting, found, 1), share, 0.02), "window %zu: %g and %g",
                  window, window_recall(&setting, found, 1), share);
        match_list_free(&matches);
    }
    free((void *)rows.data);
    struct window_setting planned = {.bits = BITS};
    struct window_targets targets = {.cosines = &cosine, .count = 1, .sharing = sharing};
    CHECK(window_plan(&planned, ROWS, &targets, 0.95) >= 0.95);
    CHECK_MSG(planned.window >= 700 && planned.tables == 1, "window %zu", planned.window);
}

TEST(recall_plan_of_windows_reaches_what_it_states) {
    struct window_setting setting = {.bits = 512, .radius_bits = 150};
    double cosine = 0.8, low_cosine = 0.5;
    struct window_targets near_pairs = {.cosines = &cosine, .count = 1},
                          far_pairs = {.cosines = &low_cosine, .count = 1};
    double expected = window_plan(&setting, 50000, &near_pairs, 0.9);
    CHECK(expected >= 0.9 && setting.tables > 0 && setting.window > 0);
    /* One table fewer falls short, or the plan is the smallest there is. */
    struct window_setting fewer = setting;
    double sharing[WINDOW_PREFIX_MAX + 1], found[151];
    for (int prefix = 0; prefix <= WINDOW_PREFIX_MAX; prefix++)
        sharing[prefix] = ldexp(50000, -prefix);
    fewer.tables--;
    window_found(&fewer, sharing, found);
    CHECK(fewer.tables == 0 || window_recall(&fewer, found, 0.8) < 0.9);
    struct window_setting given = {.bits = 512, .tables = 7, .window = 99, .radius_bits = 150};
    window_plan(&given, 50000, &near_pairs, 0.9);
    CHECK(given.tables == 7 && given.window == 99);
    struct window_setting narrow = {.bits = 512, .radius_bits = 20};
    CHECK(window_plan(&narrow, 1000, &far_pairs, 0.9) < 0.1 && narrow.tables > 0);
    /* Nearer pairs among them, or fewer rows around them, need fewer comparisons. */
    double mixed[] = {0.8, 0.95};
    double sparse[WINDOW_PREFIX_MAX + 1];
    for (int prefix = 0; prefix <= WINDOW_PREFIX_MAX; prefix++)
        sparse[prefix] = sharing[prefix] / 8;
    struct window_targets targets[] = {{.cosines = mixed, .count = 2},
                                       {.cosines = &cosine, .count = 1, .sharing = sparse}};
    for (int i = 0; i < 2; i++) {
        struct window_setting easier = {.bits = 512, .radius_bits = 150};
        CHECK(window_plan(&easier, 50000, &targets[i], 0.9) >= 0.9);
        CHECK(easier.tables * easier.window < setting.tables * setting.window);
    }
}

TEST(recall_model_of_tables_is_the_simulation) {
    for (unsigned tables = 1; tables <= 15; tables++) {
        struct lsh_options options = {.key_bits = 8, .tables = tables};
        static const double cosines[] = {0.75, 0.9};
        for (int i = 0; i < 2; i++) {
            double simulated, agreement = 1 - bit_flip_probability_cosine(cosines[i]);
            CHECK_OK(lsh_recall_simulated(&options, LSH_JOIN_CROSS,
                                          &(struct lsh_targets){.cosines = &cosines[i], .count = 1},
                                          4000, 2, &simulated, error));
            CHECK_MSG(near(simulated, lsh_recall_plain(agreement, 8, tables), 0.03),
                      "%u tables, cosine %g: %.3f and %.3f", tables, cosines[i], simulated,
                      lsh_recall_plain(agreement, 8, tables));
        }
    }
    /* Table 5 of Distributed LSH counts 112,347 comparisons in 300,000 rows for K = 4, L = 10. */
    struct lsh_options options = {.key_bits = 4, .tables = 10};
    CHECK(near(lsh_comparisons(&options, 300000), 110130, 100));
}

TEST(recall_plan_reaches_what_it_states) {
    static const double cosines[] = {0.9};
    for (int sums = 0; sums < 2; sums++) {
        struct lsh_demand demand = {.rows = 100000,
                                    .bits = 256,
                                    .have_margins = sums,
                                    .recall = 0.9,
                                    .targets = {.cosines = cosines, .count = 1},
                                    .given = {.flip_mode = LSH_FLIP_DISTANCE}};
        struct lsh_options options;
        double expected, simulated;
        CHECK_OK(lsh_plan(&demand, &options, &expected, error));
        CHECK_OK(lsh_options_check(&options, 256, sums, error));
        CHECK(expected >= 0.9);
        CHECK_OK(lsh_recall_simulated(&options, LSH_JOIN_CROSS, &demand.targets, 4000, 2,
                                      &simulated, error));
        CHECK_MSG(simulated > 0.87, "stated 0.9, simulated %.3f", simulated);
    }
    struct lsh_demand hopeless = {.rows = 1000,
                                  .bits = 2,
                                  .recall = 0.99,
                                  .targets = {.cosines = (double[]){0.1}, .count = 1}};
    struct lsh_options options;
    double expected;
    cog_error problem;
    CHECK(lsh_plan(&hopeless, &options, &expected, &problem) == COG_ERR_USAGE);
}

TEST(recall_plan_keeps_what_is_given) {
    static const struct lsh_options given[] = {
        {.tables = 6, .flip_mode = LSH_FLIP_DISTANCE},
        {.key_bits = 8, .flip_mode = LSH_FLIP_DISTANCE},
        {.flips = 2, .flip_mode = LSH_FLIP_RANDOM},
        {.flips = 5, .flip_mode = LSH_FLIP_ACROSS},
        {.flips = 17, .flip_mode = LSH_FLIP_DISTANCE},
        {.tables = 3, .flip_mode = LSH_FLIP_NONE},
        {.key_bits = 20, .tables = 1, .flips = 1, .flip_mode = LSH_FLIP_DISTANCE},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct lsh_demand demand = {.rows = 5000,
                                    .bits = 512,
                                    .have_margins = true,
                                    .recall = 0.9,
                                    .targets = {.cosines = (double[]){0.9}, .count = 1},
                                    .given = given[i]};
        struct lsh_options options;
        double expected;
        CHECK_OK(lsh_plan(&demand, &options, &expected, error));
        CHECK_OK(lsh_options_check(&options, 512, true, error));
        CHECK(!given[i].key_bits || options.key_bits == given[i].key_bits);
        CHECK(!given[i].tables || options.tables == given[i].tables);
        CHECK(!given[i].flips ||
              (options.flips == given[i].flips && options.flip_mode == given[i].flip_mode));
        bool all = given[i].key_bits && given[i].tables;
        CHECK_MSG(all ? expected < 0.9 : expected >= 0.9, "case %zu: %.3f", i, expected);
    }
}

TEST(recall_plan_of_bands_is_the_best_of_all) {
    static const double thresholds[] = {0.3, 0.5, 0.8, 0.95};
    for (int i = 0; i < 4; i++) {
        unsigned band_values = 0, bands = 0;
        double reached = band_plan(thresholds[i], 0.95, 32, 128, &band_values, &bands);
        CHECK(reached >= 0.95 && band_values * bands <= 128);
        CHECK(near(reached, 1 - pow(1 - pow(thresholds[i], band_values), bands), 1e-6));
        /* Every other choice misses the recall, or lets more pairs at half the threshold through.
         */
        double share = band_recall(thresholds[i] / 2, 32, band_values, bands);
        for (unsigned values = 1; values <= 128; values++)
            for (unsigned count = 1; count * values <= 128; count++)
                CHECK(band_recall(thresholds[i], 32, values, count) < 0.95 ||
                      band_recall(thresholds[i] / 2, 32, values, count) >= 0.999 * share);
    }
    unsigned band_values = 0, bands = 0;
    CHECK(band_plan(0.01, 0.99, 32, 16, &band_values, &bands) < 0.99);
    CHECK(band_values == 1 && bands == 16);
}

TEST(recall_plan_of_bands_keeps_what_is_given) {
    unsigned values = 0, bands = 8;
    CHECK(band_plan(0.8, 0.95, 32, 128, &values, &bands) >= 0.95 && bands == 8);
    CHECK(values > 1 && band_recall(0.8, 32, values + 1, 8) < 0.95);
    values = 5, bands = 0;
    CHECK(band_plan(0.8, 0.95, 32, 128, &values, &bands) >= 0.95 && values == 5);
    CHECK(bands > 1 && band_recall(0.8, 32, 5, bands - 1) < 0.95);
    values = 16, bands = 0; /* as many as there are values for */
    CHECK(band_plan(0.8, 0.95, 32, 128, &values, &bands) < 0.95 && values == 16 && bands == 8);
    values = 9, bands = 2;
    CHECK(band_plan(0.8, 0.95, 32, 128, &values, &bands) < 0.95 && values == 9 && bands == 2);
}

/* A pair that shares no key is found by the first row's flips, by the second's, or by both: twice
 * the gain of one side less what both gain. */
TEST(recall_model_of_a_self_join_has_both_rows_looking) {
    struct lsh_options options = {
        .key_bits = 16, .tables = 10, .flips = 2, .flip_mode = LSH_FLIP_DISTANCE};
    struct lsh_options none = {.key_bits = 16, .tables = 10};
    double cosine = 0.7, cross, self, without;
    struct lsh_targets targets = {.cosines = &cosine, .count = 1};
    CHECK_OK(lsh_recall_simulated(&none, LSH_JOIN_SELF, &targets, 4000, 2, &without, error));
    CHECK_OK(lsh_recall_simulated(&options, LSH_JOIN_CROSS, &targets, 4000, 2, &cross, error));
    CHECK_OK(lsh_recall_simulated(&options, LSH_JOIN_SELF, &targets, 4000, 2, &self, error));
    CHECK_MSG(self > cross + 0.05 && self < without + 2 * (cross - without) + 0.02,
              "without flips %g, cross %g, self %g", without, cross, self);
}

/* With as many keys, one order over all tables finds more than the same number for each. */
TEST(recall_model_prefers_flips_across_tables) {
    double cosine = 0.7, recall[2];
    struct lsh_targets targets = {.cosines = &cosine, .count = 1};
    for (int both = 0; both < 2; both++) {
        for (int across = 0; across < 2; across++) {
            struct lsh_options options = {.key_bits = 16,
                                          .tables = 10,
                                          .flips = 2,
                                          .flip_mode = across ? LSH_FLIP_ACROSS : LSH_FLIP_DISTANCE,
                                          .flip_both = both};
            CHECK_OK(lsh_recall_simulated(&options, LSH_JOIN_CROSS, &targets, 8000, 2,
                                          &recall[across], error));
        }
        CHECK_MSG(recall[1] > recall[0] + 0.03, "across %.3f, each for itself %.3f", recall[1],
                  recall[0]);
    }
}

/* Known pairs are keyed as they are: three of four have the same bits, and one has none in common,
 * whatever the cosines are. */
TEST(recall_model_of_known_pairs_counts_those_that_meet) {
    uint8_t bits[2][4 * 8] = {{0}, {0}};
    float sums[4 * 64];
    for (int i = 0; i < 4 * 64; i++)
        sums[i] = 1;
    memset(bits[1] + 2 * 8, 0xff, 8);
    struct signatures_view views[2] = {{bits[0], 4, 64, 8}, {bits[1], 4, 64, 8}};
    struct method_rows known[2] = {
        {.signatures = &views[0], .margins = sums, .margins_per_row = 64},
        {.signatures = &views[1], .margins = sums, .margins_per_row = 64}};
    struct lsh_targets targets = {.known = known, .count = 4};
    for (int mode = LSH_FLIP_NONE; mode <= LSH_FLIP_ACROSS; mode++) {
        struct lsh_options options = {
            .key_bits = 8, .tables = 6, .flips = 2, .flip_mode = (enum lsh_flip_mode)mode};
        double recall = 0;
        CHECK_OK(lsh_recall_simulated(&options, LSH_JOIN_SELF, &targets, 0, 2, &recall, error));
        CHECK_MSG(recall == 0.75, "%d: %g", mode, recall);
    }
}
