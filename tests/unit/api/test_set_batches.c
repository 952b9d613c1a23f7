/* The public steps of a spread set join: what they refuse, and what they give for a few sets. */
#include <cognate.h>
#include <stdlib.h>

#include "test.h"

enum { SETS = 3, MEMBERS = 15, SLOT_BITS = 8, FREQUENT_BITS = 4 };

static const int64_t offsets[] = {0, 5, 11, 15};
static const int64_t members[MEMBERS] = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 6, 50, 51, 52, 53};
static const cog_set_list sets = {offsets, members, SETS};

struct counts {
    uint8_t slots[1 << (SLOT_BITS - 1)];
    uint32_t frequent[1 << FREQUENT_BITS];
};

static cog_member_counts counts_of(struct counts *own) {
    *own = (struct counts){{0}, {0}};
    return (cog_member_counts){.slots = own->slots,
                               .frequent = own->frequent,
                               .slot_bits = SLOT_BITS,
                               .frequent_bits = FREQUENT_BITS};
}

TEST(set_batches_join_a_few_sets) {
    struct counts own, other_own;
    cog_member_counts counts = counts_of(&own), other = counts_of(&other_own);
    struct ArrowArrayStream stream;
    struct ArrowArray keys;
    const cog_set_list first = {offsets, members, 2}, last = {offsets + 2, members, 1};
    CHECK_OK(cog_member_counts_add(&counts, &first, error));
    CHECK_OK(cog_member_counts_add(&other, &last, error));
    CHECK_OK(cog_member_counts_merge(&counts, &other, error));
    CHECK_OK(cog_set_keys(&sets, &counts, COG_MEASURE_JACCARD, 0.8, &stream, error));
    CHECK(stream.get_next(&stream, &keys) == 0);
    /* Sets of 5 and 6 share what is no member of a third; each has 2 places in its prefix, and of
     * the second one's the first is a member that no other set has. */
    CHECK(keys.length == 3 && keys.n_children == 6);
    const int64_t *row = keys.children[0]->buffers[1], *key = keys.children[1]->buffers[1];
    CHECK(row[0] == 0 && row[1] == 0 && row[2] == 1 && key[0] == key[2]);
    keys.release(&keys);
    stream.release(&stream);
    const int64_t none[] = {0, 0, 0, 0};
    const int64_t of_a[] = {0, 5, 5, 5}, of_b[] = {5, 11, 11, 11};
    const cog_set_list a = {of_a, members, SETS}, b = {of_b, members, SETS},
                       words = {none, NULL, SETS};
    double similarities[SETS];
    CHECK_OK(cog_measure_sets(&a, &b, &words, &words, COG_MEASURE_JACCARD, similarities, error));
    CHECK(similarities[0] == 5.0 / 6 && similarities[1] == 0);
    CHECK_OK(cog_measure_sets(&a, &b, NULL, NULL, COG_MEASURE_CONTAINMENT, similarities, error));
    CHECK(similarities[0] == 1);
}

TEST(set_batches_refuse_what_does_not_fit) {
    struct counts own;
    cog_member_counts counts = counts_of(&own), odd = counts_of(&own);
    struct ArrowArrayStream stream;
    const int64_t falling[] = {0, 5, 2, 3};
    const cog_set_list wrong = {falling, members, SETS};
    cog_error failure = {0};
    CHECK(cog_member_counts_add(&counts, &wrong, &failure) == COG_ERR_USAGE);
    CHECK(cog_member_counts_add(NULL, &sets, &failure) == COG_ERR_USAGE);
    odd.slot_bits = 41;
    CHECK(cog_member_counts_add(&odd, &sets, &failure) == COG_ERR_USAGE);
    odd.slot_bits = SLOT_BITS - 1;
    CHECK(cog_member_counts_merge(&counts, &odd, &failure) == COG_ERR_USAGE);
    CHECK(cog_set_keys(&sets, &counts, COG_MEASURE_COSINE, 0.8, &stream, &failure) ==
          COG_ERR_USAGE);
    CHECK(cog_set_keys(&sets, &counts, COG_MEASURE_JACCARD, 0, &stream, &failure) == COG_ERR_USAGE);
    const int64_t keys[] = {2, 1}, none[] = {-1, -1};
    const int32_t places[] = {0, 0}, sizes[] = {2, 2};
    const uint8_t flags[] = {0, 0};
    cog_key_rows rows = {keys, none, none, places, sizes, flags, 2};
    CHECK(cog_key_pairs(&rows, COG_MEASURE_JACCARD, 0.8, NULL, &stream, &failure) == COG_ERR_USAGE);
    rows.flags = NULL;
    CHECK(cog_key_pairs(&rows, COG_MEASURE_JACCARD, 0.8, NULL, &stream, &failure) == COG_ERR_USAGE);
    const cog_set_list fewer = {offsets, members, SETS - 1};
    double similarities[SETS];
    CHECK(cog_measure_sets(&sets, &fewer, NULL, NULL, COG_MEASURE_JACCARD, similarities,
                           &failure) == COG_ERR_USAGE);
}
