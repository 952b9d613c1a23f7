#include "base/hash.h"
#include "hamming/hamming.h"
#include "index/segment.h"
#include "search/columns/cluster_centres.h"
#include "search/columns/columns_method.h"
#include "search/columns/columns_search.h"
#include "search/hits/nearby_rows.h"
#include "test.h"

enum { MAX_ROWS = 20000, MAX_STRIDE = 136 };

static uint64_t words[MAX_ROWS * MAX_STRIDE / 8];
static struct signatures_view rows;

static void make_no_rows(size_t count, unsigned bits) {
    memset(words, 0, sizeof words);
    rows =
        (struct signatures_view){(const uint8_t *)words, count, bits, signature_stride_bytes(bits)};
}

/* The bits of a centre, of which `noise` in a hundred are others. */
static void make_row(size_t row, uint64_t centre, uint64_t noise, struct random *random) {
    uint8_t *bytes = (uint8_t *)words + row * rows.stride_bytes;
    for (unsigned bit = 0; bit < rows.bits; bit++) {
        unsigned value = hash_sequence(centre, bit) & 1;
        value ^= random_below(random, 100) < noise;
        bytes[bit / 8] |= (uint8_t)(value << (7 - bit % 8));
    }
}

/* Rows that differ in up to half of their bits from one of a few centres. */
static void make_rows_around(size_t centres, size_t count, unsigned bits, uint64_t seed) {
    struct random random = random_seeded(seed);
    make_no_rows(count, bits);
    for (size_t row = 0; row < count; row++) {
        uint64_t centre = random_below(&random, centres), noise = random_below(&random, 50);
        make_row(row, centre + seed, noise, &random);
    }
}

static void make_rows(size_t count, unsigned bits, uint64_t seed) {
    make_rows_around(1 + count / 30, count, bits, seed);
}

static const struct {
    size_t rows;
    unsigned bits;
} shapes[] = {{0, 64},    {1, 1},      {2, 14},     {511, 64},   {512, 63},
              {513, 100}, {1000, 128}, {5000, 256}, {700, 1024}, {3000, 1030}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A bit of the row at a place of the order, read from a column. */
static unsigned column_value(const struct columns_view *view, size_t place, size_t column) {
    size_t words_before = place / COLUMN_GROUP_ROWS * view->clusters.bits + column;
    uint64_t word = view->words[words_before * COLUMN_GROUP_WORDS + place % COLUMN_GROUP_ROWS / 64];
    return word >> place % 64 & 1;
}

TEST(columns_hold_every_bit) {
    for (size_t shape = 0; shape < SHAPES; shape++) {
        make_rows(shapes[shape].rows, shapes[shape].bits, shape);
        struct bit_columns columns;
        CHECK_OK(bit_columns_build(&columns, &rows, 2, error));
        for (unsigned column = 0; column < rows.bits; column++)
            for (size_t place = 0; place < columns.view.clusters.groups * CLUSTER_GROUP; place++) {
                uint32_t row = columns.clusters.order[place];
                unsigned bit = column * column_step(rows.bits) % rows.bits;
                CHECK(column_value(&columns.view, place, column) ==
                      (row < rows.rows ? signature_bit(signature_row(&rows, row), bit) : 0));
            }
        CHECK_OK(columns_check(&columns.view, &rows, error));
        if (rows.rows) {
            columns.words[(rows.bits - 1) * COLUMN_GROUP_WORDS] ^= 1;
            CHECK(columns_check(&columns.view, &rows, NULL) == COG_ERR_FORMAT);
        }
        bit_columns_free(&columns);
    }
}

TEST(columns_are_all_bits) {
    for (unsigned bits = 1; bits < 300; bits++) {
        bool seen[300] = {false};
        for (unsigned column = 0; column < bits; column++)
            seen[column * column_step(bits) % bits] = true;
        for (unsigned bit = 0; bit < bits; bit++)
            CHECK(seen[bit]);
    }
}

/* Columns whose weight is among the greatest, chosen by looking at all pairs. */
static bool is_chosen(const float *weights, unsigned bits, unsigned wanted, unsigned bit) {
    unsigned before = 0;
    for (unsigned other = 0; other < bits; other++) {
        float x = weights[other] < 0 ? -weights[other] : weights[other];
        float y = weights[bit] < 0 ? -weights[bit] : weights[bit];
        before += x > y || (x == y && other < bit);
    }
    return before < wanted;
}

static unsigned plain_count(const uint8_t *query, size_t row, const bool *chosen) {
    unsigned count = 0;
    for (unsigned bit = 0; bit < rows.bits; bit++)
        count += chosen[bit] &&
                 signature_bit(query, bit) != signature_bit(signature_row(&rows, row), bit);
    return count;
}

TEST(columns_are_counted_alike_on_every_level) {
    struct random random = random_seeded(5);
    for (size_t shape = 1; shape < SHAPES; shape++) {
        float weights[1030];
        uint32_t selected[MAX_ROWS];
        struct bit_columns columns;
        struct column_counts counts = {0};
        make_rows(shapes[shape].rows < 600 ? shapes[shape].rows : 600, shapes[shape].bits, shape);
        for (unsigned bit = 0; bit < rows.bits; bit++)
            weights[bit] = (float)((int)random_below(&random, 40) - 20);
        CHECK_OK(bit_columns_build(&columns, &rows, 1, error));
        CHECK_OK(column_counts_init(&counts, &columns.view, error));
        const uint8_t *query = signature_row(&rows, random_below(&random, rows.rows));
        unsigned wanted = 1 + (unsigned)random_below(&random, rows.bits < 70 ? rows.bits : 70);
        bool chosen[1030];
        for (unsigned bit = 0; bit < rows.bits; bit++)
            chosen[bit] = is_chosen(weights, rows.bits, wanted, bit);
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            if (!cpu_supports((enum cpu_level)level))
                continue;
            counts.kernels = column_kernels_for((enum cpu_level)level);
            column_counts_make(&counts, query, weights, wanted, rows.rows);
            int threshold = column_counts_threshold(&counts, rows.rows / 3);
            size_t found = column_counts_select(&counts, threshold, selected, MAX_ROWS), at = 0;
            while (found && columns.clusters.order[selected[found - 1]] == CLUSTER_NO_ROW)
                found--;
            for (size_t place = 0; place < rows.rows; place++)
                if ((int)plain_count(query, columns.clusters.order[place], chosen) <= threshold)
                    CHECK(at < found && selected[at++] == place);
            CHECK(at == found);
        }
        column_counts_free(&counts);
        bit_columns_free(&columns);
    }
}

