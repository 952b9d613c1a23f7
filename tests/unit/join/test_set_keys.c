/* The steps of a spread set join against a double loop. */
#include "join/sets/set_keys.h"

#include <stdlib.h>
#include <string.h>

#include "../vector/set_data.h"
#include "test.h"

enum { SETS = 300, MEMBERS_MOST = 60, FREQUENT_BITS = 8 };

struct world {
    int64_t members[SETS][MEMBERS_MOST];
    size_t counts[SETS];
    uint8_t slots[1 << 15];
    uint32_t frequent[1 << FREQUENT_BITS];
    struct key_counts keys;
};

static int compare_members(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Sets of which two thirds are edits of an earlier one. */
static void make_set(struct world *world, size_t i, struct random *random) {
    size_t count = 1 + random_below(random, MEMBERS_MOST - 1), kept = 0;
    int64_t *members = world->members[i];
    if (i % 3) {
        size_t other = random_below(random, i);
        count = world->counts[other];
        memcpy(members, world->members[other], count * sizeof *members);
    }
    for (size_t k = 0; k < count; k++)
        if (i % 3 == 0 || random_below(random, 12) == 0)
            members[k] = (int64_t)member_of_hash(hash_mix(random_below(random, 2000)));
    qsort(members, count, sizeof *members, compare_members);
    for (size_t k = 0; k < count; k++)
        if (kept == 0 || members[k] != members[kept - 1])
            members[kept++] = members[k];
    world->counts[i] = kept;
}

/* Counts of two halves, merged. With few slots nearly all counts are too high. */
static struct world *make_world(unsigned slot_bits) {
    static struct world world;
    static uint8_t other_slots[1 << 15];
    static uint32_t other_frequent[1 << FREQUENT_BITS];
    struct random random = random_seeded(11);
    memset(&world, 0, sizeof world);
    memset(other_slots, 0, sizeof other_slots);
    memset(other_frequent, 0, sizeof other_frequent);
    world.keys = (struct key_counts){world.slots, slot_bits, world.frequent, FREQUENT_BITS};
    struct key_counts other = {other_slots, slot_bits, other_frequent, FREQUENT_BITS};
    for (size_t i = 0; i < SETS; i++) {
        make_set(&world, i, &random);
        key_counts_add(i % 2 ? &other : &world.keys, world.members[i], world.counts[i]);
    }
    key_counts_merge(&world.keys, &other);
    return &world;
}

static double similarity(const struct world *world, size_t a, size_t b,
                         const struct set_measure *measure) {
    uint64_t shared = 0;
    for (size_t i = 0; i < world->counts[a]; i++)
        for (size_t j = 0; j < world->counts[b]; j++)
            shared += world->members[a][i] == world->members[b][j];
    return set_similarity(measure, world->counts[a], world->counts[b], shared);
}

static int compare_keys(const void *a, const void *b) {
    const struct set_key *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->size > y->size) - (x->size < y->size);
}

/* How often each pair was proposed; with `across`, odd sets are the second collection. */
static uint8_t times[SETS][SETS];
static void propose(const struct world *world, const struct set_measure *measure, bool across,
                    size_t *repeated) {
    struct set_key_list list = {0};
    struct key_pairs pairs = {0};
    memset(times, 0, sizeof times);
    *repeated = 0;
    for (size_t i = 0; i < SETS; i++)
        CHECK_OK(set_keys_add(&list, (int64_t)i, world->members[i], world->counts[i], &world->keys,
                              measure, error));
    qsort(list.items, list.count, sizeof *list.items, compare_keys);
    int64_t *numbers = calloc(3 * list.count + 1, sizeof *numbers);
    int32_t *places = calloc(2 * list.count + 1, sizeof *places);
    uint8_t *flags = calloc(list.count + 1, 1);
    const size_t n = list.count;
    for (size_t i = 0; i < n; i++) {
        numbers[i] = list.items[i].key;
        numbers[n + i] = list.items[i].first;
        numbers[2 * n + i] = list.items[i].second;
        places[i] = list.items[i].place;
        places[n + i] = list.items[i].size;
        flags[i] = (uint8_t)(across ? KEY_ACROSS + list.items[i].row % 2 * KEY_SIDE : 0);
    }
    const struct key_rows rows = {numbers, numbers + n, numbers + 2 * n, places, places + n, flags,
                                  n};
    CHECK_OK(key_pairs_find(&rows, measure, &pairs, error));
    for (size_t i = 0; i < pairs.count; i++) {
        int64_t a = list.items[pairs.a[i]].row, b = list.items[pairs.b[i]].row;
        CHECK(a != b && (!across || (a % 2 == 0 && b % 2 == 1)));
        *repeated += times[a][b]++ > 0;
        times[b][a] = times[a][b];
    }
    free(numbers);
    free(places);
    free(flags);
    set_key_list_free(&list);
    key_pairs_free(&pairs);
}

