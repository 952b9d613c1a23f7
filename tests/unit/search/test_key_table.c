#include "base/hash.h"
#include "search/keys/key_table.h"
#include "test.h"

TEST(key_table_finds_the_rows_of_every_key) {
    struct random random = random_seeded(71);
    static const unsigned widths[] = {1, 3, 8, 16, 40, 64};
    static const size_t counts[] = {0, 1, 2, 30, 300, 6000};
    for (int round = 0; round < 36; round++) {
        unsigned key_bits = widths[round % 6];
        size_t count = counts[round / 6];
        uint64_t *keys = calloc(count + 1, sizeof *keys);
        struct key_array entries;
        struct key_table table = {0};
        CHECK_OK(key_array_init(&entries, count, 1, true, error));
        for (size_t i = 0; i < count; i++) {
            uint64_t value = random_next(&random) % (round % 2 ? 50 : UINT64_MAX);
            keys[i] = value << (64 - key_bits);
            entries.keys[i] = keys[i];
            entries.rows[i] = (uint32_t)i;
        }
        CHECK_OK(key_table_build(&table, &entries, key_bits, 1 + (unsigned)round % 3, error));
        for (size_t i = 0; i <= count && i < 200; i++) {
            uint64_t key = i < count ? keys[i] : (uint64_t)1 << (64 - key_bits);
            struct key_range range = key_table_find(&table, key);
            size_t next = 0;
            for (size_t row = 0; row < count; row++)
                if (keys[row] == key)
                    CHECK(next < range.count && range.rows[next++] == row);
            CHECK(next == range.count);
        }
        key_table_free(&table);
        free(keys);
    }
}
