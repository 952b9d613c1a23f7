/* The log of an index: changes that no segment holds yet, one frame per commit.
 *
 * A frame is written behind the others and synced before the next one is begun, so all frames but
 * the last are whole after a loss of power. The file is made longer in steps, by zeros that the
 * next frames take the place of: a sync of bytes that the file has already is many times faster
 * than one that must also save where new bytes are. Each has a checksum and names that of the frame
 * before it; a reader that knows a part of the log notices if that part was replaced. What stands
 * in the frames is defined in index/changes.h, the bytes in docs/format.md. One writer at a time
 * (it holds the lock of the folder); readers need no lock and see whole frames only. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

/* Zero-initialise with descriptor -1; change_log_close releases. */
struct change_log {
    int descriptor; /* -1: not open */
    char *path;
    uint64_t number;
    uint64_t end_bytes;   /* behind the last frame that was read or written */
    uint64_t checksum;    /* of that frame, or of the header */
    uint64_t begin_bytes; /* where that frame begins; 0: there is none */
    uint64_t zero_bytes; /* up to here, all behind that frame was zero when it was last looked at */
    bool is_read_only;
    bool is_replaced; /* what was read is no longer what stands there: read the log anew */
};

/* Path of a log's file in a folder; free() it. NULL when memory is out. */
char *change_log_path(const char *folder, uint64_t number);
/* Makes a log durable under its name. Its first frame has the payload, unless that is NULL or
 * empty. */
cog_status change_log_create(const char *folder, uint64_t number, const struct buffer *payload,
                             cog_error *error);
/* Opens, to read from the first frame on. */
cog_status change_log_open(const char *folder, uint64_t number, struct change_log *log,
                           cog_error *error);
/* The next whole frame; *found is false behind the last. The payload is valid until the buffer
 * changes. */
cog_status change_log_next(struct change_log *log, struct buffer *buffer,
                           struct bytes_view *payload, bool *found, cog_error *error);
/* Behind the last whole frame, with the lock: *torn_bytes follow that belong to no frame, the rest
 * of a write that was interrupted; 0 if nothing but zeros follows. COG_ERR_FORMAT if whole frames
 * stand behind them: that part was damaged later. A handle reads the zeros once. */
cog_status change_log_check_end(struct change_log *log, uint64_t *torn_bytes, cog_error *error);
/* Cuts off what stands behind the last whole frame. */
cog_status change_log_cut(struct change_log *log, cog_error *error);
/* Writes a frame behind the last and syncs it. After an error the frame is gone, or, if it could
 * not be taken back, the message says that it may come back. */
cog_status change_log_append(struct change_log *log, const void *payload, size_t size,
                             cog_error *error);
void change_log_close(struct change_log *log);
