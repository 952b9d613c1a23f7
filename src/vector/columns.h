/* Dense column numbers for the terms of a collection, the rarest first: what the joins want. */
#pragma once

#include "vector/statistics.h"

enum { COLUMN_NONE = UINT32_MAX };

struct columns;
/* Terms in fewer than min_documents documents, or rarer than min_collection_frequency, get no
 * column. */
cog_status columns_create(const struct statistics *statistics, uint32_t min_documents,
                          uint32_t min_collection_frequency, struct columns **columns,
                          cog_error *error);
void columns_free(struct columns *columns);
uint32_t columns_count(const struct columns *columns);
/* COLUMN_NONE where the term has none. */
uint32_t columns_find(const struct columns *columns, uint64_t hash);
void columns_prefetch(const struct columns *columns, uint64_t hash);