static size_t plain_nearest(const uint8_t *query, struct neighbour *nearest) {
    for (size_t row = 0; row < rows.rows; row++)
        nearest[row] = (struct neighbour){
            (uint32_t)row, hamming_distance(query, signature_row(&rows, row), rows.bits)};
    qsort(nearest, rows.rows, sizeof *nearest, neighbour_compare);
    return rows.rows;
}

/* All columns give the true distances, so that the nearest are among the candidates. */
TEST(columns_find_the_nearest) {
    static struct neighbour truth[MAX_ROWS];
    for (size_t shape = 1; shape < SHAPES; shape++) {
        struct bit_columns columns;
        struct columns_searcher *searcher = NULL;
        make_rows(shapes[shape].rows, shapes[shape].bits, shape + 9);
        CHECK_OK(bit_columns_build(&columns, &rows, 1, error));
        CHECK_OK(columns_searcher_create(&columns.view, &rows, &searcher, error));
        for (size_t query = 0; query < 20 && query < rows.rows; query++) {
            const uint8_t *signature = signature_row(&rows, query);
            struct query_answer answer;
            size_t count = plain_nearest(signature, truth), k = count < 10 ? count : 10;
            struct columns_request request = {
                .k = 10, .share = 1, .columns = rows.bits, .verify = rows.rows};
            CHECK_OK(columns_search(searcher, signature, &request, &answer, error));
            CHECK(answer.count == k);
            for (size_t i = 0; i < k; i++)
                CHECK(answer.hits[i].row == truth[i].row &&
                      answer.hits[i].distance == truth[i].distance);
            request.columns = 15;
            request.verify = 10 + rows.rows / 4;
            CHECK_OK(columns_search(searcher, signature, &request, &answer, error));
            CHECK(answer.count == k && answer.hits[0].distance == 0);
            CHECK(answer.verified <=
                  2 * (k > request.verify ? k : request.verify) + rows.rows); /* and nearby rows */
            request.share = 0.1;
            CHECK_OK(columns_search(searcher, signature, &request, &answer, error));
            CHECK(answer.count == k);
        }
        columns_searcher_free(searcher);
        bit_columns_free(&columns);
    }
}

/* ---- Rows beside hits -------------------------------------------------------------------------
 */

/* Runs of rows around one centre each. */
static void make_runs(size_t count, unsigned bits, size_t run, uint64_t seed) {
    struct random random = random_seeded(seed);
    make_no_rows(count, bits);
    for (size_t row = 0; row < count; row++)
        make_row(row, seed + row / run, 20, &random);
}

