#include <math.h>

#include "base/hash.h"
#include "hamming/hamming.h"
#include "search/lsh/lsh_across.h"
#include "search/lsh/lsh_join.h"
#include "search/probes/probes.h"
#include "test.h"

/* Rows of sums, close to a few centres, and the bits of their signs. */
struct sample {
    struct signatures_view view;
    uint8_t *data;
    float *sums;
};

static struct sample make_sample(struct random *random, unsigned bits, size_t rows) {
    size_t stride = signature_stride_bytes(bits);
    struct sample sample = {.data = calloc(rows + 1, stride),
                            .sums = malloc((rows * bits + 1) * sizeof(float))};
    for (size_t row = 0; row < rows; row++) {
        uint64_t centre = random_below(random, 5);
        double noise = (double)random_below(random, 3);
        for (unsigned bit = 0; bit < bits; bit++) {
            double sum = (double)(hash_sequence(centre, bit) % 2000) / 1000 - 1;
            sum += noise * (random_unit(random) - 0.5);
            sum = round(sum * 32) / 32; /* ties */
            sample.sums[row * bits + bit] = (float)sum;
            sample.data[row * stride + bit / 8] |= (uint8_t)((sum >= 0) << (7 - bit % 8));
        }
    }
    sample.view = (struct signatures_view){sample.data, rows, bits, stride};
    return sample;
}

static void free_sample(struct sample *sample) {
    free(sample->data);
    free(sample->sums);
}

/* ---- The text of the paper, word by word ----------------------------------------------------- */

enum { PLAIN_KEYS = 64, PLAIN_BITS = 64 };

struct plain_keys {
    unsigned count;
    char bits[PLAIN_KEYS][PLAIN_BITS + 1]; /* as text */
};

/* Table `table` of the pairs f_a, f_b, 1 <= a < b <= R, in order of b, then a. */
static void plain_positions(const struct lsh_options *options, unsigned table,
                            unsigned *positions) {
    unsigned number = 0, half = options->key_bits / 2;
    for (unsigned b = 1;; b++)
        for (unsigned a = 0; a < b; a++)
            if (number++ == table) {
                for (unsigned i = 0; i < half; i++) {
                    positions[i] = a * half + i;
                    positions[half + i] = b * half + i;
                }
                return;
            }
}

static void plain_own_key(const struct sample *sample, size_t row, const unsigned *positions,
                          unsigned key_bits, char *bits) {
    for (unsigned i = 0; i < key_bits; i++)
        bits[i] = (char)('0' + signature_bit(signature_row(&sample->view, row), positions[i]));
    bits[key_bits] = 0;
}

/* Of equally near bits, the order that the own key gives. */
static uint64_t plain_tie(const char *own_bits, unsigned table, unsigned i) {
    uint64_t key = 0;
    for (unsigned bit = 0; own_bits[bit]; bit++)
        key |= (uint64_t)(own_bits[bit] - '0') << (63 - bit);
    return hash_pair(hash_pair(key, table), i);
}

/* The own key and F more, the i-th with the bit flipped that is i-th nearest to its hyperplane. */
static struct plain_keys plain_distance_keys(const struct sample *sample, size_t row,
                                             const struct lsh_options *options, unsigned table,
                                             bool flipped) {
    struct plain_keys keys = {.count = 1};
    unsigned positions[PLAIN_BITS];
    bool used[PLAIN_BITS] = {false};
    plain_positions(options, table, positions);
    plain_own_key(sample, row, positions, options->key_bits, keys.bits[0]);
    for (unsigned flip = 0; flipped && flip < options->flips; flip++) {
        int nearest = -1;
        for (unsigned i = 0; i < options->key_bits; i++) {
            const float *sums = sample->sums + row * sample->view.bits;
            float distance = fabsf(sums[positions[i]]);
            float least = nearest < 0 ? INFINITY : fabsf(sums[positions[(unsigned)nearest]]);
            if (!used[i] &&
                (distance < least ||
                 (distance == least && plain_tie(keys.bits[0], table, i) <
                                           plain_tie(keys.bits[0], table, (unsigned)nearest))))
                nearest = (int)i;
        }
        used[nearest] = true;
        memcpy(keys.bits[keys.count], keys.bits[0], sizeof keys.bits[0]);
        keys.bits[keys.count++][nearest] ^= 1;
    }
    return keys;
}

