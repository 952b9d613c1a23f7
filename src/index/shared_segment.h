/* Reference-counted segments that several states of an index share, mapped from a file or made in
 * memory. The last owner closes the segment and frees its memory. */
#pragma once

#include "index/segment.h"

/* The arrays owned by a segment in memory; all NULL for a mapped one. */
struct segment_memory {
    uint64_t *id_offsets;
    char *id_bytes;
    struct id_buckets id_buckets;
    uint8_t *signatures;
    struct segment_terms terms;
    uint64_t *lengths;
    struct sparse_matrix vectors;
    struct segment_sets sets;
    struct recall_measure *recall;
};
void segment_memory_free(struct segment_memory *memory);

struct shared_segment {
    unsigned owners;
    struct segment segment;
    bool is_in_memory;            /* otherwise mapped */
    struct segment_memory memory; /* of a segment in memory */
    uint64_t *column_hashes;      /* the term of each column; see shared_segment_columns */
};
/* Takes ownership of the segment and of `memory` (may be NULL); both are empty afterwards. After an
 * error they are unchanged. */
cog_status shared_segment_create(struct segment *segment, struct segment_memory *memory,
                                 struct shared_segment **shared, cog_error *error);
struct shared_segment *shared_segment_retain(struct shared_segment *shared);
/* The hash of each column's term, made on first use. Thread-safe. */
cog_status shared_segment_columns(struct shared_segment *shared, const uint64_t **hashes,
                                  cog_error *error);
/* Accepts NULL. */
void shared_segment_release(struct shared_segment *shared);
