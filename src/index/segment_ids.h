/* The ids of a segment's rows: the table that finds a row by its id, and ids that are numbers.
 *
 * The table is a hash table of row numbers over the ids, used as it lies in the file
 * (docs/format.md, sections idst and iden). A lookup takes the same time in any segment: it reads
 * where a bucket begins, its entries (eight on average), and the id of each entry whose tag, eight
 * bits of the hash, is the right one. 5.5 bytes per row. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/container.h"

enum { ID_BUCKET_ROWS = 8, ID_ENTRY_BYTES = 5 };

/* Zero-initialise; id_buckets_free releases, unless they lie in a map. */
struct id_buckets {
    uint32_t *starts; /* of each bucket among the entries, and the end; NULL where there are none */
    uint8_t *entries; /* by bucket, then by row: tag, row */
};

struct segment;

static inline size_t id_buckets_count(size_t rows) {
    return rows / ID_BUCKET_ROWS + 1;
}

/* Of the segment's ids, which are there. O(rows). */
cog_status id_buckets_build(const struct segment *segment, struct id_buckets *buckets,
                            cog_error *error);
/* The row of an id, UINT64_MAX where the segment does not have it. The buckets are the segment's
 * own or were built of it. */
cog_status id_buckets_find(const struct id_buckets *buckets, const struct segment *segment,
                           struct bytes_view id, uint64_t *row, cog_error *error);
/* Whether every row of the segment stands in its bucket once. */
cog_status id_buckets_check(const struct id_buckets *buckets, const struct segment *segment,
                            cog_error *error);
void id_buckets_free(struct id_buckets *buckets);
/* Writes the table of the segment's ids without having it in memory: half a byte per row, and 16
 * MiB at most. */
cog_status id_buckets_write(struct container_writer *writer, const struct segment *segment,
                            cog_error *error);

/* Writes the numbers first, first + 1, ... as the ids of `rows` rows, with their table. They are
 * made again for each section, and the table a part at a time: 1.75 bytes per row, or half a byte
 * and 16 MiB if that is less. */
cog_status numbered_ids_write(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error);
/* Memory that this takes. */
double numbered_ids_memory_bytes(size_t rows);

#define SECTION_ID_OFFSETS CONTAINER_TAG('i', 'd', 'o', 'f')
#define SECTION_ID_BYTES CONTAINER_TAG('i', 'd', 'b', 'y')
#define SECTION_ID_STARTS CONTAINER_TAG('i', 'd', 's', 't')
#define SECTION_ID_ENTRIES CONTAINER_TAG('i', 'd', 'e', 'n')