static bool share_key(const struct plain_keys *x, const struct plain_keys *y) {
    for (unsigned i = 0; i < x->count; i++)
        for (unsigned j = 0; j < y->count; j++)
            if (strcmp(x->bits[i], y->bits[j]) == 0)
                return true;
    return false;
}

/* Whether query q of x meets row r of y in some table. */
static bool plain_meets(const struct sample *x, size_t q, const struct sample *y, size_t r,
                        const struct lsh_options *options) {
    bool flips = options->flip_mode != LSH_FLIP_NONE;
    for (unsigned table = 0; table < options->tables; table++) {
        struct plain_keys of_query = plain_distance_keys(x, q, options, table, flips);
        struct plain_keys of_row =
            plain_distance_keys(y, r, options, table, flips && options->flip_both);
        if (share_key(&of_query, &of_row))
            return true;
    }
    return false;
}

static uint32_t plain_hamming(const struct sample *x, size_t a, const struct sample *y, size_t b) {
    return hamming_kernels_for(CPU_PORTABLE)
        ->pair(signature_row(&x->view, a), signature_row(&y->view, b), hamming_words(x->view.bits));
}

static bool agrees_cross(const struct sample *x, const struct sample *y,
                         const struct lsh_options *options, uint32_t radius_bits,
                         unsigned threads) {
    struct method_rows queries = {.signatures = &x->view, .margins = x->sums},
                       rows = {.signatures = &y->view, .margins = y->sums};
    struct match_list matches = {0};
    struct lsh_work work;
    bool agree =
        lsh_join(&queries, &rows, options, radius_bits, threads, &matches, &work, NULL) == COG_OK;
    size_t next = 0, comparisons = 0;
    for (size_t a = 0; a < x->view.rows && agree; a++)
        for (size_t b = 0; b < y->view.rows && agree; b++) {
            if (!plain_meets(x, a, y, b, options))
                continue;
            comparisons++;
            uint32_t distance = plain_hamming(x, a, y, b);
            if (distance > radius_bits)
                continue;
            const struct match *match = &matches.items[next++];
            agree = next <= matches.count && match->a == a && match->b == b &&
                    match->distance == distance;
        }
    agree = agree && next == matches.count && comparisons == work.comparisons;
    match_list_free(&matches);
    return agree;
}

static bool agrees_self(const struct sample *x, const struct lsh_options *options,
                        uint32_t radius_bits, unsigned threads) {
    struct method_rows rows = {.signatures = &x->view, .margins = x->sums};
    struct match_list matches = {0};
    struct lsh_work work;
    bool agree =
        lsh_join(&rows, NULL, options, radius_bits, threads, &matches, &work, NULL) == COG_OK;
    size_t next = 0, comparisons = 0;
    for (size_t a = 0; a < x->view.rows && agree; a++)
        for (size_t b = a + 1; b < x->view.rows && agree; b++) {
            uint32_t distance = plain_hamming(x, a, x, b);
            bool forth = plain_meets(x, a, x, b, options), back = plain_meets(x, b, x, a, options);
            comparisons += (size_t)forth + back;
            if (distance > radius_bits || (!forth && !back))
                continue;
            const struct match *match = &matches.items[next++];
            agree = next <= matches.count && match->a == a && match->b == b &&
                    match->distance == distance;
        }
    double a_query = x->view.rows ? (double)comparisons / (double)x->view.rows : 0;
    agree = agree && next == matches.count && work.comparisons_a_query == a_query;
    match_list_free(&matches);
    return agree;
}

