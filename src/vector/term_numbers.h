/* Dense column numbers for the terms of a collection, the rarest first: what the joins want. */
#pragma once

#include "vector/statistics.h"

enum { TERM_NUMBER_NONE = UINT32_MAX };

struct term_numbers;
/* Terms in fewer than min_documents documents, or rarer than min_collection_frequency, get no
 * column. */
cog_status term_numbers_create(const struct statistics *statistics, uint32_t min_documents,
                               uint32_t min_collection_frequency, struct term_numbers **columns,
                               cog_error *error);
void term_numbers_free(struct term_numbers *columns);
uint32_t term_numbers_count(const struct term_numbers *columns);
/* TERM_NUMBER_NONE where the term has none. */
uint32_t term_numbers_find(const struct term_numbers *columns, uint64_t hash);
void term_numbers_prefetch(const struct term_numbers *columns, uint64_t hash);
