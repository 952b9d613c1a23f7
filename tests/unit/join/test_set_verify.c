/* The cache of a verifier: sets of very different sizes keep to its bytes, and compare as without
 * one. */
#include "join/sets/set_verify.h"

#include "../vector/set_data.h"
#include "test.h"

/* Mostly small sets, some of ten thousand members, all drawn from a common pool. */
static struct set_data mixed_file(struct random *random, size_t rows) {
    enum { MEMBERS_MOST = 10000, POOL = 20000 };
    static uint64_t members[MEMBERS_MOST];
    struct set_data data = {0};
    for (size_t row = 0; row < rows; row++) {
        const size_t terms = random_below(random, 6) ? 1 + random_below(random, 60)
                                                     : MEMBERS_MOST - random_below(random, 1000);
        for (size_t i = 0; i < terms; i++)
            members[i] = member_of_hash(hash_mix(random_below(random, POOL)));
        set_data_add(&data, members, terms, NULL, 0);
    }
    set_data_write(&data);
    return data;
}

TEST(set_verifier_keeps_its_cache_within_its_bytes) {
    enum { ROWS = 200, SLOTS = 64, BYTES_MOST = 400000, LARGEST_SET_BYTES = 16384 * 8 };
    struct random random = random_seeded(11);
    struct set_data data = mixed_file(&random, ROWS);
    const struct set_measure measure = {.threshold = 0};
    struct set_verifier verifier;
    CHECK_OK(set_verifier_init(&verifier, &data.file, SLOTS, BYTES_MOST, error));
    for (size_t i = 0; i < 4000; i++) {
        const uint32_t row = (uint32_t)(i / 20 % ROWS);
        const uint32_t other = (uint32_t)random_below(&random, ROWS);
        double similarity, alone;
        if (i % 20 == 0)
            set_verifier_begin(&verifier, row);
        CHECK_OK(set_verifier_compare(&verifier, other, &measure, &similarity, error));
        CHECK_OK(set_pair_similarity(&data.file, row, other, &measure, &alone, error));
        CHECK(similarity == alone);
        CHECK(verifier.cache_bytes <= BYTES_MOST + LARGEST_SET_BYTES);
        uint64_t held = 0;
        for (size_t slot = 0; slot < SLOTS; slot++)
            held += 8 * (verifier.cache[slot].sets.term_capacity +
                         verifier.cache[slot].sets.word_capacity);
        CHECK(held == verifier.cache_bytes);
    }
    set_verifier_free(&verifier);
    set_data_free(&data);
}