static struct lsh_options random_options(struct random *random, enum lsh_flip_mode mode) {
    return (struct lsh_options){.key_bits = 2 * (1 + (unsigned)random_below(random, 12)),
                                .tables = 1 + (unsigned)random_below(random, 12),
                                .flips = (unsigned)random_below(random, 3),
                                .flip_mode = mode,
                                .flip_both = random_below(random, 2)};
}

TEST(lsh_join_meets_what_the_paper_meets) {
    struct random random = random_seeded(51);
    for (int round = 0; round < 60; round++) {
        struct lsh_options options =
            random_options(&random, round % 3 ? LSH_FLIP_DISTANCE : LSH_FLIP_NONE);
        unsigned bits = (unsigned)lsh_bits_used(&options) + (unsigned)random_below(&random, 40);
        struct sample x = make_sample(&random, bits, random_below(&random, 40));
        struct sample y = make_sample(&random, bits, random_below(&random, 60));
        uint32_t radius_bits = (uint32_t)random_below(&random, bits + 1);
        unsigned threads = 1 + (unsigned)round % 3;
        CHECK_MSG(agrees_cross(&x, &y, &options, radius_bits, threads), "cross, round %d", round);
        CHECK_MSG(agrees_self(&y, &options, radius_bits, threads), "self, round %d", round);
        free_sample(&x);
        free_sample(&y);
    }
}

static unsigned count_ones(uint64_t word) {
    return (unsigned)__builtin_popcountll(word);
}

TEST(lsh_random_flips_are_distinct_single_bits) {
    struct random random = random_seeded(52);
    struct lsh_options options = {
        .key_bits = 16, .tables = 10, .flips = 5, .flip_mode = LSH_FLIP_RANDOM};
    struct sample sample = make_sample(&random, 64, 200);
    struct lsh_key keys[60];
    struct lsh_keyer keyer;
    CHECK_OK(lsh_keyer_create(&keyer, &options, error));
    uint64_t flipped = 0;
    for (size_t row = 0; row < 200; row++) {
        size_t count = lsh_keys_of(&keyer, signature_row(&sample.view, row),
                                   sample.view.stride_bytes, NULL, true, keys);
        CHECK(count == 60);
        for (unsigned table = 0; table < 10; table++) {
            uint64_t masks = 0;
            for (unsigned flip = 0; flip < 5; flip++) {
                const struct lsh_key *key = &keys[10 + table * 5 + flip];
                uint64_t mask = key->key ^ keys[table].key;
                CHECK(key->table == table && count_ones(mask) == 1 && mask >> 48);
                masks |= mask;
            }
            CHECK(count_ones(masks) == 5);
            flipped |= masks;
        }
    }
    CHECK(flipped == 0xffff000000000000u);
    lsh_keyer_free(&keyer);
    free_sample(&sample);
}

/* The log-odds against a row at cosine 0.7 that shares no own key and has this key of the table: a
 * set of flips in it, and that neither half-key agrees. */
static double plain_across_penalty(const struct lsh_options *options, const float *sums,
                                   double deviation, unsigned table, unsigned mask) {
    unsigned positions[8];
    double penalty = 0, agree[2] = {1, 1};
    plain_positions(options, table, positions);
    for (unsigned i = 0; i < 8; i++) {
        double x = fabs((double)sums[positions[i]]) / deviation * 0.7 / sqrt(1 - 0.49);
        double p = 0.5 * erfc(x / sqrt(2));
        penalty += mask >> (7 - i) & 1 ? log((1 - p) / p) : 0;
        agree[i / 4] *= 1 - p;
    }
    return penalty - log(agree[0] / (1 - agree[0])) - log(agree[1] / (1 - agree[1]));
}

