/* Pairs of short documents, by cosine.
 *
 * A short document has too few weighted terms for a meaningful cosine. A pair with a short document
 * is measured by the Jaccard coefficient of all terms and is found exactly under every method:
 * short documents are joined by their sets (join/sets/set_join.h) with the documents small enough
 * to match them. The terms come from the corpora of the task, or from its rows on disk. */
#pragma once

#include "jobs/pairs/match_sorter.h"
#include "jobs/pairs/pair_task.h"
#include "jobs/pairs/row_store.h"

/* Adds the pairs of short rows with each other and with all other rows; the list stays sorted. */
cog_status short_pairs_join(const struct pair_task *task, struct match_list *matches,
                            cog_error *error);
/* The same for terms on disk. stores[1] is not used in a self-join. */
cog_status short_pairs_join_stored(const struct pair_task *task, struct row_store *const stores[2],
                                   uint64_t memory_bytes, struct match_sorter *results,
                                   cog_error *error);
/* The true measure; for a pair with a short document, its Jaccard coefficient. */
double pair_task_listed_similarity(const struct pair_task *task, uint32_t a, uint32_t b);
