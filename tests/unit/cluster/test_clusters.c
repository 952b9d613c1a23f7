#include "base/hash.h"
#include "cluster/clusters.h"
#include "test.h"

enum { ROWS = 60 };

struct world {
    bool linked[ROWS][ROWS];
    uint64_t keys[ROWS];
    struct match_list matches;
};

static bool make_world(struct world *world, struct random *random, uint64_t links) {
    *world = (struct world){0};
    for (int r = 0; r < ROWS; r++)
        world->keys[r] = random_below(random, 10);
    for (uint64_t i = 0; i < links; i++) {
        uint32_t a = (uint32_t)random_below(random, ROWS - 1);
        uint32_t b = a + 1 + (uint32_t)random_below(random, ROWS - 1 - a);
        struct match match = {a, b, 0, 0.5f + 0.001f * (float)(a + b)};
        if (!world->linked[a][b] && match_list_add(&world->matches, match, NULL) != COG_OK)
            return false;
        world->linked[a][b] = world->linked[b][a] = true;
    }
    return true;
}

/* Numbers in order of the smallest row, and representatives inside their own cluster. */
static bool numbered_by_first_row(const struct clusters *clusters) {
    uint32_t next = 0;
    for (uint32_t r = 0; r < clusters->rows; r++) {
        if (clusters->cluster[r] > next)
            return false;
        next += clusters->cluster[r] == next;
        uint32_t head = clusters->representative[r];
        if (clusters->cluster[head] != clusters->cluster[r] ||
            clusters->representative[head] != head)
            return false;
    }
    return next == clusters->count;
}

static bool before(const uint64_t *keys, int a, int b) {
    return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
}

TEST(clusters_connected_are_the_closure_of_matches) {
    struct random random = random_seeded(3);
    static struct world world;
    for (int round = 0; round < 200; round++) {
        CHECK(make_world(&world, &random, random_below(&random, 90)));
        bool reach[ROWS][ROWS];
        memcpy(reach, world.linked, sizeof reach);
        for (int k = 0; k < ROWS; k++)
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < ROWS; j++)
                    reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
        struct clusters clusters = {0};
        CHECK_OK(
            clusters_build(&world.matches, ROWS, world.keys, CLUSTERS_CONNECTED, &clusters, error));
        CHECK(numbered_by_first_row(&clusters));
        for (int i = 0; i < ROWS; i++) {
            int head = (int)clusters.representative[i];
            for (int j = 0; j < ROWS; j++) {
                bool together = i == j || reach[i][j];
                CHECK(together == (clusters.cluster[i] == clusters.cluster[j]));
                CHECK(!together || j == head || before(world.keys, head, j));
            }
            float expected = head == i               ? 1
                             : world.linked[i][head] ? 0.5f + 0.001f * (float)(i + head)
                                                     : 0;
            CHECK(clusters.similarity[i] == expected);
        }
        clusters_free(&clusters);
        match_list_free(&world.matches);
    }
}

/* The definition, row by row: a row is a representative unless one that precedes it matches it, and
 * any other row belongs to the first representative that matches it. */
TEST(clusters_strict_follow_the_greedy_order) {
    struct random random = random_seeded(4);
    static struct world world;
    for (int round = 0; round < 200; round++) {
        CHECK(make_world(&world, &random, random_below(&random, 300)));
        struct clusters clusters = {0};
        CHECK_OK(
            clusters_build(&world.matches, ROWS, world.keys, CLUSTERS_STRICT, &clusters, error));
        CHECK(numbered_by_first_row(&clusters));
        for (int i = 0; i < ROWS; i++) {
            int expected = i;
            for (int j = 0; j < ROWS; j++)
                if (world.linked[i][j] && clusters.representative[j] == (uint32_t)j &&
                    before(world.keys, j, expected))
                    expected = j;
            CHECK(clusters.representative[i] == (uint32_t)expected);
            CHECK(clusters.similarity[i] ==
                  (expected == i ? 1 : 0.5f + 0.001f * (float)(i + expected)));
        }
        clusters_free(&clusters);
        match_list_free(&world.matches);
    }
}

TEST(clusters_of_a_chain) {
    struct match links[] = {{0, 1, 0, 0.9f}, {1, 2, 0, 0.8f}, {2, 3, 0, 0.7f}};
    struct match_list matches = {.items = links, .count = 3, .capacity = 3};
    struct clusters clusters = {0};
    CHECK_OK(clusters_build(&matches, 5, NULL, CLUSTERS_CONNECTED, &clusters, error));
    CHECK(clusters.count == 2 && clusters.cluster[3] == 0 && clusters.cluster[4] == 1);
    clusters_free(&clusters);
    CHECK_OK(clusters_build(&matches, 5, NULL, CLUSTERS_STRICT, &clusters, error));
    CHECK(clusters.count == 3 && clusters.representative[3] == 2 && clusters.similarity[3] == 0.7f);
    clusters_free(&clusters);
    uint64_t keys[] = {1, 5, 1, 9, 1};
    CHECK_OK(clusters_build(&matches, 5, keys, CLUSTERS_STRICT, &clusters, error));
    CHECK(clusters.representative[0] == 1 && clusters.representative[2] == 3);
    CHECK(clusters.cluster[2] == 1 && clusters.cluster[4] == 2);
    clusters_free(&clusters);
}

TEST(clusters_of_nothing_and_of_wrong_rows) {
    struct match wrong = {0, 7, 0, 1};
    struct match_list none = {0}, matches = {.items = &wrong, .count = 1, .capacity = 1};
    struct clusters clusters = {0};
    CHECK_OK(clusters_build(&none, 0, NULL, CLUSTERS_STRICT, &clusters, error));
    CHECK(clusters.count == 0);
    clusters_free(&clusters);
    CHECK(clusters_build(&matches, 7, NULL, CLUSTERS_CONNECTED, &clusters, NULL) == COG_ERR_USAGE);
}