/* One order across tables: no set of flips that is left out is likelier than one that is taken. */
TEST(lsh_flips_across_tables_take_the_likeliest) {
    struct random random = random_seeded(53);
    struct lsh_options options = {
        .key_bits = 8, .tables = 5, .flips = 3, .flip_mode = LSH_FLIP_ACROSS};
    struct sample sample = make_sample(&random, 16, 50);
    struct lsh_keyer keyer;
    CHECK_OK(lsh_keyer_create(&keyer, &options, error));
    for (size_t row = 0; row < 50; row++) {
        const float *sums = sample.sums + row * 16;
        struct lsh_key keys[20];
        size_t count = lsh_keys_of(&keyer, signature_row(&sample.view, row),
                                   sample.view.stride_bytes, sums, true, keys);
        CHECK(count == 20);
        double worst = -INFINITY, squares = 0;
        bool taken[5][256] = {{false}};
        for (int i = 0; i < 16; i++)
            squares += (double)sums[i] * (double)sums[i] / 16;
        for (size_t i = 5; i < 20; i++)
            taken[keys[i].table][(keys[i].key ^ keys[keys[i].table].key) >> 56] = true;
        for (int want = 1; want >= 0; want--)
            for (unsigned table = 0; table < 5; table++)
                for (unsigned mask = 1; mask < 256; mask++) {
                    if (count_ones(mask) > 3 || taken[table][mask] != want)
                        continue;
                    double penalty =
                        plain_across_penalty(&options, sums, sqrt(squares), table, mask);
                    if (want && penalty > worst)
                        worst = penalty;
                    CHECK_MSG(want || penalty > worst - 0.001, "row %zu table %u mask %x: %g, %g",
                              row, table, mask, penalty, worst);
                }
    }
    lsh_keyer_free(&keyer);
    free_sample(&sample);
}

/* A set of flips in a table, as the order across tables sees it. */
struct plain_flips {
    int64_t cost;
    uint32_t table, flips;
    uint64_t bits[3]; /* penalty, then position in the key; rising */
    uint64_t mask;
};

static int by_plain_order(const void *x, const void *y) {
    const struct plain_flips *p = x, *q = y;
    if (p->cost != q->cost)
        return p->cost < q->cost ? -1 : 1;
    if (p->table != q->table)
        return p->table < q->table ? -1 : 1;
    if (p->flips != q->flips)
        return p->flips < q->flips ? -1 : 1;
    for (unsigned i = 0; i < p->flips; i++)
        if (p->bits[i] != q->bits[i])
            return p->bits[i] < q->bits[i] ? -1 : 1;
    return 0;
}

static int by_bit(const void *x, const void *y) {
    uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;
    return (p > q) - (p < q);
}

static struct plain_flips plain_flips_of(const struct lsh_options *options, unsigned table,
                                         uint64_t mask, const uint32_t *penalties,
                                         const int32_t *half_costs) {
    struct plain_flips flips = {.table = table, .mask = mask << (64 - options->key_bits)};
    unsigned positions[PLAIN_BITS] = {0}, half = options->key_bits / 2;
    plain_positions(options, table, positions);
    flips.cost = half_costs[positions[0] / half] + half_costs[positions[half] / half];
    for (unsigned i = 0; i < options->key_bits; i++)
        if (mask >> (options->key_bits - 1 - i) & 1) {
            flips.cost += penalties[positions[i]];
            flips.bits[flips.flips++] = (uint64_t)penalties[positions[i]] << 8 | i;
        }
    qsort(flips.bits, flips.flips, sizeof *flips.bits, by_bit);
    return flips;
}

/* All sets of one to three flips in all tables, sorted; returns how many. */
static size_t plain_order(const struct lsh_options *options, const float *sums,
                          struct plain_flips *order) {
    const struct flip_kernels *kernels = flip_kernels_for(CPU_PORTABLE);
    const unsigned half = options->key_bits / 2, bits = (unsigned)lsh_bits_used(options);
    uint32_t penalties[256];
    double differs[256], agree[64], squares = 0;
    int32_t half_costs[64];
    size_t count = 0;
    for (unsigned i = 0; i < bits; i++)
        squares += (double)sums[i] * (double)sums[i];
    double scale = squares > 0 ? 0.7 / sqrt(1 - 0.7 * 0.7) / sqrt(squares / bits) : 0;
    kernels->penalties(sums, bits, scale, penalties, differs);
    for (unsigned i = 0; i < bits; i++)
        agree[i / half] = (i % half ? agree[i / half] : 1) * (1 - differs[i]);
    kernels->costs(agree, bits / half, half_costs);
    for (unsigned table = 0; table < options->tables; table++)
        for (uint64_t mask = 1; mask < (uint64_t)1 << options->key_bits; mask++)
            if (count_ones(mask) <= 3)
                order[count++] = plain_flips_of(options, table, mask, penalties, half_costs);
    qsort(order, count, sizeof *order, by_plain_order);
    return count;
}

