#include <math.h>

#include "base/threads.h"
#include "join/cosine/cosine_join.h"
#include "join/cosine/cosine_tiles.h"
#include "join/cosine/cosine_topk.h"
#include "join_data.h"
#include "test.h"

static double row_dot(const struct sparse_matrix *a, size_t i, const struct sparse_matrix *b,
                      size_t j) {
    uint64_t at_a = a->offsets[i], at_b = b->offsets[j];
    return sparse_dot(a->columns + at_a, a->values + at_a, (size_t)(a->offsets[i + 1] - at_a),
                      b->columns + at_b, b->values + at_b, (size_t)(b->offsets[j + 1] - at_b));
}

/* All products, as the tiles give them. */
struct collected {
    size_t rows;
    float *values;
    uint8_t *seen;
};

struct collecting {
    const struct cosine_tiles *tiles;
    struct collected *all;
};

static cog_status collect_tiles(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)error;
    const struct collecting *collecting = context;
    for (size_t query = begin; query < end; query++) {
        struct cosine_tile tile = cosine_tile(collecting->tiles, worker, query);
        for (size_t r = 0; r < tile.row_count; r++) {
            size_t at = query * collecting->all->rows + tile.row_begin + r;
            collecting->all->values[at] = tile.values[r];
            collecting->all->seen[at]++;
        }
    }
    return COG_OK;
}

static struct collected collect(struct cosine_rows queries, struct cosine_rows collection,
                                bool later_only, uint32_t column_end, unsigned threads) {
    size_t count = queries.count * collection.count;
    struct collected all = {collection.count, malloc((count + 1) * sizeof(float)),
                            calloc(count + 1, 1)};
    struct cosine_tiles tiles = {.queries = queries,
                                 .collection = collection,
                                 .later_only = later_only,
                                 .threads = threads,
                                 .column_end = column_end};
    struct collecting collecting = {&tiles, &all};
    cog_status status = cosine_tiles_create(&tiles, NULL);
    while (all.values && all.seen && cosine_tiles_next(&tiles, &status, NULL))
        status = parallel_for(tiles.threads, tiles.query_count, COSINE_TILE_GRAIN, collect_tiles,
                              &collecting, NULL);
    cosine_tiles_free(&tiles);
    if (!all.values || !all.seen || status != COG_OK)
        abort();
    return all;
}

static void collected_free(struct collected *all) {
    free(all->values);
    free(all->seen);
}

TEST(join_tiles_are_all_products) {
    struct random random = random_seeded(27);
    for (int round = 0; round < 4; round++) {
        /* Few columns make dense ones; more than 4096 rows make a second block. */
        struct row_shape shape = {.rows = round == 3 ? 5000 : 300,
                                  .columns = round % 2 ? 20 : 2000,
                                  .mean_count = 15,
                                  .skew = 3,
                                  .signed_values = round == 2,
                                  .unit = true};
        struct sparse_matrix b = join_random_matrix(&random, shape);
        shape.rows = 70;
        struct sparse_matrix a = join_random_matrix(&random, shape);
        double error = cosine_float_error(cosine_extent(&a), cosine_extent(&b));
        CHECK(error < 1e-4);
        struct collected all =
            collect(cosine_rows_all(&a), cosine_rows_all(&b), false, 0, 1 + (unsigned)round);
        struct collected again = collect(cosine_rows_all(&a), cosine_rows_all(&b), false, 0, 1);
        CHECK(memcmp(all.values, again.values, a.rows * b.rows * sizeof(float)) == 0);
        for (size_t i = 0; i < a.rows; i++)
            for (size_t j = 0; j < b.rows; j++) {
                CHECK(all.seen[i * b.rows + j] == 1);
                CHECK(fabs((double)all.values[i * b.rows + j] - row_dot(&a, i, &b, j)) <= error);
            }
        collected_free(&all);
        collected_free(&again);
        sparse_matrix_free(&a);
        sparse_matrix_free(&b);
    }
}

TEST(join_tiles_of_chosen_rows_and_of_later_ones) {
    struct random random = random_seeded(28);
    struct row_shape shape = {.rows = 100, .columns = 50, .mean_count = 9, .skew = 2};
    struct sparse_matrix matrix = join_random_matrix(&random, shape);
    uint32_t chosen[] = {99, 3, 3, 42};
    struct cosine_rows some = {&matrix, chosen, 4};
    struct collected all = collect(some, cosine_rows_all(&matrix), false, 0, 2);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 100; j++)
            CHECK(fabs((double)all.values[i * 100 + j] - row_dot(&matrix, chosen[i], &matrix, j)) <
                  1e-3);
    collected_free(&all);
    all = collect(cosine_rows_all(&matrix), cosine_rows_all(&matrix), true, 0, 1);
    for (size_t i = 0; i < 100; i++)
        for (size_t j = i + 1; j < 100; j++)
            CHECK(all.seen[i * 100 + j] == 1);
    collected_free(&all);
    sparse_matrix_free(&matrix);
}

