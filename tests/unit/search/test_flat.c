#include <math.h>

#include "base/hash.h"
#include "hamming/hamming_tile.h"
#include "search/flat/flat.h"
#include "search/flat/flat_join.h"
#include "search/hits/hit_lists.h"
#include "test.h"

/* Noisy copies of a few centres: near, far, equal and all-zero rows, many ties. */
static struct signatures_view make_rows(uint64_t seed, unsigned bits, size_t rows) {
    struct random random = random_seeded(seed);
    size_t stride = signature_stride_bytes(bits);
    uint8_t *data = calloc(rows + 1, stride);
    for (size_t row = 0; row < rows; row++) {
        uint64_t centre = random_below(&random, 4), noise = random_below(&random, 9);
        for (size_t byte = 0; byte < bits / 8; byte++) {
            uint8_t value = centre ? (uint8_t)hash_sequence(centre, byte) : 0;
            if (random_below(&random, 8) < noise)
                value ^= (uint8_t)(random_next(&random) & random_next(&random));
            data[row * stride + byte] = value;
        }
    }
    return (struct signatures_view){data, rows, bits, stride};
}

static uint32_t plain_distance(const struct signatures_view *a, size_t i,
                               const struct signatures_view *b, size_t j) {
    return hamming_kernels_for(CPU_PORTABLE)
        ->pair(signature_row(a, i), signature_row(b, j), hamming_words(a->bits));
}

/* All rows by distance, then row. */
static struct neighbour *plain_order(const struct signatures_view *rows,
                                     const struct signatures_view *queries, size_t query) {
    struct neighbour *all = malloc((rows->rows + 1) * sizeof *all);
    for (size_t row = 0; row < rows->rows; row++)
        all[row] = (struct neighbour){(uint32_t)row, plain_distance(queries, query, rows, row)};
    qsort(all, rows->rows, sizeof *all, neighbour_compare);
    return all;
}

static bool same_neighbours(const struct hit_lists *results, size_t query,
                            const struct neighbour *expected, size_t count) {
    size_t begin = results->offsets[query];
    bool same = results->offsets[query + 1] - begin == count;
    for (size_t i = 0; same && i < count; i++) {
        const struct match *hit = &results->items[begin + i];
        same =
            hit->a == query && hit->b == expected[i].row && hit->distance == expected[i].distance;
    }
    return same;
}

static bool searches_agree(const struct signatures_view *rows,
                           const struct signatures_view *queries, size_t k, uint32_t radius_bits,
                           unsigned threads) {
    struct hit_lists nearest = {0}, within = {0};
    bool agree = flat_search_topk(rows, queries, k, threads, &nearest, NULL) == COG_OK &&
                 flat_search_radius(rows, queries, radius_bits, threads, &within, NULL) == COG_OK &&
                 nearest.queries == queries->rows && within.queries == queries->rows;
    for (size_t query = 0; agree && query < queries->rows; query++) {
        struct neighbour *all = plain_order(rows, queries, query);
        size_t count = 0;
        while (count < rows->rows && all[count].distance <= radius_bits)
            count++;
        agree = same_neighbours(&nearest, query, all, k < rows->rows ? k : rows->rows) &&
                same_neighbours(&within, query, all, count);
        free(all);
    }
    hit_lists_free(&nearest);
    hit_lists_free(&within);
    return agree;
}

TEST(flat_search_agrees_with_a_plain_loop) {
    struct random random = random_seeded(31);
    static const size_t row_counts[] = {0, 1, 2, 63, 64, 65, 700, 5000};
    static const size_t query_counts[] = {0, 1, 3, 9, 33, 70};
    static const size_t ks[] = {0, 1, 7, 100, 6000};
    for (int round = 0; round < 120; round++) {
        unsigned bits = round % 3 ? 8 * (unsigned)(1 + random_below(&random, 40)) : 1024;
        size_t row_count = row_counts[random_below(&random, 8)];
        struct signatures_view rows = make_rows(random_next(&random), bits, row_count);
        struct signatures_view queries =
            make_rows(random_next(&random), bits, query_counts[random_below(&random, 6)]);
        uint32_t radius = round % 4 == 0   ? 0
                          : round % 4 == 1 ? bits
                                           : (uint32_t)random_below(&random, bits);
        size_t k = ks[random_below(&random, 5)];
        unsigned threads = 1 + (unsigned)round % 4;
        CHECK_MSG(searches_agree(&rows, &queries, k, radius, threads),
                  "%u bits, %zu rows, %zu queries, k %zu, radius %u, %u threads", bits, rows.rows,
                  queries.rows, k, radius, threads);
        free((void *)rows.data);
        free((void *)queries.data);
    }
}

TEST(flat_search_of_more_queries_than_a_block) {
    struct signatures_view rows = make_rows(1, 64, 500), queries = make_rows(2, 64, 2500);
    for (unsigned threads = 1; threads <= 3; threads++)
        CHECK(searches_agree(&rows, &queries, 5, 4, threads));
    free((void *)rows.data);
    free((void *)queries.data);
}

