/* Which one of several near-duplicates stays: a number per document, the larger the better; of
 * equal ones the earlier document stays. */
#pragma once

#include "collection/sets/document_sets.h"

/* Refuses a rule that does not exist, and a field if the documents have no fields. */
cog_status keep_order_check(const cog_dedup_options *options, const cog_documents *documents,
                            cog_error *error);

/* keys[i] has the bytes of the text of the i-th good document of the input, and becomes its key.
 * The rule "by a field" reads the input once more. */
cog_status keep_order_keys(const cog_dedup_options *options, cog_documents *documents, size_t count,
                           struct job *job, uint64_t *keys, cog_error *error);
