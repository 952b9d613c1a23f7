/* Pairs of documents that do not fit the memory budget, by sliding windows. The terms of the
 * documents wait in a scratch file (in TMPDIR), signatures in another; windows propose pairs of
 * signatures, and the terms of those documents only come back, for their true cosines. In memory
 * are the vocabulary, the ids, and the documents that have candidates. */
#pragma once

#include "jobs/pairs/pair_task.h"

/* Whether the method is able to do without the documents in memory, and the budget says so. */
bool disk_pairs_needed(const struct pair_task *task, cog_documents *const *documents);
/* The pairs that pair_task_join would find with the same tables and windows; these are planned for
 * pairs at the threshold. Recall is measured the same way. */
cog_status disk_pairs_find(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error);
