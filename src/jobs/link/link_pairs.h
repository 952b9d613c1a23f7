/* All pairs between two collections in different languages: the documents of one are projected into
 * the terms of the other and then joined like any pairs. */
#pragma once

#include "crosslingual/lexicon.h"
#include "jobs/pairs/pair_task.h"

/* Adds the pairs to the list. The task must be initialised for two collections; it takes ownership
 * of the vectors, and its owner releases it. `method` is the requested one; auto is resolved here,
 * from the size of the vectors. */
cog_status link_pairs_find(struct pair_task *task, struct job *job,
                           cog_documents *const documents[2], const struct lexicon *lexicon,
                           const cog_projection_options *projection, cog_method method,
                           struct match_list *matches, cog_error *error);