static int by_table_and_key(const void *x, const void *y) {
    const struct lsh_key *p = x, *q = y;
    if (p->table != q->table)
        return p->table < q->table ? -1 : 1;
    return (p->key > q->key) - (p->key < q->key);
}

/* Which keys are taken is settled to the last tie: sums of few terms have very many. */
TEST(lsh_flips_across_tables_are_the_first_of_all) {
    struct random random = random_seeded(55);
    struct plain_flips *order = malloc(12 * 1000 * sizeof *order);
    for (int round = 0; round < 40; round++) {
        struct lsh_options options = {.key_bits = 2 * (1 + (unsigned)random_below(&random, 6)),
                                      .tables = 1 + (unsigned)random_below(&random, 12),
                                      .flip_mode = LSH_FLIP_ACROSS};
        options.flips = 1 + (unsigned)random_below(&random, options.key_bits);
        unsigned bits = (unsigned)lsh_bits_used(&options);
        struct sample sample = make_sample(&random, bits, 20);
        struct lsh_key keys[12 * 13], expected[12 * 12];
        struct lsh_keyer keyer;
        CHECK_OK(lsh_keyer_create(&keyer, &options, error));
        for (size_t row = 0; row < 20; row++) {
            float *sums = sample.sums + row * bits;
            for (unsigned i = 0; i < bits && round % 3; i++) /* signs of one term, or of two */
                sums[i] = round % 3 == 1 ? copysignf(1, sums[i])
                                         : (float)((int)random_below(&random, 3) - 1);
            size_t own = options.tables, wanted = own * options.flips;
            CHECK(lsh_keys_of(&keyer, signature_row(&sample.view, row), sample.view.stride_bytes,
                              sums, true, keys) == own + wanted);
            CHECK(plain_order(&options, sums, order) >= wanted);
            for (size_t i = 0; i < wanted; i++)
                expected[i] =
                    (struct lsh_key){keys[order[i].table].key ^ order[i].mask, order[i].table};
            qsort(expected, wanted, sizeof *expected, by_table_and_key);
            qsort(keys + own, wanted, sizeof *keys, by_table_and_key);
            for (size_t i = 0; i < wanted; i++)
                CHECK_MSG(by_table_and_key(&keys[own + i], &expected[i]) == 0,
                          "round %d row %zu: K = %u, L = %u, F = %u", round, row, options.key_bits,
                          options.tables, options.flips);
        }
        lsh_keyer_free(&keyer);
        free_sample(&sample);
    }
    free(order);
}

static bool same_collected(const struct flip_keys *x, const struct flip_keys *y) {
    return x->count == y->count && memcmp(x->costs, y->costs, x->count * sizeof *x->costs) == 0 &&
           memcmp(x->keys, y->keys, x->count * sizeof *x->keys) == 0 &&
           memcmp(x->tables, y->tables, x->count * sizeof *x->tables) == 0;
}

/* Ascending costs, and distinct flips; FLIP_SLACK costs above all follow them. */
static void random_sets(struct random *random, struct flip_sets *sets) {
    int32_t cost = (int32_t)random_below(random, 50) - 25;
    sets->count = 1 + random_below(random, 40);
    for (size_t i = 0; i < sets->count + FLIP_SLACK; i++) {
        sets->costs[i] = i < sets->count ? cost : 1 << 28;
        sets->flips[i] = (uint32_t)(i ? 1 + random_below(random, 3) : 0) << FLIP_COUNT_SHIFT |
                         (uint32_t)random_below(random, 1 << 10);
        cost += (int32_t)random_below(random, 5);
    }
}

