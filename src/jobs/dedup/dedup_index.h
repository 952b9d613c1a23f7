/* Deduplication against an index by Jaccard or containment. The documents of the index are the
 * reference collection; each document of the input is looked up there. */
#pragma once

#include "jobs/dedup/duplicates.h"

/* COG_ERR_USAGE if documents cannot be compared with options->against_index. */
cog_status dedup_index_check(const cog_dedup_options *options, cog_error *error);

/* Appends all documents of the index as the next collection of the sets, unless the work folder has
 * them. For joins, which a report or a work folder needs. */
cog_status dedup_index_append(const cog_index *index, struct document_sets *sets, cog_error *error);
/* A hash that changes with the documents of the index. */
uint64_t dedup_index_identity(const cog_index *index);

/* Like dedup_by_sets with the documents of options->against_index as the reference collection, but
 * each document of the input is looked up there. The twin of a document is the first equal row of
 * the index, or if there is none the first near one, as in a join with the documents of the index.
 * The sets of the input are followed by those of the twins. */
cog_status dedup_by_index(cog_documents *documents, const cog_dedup_options *options,
                          struct output *rejects, const char *near_path, struct job *job,
                          struct duplicates *duplicates, cog_error *error);
