#include "match/match_list.h"
#include "test.h"

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
