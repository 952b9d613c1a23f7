/* Candidates of links from blocks: whatever the size of blocks, and from memory or from disk. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "jobs/link/blocks/link_nearest.h"
#include "jobs/link/link_candidates.h"
#include "test.h"

enum { ROWS = 400, COLUMNS = 600, ENTRIES = 24, WANTED_FROM = 30, WANTED_TO = 10 };

static int by_number(const void *x, const void *y) {
    const uint32_t *a = x, *b = y;
    return ORDER(*a, *b);
}

/* A row of distinct columns with random weights; three quarters of the columns of its partner. */
static void draw_row(struct random *random, const uint32_t *partner, uint32_t *columns,
                     float *values) {
    size_t count = 0;
    for (size_t i = 0; partner && i < ENTRIES * 3 / 4; i++)
        columns[count++] = partner[i];
    while (count < ENTRIES) {
        uint32_t column = (uint32_t)random_below(random, COLUMNS);
        bool is_new = true;
        for (size_t i = 0; i < count; i++)
            is_new &= columns[i] != column;
        if (is_new)
            columns[count++] = column;
    }
    qsort(columns, ENTRIES, sizeof *columns, by_number);
    double squares = 0;
    for (size_t i = 0; i < ENTRIES; i++) {
        values[i] = 0.5f + (float)random_below(random, 1000) / 1000;
        squares += (double)values[i] * (double)values[i];
    }
    for (size_t i = 0; i < ENTRIES; i++)
        values[i] = (float)((double)values[i] / sqrt(squares));
}

/* Source row r is near to target row ROWS - 1 - r, except every tenth. */
static cog_status make_space(struct link_space *space, cog_error *error) {
    struct random random = random_seeded(9);
    for (int side = 0; side < 2; side++) {
        struct sparse_matrix *vectors = &space->vectors[side];
        vectors->rows = ROWS;
        vectors->column_count = COLUMNS;
        TAKE(vectors->offsets, ROWS + 1, "rows", error);
        TAKE(vectors->columns, ROWS * ENTRIES, "rows", error);
        TAKE(vectors->values, ROWS * ENTRIES, "rows", error);
        for (size_t row = 0; row <= ROWS; row++)
            vectors->offsets[row] = row * ENTRIES;
        for (size_t row = 0; row < ROWS; row++) {
            const uint32_t *partner =
                side && row % 10 ? space->vectors[0].columns + (ROWS - 1 - row) * ENTRIES : NULL;
            draw_row(&random, partner, vectors->columns + row * ENTRIES,
                     vectors->values + row * ENTRIES);
        }
    }
    return COG_OK;
}

/* The same vectors on disk. */
static cog_status make_disk(struct link_space *disk, const struct link_space *space,
                            cog_error *error) {
    disk->is_on_disk = true;
    for (int side = 0; side < 2; side++) {
        const struct sparse_matrix *vectors = &space->vectors[side];
        struct sparse_matrix *copy = &disk->vectors[side];
        copy->rows = ROWS;
        copy->column_count = COLUMNS;
        TAKE(copy->offsets, ROWS + 1, "rows", error);
        memcpy(copy->offsets, vectors->offsets, (ROWS + 1) * sizeof *copy->offsets);
        TRY(vector_files_open(&disk->files[side], error));
        TRY(vector_files_add(&disk->files[side], vectors->columns, vectors->values, ROWS * ENTRIES,
                             error));
        TRY(vector_files_lend(&disk->files[side], copy, error)); /* for methods that map */
    }
    return COG_OK;
}

static cog_status find(const struct link_space *space, cog_method method, unsigned threads,
                       struct link_candidates *found, cog_error *error) {
    const cog_run_options run = {.threads = threads};
    cog_link_options options;
    struct job job;
    cog_link_options_init(&options);
    const struct link_search search = {
        .method = method, .options = &options, .wanted = {WANTED_FROM, WANTED_TO}};
    job_begin(&job, &run, NULL);
    cog_status status = link_candidates_find(found, &job, space, &search, error);
    job_end(&job);
    return status;
}

