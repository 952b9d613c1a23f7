#include "base/random.h"
#include "match/match_list.h"
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