/* From one row of a run the nearest others are found, at the ends of the rows as well, and none
 * twice. */
TEST(nearby_rows_are_found_from_one_of_them) {
    enum { RUN = 40, K = 10 };
    static struct neighbour truth[MAX_ROWS];
    make_runs(4 * RUN + K, 128, RUN, 21);
    for (size_t query = 0; query < rows.rows; query++) {
        const uint8_t *signature = signature_row(&rows, query);
        struct neighbour hits[K] = {{(uint32_t)query, 0}};
        size_t compared = 0;
        size_t count = nearby_rows_find(&rows, signature, hits, 1, K, &compared);
        plain_nearest(signature, truth);
        CHECK(count == K && compared >= K && compared <= rows.rows);
        CHECK_MSG(memcmp(hits, truth, sizeof hits) == 0, "query %zu", query);
    }
}

/* Hits that are the nearest already stay, and few rows are looked at where none is found. */
TEST(nearby_rows_leave_what_is_best) {
    enum { K = 10 };
    static struct neighbour truth[MAX_ROWS];
    make_rows(MAX_ROWS, 256, 22);
    for (size_t query = 0; query < 20; query++) {
        const uint8_t *signature = signature_row(&rows, query * 31);
        struct neighbour hits[K];
        size_t compared = 0;
        plain_nearest(signature, truth);
        memcpy(hits, truth, sizeof hits);
        CHECK(nearby_rows_find(&rows, signature, hits, K, K, &compared) == K);
        CHECK(memcmp(hits, truth, sizeof hits) == 0 && compared > 0 && compared < 1000);
    }
}

/* A search by too few columns to separate unrelated rows from neighbours finds the rows next to its
 * hits: nearly all of a run, where the counts alone name a few. */
TEST(columns_find_rows_beside_their_hits) {
    enum { RUN = 12, K = 12 };
    struct bit_columns columns;
    struct columns_searcher *searcher = NULL;
    size_t found = 0, all = 0;
    make_runs(MAX_ROWS, 256, RUN, 23);
    CHECK_OK(bit_columns_build(&columns, &rows, 2, error));
    CHECK_OK(columns_searcher_create(&columns.view, &rows, &searcher, error));
    for (size_t query = 0; query < 50; query++) {
        size_t row = query * 397 % (MAX_ROWS / RUN) * RUN;
        struct columns_request request = {.k = K, .share = 0.2, .columns = 15, .verify = K};
        struct query_answer answer;
        CHECK_OK(columns_search(searcher, signature_row(&rows, row), &request, &answer, error));
        for (size_t i = 0; i < answer.count; i++)
            found += answer.hits[i].row / RUN == row / RUN;
        all += RUN;
    }
    CHECK_MSG(found * 4 > all * 3, "%zu of %zu", found, all);
    columns_searcher_free(searcher);
    bit_columns_free(&columns);
}

TEST(columns_of_other_signatures_are_refused) {
    struct bit_columns columns;
    struct columns_searcher *searcher = NULL;
    make_rows(100, 64, 1);
    CHECK_OK(bit_columns_build(&columns, &rows, 1, error));
    struct signatures_view fewer = rows;
    fewer.rows--;
    CHECK(columns_searcher_create(&columns.view, &fewer, &searcher, NULL) == COG_ERR_USAGE);
    bit_columns_free(&columns);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Rows of the clusters whose product with the query is among the greatest, by looking at all. */
static size_t rows_in_better(const struct clusters_view *clusters, const int64_t *scores,
                             size_t cluster) {
    size_t count = 0;
    for (size_t i = 0; i < clusters->count; i++)
        if (scores[i] > scores[cluster])
            count += (cluster_end(clusters, i) - cluster_begin(clusters, i)) * CLUSTER_GROUP;
    return count;
}

/* Bit b of 128 is in byte b % 64: in its lower half if b < 64. */
static unsigned cluster_share(const uint8_t *shares, unsigned bit) {
    return shares[bit / 128 * 64 + bit % 64] >> bit % 128 / 64 * 4 & CLUSTER_SHARE_MAX;
}

static void plain_scores(const struct clusters_view *clusters, const uint8_t *query,
                         int64_t *scores) {
    for (size_t i = 0; i < clusters->count; i++) {
        scores[i] = 0;
        for (unsigned bit = 0; bit < clusters->bits; bit++) {
            int64_t share =
                cluster_share(clusters->shares + i * cluster_stride(clusters->bits), bit);
            scores[i] += signature_bit(query, bit) ? share : -share;
        }
    }
}

static bool has_group(const struct group_choice *choice, size_t group) {
    for (size_t i = 0; i < choice->count; i++)
        if (choice->groups[i] == group)
            return true;
    return false;
}

/* All clusters that fit into the wanted rows are read on every level, and not all groups are. */
TEST(row_clusters_that_are_near_are_chosen) {
    enum { QUERIES = 10, WANTED = 2000 };
    struct row_clusters clusters;
    struct group_choice choice = {0};
    static int64_t scores[MAX_ROWS];
    make_rows(MAX_ROWS, 256, 3);
    CHECK_OK(row_clusters_build(&clusters, &rows, 2, error));
    CHECK(clusters.view.count > 20);
    CHECK_OK(group_choice_init(&choice, &clusters.view, error));
    for (size_t query = 0; query < QUERIES; query++)
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            if (!cpu_supports((enum cpu_level)level))
                continue;
            const uint8_t *signature = signature_row(&rows, query * 7);
            group_choice_make(&choice, &clusters.view, column_kernels_for((enum cpu_level)level),
                              signature, NULL, WANTED);
            plain_scores(&clusters.view, signature, scores);
            CHECK(choice.count < clusters.view.groups);
            for (size_t i = 0; i < clusters.view.count; i++)
                if (rows_in_better(&clusters.view, scores, i) < WANTED)
                    CHECK(has_group(&choice, clusters.ends[i] - 1));
        }
    group_choice_free(&choice);
    row_clusters_free(&clusters);
}