TEST(flat_search_refuses_what_does_not_fit) {
    struct signatures_view rows = make_rows(1, 64, 5), queries = make_rows(2, 128, 5);
    struct hit_lists results = {0};
    cog_error failure = {0};
    CHECK(flat_search_topk(&rows, &queries, 5, 1, &results, &failure) == COG_ERR_USAGE);
    CHECK(strstr(failure.message, "128") && strstr(failure.message, "64"));
    CHECK(!results.items && !results.offsets);
    struct match_list matches = {0};
    CHECK(flat_join(&rows, &queries, 3, 1, &matches, NULL, &failure) == COG_ERR_USAGE);
    free((void *)rows.data);
    free((void *)queries.data);
}

/* The k best of candidates in any order, ties and all; the limit never shuts out one of them. */
TEST(flat_topk_keeps_the_best_in_any_order) {
    struct random random = random_seeded(32);
    for (int round = 0; round < 500; round++) {
        size_t count = random_below(&random, 2000);
        size_t k = random_below(&random, round % 4 ? 60 : 900);
        uint32_t bits = 1 + (uint32_t)random_below(&random, round % 2 ? 5 : 2000);
        struct neighbour *all = malloc((count + 1) * sizeof *all);
        struct neighbour *nearest = malloc((k + 1) * sizeof *nearest);
        for (size_t i = 0; i < count; i++)
            all[i] = (struct neighbour){(uint32_t)i, (uint32_t)random_below(&random, bits + 1)};
        if (round % 3)
            for (size_t i = count; i > 1; i--) {
                size_t j = random_below(&random, i);
                struct neighbour swap = all[i - 1];
                all[i - 1] = all[j];
                all[j] = swap;
            }
        struct topk topk;
        CHECK_OK(topk_init(&topk, k, bits, error));
        for (size_t i = 0; i < count; i++)
            if ((int32_t)all[i].distance <= topk_limit(&topk, all[i].row))
                topk_add(&topk, all[i].row, all[i].distance);
        size_t found = topk_finish(&topk, nearest);
        qsort(all, count, sizeof *all, neighbour_compare);
        CHECK(found == (k < count ? k : count));
        CHECK(memcmp(nearest, all, found * sizeof *all) == 0);
        CHECK(topk_finish(&topk, nearest) == 0);
        topk_free(&topk);
        free(nearest);
        free(all);
    }
}

static bool join_agrees(const struct signatures_view *a, const struct signatures_view *b,
                        uint32_t radius_bits, unsigned threads) {
    struct match_list matches = {0};
    uint64_t comparisons = 0;
    bool self = a == b;
    cog_status status = self
                            ? flat_join(a, NULL, radius_bits, threads, &matches, &comparisons, NULL)
                            : flat_join(a, b, radius_bits, threads, &matches, &comparisons, NULL);
    bool agree = status == COG_OK && comparisons >= (self ? 0 : a->rows * b->rows);
    size_t at = 0;
    for (size_t i = 0; agree && i < a->rows; i++)
        for (size_t j = self ? i + 1 : 0; agree && j < b->rows; j++) {
            uint32_t distance = plain_distance(a, i, b, j);
            if (distance > radius_bits)
                continue;
            agree = at < matches.count && matches.items[at].a == i && matches.items[at].b == j &&
                    matches.items[at].distance == distance &&
                    fabs(matches.items[at].similarity - cos(M_PI * distance / a->bits)) < 1e-6;
            at++;
        }
    agree = agree && at == matches.count;
    match_list_free(&matches);
    return agree;
}

TEST(flat_join_agrees_with_a_double_loop) {
    struct random random = random_seeded(33);
    for (int round = 0; round < 60; round++) {
        unsigned bits = round % 2 ? 1024 : 8 * (unsigned)(1 + random_below(&random, 100));
        struct signatures_view a =
            make_rows(random_next(&random), bits, random_below(&random, 400));
        struct signatures_view b =
            make_rows(random_next(&random), bits, random_below(&random, 400));
        uint32_t radius = round % 5 == 0   ? 0
                          : round % 5 == 1 ? bits
                                           : (uint32_t)random_below(&random, bits / 2);
        unsigned threads = 1 + (unsigned)round % 4;
        CHECK_MSG(join_agrees(&a, &b, radius, threads), "%u bits, %zu x %zu, radius %u", bits,
                  a.rows, b.rows, radius);
        CHECK_MSG(join_agrees(&a, &a, radius, threads), "%u bits, %zu, radius %u", bits, a.rows,
                  radius);
        free((void *)a.data);
        free((void *)b.data);
    }
}

TEST(flat_join_of_several_blocks_and_chunks) {
    struct signatures_view few = make_rows(5, 64, 3), many = make_rows(6, 64, 40000);
    struct signatures_view some = make_rows(7, 64, 3000);
    for (unsigned threads = 1; threads <= 2; threads++) {
        CHECK(join_agrees(&few, &many, 8, threads));
        CHECK(join_agrees(&some, &some, 6, threads));
    }
    free((void *)few.data);
    free((void *)many.data);
    free((void *)some.data);
}
