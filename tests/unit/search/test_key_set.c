#include "base/hash.h"
#include "base/memory.h"
#include "search/keys/key_set.h"
#include "test.h"

/* Rows of few values, so that many are equal, or of prefixes that are all alike. */
static void fill(struct random *random, uint64_t *data, size_t words, int shape) {
    for (size_t i = 0; i < words; i++) {
        uint64_t value = random_next(random);
        if (shape == 1)
            value = hash_mix(value % 50);
        else if (shape == 2)
            value = __builtin_bswap64(value % 1000);
        data[i] = value;
    }
}

static short_key key_of(const uint64_t *data, unsigned words, size_t row) {
    struct signatures_view view = {(const uint8_t *)data, row + 1, words * 64, words * 8};
    return short_key_of_row(&view, row);
}

TEST(key_set_holds_every_row_under_its_key) {
    enum { ROWS_MAX = 40000 };
    static uint64_t data[2 * ROWS_MAX];
    struct random random = random_seeded(31);
    static const size_t sizes[] = {0, 1, 2, 30, 1000, ROWS_MAX};
    for (unsigned round = 0; round < 6 * 3 * 2 * 2; round++) {
        size_t rows = sizes[round % 6];
        unsigned words = 1 + round / 6 % 2, threads = 1 + 2 * (round / 12 % 2);
        fill(&random, data, rows * words, (int)(round / 24));
        struct signatures_view view = {(const uint8_t *)data, rows, words * 64, words * 8};
        struct key_set set;
        CHECK_OK(key_set_build(&set, &view, threads, error));
        static uint8_t seen[ROWS_MAX];
        memset(seen, 0, sizeof seen);
        size_t total = 0;
        for (size_t i = 0; i < set.keys.count; i++) {
            short_key key = short_key_at(set.keys.keys, words, i);
            CHECK(i == 0 || short_key_at(set.keys.keys, words, i - 1) < key);
            size_t count;
            const uint32_t *of_key = key_rows_of(&set.rows, i, &count);
            for (size_t j = 0; j < count; j++) {
                CHECK(of_key[j] < rows && !seen[of_key[j]]++);
                CHECK(j == 0 || of_key[j - 1] < of_key[j]);
                CHECK(key_of(data, words, of_key[j]) == key);
            }
            total += count;
        }
        CHECK(total == rows);
        key_set_free(&set);
    }
}

TEST(key_set_refuses_other_widths) {
    struct signatures_view view = {NULL, 0, 192, 24};
    cog_error failure = {0};
    CHECK(short_key_check(&view, 3, &failure) == COG_ERR_USAGE && strstr(failure.message, "192"));
    view.bits = 64;
    CHECK(short_key_check(&view, 99, &failure) == COG_ERR_USAGE);
    CHECK_OK(short_key_check(&view, 3, error));
}