static void check_penalties(const struct flip_kernels *kernels, struct random *random,
                            const char *name) {
    enum { BITS = 100 };
    const struct flip_kernels *portable = flip_kernels_for(CPU_PORTABLE);
    float sums[BITS];
    uint32_t penalties[2][BITS];
    double differs[2][BITS], scale = random_unit(random) * 4;
    int32_t costs[2][BITS], bound = (int32_t)random_below(random, 100000);
    size_t count = random_below(random, BITS + 1);
    for (size_t i = 0; i < count; i++)
        sums[i] = (float)(random_below(random, 9) ? 6 * random_unit(random) - 3 : 0);
    portable->penalties(sums, count, scale, penalties[0], differs[0]);
    kernels->penalties(sums, count, scale, penalties[1], differs[1]);
    portable->costs(differs[0], count, costs[0]);
    kernels->costs(differs[0], count, costs[1]);
    CHECK_MSG(memcmp(penalties[0], penalties[1], count * sizeof **penalties) == 0, "%s", name);
    CHECK_MSG(memcmp(differs[0], differs[1], count * sizeof **differs) == 0, "%s", name);
    CHECK_MSG(memcmp(costs[0], costs[1], count * sizeof **costs) == 0, "%s", name);
    CHECK_MSG(portable->count(costs[0], count, bound) == kernels->count(costs[0], count, bound),
              "%s", name);
}

static void check_collected(const struct flip_kernels *kernels, struct random *random,
                            const char *name) {
    enum { SETS = 64, KEYS = SETS * SETS };
    static int32_t key_costs[2][KEYS];
    static uint64_t key_bits[2][KEYS];
    static uint32_t tables[2][KEYS];
    int32_t set_costs[2][SETS], bound = (int32_t)random_below(random, 120);
    uint32_t set_flips[2][SETS];
    struct flip_keys keys[2];
    struct flip_sets sets[2];
    struct lsh_key own = {random_next(random), (uint32_t)random_below(random, 100)};
    for (int i = 0; i < 2; i++) {
        keys[i] = (struct flip_keys){key_costs[i], key_bits[i], tables[i], 0, 500};
        sets[i] = (struct flip_sets){set_costs[i], set_flips[i], 0};
        random_sets(random, &sets[i]);
    }
    flip_kernels_for(CPU_PORTABLE)->collect(&keys[0], &sets[0], &sets[1], own, 10, bound);
    kernels->collect(&keys[1], &sets[0], &sets[1], own, 10, bound);
    CHECK_MSG(same_collected(&keys[0], &keys[1]), "%s, bound %d", name, bound);
}

TEST(lsh_flip_kernels_agree) {
    struct random random = random_seeded(56);
    for (int level = CPU_PORTABLE; level < CPU_LEVEL_COUNT; level++) {
        const struct flip_kernels *kernels = flip_kernels_for((enum cpu_level)level);
        for (int round = 0; round < 200 && kernels; round++) {
            check_penalties(kernels, &random, cpu_level_name((enum cpu_level)level));
            check_collected(kernels, &random, cpu_level_name((enum cpu_level)level));
        }
    }
}

