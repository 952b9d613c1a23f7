/* The log of an index: changes that are in no segment yet, one frame per commit.
 *
 * A frame is appended and synced before the next one is started, so after a power loss all frames
 * except the last are complete. The file grows in steps, filled with zeros that later frames
 * overwrite: syncing bytes within the file is many times faster than a sync that must also record
 * new blocks. Each frame has a checksum and contains that of the previous frame; a reader that has
 * read part of the log notices if that part was replaced. index/changes.h defines the content of
 * frames, docs/format.md the bytes. One writer at a time (it holds the folder's lock). Readers need
 * no lock and see only complete frames. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

/* Zero-initialise with descriptor -1; change_log_close releases. */
struct change_log {
    int descriptor; /* -1: not open */
    char *path;
    uint64_t number;
    uint64_t end_bytes;   /* after the last frame read or written */
    uint64_t checksum;    /* of that frame, or of the header */
    uint64_t begin_bytes; /* start of that frame; 0: none */
    uint64_t zero_bytes;  /* up to here, the file was zero after that frame when last checked */
    bool is_read_only;
    bool is_replaced; /* the part already read has changed: read the log from the start */
};

/* Path of a log's file in a folder; free() it. NULL if out of memory. */
char *change_log_path(const char *folder, uint64_t number);
/* Creates a durable log. Its first frame has the payload, unless that is NULL or empty. */
cog_status change_log_create(const char *folder, uint64_t number, const struct buffer *payload,
                             cog_error *error);
/* Opens a log for reading from the first frame on. */
cog_status change_log_open(const char *folder, uint64_t number, struct change_log *log,
                           cog_error *error);
/* The next complete frame; *found is false after the last. The payload is valid until the buffer
 * changes. */
cog_status change_log_next(struct change_log *log, struct buffer *buffer,
                           struct bytes_view *payload, bool *found, cog_error *error);
/* Requires the lock; call after the last complete frame. *torn_bytes is the number of bytes after
 * it that belong to no frame, left by an interrupted write; 0 if only zeros follow. COG_ERR_FORMAT
 * if complete frames follow: then that part was damaged later. A handle reads the zeros only once.
 */
cog_status change_log_check_end(struct change_log *log, uint64_t *torn_bytes, cog_error *error);
/* Truncates the file after the last complete frame. */
cog_status change_log_cut(struct change_log *log, cog_error *error);
/* Appends and syncs a frame. After an error the frame is gone; if it could not be removed, the
 * message says that it may reappear. */
cog_status change_log_append(struct change_log *log, const void *payload, size_t size,
                             cog_error *error);
void change_log_close(struct change_log *log);
