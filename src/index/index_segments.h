/* The segments of an index, opened. Several states of an index share them, mapped from a file or
 * made in memory; the last owner closes a segment and frees its memory. */
#pragma once

#include "index/manifest.h"

/* ---- One segment ----------------------------------------------------------------------------- */

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

/* ---- All segments ---------------------------------------------------------------------------- */

/* All segments of an index, opened. Zero-initialise; index_segments_close releases. */
struct index_segments {
    struct manifest manifest;
    struct segment *segments;       /* manifest.count; views of the data that the owners hold */
    struct shared_segment **owners; /* manifest.count */
    size_t capacity;
    uint64_t rows; /* of all segments, including removed rows */
};
/* Reuses segments that `known` has (it may be NULL). */
cog_status index_segments_open(const char *folder, const struct index_segments *known,
                               struct index_segments *index, cog_error *error);
/* The same segments and removed rows; *copy must be zeroed. */
cog_status index_segments_copy(const struct index_segments *index, struct index_segments *copy,
                               cog_error *error);
/* Appends the pending segments of another state. */
cog_status index_segments_share_pending(const struct index_segments *from,
                                        struct index_segments *to, cog_error *error);
/* Appends a segment described by `entry` and takes ownership of it. */
cog_status index_segments_append(struct index_segments *index, struct manifest_entry entry,
                                 struct segment *segment, struct segment_memory *memory,
                                 cog_error *error);
/* Replaces `count` segments by the last one. */
void index_segments_put_last(struct index_segments *index, size_t first, size_t count);
/* Reads every byte of the index. */
cog_status index_segments_verify(const struct index_segments *index, cog_error *error);
void index_segments_close(struct index_segments *index);

/* Deletes files of the folder that look like segments, logs or temporary files but are not in the
 * manifest, left by an interrupted writer. Only the index's writer may call it. */
cog_status index_sweep(const char *folder, const struct manifest *manifest, cog_error *error);