/* The nearest centre and its distance, whatever was guessed; of equally near ones the first. */
TEST(row_clusters_nearest_centres_are_those_of_all_pairs) {
    enum { CENTRES = 100 };
    static uint32_t nearest[MAX_ROWS];
    static uint16_t distances[MAX_ROWS];
    struct random random = random_seeded(9);
    make_rows(3000, 64, 9);
    struct signatures_view centres = rows;
    centres.rows = CENTRES;
    for (size_t row = 0; row < rows.rows; row++)
        nearest[row] = (uint32_t)random_below(&random, CENTRES);
    CHECK_OK(centres_nearest(&centres, &rows, 2, nearest, distances, error));
    for (size_t row = 0; row < rows.rows; row++) {
        struct neighbour best = {0, UINT32_MAX};
        for (uint32_t i = 0; i < CENTRES; i++) {
            uint32_t distance =
                hamming_distance(signature_row(&rows, row), signature_row(&centres, i), rows.bits);
            if (distance < best.distance)
                best = (struct neighbour){i, distance};
        }
        CHECK(nearest[row] == best.row && distances[row] == best.distance);
    }
}

TEST(row_clusters_are_the_same_for_all_numbers_of_threads) {
    struct row_clusters one, three;
    make_rows(MAX_ROWS, 128, 4);
    CHECK_OK(row_clusters_build(&one, &rows, 1, error));
    CHECK_OK(row_clusters_build(&three, &rows, 3, error));
    CHECK(one.view.count == three.view.count);
    CHECK(memcmp(one.order, three.order, one.view.groups * CLUSTER_GROUP * 4) == 0);
    CHECK(memcmp(one.ends, three.ends, one.view.count * sizeof *one.ends) == 0);
    CHECK(memcmp(one.shares, three.shares, one.view.count * cluster_stride(rows.bits)) == 0);
    row_clusters_free(&one);
    row_clusters_free(&three);
}

/* Rows around few centres come together: two that are next to each other in the order are nearer
 * than two rows at random. */
TEST(row_clusters_hold_near_rows) {
    struct row_clusters clusters;
    uint64_t beside = 0, anywhere = 0;
    make_rows_around(20, MAX_ROWS, 256, 5);
    CHECK_OK(row_clusters_build(&clusters, &rows, 2, error));
    for (size_t i = 0; i + 1 < rows.rows; i++) {
        if (clusters.order[i] == CLUSTER_NO_ROW || clusters.order[i + 1] == CLUSTER_NO_ROW)
            continue;
        const uint8_t *row = signature_row(&rows, clusters.order[i]);
        beside += hamming_distance(row, signature_row(&rows, clusters.order[i + 1]), rows.bits);
        anywhere += hamming_distance(row, signature_row(&rows, i), rows.bits);
    }
    CHECK_MSG(beside * 10 < anywhere * 9, "%llu beside, %llu anywhere", (unsigned long long)beside,
              (unsigned long long)anywhere);
    row_clusters_free(&clusters);
}

