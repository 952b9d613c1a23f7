/* Rows of a segment by their ids: a hash table of row numbers over the ids, used as it lies in the
 * file (docs/format.md, sections idst and iden). A lookup takes the same time in any segment: it
 * reads where a bucket begins, its entries (eight on average), and the id of each entry whose tag,
 * eight bits of the hash, is the right one. 5.5 bytes a row. */
#pragma once

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

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
/* Fewer than 2^29 buckets: the product fits 64 bits. */
static inline size_t id_bucket_of(uint64_t hash, size_t buckets) {
    return (size_t)((hash >> 32) * buckets >> 32);
}
void id_entry_encode(uint8_t entry[ID_ENTRY_BYTES], uint64_t hash, uint32_t row);

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
