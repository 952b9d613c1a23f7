/* Segments that several states of an index share: counted, mapped from a file or made in memory.
 * The last owner closes the segment and frees what it has in memory. */
#pragma once

#include "index/segment.h"

/* What a segment in memory owns; all NULL in a mapped one. */
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
    bool is_in_memory;            /* else mapped */
    struct segment_memory memory; /* of one in memory */
    uint64_t *column_hashes;      /* the term of each column; see shared_segment_columns */
};
/* Takes the segment over, and what it has in memory (may be NULL); both are empty afterwards. After
 * an error they are as before. */
cog_status shared_segment_create(struct segment *segment, struct segment_memory *memory,
                                 struct shared_segment **shared, cog_error *error);
struct shared_segment *shared_segment_retain(struct shared_segment *shared);
/* The hash of each column's term, made when it is first needed. Threads may ask at the same time.
 */
cog_status shared_segment_columns(struct shared_segment *shared, const uint64_t **hashes,
                                  cog_error *error);
/* Accepts NULL. */
void shared_segment_release(struct shared_segment *shared);