TEST(row_clusters_of_other_rows_are_noticed) {
    struct row_clusters clusters;
    make_rows(MAX_ROWS, 64, 6);
    for (int fault = 0; fault < 5; fault++) {
        CHECK_OK(row_clusters_build(&clusters, &rows, 1, error));
        CHECK_OK(row_clusters_check(&clusters.view, &rows, error));
        if (fault == 0)
            clusters.order[5] = MAX_ROWS;
        else if (fault == 1)
            clusters.order[5] = clusters.order[6];
        else if (fault == 2)
            clusters.ends[1] = clusters.ends[0];
        else if (fault == 3)
            clusters.ends[clusters.view.count - 1]--;
        else
            clusters.shares[70] ^= 1;
        CHECK_MSG(row_clusters_check(&clusters.view, &rows, NULL) == COG_ERR_FORMAT, "fault %d",
                  fault);
        row_clusters_free(&clusters);
    }
}

/* Equal rows, whose centres are all the same. */
TEST(row_clusters_of_equal_rows) {
    struct bit_columns columns;
    struct columns_searcher *searcher = NULL;
    struct query_answer answer;
    make_rows(MAX_ROWS, 64, 7);
    memset(words, 0x5a, sizeof words);
    CHECK_OK(bit_columns_build(&columns, &rows, 2, error));
    CHECK_OK(columns_check(&columns.view, &rows, error));
    CHECK_OK(columns_searcher_create(&columns.view, &rows, &searcher, error));
    struct columns_request request = {.k = 10, .share = 0.01, .columns = 15, .verify = 20};
    CHECK_OK(columns_search(searcher, signature_row(&rows, 0), &request, &answer, error));
    CHECK(answer.count == 10 && answer.hits[9].distance == 0);
    columns_searcher_free(searcher);
    bit_columns_free(&columns);
}

/* Several clusters through a file: the check finds nothing, and answers are those of memory. */
TEST(columns_in_a_file_answer_as_in_memory) {
    struct bit_columns columns;
    struct segment segment;
    const char *path = test_path("columns");
    make_rows(MAX_ROWS, 128, 8);
    CHECK_OK(bit_columns_build(&columns, &rows, 2, error));
    CHECK(columns.view.clusters.count > 10);
    struct segment_parts parts = {.rows = rows.rows,
                                  .signatures = rows,
                                  .tables = &(struct method_tables){&columns_method, &columns},
                                  .table_count = 1};
    CHECK_OK(segment_write(path, &parts, error));
    CHECK_OK(segment_open(path, &segment, error));
    CHECK_OK(segment_verify(&segment, error));
    const struct bit_columns *opened = segment_tables(&segment, &columns_method);
    CHECK(opened);
    const struct columns_view *views[] = {&columns.view, &opened->view};
    const struct signatures_view *stored[] = {&rows, &segment.signatures};
    struct columns_searcher *searchers[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++)
        CHECK_OK(columns_searcher_create(views[i], stored[i], &searchers[i], error));
    for (size_t query = 0; query < 20; query++) {
        struct query_answer answers[2];
        struct columns_request request = {.k = 10, .share = 0.2, .columns = 30, .verify = 100};
        for (int i = 0; i < 2; i++)
            CHECK_OK(columns_search(searchers[i], signature_row(&rows, query * 31), &request,
                                    &answers[i], error));
        CHECK(answers[0].count == 10 && answers[1].count == 10);
        CHECK(memcmp(answers[0].hits, answers[1].hits, 10 * sizeof *answers[0].hits) == 0);
    }
    for (int i = 0; i < 2; i++)
        columns_searcher_free(searchers[i]);
    segment_close(&segment);
    bit_columns_free(&columns);
}

/* However few rows and columns are read, k rows come back: groups have places without a row. */
TEST(columns_never_return_fewer_than_k) {
    struct bit_columns columns;
    make_rows(MAX_ROWS, 128, 8);
    CHECK_OK(bit_columns_build(&columns, &rows, 2, error));
    struct columns_searcher *searcher = NULL;
    CHECK_OK(columns_searcher_create(&columns.view, &rows, &searcher, error));
    for (size_t k = 1; k <= rows.rows; k = k * 3 / 2 + 1)
        for (size_t query = 0; query < 5; query++) {
            struct query_answer answer;
            struct columns_request request = {.k = k, .share = 0, .columns = 15, .verify = 1};
            CHECK_OK(columns_search(searcher, signature_row(&rows, query * 31), &request, &answer,
                                    error));
            CHECK_MSG(answer.count == k, "%zu of %zu", answer.count, k);
        }
    columns_searcher_free(searcher);
    bit_columns_free(&columns);
}