static bool are_equal(const struct link_candidates *x, const struct link_candidates *y) {
    bool equal = x->beyond == y->beyond;
    for (int side = 0; side < 2 && equal; side++) {
        const struct cosine_neighbours *a = &x->sides[side], *b = &y->sides[side];
        equal = a->queries == b->queries && a->k == b->k;
        for (size_t row = 0; row < a->queries && equal; row++) {
            equal = a->counts[row] == b->counts[row];
            for (size_t i = row * a->k; i < row * a->k + a->counts[row] && equal; i++)
                equal = a->items[i].row == b->items[i].row &&
                        a->items[i].similarity == b->items[i].similarity;
        }
    }
    return equal;
}

/* How many of the neighbours of a side at or above a cosine are found, by the exact ones. */
static double found_share(const struct cosine_neighbours *found,
                          const struct cosine_neighbours *exact, float least) {
    size_t hits = 0, trials = 0;
    for (size_t row = 0; row < exact->queries; row++)
        for (size_t i = 0; i < exact->counts[row]; i++) {
            const struct cosine_neighbour *item = &exact->items[row * exact->k + i];
            if (item->similarity < least)
                break;
            trials++;
            for (size_t j = 0; j < found->counts[row]; j++)
                hits += found->items[row * found->k + j].row == item->row;
        }
    return trials ? (double)hits / (double)trials : 0;
}

TEST(link_candidates_are_the_same_from_disk_and_in_blocks) {
    static const cog_method methods[] = {COG_METHOD_EXACT, COG_METHOD_LISTS, COG_METHOD_FLAT,
                                         COG_METHOD_SLICES, COG_METHOD_WINDOW};
    struct link_space space = {0}, disk = {0};
    CHECK_OK(make_space(&space, error));
    CHECK_OK(make_disk(&disk, &space, error));
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (size_t entries = 0; entries <= 2000; entries += 1000) {
            struct link_candidates whole = {0}, read = {0};
            vector_block_set_entries(entries);
            CHECK_OK(find(&space, methods[m], 1, &whole, error));
            CHECK_OK(find(&disk, methods[m], 3, &read, error));
            CHECK(are_equal(&whole, &read));
            link_candidates_free(&whole);
            link_candidates_free(&read);
        }
    vector_block_set_entries(0);
    link_space_free(&space);
    link_space_free(&disk);
}

/* Blocks of 20, 41 and all rows: partners are found on both sides, with the cosines of plain
 * loops. */
TEST(link_lists_find_partners_in_blocks) {
    struct link_space space = {0};
    struct link_candidates exact = {0};
    CHECK_OK(make_space(&space, error));
    CHECK_OK(find(&space, COG_METHOD_EXACT, 1, &exact, error));
    for (size_t entries = 0; entries <= 1000; entries += 500) {
        struct link_candidates found = {0};
        vector_block_set_entries(entries);
        CHECK_OK(find(&space, COG_METHOD_LISTS, 2, &found, error));
        for (int side = 0; side < 2; side++) {
            CHECK(found_share(&found.sides[side], &exact.sides[side], 0.35f) >= 0.99);
            for (size_t row = 0; row < ROWS; row++)
                for (size_t i = 0; i < found.sides[side].counts[row]; i++) {
                    struct cosine_neighbour item =
                        found.sides[side].items[row * found.sides[side].k + i];
                    size_t from = side ? item.row : row, to = side ? row : item.row;
                    CHECK(item.similarity ==
                          (float)sparse_row_dot(&space.vectors[0], from, &space.vectors[1], to));
                    CHECK(item.similarity >= found.beyond);
                }
        }
        link_candidates_free(&found);
    }
    vector_block_set_entries(0);
    link_candidates_free(&exact);
    link_space_free(&space);
}

/* ---- The public steps ------------------------------------------------------------------------ */

/* The vectors as the public steps take them. */
struct public_rows {
    int64_t offsets[ROWS + 1], items[ROWS * ENTRIES];
    cog_number_rows rows;
};

