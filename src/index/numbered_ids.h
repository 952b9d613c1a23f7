/* Ids that are the numbers of their rows, as sections of a segment. They are made again for each
 * section, and the table by id (id_buckets.h) a part at a time, so that ids of any number of rows
 * take 1.75 bytes a row while they are written. */
#pragma once

#include "store/container.h"

/* The rows' ids are first, first + 1... O(rows). */
cog_status numbered_ids_write(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error);
/* What that takes. */
double numbered_ids_memory_bytes(size_t rows);