TEST(join_tiles_of_the_first_columns_leave_out_the_others) {
    struct random random = random_seeded(31);
    struct row_shape shape = {.rows = 90, .columns = 50, .mean_count = 9, .skew = 2, .unit = true};
    struct sparse_matrix a = join_random_matrix(&random, shape);
    struct sparse_matrix b = join_random_matrix(&random, shape);
    for (uint32_t end = 1; end <= 50; end += 7) {
        struct collected heads =
            collect(cosine_rows_all(&a), cosine_rows_all(&b), false, end, 1 + end % 3);
        for (size_t i = 0; i < a.rows; i++)
            for (size_t j = 0; j < b.rows; j++) {
                uint64_t at_a = a.offsets[i], at_b = b.offsets[j];
                double dot =
                    sparse_dot(a.columns + at_a, a.values + at_a, sparse_row_before(&a, i, end),
                               b.columns + at_b, b.values + at_b, sparse_row_before(&b, j, end));
                CHECK(fabs((double)heads.values[i * b.rows + j] - dot) <= 1e-5);
            }
        collected_free(&heads);
    }
    sparse_matrix_free(&a);
    sparse_matrix_free(&b);
}

struct ranked {
    double similarity;
    uint32_t row;
};

static int best_first(const void *x, const void *y) {
    const struct ranked *p = x, *q = y;
    if (p->similarity != q->similarity)
        return p->similarity > q->similarity ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static bool topk_agrees(const struct sparse_matrix *a, const struct sparse_matrix *b, size_t k,
                        unsigned threads) {
    struct cosine_neighbours found = {0};
    struct ranked *ranking = malloc((b->rows + 1) * sizeof *ranking);
    bool agrees = ranking && cosine_topk(a, b, k, threads, &found, NULL) == COG_OK;
    for (size_t q = 0; agrees && q < a->rows; q++) {
        size_t count = 0;
        for (uint32_t r = 0; r < b->rows; r++)
            if (row_dot(a, q, b, r) > 0)
                ranking[count++] = (struct ranked){row_dot(a, q, b, r), r};
        qsort(ranking, count, sizeof *ranking, best_first);
        count = count < k ? count : k;
        agrees = found.counts[q] == count;
        for (size_t i = 0; agrees && i < count; i++) {
            struct cosine_neighbour item = found.items[q * found.k + i];
            agrees = item.row == ranking[i].row && item.similarity == (float)ranking[i].similarity;
        }
    }
    free(ranking);
    cosine_topk_free(&found);
    return agrees;
}

TEST(join_topk_equals_a_full_ranking) {
    struct random random = random_seeded(29);
    for (int round = 0; round < 6; round++) {
        struct row_shape shape = {.rows = round == 5 ? 6000 : 1 + 150 * (size_t)round,
                                  .columns = round % 2 ? 30 : 1000,
                                  .mean_count = 10,
                                  .skew = 1 + round % 3,
                                  .signed_values = round == 2,
                                  .unit = round != 1};
        struct sparse_matrix b = join_random_matrix(&random, shape);
        for (size_t queries = 1; queries < 60; queries = 7 * queries) { /* few, and many */
            shape.rows = queries;
            struct sparse_matrix a = join_random_matrix(&random, shape);
            for (size_t k = 1; k <= 10000; k *= 10)
                CHECK_MSG(topk_agrees(&a, &b, k, 1 + (unsigned)round % 4),
                          "round %d, %zu queries, k %zu", round, queries, k);
            sparse_matrix_free(&a);
        }
        sparse_matrix_free(&b);
    }
}

TEST(join_topk_refuses_zero_and_takes_an_empty_collection) {
    uint64_t offsets[] = {0, 1};
    uint32_t column = 0;
    float value = 1;
    struct sparse_matrix none = {0, 1, offsets, &column, &value},
                         one = {1, 1, offsets, &column, &value};
    struct cosine_neighbours found = {0};
    CHECK(cosine_topk(&one, &one, 0, 1, &found, NULL) == COG_ERR_USAGE);
    CHECK_OK(cosine_topk(&one, &none, 5, 1, &found, error));
    CHECK(found.queries == 1 && found.counts[0] == 0);
    cosine_topk_free(&found);
}

/* More rows than a block of either kind; a low threshold is answered by tiles, a high one by
 * filters. */
TEST(join_cosine_of_several_blocks_equals_the_double_loop) {
    struct random random = random_seeded(30);
    for (int high = 0; high < 2; high++) {
        struct row_shape shape = {12000, high ? 3000 : 60, 4, 2, false, true};
        struct sparse_matrix matrix = join_random_matrix(&random, shape);
        struct match_list found = {0};
        struct join_work work;
        struct join_options options = {.threshold = high ? 0.95 : 0.4, .threads = 2, .work = &work};
        CHECK_OK(cosine_join(&matrix, NULL, &options, &found, error));
        CHECK((work.postings > 0) == high);
        size_t at = 0;
        for (uint32_t i = 0; i < matrix.rows; i += 97) {
            while (at < found.count && found.items[at].a < i)
                at++;
            for (uint32_t j = i + 1; j < matrix.rows; j++) {
                double dot = row_dot(&matrix, i, &matrix, j);
                if (dot < options.threshold)
                    continue;
                CHECK_MSG(at < found.count && found.items[at].a == i && found.items[at].b == j,
                          "missed (%u, %u) at %g", i, j, options.threshold);
                CHECK(found.items[at++].similarity == (float)dot);
            }
            CHECK(at == found.count || found.items[at].a > i);
        }
        match_list_free(&found);
        sparse_matrix_free(&matrix);
    }
}
