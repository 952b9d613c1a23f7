/* Near-duplicates by the exact join of term sets (join/sets/set_join.h), for Jaccard and
 * containment. Documents are read once into a scratch file. Memory: 40 bytes per document plus the
 * join. */
#pragma once

#include "jobs/dedup/duplicates.h"

/* Reads the documents (and options->against, or the sets of options->against_index), and decides.
 * Bad records go to `rejects` unless it is NULL. Scratch files are created in the folder of
 * `near_path`. */
cog_status dedup_by_sets(cog_documents *documents, const cog_dedup_options *options,
                         struct output *rejects, const char *near_path, struct job *job,
                         struct duplicates *duplicates, cog_error *error);
