#include "jobs/pairs/short_blocks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "jobs/pairs/block_join.h"
#include "join/jaccard_join.h"

/* Memory of a term and of a row in a block: terms, statistics, sets, and the join of sets. */
enum { TERM_BYTES = 128, ROW_BYTES = 160 };

/* Rows of a side, and a block of them. */
struct set_rows {
    struct row_store *store;
    const struct corpus *corpus;
    uint32_t *numbers;
    size_t count;
    size_t *ends, block_count;
    size_t first; /* of the block */
    struct corpus block;
};

struct short_join {
    const struct pair_task *task;
    size_t side;
    struct set_rows rows[2]; /* the short rows, and the rows that they may match */
    struct match_sorter *results;
};

static cog_status list_rows(struct set_rows *rows, const uint8_t *marks, cog_error *error) {
    TAKE(rows->numbers, rows->corpus->rows + 1, "short documents", error);
    for (size_t row = 0; row < rows->corpus->rows; row++)
        if (marks[row])
            rows->numbers[rows->count++] = (uint32_t)row;
    return COG_OK;
}

static uint64_t set_bytes(const void *context, size_t place) {
    const struct set_rows *rows = context;
    return (uint64_t)rows->corpus->items[rows->numbers[place]].term_count * TERM_BYTES + ROW_BYTES;
}

static cog_status cut(struct set_rows *rows, uint64_t block_bytes, cog_error *error) {
    const struct block_cutting cutting = {rows->count, block_bytes, set_bytes, rows, NULL};
    return blocks_cut(&cutting, &rows->ends, &rows->block_count, error);
}

static cog_status load(struct set_rows *rows, size_t number, cog_error *error) {
    rows->first = number ? rows->ends[number - 1] : 0;
    corpus_free(&rows->block);
    return row_store_bags(rows->store, rows->numbers + rows->first,
                          rows->ends[number] - rows->first, &rows->block, error);
}

/* As match_sieve.keep: all that counts goes to the sorter. */
static cog_status take_batch(void *context, struct match *items, size_t *count, cog_error *error) {
    const struct short_join *join = context;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        struct match match = items[i];
        match.a = join->rows[0].numbers[join->rows[0].first + match.a];
        match.b = join->rows[1].numbers[join->rows[1].first + match.b];
        if (short_pairs_take(join->task, join->side, &match))
            items[kept++] = match;
    }
    *count = 0;
    return match_sorter_add(join->results, items, kept, error);
}

/* Members of sets are numbered by the terms of the two blocks alone: only shared terms count. */
static cog_status join_blocks(struct short_join *join, cog_error *error) {
    const struct corpus *corpora[2] = {&join->rows[0].block, &join->rows[1].block};
    const uint8_t *const all[2] = {NULL, NULL};
    const struct match_sieve sieve = {take_batch, join};
    const struct join_options options = {
        .threshold = join->task->given_threshold, .threads = join->task->threads, .sieve = &sieve};
    struct set_collection sets[2] = {{0}};
    struct statistics *statistics = NULL;
    struct match_list none = {0};
    cog_status status = corpus_statistics(corpora, 2, join->task->threads, &statistics, error);
    THEN(status, corpus_sets(corpora, 2, statistics, all, join->task->threads, sets, error));
    THEN(status, jaccard_join(&sets[0], &sets[1], &options, &none, error));
    match_list_free(&none);
    set_collection_free(&sets[0]);
    set_collection_free(&sets[1]);
    statistics_free(statistics);
    return status;
}

static cog_status run(struct short_join *join, uint64_t memory_bytes, cog_error *error) {
    TRY(cut(&join->rows[0], memory_bytes / 2, error));
    TRY(cut(&join->rows[1], memory_bytes / 2, error));
    for (size_t i = 0; i < join->rows[0].block_count; i++) {
        TRY(load(&join->rows[0], i, error));
        for (size_t j = 0; j < join->rows[1].block_count; j++) {
            TRY(load(&join->rows[1], j, error));
            TRY(join_blocks(join, error));
        }
    }
    return COG_OK;
}

static void free_rows(struct set_rows *rows) {
    free(rows->numbers);
    free(rows->ends);
    corpus_free(&rows->block);
}

/* The short rows of one side, and all rows of the other, which is the same side inside a
 * collection. */
static cog_status join_side(const struct pair_task *task, size_t side,
                            struct row_store *const stores[2], uint64_t memory_bytes,
                            struct match_sorter *results, cog_error *error) {
    const size_t other = task->sides == 2 ? 1 - side : side;
    const size_t most = short_pairs_most_terms(&task->corpora[side], task->short_rows[side]);
    struct short_join join = {.task = task,
                              .side = side,
                              .rows = {{.store = stores[side], .corpus = &task->corpora[side]},
                                       {.store = stores[other], .corpus = &task->corpora[other]}},
                              .results = results};
    if (most == 0)
        return COG_OK;
    uint8_t *partners;
    TAKE_ZEROED(partners, task->corpora[other].rows + 1, "the partners of short documents", error);
    short_pairs_mark_partners(task, other, most, partners);
    cog_status status = list_rows(&join.rows[0], task->short_rows[side], error);
    THEN(status, list_rows(&join.rows[1], partners, error));
    free(partners);
    THEN(status, run(&join, memory_bytes, error));
    free_rows(&join.rows[0]);
    free_rows(&join.rows[1]);
    return status;
}

cog_status short_blocks_join(const struct pair_task *task, struct row_store *const stores[2],
                             uint64_t memory_bytes, struct match_sorter *results,
                             cog_error *error) {
    cog_status status = COG_OK;
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = join_side(task, side, stores, memory_bytes, results, error);
    return status;
}
