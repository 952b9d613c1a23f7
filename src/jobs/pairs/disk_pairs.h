/* Pairs of documents by cosine that do not fit into the memory budget, by every method. Documents
 * are read once. Their terms, vectors and signatures wait in scratch files in TMPDIR (row_store.h),
 * and blocks of rows that fit are joined with each other (block_join.h). A method whose answer
 * depends on all rows together (windows) proposes candidates from all signatures, and blocks of the
 * rows that have candidates verify these. Matches that do not fit are sorted on disk.
 *
 * In memory are the ids and sizes of the documents, the vocabulary until all rows are weighed and
 * signed, and what the budget leaves for blocks. */
#pragma once

#include "jobs/pairs/pair_join.h"

/* Whether the budget is too small for the documents. Not for callers that hold the terms of all
 * documents anyway. */
bool disk_pairs_needed(const struct pair_task *task, cog_documents *const *documents);
/* Reads the documents, and finds the pairs that pair_join_run finds in memory, with the same
 * settings; recall is measured in the same way. With the method lists, pairs that lie at its bounds
 * to within a rounding error may be others. `matches`, which must be zeroed, may be in a file: they
 * are sorted, and match_list_free releases them. The corpora have ids and sizes, but no terms.
 * COG_ERR_MEMORY states the least budget. */
cog_status disk_pairs_find(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error);
