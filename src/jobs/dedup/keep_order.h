/* Which of several near-duplicates stays: a key per document. The largest key stays; of equal keys,
 * the earliest document. */
#pragma once

#include "collection/sets/document_sets.h"

/* Rejects an unknown rule, and a field if the documents have no fields. */
cog_status keep_order_check(const cog_dedup_options *options, const cog_documents *documents,
                            cog_error *error);

/* In: keys[i] is the text size of the i-th good document of the input. Out: its key. The rule "by a
 * field" reads the input once more. */
cog_status keep_order_keys(const cog_dedup_options *options, cog_documents *documents, size_t count,
                           struct job *job, uint64_t *keys, cog_error *error);
