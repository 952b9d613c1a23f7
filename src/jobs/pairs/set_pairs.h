/* All pairs of documents by Jaccard or containment, within one collection or between two; exact
 * (join/sets/set_join.h).
 *
 * In: documents, read once; their sets go to a scratch file in TMPDIR. Out: all pairs at or above
 * the threshold, sorted by rows. Equal documents are joined as one, and their pairs are added after
 * the join. Documents without terms match nothing. Memory: ids, about 100 bytes per document, and
 * the rest of the budget; pairs that do not fit are sorted on disk (match_sorter.h). */
#pragma once

#include "jobs/pairs/pair_task.h"

/* Whether these options request an exact join of sets: not if they name a method of signatures. */
bool pairs_are_by_sets(const cog_pairs_options *options);

/* Reads the documents of a task into its corpora, which then have ids and numbers of terms, and
 * into `sets`, which must be zeroed; call document_sets_close also after an error. The rows of side
 * 1 follow those of side 0. */
cog_status set_pairs_read(struct pair_task *task, cog_documents *const *documents,
                          struct document_sets *sets, cog_error *error);
/* Finds the pairs of the selected rows (task->selected). `matches`, which must be zeroed, may be in
 * a file. */
cog_status set_pairs_join(struct pair_task *task, struct document_sets *sets,
                          struct match_list *matches, cog_error *error);
