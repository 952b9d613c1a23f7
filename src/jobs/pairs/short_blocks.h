/* The pairs of short documents (pair_task.h) whose terms are on disk. Blocks of short rows are
 * joined with blocks of the rows that are small enough to match them, by the sets of their terms;
 * the pairs are those of short_pairs_join. */
#pragma once

#include "jobs/pairs/match_sorter.h"
#include "jobs/pairs/pair_task.h"
#include "jobs/pairs/row_store.h"

/* The short rows are marked in the task. stores[1] is not used inside one collection. */
cog_status short_blocks_join(const struct pair_task *task, struct row_store *const stores[2],
                             uint64_t memory_bytes, struct match_sorter *results, cog_error *error);
