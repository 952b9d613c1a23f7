/* Joins of signatures in single steps, compared with the whole join and with brute force. */
#include "base/hash.h"
#include "cognate.h"
#include "cognate_arrow.h"
#include "test.h"

enum { ROWS = 300, BITS = 72, BYTES = BITS / 8, RADIUS = 12 };

/* Families of rows that differ in a few bits. */
static void make_rows(uint8_t (*rows)[BYTES]) {
    struct random random = random_seeded(11);
    for (size_t i = 0; i < ROWS; i++) {
        if (i % 6 == 0)
            for (size_t k = 0; k < BYTES; k++)
                rows[i][k] = (uint8_t)random_below(&random, 256);
        else
            memcpy(rows[i], rows[i - 1], BYTES);
        for (size_t flips = random_below(&random, 5); flips > 0; flips--)
            rows[i][random_below(&random, BYTES)] ^= (uint8_t)(1u << random_below(&random, 8));
    }
}

static uint32_t distance_of(const uint8_t *a, const uint8_t *b) {
    uint32_t distance = 0;
    for (size_t i = 0; i < BYTES; i++)
        distance += (uint32_t)__builtin_popcount(a[i] ^ b[i]);
    return distance;
}

/* Whether the stream has exactly the pairs of the band within the radius. */
static bool stream_is_right(struct ArrowArrayStream *stream, uint8_t (*rows)[BYTES],
                            const uint32_t *begins, const uint32_t *ends) {
    struct ArrowArray array;
    bool right = stream->get_next(stream, &array) == 0 && array.release;
    if (!right)
        return false;
    const int64_t *query = array.children[0]->buffers[1], *row = array.children[1]->buffers[1];
    const int32_t *distance = array.children[2]->buffers[1];
    int64_t at = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (uint32_t k = begins[i]; k < ends[i]; k++) {
            uint32_t expected = distance_of(rows[i], rows[k]);
            if (expected > RADIUS)
                continue;
            right = right && at < array.length && query[at] == (int64_t)i && row[at] == k &&
                    distance[at] == (int32_t)expected;
            at++;
        }
    right = right && at == array.length && at > 0;
    array.release(&array);
    stream->release(stream);
    return right;
}

TEST(band_pairs_are_those_of_brute_force) {
    static uint8_t rows[ROWS][BYTES];
    uint32_t begins[ROWS], ends[ROWS];
    cog_signatures *signatures;
    make_rows(rows);
    CHECK_OK(cog_signatures_from_memory(&rows[0][0], ROWS, BITS, &signatures, error));
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (uint32_t window = 1; window <= ROWS; window += 37) {
            const cog_run_options run = {.threads = threads};
            struct ArrowArrayStream stream;
            for (uint32_t i = 0; i < ROWS; i++) {
                begins[i] = i > window ? i - window : 0;
                ends[i] = i;
            }
            CHECK_OK(cog_band_pairs(signatures, NULL, begins, ends, RADIUS, &run, &stream, error));
            CHECK(stream_is_right(&stream, rows, begins, ends));
        }
    cog_signatures_free(signatures);
}

TEST(band_pairs_refuse_bounds_that_fall) {
    static uint8_t rows[ROWS][BYTES];
    uint32_t begins[ROWS] = {0}, ends[ROWS] = {0};
    struct ArrowArrayStream stream;
    cog_signatures *signatures;
    cog_error refused = {0};
    make_rows(rows);
    CHECK_OK(cog_signatures_from_memory(&rows[0][0], ROWS, BITS, &signatures, error));
    ends[3] = 2;
    CHECK(cog_band_pairs(signatures, NULL, begins, ends, 1, NULL, &stream, &refused) ==
          COG_ERR_USAGE);
    for (size_t i = 0; i < ROWS; i++)
        ends[i] = ROWS + 1;
    CHECK(cog_band_pairs(signatures, NULL, begins, ends, 1, NULL, &stream, &refused) ==
          COG_ERR_USAGE);
    cog_signatures_free(signatures);
}

/* Sorting the permuted rows, with windows before each, is the join in one piece. */
static const uint8_t (*sorted_rows)[BYTES];

static int by_bytes(const void *x, const void *y) {
    const uint32_t *a = x, *b = y;
    int order = memcmp(sorted_rows[*a], sorted_rows[*b], BYTES);
    return order ? order : (*a > *b) - (*a < *b);
}

