/* Pairs between documents and an index: the documents of the index are the second collection.
 *
 * In: documents, and an index with vectors for cosines, or one by Jaccard or containment for the
 * same measure. Out: the pairs that cog_pairs_find lists between the documents and those of the
 * index; as there, weights come from the statistics of both together, not from those of the index.
 * Memory: for cosines the terms of both collections, otherwise as for set_pairs.h. */
#pragma once

#include "jobs/index/index_job.h"
#include "jobs/pairs/pair_task.h"

/* COG_ERR_USAGE if documents cannot be compared with the index by these options. */
cog_status index_pairs_check(const cog_index *index, const cog_pairs_options *options,
                             cog_error *error);
/* Finds all pairs; the task has two sides. `matches` must be zeroed. */
cog_status index_pairs_find(struct pair_task *task, cog_documents *documents,
                            const cog_index *index, struct match_list *matches, cog_error *error);
