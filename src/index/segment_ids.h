/* The ids of a segment's rows: the table that finds a row by its id, and ids that are numbers.
 *
 * The table is a hash table of row numbers keyed by id, used in place in the file (docs/format.md,
 * sections idst and iden). The cost of a lookup does not depend on the segment: it reads the start
 * of a bucket, its entries (eight on average), and the id of each entry with the same tag (eight
 * bits of the hash). 5.5 bytes per row. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/container.h"

enum { ID_BUCKET_ROWS = 8, ID_ENTRY_BYTES = 5 };

/* Zero-initialise; id_buckets_free releases, unless it is mapped. */
struct id_buckets {
    uint32_t *starts; /* of each bucket, and the end; NULL: no table */
    uint8_t *entries; /* by bucket, then by row: tag, row */
};

struct segment;

static inline size_t id_buckets_count(size_t rows) {
    return rows / ID_BUCKET_ROWS + 1;
}

/* Builds the table of the segment's ids, which must exist. O(rows). */
cog_status id_buckets_build(const struct segment *segment, struct id_buckets *buckets,
                            cog_error *error);
/* The row of an id; UINT64_MAX if the segment does not have it. The buckets belong to the segment
 * or were built from it. */
cog_status id_buckets_find(const struct id_buckets *buckets, const struct segment *segment,
                           struct bytes_view id, uint64_t *row, cog_error *error);
/* Verifies that every row of the segment is in its bucket exactly once. */
cog_status id_buckets_check(const struct id_buckets *buckets, const struct segment *segment,
                            cog_error *error);
void id_buckets_free(struct id_buckets *buckets);
/* Writes the table of the segment's ids without holding it in memory: half a byte per row, plus at
 * most 16 MiB. */
cog_status id_buckets_write(struct container_writer *writer, const struct segment *segment,
                            cog_error *error);

/* Writes the numbers first, first + 1, ... as the ids of `rows` rows, with their table. They are
 * generated again for each section, and the table is written in parts: 1.75 bytes per row, or half
 * a byte and 16 MiB if that is less. */
cog_status numbered_ids_write(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error);
/* The memory of numbered_ids_write. */
double numbered_ids_memory_bytes(size_t rows);

#define SECTION_ID_OFFSETS CONTAINER_TAG('i', 'd', 'o', 'f')
#define SECTION_ID_BYTES CONTAINER_TAG('i', 'd', 'b', 'y')
#define SECTION_ID_STARTS CONTAINER_TAG('i', 'd', 's', 't')
#define SECTION_ID_ENTRIES CONTAINER_TAG('i', 'd', 'e', 'n')