static void make_public(struct public_rows *made, const struct sparse_matrix *vectors) {
    for (size_t row = 0; row <= ROWS; row++)
        made->offsets[row] = (int64_t)vectors->offsets[row];
    for (size_t i = 0; i < ROWS * ENTRIES; i++) {
        uint32_t bits;
        memcpy(&bits, &vectors->values[i], sizeof bits);
        made->items[i] = (int64_t)((uint64_t)vectors->columns[i] << 32 | bits);
    }
    made->rows = (cog_number_rows){made->offsets, made->items, ROWS};
}

static cog_number_rows rows_from(const struct public_rows *made, size_t first, size_t count) {
    return (cog_number_rows){made->offsets + first, made->items, count};
}

struct public_truth {
    int64_t offsets[LINK_RADIUS_ROWS + 1], rows[LINK_RADIUS_ROWS * COG_LINK_LISTS_NEAREST];
    double similarities[LINK_RADIUS_ROWS * COG_LINK_LISTS_NEAREST];
    int64_t sample_offsets[LINK_RADIUS_ROWS + 1], sample_items[LINK_RADIUS_ROWS * ENTRIES];
    cog_number_rows sample;
    cog_link_neighbours neighbours;
};

static void make_truth(struct public_truth *truth, const struct link_space *space,
                       const struct public_rows *from) {
    struct cosine_neighbours nearest = {0};
    uint32_t sample[LINK_RADIUS_ROWS];
    const size_t count = cog_link_radius_rows(ROWS, sample);
    CHECK_OK(
        link_nearest_of_rows(space, sample, count, COG_LINK_LISTS_NEAREST, 1, &nearest, error));
    for (size_t i = 0, at = 0; i < count; i++) {
        for (size_t j = 0; j < nearest.counts[i]; j++, at++) {
            truth->rows[at] = nearest.items[i * nearest.k + j].row;
            truth->similarities[at] = (double)nearest.items[i * nearest.k + j].similarity;
        }
        truth->offsets[i + 1] = (int64_t)at;
        memcpy(truth->sample_items + i * ENTRIES, from->items + sample[i] * ENTRIES,
               ENTRIES * sizeof *from->items);
        truth->sample_offsets[i + 1] = (int64_t)((i + 1) * ENTRIES);
    }
    truth->sample = (cog_number_rows){truth->sample_offsets, truth->sample_items, count};
    truth->neighbours =
        (cog_link_neighbours){count, NULL, truth->offsets, truth->rows, truth->similarities, 0};
    cosine_topk_free(&nearest);
}

/* The proposals of all blocks to one source row. */
struct kept_sums {
    int64_t rows[ROWS], blocks[ROWS], offsets[ROWS + 1], kept[ROWS];
    size_t count, sum_count;
    double sums[ROWS * 2 * COG_LINK_LISTS_NEAREST];
    uint32_t others[ROWS * 2 * COG_LINK_LISTS_NEAREST];
    float similarities[ROWS * 2 * COG_LINK_LISTS_NEAREST];
};

static void propose_to(struct kept_sums *all, const struct public_rows *made, size_t row,
                       const cog_link_lists *lists, double budget,
                       const cog_link_options *options) {
    const cog_number_rows query = rows_from(&made[0], row, 1);
    const uint64_t *offsets = (const uint64_t *)made[1].offsets;
    int64_t block = 0;
    all->count = all->sum_count = 0;
    for (size_t first = 0, rows; (rows = cog_link_block_rows(offsets, ROWS, first)) > 0;
         first += rows, block++) {
        const cog_number_rows others = rows_from(&made[1], first, rows);
        struct ArrowArrayStream stream;
        struct ArrowArray table;
        CHECK_OK(cog_link_lists_propose(&query, &others, lists, budget, options, &stream, error));
        CHECK(stream.get_next(&stream, &table) == 0);
        for (int64_t i = 0; table.release && i < table.length; i++) {
            all->others[all->sum_count] =
                (uint32_t)first + (uint32_t)((const int64_t *)table.children[1]->buffers[1])[i];
            all->similarities[all->sum_count] =
                (float)((const double *)table.children[3]->buffers[1])[i];
            all->sums[all->sum_count++] = ((const double *)table.children[2]->buffers[1])[i];
        }
        all->rows[all->count] = (int64_t)row;
        all->blocks[all->count++] = block;
        all->offsets[all->count] = (int64_t)all->sum_count;
        if (table.release)
            table.release(&table);
        stream.release(&stream);
    }
}

