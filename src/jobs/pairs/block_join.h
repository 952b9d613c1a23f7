/* Joins rows on disk (row_store.h) block by block, by a method planned for all of them.
 *
 * In: the rows of one or two sides, and the memory for blocks. Out: matches of rows, in a sorter.
 * Two blocks are in memory at a time. In a self-join, every block is joined with itself and with
 * the later ones. The pairs are those that the method finds among rows in memory: whether it finds
 * a pair depends on the two rows and the plan. */
#pragma once

#include "jobs/pairs/match_sorter.h"
#include "jobs/pairs/pair_join.h"
#include "jobs/pairs/row_store.h"
#include "join/equal_rows.h"

/* The rows of one side of a join. Everything is borrowed except `ends`. */
struct block_rows {
    struct row_store *store;
    const uint32_t *numbers; /* rows, ascending; a position among them is a place */
    size_t count;
    const struct equal_rows *groups; /* row i represents all rows of group i; NULL: only itself */
    size_t *ends;                    /* by block: the place after its last row */
    size_t block_count;
};

/* Memory per row of a block. */
struct block_costs {
    uint64_t entry_bytes, row_bytes;
};

struct loaded_block {
    size_t number; /* plus 1; 0: none loaded */
    size_t first, count;
    struct sparse_matrix vectors;
    struct signatures_view signatures;
    float *margins;
    float *lengths; /* norms of the vectors' tails, once a join needed them */
};

struct block_join {
    const struct pair_task *task;
    const struct search_method *method;
    struct method_join join; /* planned */
    struct block_rows sides[2];
    bool self;
    struct block_costs costs;
    uint64_t memory_bytes; /* for two blocks together */
    /* Use small blocks for the second side: the method's tables for a second block are rebuilt for
     * every first block, so first blocks should be large and few. */
    bool small_second;
    struct match_sorter *results;
    struct loaded_block loaded[2];
    uint64_t candidates; /* number of pairs verified; atomic */
    cog_report *block_report;
    double reported_candidates, comparisons, comparisons_of_queries, table_bytes;
    /* For block_join_check: for each row number used by candidates, its place among the sides'
     * rows, in the same order. */
    const uint32_t *places[2];
};

/* Joins all rows; call block_join_free afterwards. */
cog_status block_join_run(struct block_join *join, cog_error *error);
/* Verifies candidates, which must be sorted; those that pass become rows. */
cog_status block_join_check(struct block_join *join, const struct match_list *candidates,
                            cog_error *error);
/* Finds all matches of some rows of side 0, exactly: `a` is a position among these rows, `b` a row
 * of the last side. The list's limit applies. */
cog_status block_join_sample(struct block_join *join, const uint32_t *rows, size_t count,
                             struct match_list *matches, cog_error *error);
/* The size of all rows of all sides as blocks. */
uint64_t block_join_bytes(const struct block_join *join);
/* Writes the method's counts into the task's report. */
void block_join_report(const struct block_join *join);
void block_join_free(struct block_join *join);
