/* Pairs between documents and an index: the documents of the index are the second collection.
 *
 * In: documents, and an index with vectors for cosines, or by Jaccard or containment for the same
 * measure. Out: the pairs that cog_pairs_find lists between the documents and those that the index
 * was made of; weights are those of the statistics of both together, as there, and not those of
 * the index. Memory: the terms of both collections for cosines, else as for set_pairs.h. */
#pragma once

#include "jobs/index/index_job.h"
#include "jobs/pairs/pair_task.h"

/* COG_ERR_USAGE if the index cannot be what documents are compared with by these options. */
cog_status index_pairs_check(const cog_index *index, const cog_pairs_options *options,
                             cog_error *error);
/* All pairs; the task has two sides. `matches` must be zeroed. */
cog_status index_pairs_find(struct pair_task *task, cog_documents *documents,
                            const cog_index *index, struct match_list *matches, cog_error *error);
