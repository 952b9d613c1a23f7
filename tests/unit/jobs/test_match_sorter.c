/* Matches sorted in memory and on disk, against a plain sort. */
#include "base/hash.h"
#include "jobs/pairs/match_sorter.h"
#include "test.h"

/* Random pairs, many of them twice. */
static struct match_list random_matches(struct random *random, size_t count, uint32_t rows) {
    struct match_list list = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t a = (uint32_t)random_below(random, rows), b = (uint32_t)random_below(random, rows);
        struct match match = {a, b, a ^ b, (float)(a % 7) + (float)(b % 5)};
        if (match_list_add(&list, match, NULL) != COG_OK)
            abort();
    }
    return list;
}

/* Sorts the list and takes repeated pairs out. */
static void sort_plainly(struct match_list *list) {
    size_t kept = 0;
    match_list_sort(list);
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || memcmp(&list->items[kept - 1], &list->items[i], sizeof *list->items) != 0)
            list->items[kept++] = list->items[i];
    list->count = kept;
}

TEST(match_sorter_sorts_as_memory_does) {
    static const size_t counts[] = {0, 1, 1000, 16384, 16385, 100000, 300000};
    struct random random = random_seeded(5);
    for (size_t trial = 0; trial < sizeof counts / sizeof *counts; trial++) {
        struct match_list expected =
            random_matches(&random, counts[trial], trial % 2 ? 100 : 1u << 20);
        struct match_list sorted = {0};
        struct match_sorter sorter;
        match_sorter_init(&sorter, 0); /* the smallest buffer: 16,384 matches */
        for (size_t at = 0; at < expected.count; at += 999) {
            size_t left = expected.count - at;
            CHECK_OK(
                match_sorter_add(&sorter, expected.items + at, left < 999 ? left : 999, error));
        }
        CHECK_OK(match_sorter_finish(&sorter, &sorted, error));
        sort_plainly(&expected);
        CHECK_MSG(sorted.count == expected.count, "%zu of %zu", sorted.count, expected.count);
        CHECK(sorted.count == 0 ||
              memcmp(sorted.items, expected.items, sorted.count * sizeof *sorted.items) == 0);
        CHECK(expected.count <= 16384 || sorted.file.data);
        match_list_release(&sorted, sorted.count / 2);
        CHECK(sorted.count == 0 ||
              match_list_holds(&sorted, expected.items[0].a, expected.items[0].b));
        match_list_free(&sorted);
        match_list_free(&expected);
        match_sorter_free(&sorter);
    }
}

TEST(match_sorter_takes_the_memory_of_its_matches) {
    struct random random = random_seeded(6);
    struct match_list expected = random_matches(&random, 50000, 1u << 20), sorted = {0};
    struct match_sorter sorter;
    match_sorter_init(&sorter, 1u << 30);
    CHECK_OK(match_sorter_add(&sorter, expected.items, expected.count, error));
    CHECK_OK(match_sorter_finish(&sorter, &sorted, error));
    sort_plainly(&expected);
    CHECK(sorted.count == expected.count &&
          memcmp(sorted.items, expected.items, sorted.count * sizeof *sorted.items) == 0);
    CHECK_MSG(sorted.capacity < 2 * 50000, "%zu", sorted.capacity);
    match_list_free(&sorted);
    match_list_free(&expected);
    match_sorter_free(&sorter);
}

TEST(match_sorter_merges_more_runs_than_its_buffer_has_parts) {
    struct match_sorter sorter;
    struct match_list sorted = {0};
    match_sorter_init(&sorter, 0);
    for (uint32_t i = 0; i < 70 * 16384; i++) {
        struct match match = {i * 2654435761u % (1u << 24), i, 0, 1};
        CHECK_OK(match_sorter_add(&sorter, &match, 1, error));
    }
    CHECK_OK(match_sorter_finish(&sorter, &sorted, error));
    CHECK(sorted.count == 70 * 16384);
    for (size_t i = 1; i < sorted.count; i++)
        CHECK(sorted.items[i - 1].a <= sorted.items[i].a);
    match_list_free(&sorted);
    match_sorter_free(&sorter);
}
