/* The set of ids seen so far: a hash table of row numbers, keyed by ids that are stored elsewhere.
 * 8 bytes per slot, two to four slots per id. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

struct id_table;
cog_status id_table_create(struct id_table **table, cog_error *error);
void id_table_free(struct id_table *table);

/* The id of a row added before. */
typedef struct bytes_view id_of_row(const void *context, uint32_t row);
/* Adds `row` under `id`. If the id is already there, *existing is its row and *added is false. */
cog_status id_table_add(struct id_table *table, struct bytes_view id, uint32_t row,
                        id_of_row *id_of, const void *context, bool *added, uint32_t *existing,
                        cog_error *error);
/* The row of an id; false if there is none. */
bool id_table_find(const struct id_table *table, struct bytes_view id, id_of_row *id_of,
                   const void *context, uint32_t *row);
uint64_t id_table_memory_bytes(const struct id_table *table);