TEST(permuted_signatures_are_those_of_the_join_by_windows) {
    enum { TABLES = 3, WINDOW = 4, SEED = 9 };
    static uint8_t rows[ROWS][BYTES], permuted[TABLES][ROWS][BYTES];
    static bool met[ROWS][ROWS];
    cog_signatures *signatures;
    make_rows(rows);
    CHECK_OK(cog_signatures_from_memory(&rows[0][0], ROWS, BITS, &signatures, error));
    CHECK_OK(cog_permute_signatures(signatures, SEED, 0, TABLES, NULL, &permuted[0][0][0], error));
    for (size_t t = 0; t < TABLES; t++) {
        uint32_t order[ROWS];
        for (uint32_t i = 0; i < ROWS; i++)
            order[i] = i;
        sorted_rows = (const uint8_t(*)[BYTES])permuted[t];
        qsort(order, ROWS, sizeof *order, by_bytes);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t k = i > WINDOW ? i - WINDOW : 0; k < i; k++) {
                uint32_t a = order[i] < order[k] ? order[i] : order[k];
                uint32_t b = order[i] < order[k] ? order[k] : order[i];
                CHECK(distance_of(permuted[t][a], permuted[t][b]) == distance_of(rows[a], rows[b]));
                met[a][b] |= distance_of(rows[a], rows[b]) <= RADIUS;
            }
    }
    cog_pairs_options options;
    cog_pairs *pairs;
    size_t count = 0;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.method = COG_METHOD_WINDOW;
    options.sign.signature.seed = SEED;
    CHECK_OK(cog_knobs_set(&options.knobs, COG_METHOD_WINDOW, "tables", TABLES, error));
    CHECK_OK(cog_knobs_set(&options.knobs, COG_METHOD_WINDOW, "window", WINDOW, error));
    CHECK_OK(
        cog_pairs_find_signatures(signatures, NULL, RADIUS, &options, NULL, &pairs, NULL, error));
    for (size_t a = 0; a < ROWS; a++)
        for (size_t b = 0; b < ROWS; b++)
            count += met[a][b];
    CHECK(count > 0 && cog_pairs_count(pairs) == count);
    for (size_t i = 0; i < count; i++)
        CHECK(met[cog_pairs_get(pairs, i).a][cog_pairs_get(pairs, i).b]);
    cog_pairs_free(pairs);
    cog_signatures_free(signatures);
}

TEST(plans_of_joins_keep_what_is_given) {
    cog_pairs_options options;
    cog_join_plan plan;
    cog_error refused = {0};
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.method = COG_METHOD_WINDOW;
    CHECK_OK(cog_knobs_set(&options.knobs, COG_METHOD_WINDOW, "window", 100, error));
    CHECK_OK(cog_plan_join(&options, 1000, 0, &plan, error));
    CHECK(plan.window == 100 && plan.tables > 0 && plan.expected_recall >= 0.95);
    /* Row i meets min(i, 100) rows. */
    CHECK(near(plan.comparisons, plan.tables * (1000.0 * 100 - 100 * 101 / 2.0), plan.tables));
    options.knobs = (cog_knobs){0};
    options.method = COG_METHOD_FLAT;
    CHECK_OK(cog_plan_join(&options, 1000, 500, &plan, error));
    CHECK(plan.comparisons == 500000 && plan.radius_bits > 0);
    CHECK(cog_plan_join(&options, UINT64_MAX, 0, &plan, &refused) == COG_ERR_USAGE);
    CHECK(cog_plan_join(&options, 1000, 1ull << 48, &plan, &refused) == COG_ERR_USAGE);
    options.method = COG_METHOD_EXACT;
    CHECK(cog_plan_join(&options, 1000, 0, &plan, &refused) == COG_ERR_USAGE);
}

TEST(measured_shares_have_intervals) {
    const uint64_t hits[] = {3, 0, 5}, trials[] = {4, 0, 5}, none[] = {0, 0, 0};
    double share, low, high;
    cog_error refused = {0};
    CHECK_OK(cog_measured_share(hits, trials, 3, &share, &low, &high, error));
    CHECK(near(share, 8.0 / 9, 1e-9) && low < share && share < high && low > 0.3 && high < 1);
    CHECK_OK(cog_measured_share(none, none, 3, &share, &low, &high, error));
    CHECK(share == 0 && low == 0 && high == 1);
    CHECK(cog_measured_share(trials, hits, 3, &share, &low, &high, &refused) == COG_ERR_USAGE);
}
