/* Deduplication against an index by Jaccard or containment: the documents of the index are the
 * reference collection, and each document of the input is looked up there. */
#pragma once

#include "jobs/dedup/duplicates.h"

/* COG_ERR_USAGE if options->against_index cannot be what the documents are compared with. */
cog_status dedup_index_check(const cog_dedup_options *options, cog_error *error);

/* For joins, which a report and a work folder need: all documents of the index as the next
 * collection of the sets, unless the work folder has them. */
cog_status dedup_index_append(const cog_index *index, struct document_sets *sets, cog_error *error);
/* A hash that changes with the documents of the index. */
uint64_t dedup_index_identity(const cog_index *index);

/* As dedup_by_sets, with the documents of options->against_index as the reference collection: each
 * document of the input is looked up there. The twin of a document is the first row of the index
 * that is equal, or the first that is near if none is: what a join with the documents of the index
 * says. Behind the sets of the input are those of the twins. */
cog_status dedup_by_index(cog_documents *documents, const cog_dedup_options *options,
                          struct output *rejects, const char *beside, struct job *job,
                          struct duplicates *duplicates, cog_error *error);
