/* All pairs between two collections of different languages: the documents of one are projected into
 * the terms of the other, and from there on they are pairs like any other. */
#pragma once

#include "crosslingual/lexicon.h"
#include "jobs/pairs/pair_task.h"

/* Adds the pairs to the list. The task has been initialised for two collections; it takes over the
 * vectors and is released by its owner. `method` is the one that the caller asked for: auto chooses
 * here, by the size of the vectors. */
cog_status link_pairs_find(struct pair_task *task, struct job *job,
                           cog_documents *const documents[2], const struct lexicon *lexicon,
                           const cog_projection_options *projection, cog_method method,
                           struct match_list *matches, cog_error *error);
