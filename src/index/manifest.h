/* The manifest of an index: a folder's list of immutable segments, in the order of their rows, the
 * rows that were removed from each, and the log of later changes. A change writes a new manifest,
 * which replaces the old one in one step. Also all segments of a folder, opened. */
#pragma once

#include "index/shared_segment.h"

struct manifest_entry {
    uint64_t number;
    uint64_t rows;
    uint64_t size_bytes;
    uint64_t header_checksum; /* of the segment's file: it must be this very file */
    uint32_t *removed;        /* rows of the segment, strictly rising; shared, see below */
    size_t removed_count;
    bool is_pending; /* in memory alone: its documents are in the log, and it has no number */
};

/* Zero-initialise; manifest_free releases. */
struct manifest {
    struct settings settings;
    struct manifest_entry *entries;
    size_t count, capacity;
    uint64_t next_number; /* of segments and logs */
    uint64_t log_number;  /* of the log with the changes that follow; 0: there are none */
};

/* Path of a segment's file in the index folder; free() it. NULL when memory is out. */
char *manifest_segment_path(const char *folder, uint64_t number);

/* Whether the folder holds a manifest. */
bool manifest_exists(const char *folder);
/* Fills a zeroed manifest. */
cog_status manifest_read(const char *folder, struct manifest *manifest, cog_error *error);
/* Creates the folder if it is missing, and replaces the manifest at once. */
cog_status manifest_write(const char *folder, const struct manifest *manifest, cog_error *error);
/* Writes parts as a new segment of the folder and appends it to the manifest in memory; it belongs
 * to the index only after manifest_write. An index that has no segments yet takes over the
 * settings; later ones must be equal. Settings whose keys begin with MANIFEST_LEXICON are the
 * manifest's alone: lexicons come with documents, while segments that are there stay as they are.
 */
#define MANIFEST_LEXICON "lexicon "
cog_status manifest_add_segment(const char *folder, struct manifest *manifest,
                                const struct segment_parts *parts, cog_error *error);
/* The same for a segment that was written at `path`, which is renamed. */
cog_status manifest_adopt_segment(const char *folder, struct manifest *manifest, const char *path,
                                  cog_error *error);
/* Leaves the entries that a file can have. */
void manifest_drop_pending(struct manifest *manifest);
/* Whether a segment's settings are those of the manifest, but for what is the manifest's alone; if
 * not, *difference names the first difference. */
cog_status manifest_compare_settings(const struct manifest *manifest,
                                     const struct settings *segment, bool *are_equal,
                                     char difference[SETTINGS_DIFFERENCE_BYTES], cog_error *error);
/* Marks rows (of the whole index, strictly rising) as removed; rows already removed stay so. */
cog_status manifest_remove_rows(struct manifest *manifest, const uint64_t *rows, size_t count,
                                cog_error *error);
bool manifest_is_removed(const struct manifest_entry *entry, uint32_t row);
/* *copy must be zeroed. */
cog_status manifest_copy(const struct manifest *manifest, struct manifest *copy, cog_error *error);
/* Lists of removed rows are counted: states of an index share them, and none changes. */
cog_status removed_rows_take(size_t count, uint32_t **rows, cog_error *error);
/* Another owner; both accept NULL. */
uint32_t *removed_rows_retain(uint32_t *rows);
void removed_rows_release(uint32_t *rows);
void manifest_free(struct manifest *manifest);

/* All segments of an index, opened. Zero-initialise; index_segments_close releases. */
struct index_segments {
    struct manifest manifest;
    struct segment *segments;       /* manifest.count; views of what the owners hold */
    struct shared_segment **owners; /* manifest.count */
    size_t capacity;
    uint64_t rows; /* of all, removed ones too */
};
/* Segments that `known` (may be NULL) has are taken from there. */
cog_status index_segments_open(const char *folder, const struct index_segments *known,
                               struct index_segments *index, cog_error *error);
/* The same segments and removed rows; *copy must be zeroed. */
cog_status index_segments_copy(const struct index_segments *index, struct index_segments *copy,
                               cog_error *error);
/* Appends the pending segments of another state. */
cog_status index_segments_share_pending(const struct index_segments *from,
                                        struct index_segments *to, cog_error *error);
/* Appends a segment of the entry's description and takes it over. */
cog_status index_segments_append(struct index_segments *index, struct manifest_entry entry,
                                 struct segment *segment, struct segment_memory *memory,
                                 cog_error *error);
/* The last segment takes the place of `count` others. */
void index_segments_put_last(struct index_segments *index, size_t first, size_t count);
/* The same in a manifest alone. */
void manifest_put_last(struct manifest *manifest, size_t first, size_t count);
/* Reads every byte of the index. */
cog_status index_segments_verify(const struct index_segments *index, cog_error *error);
void index_segments_close(struct index_segments *index);

/* Deletes files of the folder that look like segments, logs or temporary files but are not in the
 * manifest: what an interrupted writer left. Only the index's one writer may call it. */
cog_status index_sweep(const char *folder, const struct manifest *manifest, cog_error *error);
