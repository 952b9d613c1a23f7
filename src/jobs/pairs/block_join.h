/* Joins of rows that are on disk (row_store.h), block against block, by a method that is planned
 * for all of them. In: the rows of one side or two, and the memory that blocks may take. Out:
 * matches of rows, in a sorter. Two blocks are in memory at a time; a collection is joined with
 * itself by joining every block with itself and with the later ones. The pairs are those that the
 * method finds among rows in memory: whether it finds a pair depends on the two rows and the plan.
 */
#pragma once

#include "jobs/pairs/match_sorter.h"
#include "jobs/pairs/pair_join.h"
#include "jobs/pairs/row_store.h"
#include "join/equal_rows.h"

/* The rows of a side that are joined. Everything is borrowed but `ends`. */
struct block_rows {
    struct row_store *store;
    const uint32_t *numbers; /* rows, rising; a position among them is a place */
    size_t count;
    const struct equal_rows *groups; /* row i stands for all rows of group i; NULL: for itself */
    size_t *ends;                    /* of each block: the place after its last row */
    size_t block_count;
};

/* Memory per row of a block. */
struct block_costs {
    uint64_t entry_bytes, row_bytes;
};

struct loaded_block {
    size_t number; /* plus 1; 0: none is loaded */
    size_t first, count;
    struct sparse_matrix vectors;
    struct signatures_view signatures;
    float *margins;
    float *lengths; /* of the tails of the vectors, once a join needed them */
};

struct block_join {
    const struct pair_task *task;
    const struct search_method *method;
    struct method_join join; /* planned */
    struct block_rows sides[2];
    bool self;
    struct block_costs costs;
    uint64_t memory_bytes; /* of two blocks together */
    /* Blocks of the second side are small: what the method builds of a second block is built again
     * for every first one, and large first blocks are few. */
    bool small_second;
    struct match_sorter *results;
    struct loaded_block loaded[2];
    uint64_t candidates; /* pairs that were verified; atomic */
    cog_report *block_report;
    double reported_candidates, comparisons, comparisons_of_queries, table_bytes;
    /* For block_join_check: the place of a row among the sides' rows, by the number that candidates
     * have for it, in the same order. */
    const uint32_t *places[2];
};

/* Joins all rows; block_join_free afterwards. */
cog_status block_join_run(struct block_join *join, cog_error *error);
/* Verifies candidates, sorted; those that stay become rows. */
cog_status block_join_check(struct block_join *join, const struct match_list *candidates,
                            cog_error *error);
/* All matches of some rows of side 0, exactly: a counts from 0 among them, b is a row of the last
 * side. The list's limit holds. */
cog_status block_join_sample(struct block_join *join, const uint32_t *rows, size_t count,
                             struct match_list *matches, cog_error *error);
/* Bytes of all rows of all sides as blocks. */
uint64_t block_join_bytes(const struct block_join *join);
/* Writes what the method counted into the task's report. */
void block_join_report(const struct block_join *join);
void block_join_free(struct block_join *join);

/* Places in blocks of about a size, at least one row each; bytes(context, i) is the memory of place
 * i. No block reaches over an end of the blocks in `inside`, which may be NULL. free() the ends. */
struct block_cutting {
    size_t count;
    uint64_t block_bytes;
    uint64_t (*bytes)(const void *context, size_t place);
    const void *context;
    const size_t *inside;
};
cog_status blocks_cut(const struct block_cutting *cutting, size_t **ends, size_t *block_count,
                      cog_error *error);
