/* Pairs of documents that do not fit into the memory budget, by sliding windows. The terms of the
 * documents wait in a scratch file in TMPDIR, their signatures in another. Windows propose pairs of
 * signatures, and only the terms of documents with candidates are loaded, for the true cosines. In
 * memory are the vocabulary, the ids, and the documents that have candidates. */
#pragma once

#include "jobs/pairs/pair_join.h"

/* Whether the budget is too small for the documents and the method can work from disk. */
bool disk_pairs_needed(const struct pair_task *task, cog_documents *const *documents);
/* Finds the pairs that pair_join_run finds with the same tables and windows; both are planned for
 * pairs at the threshold. Recall is measured in the same way. */
cog_status disk_pairs_find(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error);