static void offer_kept(const struct kept_sums *all, size_t row, struct link_candidates *found) {
    for (size_t i = 0; i < all->count; i++)
        for (int64_t at = all->offsets[i]; at < all->offsets[i] + all->kept[i]; at++)
            if (all->similarities[at] > 0) {
                cosine_neighbours_offer(
                    &found->sides[0], row,
                    (struct cosine_neighbour){all->others[at], all->similarities[at]});
                cosine_neighbours_offer(
                    &found->sides[1], all->others[at],
                    (struct cosine_neighbour){(uint32_t)row, all->similarities[at]});
            }
}

/* Counts the proposals that are not kept. */
static void find_by_steps(const struct link_space *space, struct link_candidates *found,
                          size_t *dropped) {
    static struct public_rows made[2];
    static struct public_truth truth;
    static struct kept_sums all;
    static uint32_t frequencies[COLUMNS];
    uint64_t tally[COG_LINK_LISTS_TALLY], total[COG_LINK_LISTS_TALLY] = {0};
    cog_link_lists lists = {.frequencies = frequencies, .column_count = COLUMNS};
    cog_link_options options;
    double budget = 0, beyond = 0;
    cog_link_options_init(&options);
    options.method = COG_METHOD_LISTS;
    memset(frequencies, 0, sizeof frequencies);
    for (size_t i = 0; i < ROWS * ENTRIES; i++)
        frequencies[space->vectors[1].columns[i]]++;
    for (int side = 0; side < 2; side++) {
        make_public(&made[side], &space->vectors[side]);
        CHECK_OK(cosine_neighbours_take(&found->sides[side], ROWS, side ? WANTED_TO : WANTED_FROM,
                                        error));
    }
    make_truth(&truth, space, &made[0]);
    const uint64_t *offsets = space->vectors[1].offsets;
    for (size_t first = 0; first < ROWS; first += cog_link_block_rows(offsets, ROWS, first))
        lists.block_count++;
    for (size_t first = 0, rows; (rows = cog_link_block_rows(offsets, ROWS, first)) > 0;
         first += rows) {
        const cog_number_rows block = rows_from(&made[1], first, rows);
        CHECK_OK(cog_link_lists_try(&truth.sample, &block, first, &truth.neighbours, &lists,
                                    &options, tally, error));
        for (size_t i = 0; i < COG_LINK_LISTS_TALLY; i++)
            total[i] += tally[i];
    }
    CHECK_OK(cog_link_lists_plan(&truth.neighbours, total, &options, &budget, &beyond, error));
    for (size_t row = 0; row < ROWS; row++) {
        propose_to(&all, made, row, &lists, budget, &options);
        CHECK_OK(cog_link_lists_keep(all.rows, all.blocks, all.offsets, all.count, all.sums, &lists,
                                     &options, all.kept, error));
        for (size_t i = 0; i < all.count; i++)
            *dropped += (size_t)(all.offsets[i + 1] - all.offsets[i] - all.kept[i]);
        offer_kept(&all, row, found);
    }
    found->beyond = (float)beyond;
    cosine_neighbours_cut(&found->sides[0], found->beyond);
    cosine_neighbours_cut(&found->sides[1], found->beyond);
}

/* One block, five and twenty; with several, some proposals are not kept. */
TEST(link_lists_in_steps_find_what_one_call_finds) {
    struct link_space space = {0};
    CHECK_OK(make_space(&space, error));
    for (size_t entries = 0; entries <= 2000; entries = entries ? 4 * entries : 500) {
        struct link_candidates whole = {0}, steps = {0};
        vector_block_set_entries(entries);
        CHECK_OK(find(&space, COG_METHOD_LISTS, 2, &whole, error));
        size_t dropped = 0;
        find_by_steps(&space, &steps, &dropped);
        CHECK((dropped > 100) == (entries > 0));
        CHECK(are_equal(&whole, &steps));
        link_candidates_free(&whole);
        link_candidates_free(&steps);
    }
    vector_block_set_entries(0);
    link_space_free(&space);
}

