/* Pairs of documents by cosine, for documents that do not fit into the memory budget, by every
 * method.
 *
 * Documents are read once. Their terms, vectors and signatures go to scratch files in TMPDIR
 * (row_store.h), and blocks of rows that fit are joined with each other (block_join.h). A method
 * whose answer depends on all rows together (windows) proposes candidates from all signatures; then
 * blocks of the rows with candidates verify them. Matches that do not fit are sorted on disk.
 *
 * Memory: the ids and sizes of the documents, the vocabulary until all rows are weighed and signed,
 * and the rest of the budget for blocks. */
#pragma once

#include "jobs/pairs/pair_join.h"

/* Whether the budget is too small for the documents. Not for callers that hold the terms of all
 * documents in any case. */
bool disk_pairs_needed(const struct pair_task *task, cog_documents *const *documents);
/* Reads the documents and finds the same pairs as pair_join_run in memory with the same settings;
 * recall is measured in the same way. With the method lists, pairs within a rounding error of its
 * bounds may differ. `matches`, which must be zeroed, may be in a file: they are sorted, and
 * match_list_free releases them. The corpora have ids and sizes but no terms. COG_ERR_MEMORY
 * reports the minimum budget. */
cog_status disk_pairs_find(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error);
