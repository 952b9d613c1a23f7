#include <math.h>

#include "base/hash.h"
#include "search/probes/header_probes.h"
#include "test.h"

enum { SETS_MAX = 1 << 14 };

struct oracle {
    uint64_t masks[SETS_MAX];
    uint32_t penalties[SETS_MAX];
    size_t count;
};

/* Every subset of at most flips_max of the key's bits, the empty one included, straight from the
 * penalties. */
static void oracle_fill(struct oracle *oracle, const uint32_t *penalties, unsigned key_bits,
                        unsigned flips_max) {
    oracle->count = 0;
    for (uint64_t set = 0; set < (uint64_t)1 << key_bits; set++) {
        if ((unsigned)__builtin_popcountll(set) > flips_max)
            continue;
        uint32_t sum = 0;
        for (unsigned i = 0; i < key_bits; i++)
            if (set >> (key_bits - 1 - i) & 1)
                sum += penalties[i];
        oracle->masks[oracle->count] = set;
        oracle->penalties[oracle->count++] = sum;
    }
}

static int by_value(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static int by_value32(const void *x, const void *y) {
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return (a > b) - (a < b);
}

static void random_penalties(struct random *random, uint32_t *penalties, unsigned key_bits) {
    uint64_t range = random_below(random, 2) ? 5 : 1000000; /* the small one has many ties */
    for (unsigned i = 0; i < key_bits; i++)
        penalties[i] = (uint32_t)random_below(random, range);
}

TEST(probes_heap_is_the_sorted_list_of_all_sets) {
    static struct oracle oracle;
    static uint64_t seen[SETS_MAX];
    struct random random = random_seeded(11);
    struct probe_heap heap = {0};
    for (int round = 0; round < 200; round++) {
        unsigned key_bits = (unsigned)random_below(&random, 13);
        unsigned flips_max = (unsigned)random_below(&random, 6);
        uint32_t penalties[PROBE_BITS_MAX];
        random_penalties(&random, penalties, key_bits);
        oracle_fill(&oracle, penalties, key_bits, flips_max);
        struct probe_bits bits;
        probe_bits_init(&bits, penalties, key_bits, PROBE_BOUND_NONE);
        CHECK(bits.count == key_bits);
        CHECK_OK(probe_heap_start(&heap, &bits, flips_max, error));
        size_t count = 0;
        seen[count++] = 0;
        qsort(oracle.penalties, oracle.count, sizeof *oracle.penalties, by_value32);
        for (bool end = false;;) {
            struct probe probe;
            CHECK_OK(probe_heap_next(&heap, &probe, &end, error));
            if (end)
                break;
            CHECK(count < oracle.count && probe.penalty == oracle.penalties[count]);
            CHECK(probe.flips == (unsigned)__builtin_popcountll(probe.mask));
            seen[count++] = probe.mask;
        }
        CHECK_MSG(count == oracle.count, "%zu sets, expected %zu", count, oracle.count);
        qsort(seen, count, sizeof *seen, by_value);
        qsort(oracle.masks, count, sizeof *oracle.masks, by_value);
        CHECK(memcmp(seen, oracle.masks, count * sizeof *seen) == 0);
    }
    probe_heap_free(&heap);
}

TEST(probes_within_a_bound_are_those_of_the_heap) {
    static uint32_t masks[SETS_MAX], expected[SETS_MAX];
    struct random random = random_seeded(12);
    struct probe_heap heap = {0};
    for (int round = 0; round < 300; round++) {
        unsigned key_bits = 1 + (unsigned)random_below(&random, 12);
        unsigned flips_max = (unsigned)random_below(&random, 5);
        uint32_t penalties[PROBE_BITS_MAX];
        random_penalties(&random, penalties, key_bits);
        struct probe_bits bits, bits_below;
        probe_bits_init(&bits, penalties, key_bits, PROBE_BOUND_NONE);
        uint32_t bound = bits.penalties[random_below(&random, key_bits)];
        bound += (uint32_t)random_below(&random, bound + 2);
        probe_bits_init(&bits_below, penalties, key_bits, bound);
        size_t count = 0;
        expected[count++] = 0;
        CHECK_OK(probe_heap_start(&heap, &bits, flips_max, error));
        for (bool end = false; !end;) {
            struct probe probe = {0};
            CHECK_OK(probe_heap_next(&heap, &probe, &end, error));
            if (!end && probe.penalty <= bound)
                expected[count++] = (uint32_t)probe.mask;
        }
        CHECK(probes_within(&bits_below, flips_max, bound, masks, NULL, SETS_MAX) == count);
        CHECK(masks[0] == 0);
        CHECK(probes_within(&bits_below, flips_max, bound, masks, NULL, count / 2) == count / 2);
        CHECK(probes_within(&bits, flips_max, bound, masks, NULL, SETS_MAX) == count);
        qsort(masks, count, sizeof *masks, by_value32);
        qsort(expected, count, sizeof *expected, by_value32);
        CHECK(memcmp(masks, expected, count * sizeof *masks) == 0);
    }
    probe_heap_free(&heap);
}

TEST(probes_penalty_is_the_log_odds) {
    CHECK(probe_penalty(0.5) == 0 && probe_penalty(0.9) == 0);
    CHECK(probe_penalty(0) == PROBE_PENALTY_MAX && probe_penalty(1e-300) == PROBE_PENALTY_MAX);
    for (double p = 0.001; p < 0.5; p += 0.001)
        CHECK(fabs(probe_penalty(p) / (double)PROBE_PENALTY_ONE - log((1 - p) / p)) < 1e-5);
}

TEST(probes_refuse_too_many_flips) {
    struct probe_heap heap = {0};
    struct probe_bits bits = {0};
    cog_error failure = {0};
    CHECK(probe_heap_start(&heap, &bits, PROBE_FLIPS_MAX + 1, &failure) == COG_ERR_USAGE);
    CHECK(failure.message[0]);
}

/* The buckets of both ranges are those of probes_within up to the whole bound, and every level
 * writes what the portable one writes. */
TEST(header_probes_are_the_probes_within) {
    enum { CAPACITY = 4096 };
    static uint32_t buckets[CAPACITY + HEADER_PROBES_SLACK], other[CAPACITY + HEADER_PROBES_SLACK];
    static uint32_t masks[CAPACITY], found[2 * CAPACITY];
    struct random random = random_seeded(77);
    static float differences[CAPACITY];
    static struct volatility volatility;
    for (size_t i = 0; i < CAPACITY; i++)
        differences[i] = (float)(random_unit(&random) * random_unit(&random));
    CHECK_OK(volatility_learn(&volatility, differences, CAPACITY, error));
    for (int round = 0; round < 2000; round++) {
        unsigned header_bits = 1 + (unsigned)random_below(&random, 31);
        unsigned flips_max = (unsigned)random_below(&random, 5);
        uint32_t bound = (uint32_t)random_below(&random, 6 * PROBE_PENALTY_ONE);
        uint32_t header = (uint32_t)random_below(&random, (uint64_t)1 << header_bits);
        float weights[PROBE_BITS_MAX], scale = random_below(&random, 2) ? 4 : 0.5f;
        uint32_t penalties[PROBE_BITS_MAX];
        for (unsigned i = 0; i < header_bits; i++) {
            weights[i] = (float)(random_unit(&random) - 0.5) * scale;
            if (random_below(&random, 50) == 0)
                weights[i] = NAN;
            penalties[i] = volatility_penalty(&volatility, weights[i]);
        }
        struct probe_bits bits;
        probe_bits_init(&bits, penalties, header_bits, bound);
        size_t expected = probes_within(&bits, flips_max, bound, masks, NULL, CAPACITY), count = 0;
        if (expected == CAPACITY)
            continue;
        uint32_t middle = bound / 2;
        for (int part = 0; part < 2; part++) {
            struct header_probes probes = header_probes_of(
                &volatility, header_bits, flips_max, part ? middle + 1 : 0, part ? bound : middle);
            size_t here = header_probes_portable(&probes, weights, header, buckets, CAPACITY);
            size_t again = probes.fill(&probes, weights, header, other, CAPACITY);
            CHECK(here == again && memcmp(buckets, other, here * sizeof *buckets) == 0);
            size_t some = random_below(&random, here + 1);
            CHECK(probes.fill(&probes, weights, header, other, some) == some);
            CHECK(memcmp(buckets, other, some * sizeof *buckets) == 0);
            for (size_t i = 0; i < here; i++)
                found[count++] = buckets[i] ^ header;
        }
        CHECK_MSG(count == expected, "%zu buckets, %zu sets", count, expected);
        qsort(found, count, sizeof *found, by_value32);
        qsort(masks, expected, sizeof *masks, by_value32);
        CHECK(memcmp(found, masks, count * sizeof *found) == 0);
    }
}
