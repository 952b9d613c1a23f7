#include "base/hash.h"
#include "search/hits/pair_set.h"
#include "test.h"

/* Few and many rows: sorted by counting, and by comparing where rows are far more than matches. */
TEST(match_list_sorts_by_rows) {
    struct random random = random_seeded(5);
    uint64_t bounds[] = {1, 3, 500, 100000, UINT32_MAX};
    for (size_t round = 0; round < sizeof bounds / sizeof *bounds; round++) {
        struct match_list list = {0};
        uint64_t sum = 0, after = 0;
        for (int i = 0; i < 3000; i++) {
            struct match match = {(uint32_t)random_below(&random, bounds[round]),
                                  (uint32_t)random_next(&random), (uint32_t)i, 0};
            sum += hash_pair(match.a, match.b) + match.distance;
            CHECK_OK(match_list_add(&list, match, error));
        }
        match_list_sort(&list);
        CHECK(list.count == 3000);
        for (size_t i = 0; i < list.count; i++) {
            const struct match *m = &list.items[i];
            after += hash_pair(m->a, m->b) + m->distance;
            CHECK(i == 0 || m[-1].a < m->a || (m[-1].a == m->a && m[-1].b <= m->b));
        }
        CHECK(after == sum);
        match_list_free(&list);
    }
    struct match_list none = {0};
    match_list_sort(&none);
    CHECK(none.count == 0);
}

TEST(match_lists_share_a_limit) {
    enum { LIMIT = 10000, LISTS = 4 };
    struct match_list lists[LISTS] = {{0}}, all = {.limit = LIMIT};
    size_t listed = 0, added = 0;
    cog_error fault = {0};
    for (int i = 0; i < LISTS; i++)
        match_list_share(&lists[i], LIMIT, &listed);
    cog_status status = COG_OK;
    while (status == COG_OK) { /* three quarters go to one list */
        struct match match = {.a = (uint32_t)added, .b = 1};
        status = match_list_add(&lists[added % 4 ? 0 : 1 + added / 4 % 3], match, &fault);
        added += status == COG_OK;
    }
    CHECK(status == COG_ERR_MEMORY && strstr(fault.message, "10000"));
    CHECK(added > LIMIT / 2 && added < LIMIT + LISTS * 1024);
    for (int i = 0; i < LISTS && all.count + lists[i].count <= LIMIT; i++)
        CHECK_OK(match_list_move(&all, &lists[i], error));
    for (int i = 0; i < LISTS; i++)
        match_list_free(&lists[i]);
    match_list_free(&all);
}

/* Every hundredth row stays; counts what it was asked. */
static cog_status keep_hundredth(void *context, struct match *items, size_t *count,
                                 cog_error *error) {
    (void)error;
    size_t kept = 0;
    *(size_t *)context += *count;
    for (size_t i = 0; i < *count; i++)
        if (items[i].a % 100 == 0)
            items[kept++] = items[i];
    *count = kept;
    return COG_OK;
}

/* A limit is on what stays, and no more is in memory than that and a batch. */
TEST(match_list_sieves_batches) {
    enum { CANDIDATES = 200000, LIMIT = CANDIDATES / 100 };
    size_t asked = 0;
    const struct match_sieve sieve = {keep_hundredth, &asked};
    struct match_list list = {.sieve = &sieve, .limit = LIMIT}, all = {.limit = LIMIT};
    for (uint32_t i = 0; i < CANDIDATES; i++)
        CHECK_OK(match_list_add(&list, (struct match){.a = i}, error));
    CHECK(list.capacity < 2 * MATCH_BATCH + 2 * LIMIT);
    CHECK_OK(match_list_move(&all, &list, error));
    CHECK(asked == CANDIDATES && all.count == LIMIT && list.count == 0);
    for (uint32_t i = 0; i < LIMIT; i++)
        CHECK(all.items[i].a == 100 * i);
    list.limit = LIMIT - 1;
    cog_status status = COG_OK;
    for (uint32_t i = 0; i < CANDIDATES && status == COG_OK; i++)
        status = match_list_add(&list, (struct match){.a = i}, NULL);
    if (status == COG_OK)
        status = match_list_sieve(&list, NULL);
    CHECK(status == COG_ERR_MEMORY);
    match_list_free(&list);
    match_list_free(&all);
}

/* The same of a set: pairs that were refused and forgotten may come again. */
TEST(pair_set_forgets_what_is_refused) {
    enum { ROWS = 2000000, BATCHES = PAIR_SHARDS * PAIR_SHARD_BATCH };
    size_t asked = 0;
    const struct match_sieve sieve = {keep_hundredth, &asked};
    static struct pair_set set;
    static struct pair_buffer buffer;
    struct match_list found = {.sieve = &sieve};
    pair_set_init(&set, 1, &sieve);
    for (int table = 0; table < 2; table++)
        for (uint32_t i = 0; i < ROWS; i++) {
            CHECK_OK(pair_set_add(&set, &buffer, (struct row_pair){i, i + 1, 0}, error));
            CHECK(set.count < BATCHES + ROWS / 100);
        }
    CHECK_OK(pair_set_flush(&set, &buffer, error));
    CHECK_OK(pair_set_take(&set, &found, error));
    CHECK(found.count == ROWS / 100 && asked > ROWS);
    for (uint32_t i = 0; i < found.count; i++)
        CHECK(found.items[i].a == 100 * i && found.items[i].b == 100 * i + 1);
    match_list_free(&found);
    pair_set_free(&set);
}
