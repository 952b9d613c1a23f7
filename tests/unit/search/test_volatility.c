#include <math.h>

#include "base/hash.h"
#include "base/memory.h"
#include "search/probes/volatility.h"
#include "test.h"

/* Laplace with scale 1: P(Y > c) = exp(-c) / 2. */
static float laplace(struct random *random) {
    double u = random_unit(random) - 0.5;
    return (float)(u < 0 ? log(1 + 2 * u + 1e-300) : -log(1 - 2 * u + 1e-300));
}

TEST(volatility_is_the_tail_of_the_differences) {
    enum { COUNT = 200000 };
    struct random random = random_seeded(21);
    float *differences = memory_array(COUNT, sizeof *differences);
    CHECK(differences);
    for (size_t i = 0; i < COUNT; i++)
        differences[i] = laplace(&random);
    static struct volatility volatility, restored;
    CHECK_OK(volatility_learn(&volatility, differences, COUNT, error));
    CHECK_OK(volatility_restore(&restored, volatility.quantiles, volatility.tail, error));
    CHECK(memcmp(&volatility, &restored, sizeof restored) == 0);
    for (double c = 0; c < 4; c += 0.05) {
        double expected = exp(-c) / 2;
        CHECK_MSG(fabs(volatility_probability(&volatility, -c) - expected) < 0.004, "at %g", c);
        double penalty = volatility_penalty(&volatility, (float)c) / (double)PROBE_PENALTY_ONE;
        CHECK_MSG(fabs(penalty - log((1 - expected) / expected)) < 0.1, "penalty at %g: %g", c,
                  penalty);
    }
    CHECK(volatility_penalty(&volatility, 1e30f) == volatility.penalties[VOLATILITY_CELLS - 1]);
    for (unsigned i = 1; i < VOLATILITY_CELLS; i++)
        CHECK(volatility.penalties[i] >= volatility.penalties[i - 1]);
    free(differences);
}

TEST(volatility_learns_from_random_pairs_of_rows) {
    enum { ROWS = 500, BITS = 64 };
    static float weights[ROWS * BITS];
    struct random random = random_seeded(22);
    for (size_t i = 0; i < ROWS * BITS; i++)
        weights[i] = laplace(&random);
    static struct volatility first, again;
    CHECK_OK(volatility_learn_random_pairs(&first, weights, ROWS, BITS, 2000, 7, error));
    CHECK_OK(volatility_learn_random_pairs(&again, weights, ROWS, BITS, 2000, 7, error));
    CHECK(memcmp(&first, &again, sizeof first) == 0);
    /* The difference of two Laplace variables: P(Y > c) = (2 + c) exp(-c) / 4. */
    for (double c = 0; c < 3; c += 0.1)
        CHECK(fabs(volatility_probability(&first, c) - (2 + c) * exp(-c) / 4) < 0.02);
}

TEST(volatility_refuses_what_it_cannot_learn_from) {
    static struct volatility volatility;
    cog_error failure = {0};
    float bad[2] = {NAN, INFINITY};
    CHECK(volatility_learn(&volatility, bad, 2, &failure) == COG_ERR_USAGE);
    CHECK(volatility_learn_random_pairs(&volatility, bad, 1, 2, 5, 1, &failure) == COG_ERR_USAGE);
    double falling[VOLATILITY_QUANTILES] = {1};
    CHECK(volatility_restore(&volatility, falling, 0.1, &failure) == COG_ERR_FORMAT);
    float same[3] = {0, 0, 0};
    CHECK_OK(volatility_learn(&volatility, same, 3, error));
    CHECK(volatility_probability(&volatility, 0) == 0.5);
    CHECK(volatility_penalty(&volatility, 1) == volatility_penalty(&volatility, 0));
}
