/* Term numbers: the terms of a collection numbered densely, rarest first, the order that joins
 * need. In: statistics. Out: a table from a term's hash to its number, 32 to 64 bytes per term. The
 * caller frees it. */
#pragma once

#include "vector/statistics.h"

enum { TERM_NUMBER_NONE = UINT32_MAX };

struct term_numbers;
/* Terms in fewer than min_documents documents, or rarer than min_collection_frequency, get no
 * number. */
cog_status term_numbers_create(const struct statistics *statistics, uint32_t min_documents,
                               uint32_t min_collection_frequency, struct term_numbers **numbers,
                               cog_error *error);
void term_numbers_free(struct term_numbers *numbers);
uint32_t term_numbers_count(const struct term_numbers *numbers);
/* TERM_NUMBER_NONE if the term has no number. */
uint32_t term_numbers_find(const struct term_numbers *numbers, uint64_t hash);
void term_numbers_prefetch(const struct term_numbers *numbers, uint64_t hash);
