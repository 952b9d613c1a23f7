#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"
#include "search/keys/bucket_table.h"
#include "search/keys/key_set.h"
#include "test.h"

enum { ROWS_MAX = 60000 };

/* shape 0: uniform; 1: clustered around few centres; 2: a common prefix, so that one bucket has
 * all. */
static void fill(struct random *random, uint64_t *data, size_t words, int shape) {
    for (size_t i = 0; i < words; i++) {
        uint64_t value = random_next(random);
        if (shape == 1)
            value = hash_mix(value % 5) ^ (uint64_t)1 << random_below(random, 64) ^
                    (uint64_t)1 << random_below(random, 64);
        else if (shape == 2)
            value = __builtin_bswap64(value >> 40);
        data[i] = value;
    }
}

TEST(bucket_table_finds_every_key_at_its_position) {
    static uint64_t data[2 * ROWS_MAX];
    struct random random = random_seeded(41);
    static const size_t sizes[] = {0, 1, 100, 5000, ROWS_MAX};
    for (unsigned round = 0; round < 5 * 2 * 3; round++) {
        size_t rows = sizes[round % 5];
        unsigned words = 1 + round / 5 % 2;
        int shape = (int)(round / 10);
        fill(&random, data, rows * words, shape);
        struct signatures_view view = {(const uint8_t *)data, rows, words * 64, words * 8};
        struct key_set set;
        struct bucket_table table;
        CHECK_OK(key_set_build(&set, &view, 1, error));
        CHECK_OK(bucket_table_build(&table, &set.keys, BUCKET_LIMITS_DEFAULT, true, error));
        /* In few buckets of many keys a look-up is a walk: a sample of them will do. */
        const bool walks = shape > 0;
        size_t step = walks ? 1 + set.keys.count / 100 : 1;
        for (size_t i = 0; i < set.keys.count; i += step) {
            short_key key = short_key_at(set.keys.keys, words, i);
            CHECK_MSG(bucket_find(&table, key) == i, "round %u key %zu", round, i);
        }
        for (int i = 0; i < (walks ? 100 : 1000); i++) {
            short_key key = (short_key)random_next(&random) << 64;
            if (shape != 1)
                CHECK(bucket_find(&table, key) == SIZE_MAX);
        }
        if (rows == ROWS_MAX && shape == 0)
            CHECK_MSG((double)bucket_table_bytes(&table) <= 1.15 * 8 * words * (double)rows,
                      "%zu bytes for %zu keys", bucket_table_bytes(&table), rows);
        bucket_table_free(&table);
        key_set_free(&set);
    }
}

static bool scans_agree(const struct bucket_table *table, struct random *random) {
    uint32_t buckets[64], filters[64];
    struct bucket_ahead none = {0};
    struct bucket_hit expected[64], found[64];
    size_t count = random_below(random, 65);
    for (size_t i = 0; i < count; i++) {
        buckets[i] = (uint32_t)random_below(random, (uint64_t)1 << table->header_bits);
        filters[i] = (uint32_t)random_next(random);
        if (i % 2 == 0)
            memcpy(&filters[i], bucket_at(table, buckets[i]), sizeof *filters);
    }
    struct bucket_probes probes = {buckets, count, filters, random_below(random, 2)};
    for (unsigned radius = 0; radius <= 8; radius += 4) {
        size_t hits = bucket_scan_portable(table, &probes, radius, none, expected);
#if defined(__x86_64__)
        bucket_scan *const scans[] = {bucket_scan_popcnt, bucket_scan_avx2, bucket_scan_avx512};
        static const enum cpu_level levels[] = {CPU_POPCNT, CPU_AVX2, CPU_AVX512};
        for (int s = 0; s < 3; s++) {
            if (!cpu_supports(levels[s]))
                continue;
            if (scans[s](table, &probes, radius, none, found) != hits)
                return false;
            for (size_t i = 0; i < hits; i++)
                if (found[i].probe != expected[i].probe || found[i].bucket != expected[i].bucket ||
                    found[i].slots != expected[i].slots || found[i].flags != expected[i].flags)
                    return false;
        }
#else
        (void)found;
        (void)hits;
#endif
    }
    return true;
}

TEST(bucket_scan_levels_agree) {
    static uint64_t data[2 * ROWS_MAX];
    struct random random = random_seeded(42);
    for (unsigned words = 1; words <= 2; words++) {
        fill(&random, data, ROWS_MAX * words, 0);
        struct signatures_view view = {(const uint8_t *)data, ROWS_MAX, words * 64, words * 8};
        struct key_set set;
        struct bucket_table table;
        CHECK_OK(key_set_build(&set, &view, 1, error));
        CHECK_OK(bucket_table_build(&table, &set.keys, BUCKET_LIMITS_DEFAULT, true, error));
        for (int round = 0; round < 2000; round++)
            CHECK(scans_agree(&table, &random));
        bucket_table_free(&table);
        key_set_free(&set);
    }
}
