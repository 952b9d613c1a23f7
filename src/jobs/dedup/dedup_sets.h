/* Near-duplicates by the exact join of term sets (join/sets/set_join.h), for Jaccard and
 * containment. Documents are read once into a scratch file; memory is 40 bytes per document and
 * what the join may take. */
#pragma once

#include "jobs/dedup/duplicates.h"

/* Reads the documents (and options->against, or the sets of options->against_index), and decides.
 * Bad records go to `rejects` unless it is NULL. `beside`: scratch files go to the folder of this
 * file. */
cog_status dedup_by_sets(cog_documents *documents, const cog_dedup_options *options,
                         struct output *rejects, const char *beside, struct job *job,
                         struct duplicates *duplicates, cog_error *error);