TEST(set_keys_propose_every_near_pair) {
    static const double thresholds[] = {0.3, 0.5, 0.8, 0.95, 1};
    static const unsigned bits[] = {4, 16};
    size_t near_pairs = 0, proposed = 0, repeated;
    for (size_t i = 0; i < 5 * 2 * 4; i++) {
        const struct set_measure measure = {i & 1, thresholds[i / 8]};
        const struct world *world = make_world(bits[i / 4 % 2]);
        const bool across = i & 2;
        propose(world, &measure, across, &repeated);
        for (size_t a = 0; a < SETS; a++)
            for (size_t b = a + 1; b < SETS; b++) {
                const bool is_near = similarity(world, a, b, &measure) >= measure.threshold;
                const bool is_asked = !across || (a ^ b) & 1;
                CHECK(!is_near || !is_asked || times[a][b]);
                near_pairs += is_near && is_asked;
                proposed += times[a][b] > 0;
            }
        /* Most pairs are proposed by one key. */
        if (measure.threshold >= 0.8 && !measure.containment && bits[i / 4 % 2] == 16)
            CHECK(repeated < near_pairs / 4);
    }
    CHECK(near_pairs > 1000 && proposed >= near_pairs);
    CHECK(proposed < (size_t)5 * 8 * SETS * SETS / 8);
}

TEST(set_keys_by_words_leave_out_sets_with_terms) {
    const int64_t key = (int64_t)1 << 48 | 77, keys[] = {key, key, key}, none[] = {-1, -1, -1};
    const int32_t places[] = {0, 0, 0}, sizes[] = {2, 2, 2};
    const uint8_t flags[] = {KEY_HAS_TERMS, 0, KEY_HAS_TERMS};
    const struct set_measure measure = {false, 0.8};
    const struct key_rows rows = {keys, none, none, places, sizes, flags, 3};
    struct key_pairs pairs = {0};
    CHECK_OK(key_pairs_find(&rows, &measure, &pairs, error));
    CHECK(pairs.count == 2 && pairs.comparisons == 3);
    CHECK(pairs.a[0] == 0 && pairs.b[0] == 1 && pairs.a[1] == 1 && pairs.b[1] == 2);
    key_pairs_free(&pairs);
    const int32_t unsorted[] = {3, 2, 2};
    const struct key_rows wrong = {keys, none, none, places, unsorted, flags, 3};
    cog_error failure = {0};
    CHECK(key_pairs_find(&wrong, &measure, &pairs, &failure) == COG_ERR_USAGE);
    key_pairs_free(&pairs);
}

/* Rows of one key as boilerplate has it: 1,000 sets of about as many own members each. */
TEST(set_keys_walk_is_short_if_few_members_stand_behind_the_key) {
    enum { ROWS = 1000, SHARED = 80 };
    static int64_t keys[ROWS], none[ROWS];
    static int32_t places[ROWS], sizes[ROWS];
    static uint8_t flags[ROWS];
    const struct set_measure measure = {false, 0.8};
    const struct key_rows rows = {keys, none, none, places, sizes, flags, ROWS};
    struct key_pairs pairs = {0};
    for (size_t i = 0; i < ROWS; i++) {
        none[i] = KEY_NONE;
        sizes[i] = (int32_t)(92 + i / 500); /* 80 of 92 + 92 - 80: below 0.8 */
        places[i] = sizes[i] - SHARED;
    }
    CHECK_OK(key_pairs_find(&rows, &measure, &pairs, error));
    CHECK(pairs.count == 0 && pairs.comparisons == 0);
    /* One set that is smaller meets all others, and begins the pairs. */
    sizes[0] = 86;
    places[0] = sizes[0] - SHARED;
    CHECK_OK(key_pairs_find(&rows, &measure, &pairs, error));
    CHECK(pairs.count == ROWS - 1 && pairs.comparisons == ROWS - 1);
    key_pairs_free(&pairs);
    flags[0] = KEY_LARGER;
    CHECK_OK(key_pairs_find(&rows, &measure, &pairs, error));
    CHECK(pairs.count == 0);
    key_pairs_free(&pairs);
}

TEST(set_keys_counts_are_never_too_low) {
    const struct world *world = make_world(10);
    size_t alone = 0;
    for (size_t i = 0; i < SETS; i++)
        for (size_t k = 0; k < world->counts[i]; k++) {
            uint32_t count = 0;
            for (size_t other = 0; other < SETS; other++)
                for (size_t m = 0; m < world->counts[other]; m++)
                    count += world->members[other][m] == world->members[i][k];
            const uint32_t found = key_count(&world->keys, (uint64_t)world->members[i][k]);
            CHECK(found >= count);
            alone += found == 1;
        }
    CHECK(alone > 0);
}
