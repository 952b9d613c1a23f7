/* The manifest of an index: the list of a folder's immutable segments in the order of their rows,
 * the rows removed from each, and the log of later changes. A change writes a new manifest, which
 * atomically replaces the old one. */
#pragma once

#include "index/segment.h"

struct manifest_entry {
    uint64_t number;
    uint64_t rows;
    uint64_t size_bytes;
    uint64_t header_checksum; /* of the segment's file, to identify it */
    uint32_t *removed;        /* rows of the segment, strictly ascending; shared, see below */
    size_t removed_count;
    bool is_pending; /* only in memory: its documents are in the log, and it has no number */
};

/* Zero-initialise; manifest_free releases. */
struct manifest {
    struct settings settings;
    struct manifest_entry *entries;
    size_t count, capacity;
    uint64_t next_number; /* of segments and logs */
    uint64_t log_number;  /* of the log with the changes that follow; 0: none */
};

/* Path of a segment's file in the index folder; free() it. NULL if out of memory. */
char *manifest_segment_path(const char *folder, uint64_t number);

/* What follows segment-N.cog or changes-N.log in a file's name, "" if nothing does; NULL for any
 * other name. */
const char *manifest_part_name(const char *name, bool *is_log, uint64_t *number);

/* Whether the folder holds a manifest. */
bool manifest_exists(const char *folder);
/* Whether the folder holds segments or a log but no manifest. */
bool manifest_is_missing(const char *folder);
/* Fills a zeroed manifest. */
cog_status manifest_read(const char *folder, struct manifest *manifest, cog_error *error);
/* Creates the folder if it is missing, and replaces the manifest atomically. */
cog_status manifest_write(const char *folder, const struct manifest *manifest, cog_error *error);
/* Writes parts as a new segment of the folder and appends it to the manifest in memory; it belongs
 * to the index only after manifest_write. The first segment determines the settings of the index;
 * those of later ones must be equal. Settings with keys that start with MANIFEST_LEXICON are only
 * in the manifest: lexicons come with documents, while existing segments do not change. */
#define MANIFEST_LEXICON "lexicon "
cog_status manifest_add_segment(const char *folder, struct manifest *manifest,
                                const struct segment_parts *parts, cog_error *error);
/* The same for a segment already written at `path`, which is renamed. */
cog_status manifest_adopt_segment(const char *folder, struct manifest *manifest, const char *path,
                                  cog_error *error);
/* Removes pending entries, which cannot be stored in a file. */
void manifest_drop_pending(struct manifest *manifest);
/* Replaces `count` entries by the last one. */
void manifest_put_last(struct manifest *manifest, size_t first, size_t count);
/* Whether a segment's settings equal those of the manifest, except those that only the manifest
 * has; if not, `difference` describes the first difference. */
cog_status manifest_compare_settings(const struct manifest *manifest,
                                     const struct settings *segment, bool *are_equal,
                                     char difference[SETTINGS_DIFFERENCE_BYTES], cog_error *error);
/* Marks rows (of the whole index, strictly ascending) as removed; rows already removed stay so. */
cog_status manifest_remove_rows(struct manifest *manifest, const uint64_t *rows, size_t count,
                                cog_error *error);
bool manifest_is_removed(const struct manifest_entry *entry, uint32_t row);
/* *copy must be zeroed. */
cog_status manifest_copy(const struct manifest *manifest, struct manifest *copy, cog_error *error);
/* Lists of removed rows are immutable and reference-counted, as states of an index share them. */
cog_status removed_rows_take(size_t count, uint32_t **rows, cog_error *error);
/* Adds an owner. Both accept NULL. */
uint32_t *removed_rows_retain(uint32_t *rows);
void removed_rows_release(uint32_t *rows);
void manifest_free(struct manifest *manifest);