TEST(lsh_bands_meet_where_all_values_are_equal) {
    struct random random = random_seeded(54);
    enum { ROWS = 80, VALUES = 12 };
    static const unsigned widths[] = {4, 8, 32};
    for (int round = 0; round < 12; round++) {
        unsigned value_bits = widths[round % 3], bits = VALUES * value_bits;
        size_t stride = signature_stride_bytes(bits);
        uint8_t *data = calloc(ROWS, stride);
        uint64_t values[ROWS][VALUES];
        for (size_t row = 0; row < ROWS; row++)
            for (unsigned v = 0; v < VALUES; v++) {
                values[row][v] = random_below(&random, 3);
                for (unsigned i = 0; i < value_bits; i++) {
                    unsigned bit = v * value_bits + i;
                    data[row * stride + bit / 8] |=
                        (uint8_t)((values[row][v] >> (value_bits - 1 - i) & 1) << (7 - bit % 8));
                }
            }
        struct signatures_view view = {data, ROWS, bits, stride};
        struct method_rows rows = {.signatures = &view, .margins = NULL};
        struct lsh_options options = {.tables = 4, .band_values = 3, .value_bits = value_bits};
        struct match_list matches = {0};
        CHECK_OK(lsh_join(&rows, NULL, &options, bits, 2, &matches, NULL, error));
        size_t next = 0;
        for (uint32_t a = 0; a < ROWS; a++)
            for (uint32_t b = a + 1; b < ROWS; b++) {
                bool meets = false;
                for (unsigned band = 0; band < 4; band++)
                    meets |= memcmp(values[a] + 3 * band, values[b] + 3 * band,
                                    3 * sizeof values[a][0]) == 0;
                if (!meets)
                    continue;
                CHECK(next < matches.count && matches.items[next].a == a &&
                      matches.items[next].b == b);
                next++;
            }
        CHECK(next == matches.count && next > 0);
        match_list_free(&matches);
        free(data);
    }
}

static cog_status keep_even(void *context, struct match *items, size_t *count, cog_error *error) {
    (void)context;
    (void)error;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if ((items[i].a + items[i].b) % 2 == 0) {
            items[kept] = items[i];
            items[kept++].similarity = 0.75F;
        }
    *count = kept;
    return COG_OK;
}

TEST(lsh_matches_carry_the_true_measure) {
    struct random random = random_seeded(55);
    struct sample sample = make_sample(&random, 64, 300);
    struct method_rows rows = {.signatures = &sample.view, .margins = sample.sums};
    struct lsh_options options = {
        .key_bits = 4, .tables = 3, .flips = 1, .flip_mode = LSH_FLIP_DISTANCE};
    const struct match_sieve sieve = {keep_even, NULL};
    struct match_list all = {0}, matches = {.sieve = &sieve};
    CHECK_OK(lsh_join(&rows, NULL, &options, 64, 3, &all, NULL, error));
    CHECK_OK(lsh_join(&rows, NULL, &options, 64, 3, &matches, NULL, error));
    size_t next = 0;
    for (size_t i = 0; i < all.count; i++) {
        if ((all.items[i].a + all.items[i].b) % 2)
            continue;
        CHECK(next < matches.count && matches.items[next].a == all.items[i].a &&
              matches.items[next].b == all.items[i].b && matches.items[next].similarity == 0.75f &&
              matches.items[next].distance == all.items[i].distance);
        next++;
    }
    CHECK(next == matches.count && next > 0);
    match_list_free(&all);
    match_list_free(&matches);
    free_sample(&sample);
}

TEST(lsh_options_say_what_is_wrong) {
    cog_error error = {0};
    struct lsh_options options = {.key_bits = 16, .tables = 10};
    CHECK(lsh_options_check(&options, 40, false, &error) == COG_OK);
    CHECK(lsh_options_check(&options, 39, false, &error) == COG_ERR_USAGE);
    CHECK(strstr(error.message, "40 bits"));
    options.key_bits = 15;
    CHECK(lsh_options_check(&options, 64, false, &error) == COG_ERR_USAGE);
    options = (struct lsh_options){
        .key_bits = 16, .tables = 1, .flips = 1, .flip_mode = LSH_FLIP_DISTANCE};
    CHECK(lsh_options_check(&options, 64, false, &error) == COG_ERR_USAGE);
    CHECK(lsh_options_check(&options, 64, true, &error) == COG_OK);
    CHECK(lsh_half_keys(1) == 2 && lsh_half_keys(10) == 5 && lsh_half_keys(11) == 6 &&
          lsh_half_keys(28) == 8 && lsh_half_keys(55) == 11);
}
