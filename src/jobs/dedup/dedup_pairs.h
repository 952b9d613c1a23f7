/* Near-duplicates by the methods of pairs (jobs/pairs), with the documents in memory: for the
 * cosine measure, and for methods of signatures. */
#pragma once

#include "jobs/dedup/duplicates.h"

/* Like dedup_by_sets. */
cog_status dedup_by_pairs(cog_documents *documents, const cog_dedup_options *options,
                          struct output *rejects, struct job *job, struct duplicates *duplicates,
                          cog_error *error);