TEST(link_exact_search_in_blocks_is_the_brute_force) {
    struct link_space space = {0};
    struct cosine_neighbours nearest = {0}, naive = {0};
    CHECK_OK(make_space(&space, error));
    CHECK_OK(cosine_neighbours_take(&naive, ROWS, WANTED_TO, error));
    for (size_t row = 0; row < ROWS; row++)
        for (uint32_t other = 0; other < ROWS; other++) {
            float cosine = (float)sparse_row_dot(&space.vectors[1], row, &space.vectors[0], other);
            if (cosine > 0)
                cosine_neighbours_offer(&naive, row, (struct cosine_neighbour){other, cosine});
        }
    vector_block_set_entries(700);
    CHECK_OK(link_nearest_exactly(&space, 1, WANTED_TO, 2, &nearest, error));
    vector_block_set_entries(0);
    for (size_t row = 0; row < ROWS; row++) {
        CHECK(nearest.counts[row] == naive.counts[row]);
        for (size_t i = row * WANTED_TO; i < row * WANTED_TO + naive.counts[row]; i++)
            CHECK(nearest.items[i].row == naive.items[i].row &&
                  nearest.items[i].similarity == naive.items[i].similarity);
    }
    cosine_topk_free(&nearest);
    cosine_topk_free(&naive);
    link_space_free(&space);
}

struct touching {
    const struct sparse_matrix *vectors;
    double sum;
    uint64_t most_resident;
};

static cog_status touch(void *context, unsigned worker, size_t begin, size_t end,
                        cog_error *error) {
    struct touching *work = context;
    (void)worker;
    (void)error;
    for (size_t i = begin; i < end; i++)
        work->sum += (double)work->vectors->values[i] + work->vectors->columns[i];
    uint64_t resident = memory_resident_bytes();
    work->most_resident = resident > work->most_resident ? resident : work->most_resident;
    return COG_OK;
}

/* Under the thread sanitizer, what is read has a shadow, which is resident. */
static bool reads_are_resident(void) {
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
    return true;
#endif
#endif
    return false;
}

/* Reading 64 MB through a mapping under a budget of 24 MB more than the process has. */
TEST(guarded_vectors_keep_resident_memory) {
    enum { PIECES = 64, ENTRIES_PER_PIECE = 1 << 17 };
    struct vector_files files[2] = {{0}};
    uint64_t offsets[] = {0, (uint64_t)PIECES * ENTRIES_PER_PIECE};
    struct sparse_matrix vectors = {.rows = 1, .column_count = 8, .offsets = offsets};
    static uint32_t columns[ENTRIES_PER_PIECE];
    static float values[ENTRIES_PER_PIECE];
    struct vector_guard guard;
    cog_error error;
    if (reads_are_resident() || memory_resident_bytes() == 0)
        return; /* the system does not say */
    for (size_t i = 0; i < ENTRIES_PER_PIECE; i++) {
        columns[i] = (uint32_t)(i & 7);
        values[i] = 1;
    }
    CHECK(vector_files_open(&files[0], &error) == COG_OK);
    for (size_t i = 0; i < PIECES; i++)
        CHECK(vector_files_add(&files[0], columns, values, ENTRIES_PER_PIECE, &error) == COG_OK);
    CHECK(vector_files_lend(&files[0], &vectors, &error) == COG_OK);
    const double sum = 4.5 * PIECES * ENTRIES_PER_PIECE;
    for (int guarded = 0; guarded < 2; guarded++) {
        struct touching work = {.vectors = &vectors};
        uint64_t before = memory_resident_bytes(), budget = (before + (24U << 20)) * 8 / 7;
        const struct threads_watch *outer = threads_watch_current();
        vector_guard_start(&guard, files, guarded ? budget : 0);
        CHECK(parallel_for(1, offsets[1], ENTRIES_PER_PIECE / 4, touch, &work, &error) == COG_OK);
        vector_guard_end(&guard);
        CHECK(threads_watch_current() == outer && work.sum == sum);
        CHECK(guarded ? work.most_resident < before + (40U << 20)
                      : work.most_resident > before + (56U << 20));
        CHECK(memory_resident_bytes() < before + (8U << 20));
    }
    vector_files_close(&files[0], &vectors);
}
