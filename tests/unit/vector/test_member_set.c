#include "vector/member_set.h"

#include "base/memory.h"
#include "set_data.h"
#include "test.h"

enum { MOST = 5000 };

/* Random hashes: all different, from a few values, or with equal upper or lower bits. */
static void random_hashes(struct random *random, unsigned kind, uint64_t *hashes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = random_next(random);
        switch (kind % 5) {
        case 0:
            hashes[i] = hash;
            break;
        case 1:
            hashes[i] = hash_mix(hash % (count / 3 + 1));
            break;
        case 2:
            hashes[i] = hash >> 24; /* one bucket */
            break;
        case 3:
            hashes[i] = hash | 0xffff000000000000; /* the last one */
            break;
        default:
            hashes[i] = hash & 0xff0000000001ffff; /* few lower bits */
        }
    }
}

static size_t size_of_round(struct random *random, size_t round) {
    static const size_t edges[] = {31, 32, 33, 2047, 2048, 2049, 4095, 4096, MOST};
    if (round < 40)
        return round;
    if (round < 40 + sizeof edges / sizeof *edges)
        return edges[round - 40];
    return random_below(random, MOST + 1);
}

static size_t random_set(struct random *random, size_t round, uint64_t *members) {
    static uint64_t scratch[MOST];
    const size_t size = size_of_round(random, round);
    random_hashes(random, (unsigned)round, members, size);
    return member_set_make(members, size, scratch);
}

TEST(member_set_is_what_sorting_and_removing_repetitions_gives) {
    static uint64_t hashes[MOST], expected[MOST], scratch[MOST];
    struct random random = random_seeded(1);
    for (size_t round = 0; round < 300; round++) {
        const size_t size = size_of_round(&random, round / 2);
        random_hashes(&random, (unsigned)random_below(&random, 5), hashes, size);
        for (size_t i = 0; i < size; i++)
            expected[i] = hashes[i] >> 16;
        const size_t count = set_data_unique(expected, size);
        CHECK(member_set_make(hashes, size, scratch) == count);
        CHECK(memcmp(hashes, expected, count * sizeof *hashes) == 0);
    }
}

/* The block has exactly the bytes that the encoder may write and the decoder may read. */
TEST(member_set_round_trip) {
    static uint64_t members[MOST], decoded[MOST];
    struct random random = random_seeded(2);
    for (size_t round = 0; round < 300; round++) {
        const size_t count = random_set(&random, round, members);
        const size_t size = member_set_bytes(count);
        uint8_t *bytes = malloc(size + 1), *again = malloc(size + MEMBER_SET_SLACK);
        uint8_t *exact = malloc(size ? size : 1);
        memset(again, 0xa5, size + MEMBER_SET_SLACK);
        bytes[size] = 0x5a;
        member_set_encode(members, count, bytes);
        member_set_encode(members, count, exact); /* a sanitizer sees a write after it */
        member_set_encode(members, count, again); /* what was there does not matter */
        const bool equal = memcmp(bytes, again, size) == 0 && memcmp(bytes, exact, size) == 0 &&
                           bytes[size] == 0x5a;
        member_set_decode(again, count, decoded);
        free(bytes);
        free(again);
        free(exact);
        CHECK(equal);
        CHECK_MSG(memcmp(members, decoded, count * sizeof *members) == 0, "%zu members", count);
        CHECK(size <= count * 6 + (count < 32 ? 0 : 33));
    }
}

TEST(member_set_of_damaged_bytes_stays_in_range) {
    static uint64_t members[MOST];
    struct random random = random_seeded(3);
    for (size_t round = 0; round < 600; round++) {
        const size_t count = random_set(&random, round, members);
        const size_t size = member_set_bytes(count) + MEMBER_SET_SLACK;
        uint8_t *bytes = calloc(size, 1);
        member_set_encode(members, count, bytes);
        for (size_t i = 0; i < size; i++)
            if (round % 3 == 0 || random_below(&random, 50) == 0)
                bytes[i] = round % 2 ? (uint8_t)random_next(&random) : round % 4 ? 0 : 0xff;
        memset(members, 0xff, sizeof members);
        member_set_decode(bytes, count, members);
        free(bytes);
        for (size_t i = 0; i < count; i++)
            CHECK(members[i] >> MEMBER_BITS == 0);
        CHECK(count == MOST || members[count] == UINT64_MAX);
    }
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t naive_overlap(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t shared = 0;
    for (size_t i = 0; i < a_count; i++)
        shared += b_count && bsearch(&a[i], b, b_count, sizeof *b, by_value) != NULL;
    return shared;
}

TEST(member_set_overlap_with_any_least) {
    static uint64_t a[MOST], b[MOST];
    struct random random = random_seeded(4);
    for (size_t round = 0; round < 300; round++) {
        const size_t a_count = random_set(&random, round, a);
        size_t b_count = random_set(&random, 5 * random_below(&random, 60), b);
        const size_t copied = random_below(&random, (a_count < b_count ? a_count : b_count) + 1);
        for (size_t i = 0; i < copied; i++)
            b[random_below(&random, b_count)] = a[random_below(&random, a_count)];
        b_count = set_data_unique(b, b_count);
        const size_t shared = naive_overlap(a, a_count, b, b_count);
        const size_t leasts[] = {0, 1, shared / 2, shared, shared + 1, shared + 40, SIZE_MAX};
        for (size_t i = 0; i < sizeof leasts / sizeof *leasts; i++) {
            const size_t found = member_set_overlap(a, a_count, b, b_count, leasts[i]);
            CHECK_MSG(shared >= leasts[i] ? found == shared : found < leasts[i],
                      "%zu and %zu members share %zu, at least %zu: found %zu", a_count, b_count,
                      shared, leasts[i], found);
            CHECK(found <= shared);
        }
    }
}
