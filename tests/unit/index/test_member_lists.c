/* Posting lists of sets made in scratch files: the same as those made in memory, with a heap that
 * does not grow with the sets, and stopping on request. */
#include "index/member_lists.h"

#include <string.h>

#include "base/hash.h"
#include "base/heap.h"
#include "base/threads.h"
#include "test.h"

enum { MEMBERS = 100, OFTEN = 8 };

/* Rows with some members that many rows share, one that all rows share, and the rest rare. */
struct made_sets {
    uint64_t members[MEMBERS], scratch[MEMBERS];
};

static size_t make_members(void *context, size_t row, const uint64_t **members) {
    struct made_sets *made = context;
    struct random random = random_seeded(row);
    const size_t count = row % 50 == 0 ? 0 : 1 + random_below(&random, MEMBERS - 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t word =
            i < OFTEN ? random_below(&random, 1 + i * i * 1000) : 100000 + row + i * i;
        made->members[i] = hash_pair(7, i == 0 ? 1 : word);
    }
    *members = made->members;
    return member_set_make(made->members, count, made->scratch);
}

static cog_status build(size_t rows, const char *near_path, struct member_lists *lists,
                        cog_error *error) {
    struct made_sets made;
    const struct member_source source = {make_members, &made, rows};
    return member_lists_build(&source, 2, near_path, lists, error);
}

TEST(member_lists_in_files_are_those_of_memory) {
    const size_t rows[] = {0, 1, 1000, 60000};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct member_lists expected, lists;
        CHECK_OK(build(rows[i], NULL, &expected, error));
        CHECK_OK(build(rows[i], test_path("lists"), &lists, error));
        CHECK(lists.count == expected.count && lists.bits == expected.bits);
        CHECK(memcmp(lists.starts, expected.starts, (((size_t)1 << lists.bits) + 1) * 8) == 0);
        CHECK(memcmp(lists.entries, expected.entries, (size_t)lists.count * 8) == 0);
        CHECK(rows[i] < 60000 || lists.count > 2 << 20); /* several parts */
        member_lists_free(&expected);
        member_lists_free(&lists);
    }
}

/* The most that the heap holds while lists are made. */
static uint64_t peak_of(size_t rows, const char *near_path, uint64_t *entries, cog_error *error) {
    struct heap_account account = {0};
    struct member_lists lists;
    struct heap_account *previous = heap_account_set(&account);
    const cog_status status = build(rows, near_path, &lists, error);
    heap_account_set(previous);
    *entries = lists.count;
    member_lists_free(&lists);
    return status == COG_OK ? heap_account_peak(&account) : UINT64_MAX;
}

TEST(member_lists_in_files_take_no_heap) {
    const char *near_path = test_path("lists");
    uint64_t few, many, same;
    const uint64_t single = peak_of(80000, near_path, &few, NULL);
    const uint64_t doubled = peak_of(160000, near_path, &many, NULL);
    CHECK_MSG(doubled < single + (1 << 20) && doubled < 4 << 20, "%llu bytes, doubled %llu",
              (unsigned long long)single, (unsigned long long)doubled);
    CHECK(many > 3 << 21);
    CHECK(peak_of(80000, NULL, &same, NULL) > 8 * few && same == few);
}

struct countdown {
    int64_t calls; /* atomic */
};

static bool stops_after(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    struct countdown *left = context;
    return __atomic_sub_fetch(&left->calls, 1, __ATOMIC_RELAXED) < 0;
}

/* Told to stop at many moments, it stops there, and nothing is left. */
TEST(member_lists_stop_when_told) {
    const size_t moments[] = {0, 5, 30, 60, 100, 200, 300};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        struct countdown left = {(int64_t)moments[i]};
        const struct threads_watch watch = {.stops = stops_after, .context = &left};
        struct member_lists lists;
        const struct threads_watch *previous = threads_watch_set(&watch);
        const cog_status status = build(60000, test_path("lists"), &lists, NULL);
        threads_watch_set(previous);
        CHECK(status == COG_ERR_CANCELLED && left.calls > -4 && !lists.entries);
    }
}
