#include "index/change_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io/files.h"
#include "base/io/output.h"
#include "base/numbers.h"

static const char magic[8] = {'\x89', 'C', 'O', 'G', 'L', '\n', '\x1a', '\n'};

enum {
    LOG_VERSION = 1,
    HEADER_BYTES = 32,
    FRAME_BYTES = 32, /* before the payload */
    FRAME_MARK = 0x4d415246,
    ALIGNMENT = 8,
    BLOCK_BYTES = 1 << 16, /* that are read at once */
    /* When a frame extends the file, this many zeros follow it: as many as the file has bytes,
     * within these limits. */
    LEAST_ROOM_BYTES = 1 << 12,
    MOST_ROOM_BYTES = 1 << 20,
};

static uint64_t padded(uint64_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

char *change_log_path(const char *folder, uint64_t number) {
    char *path = NULL;
    return asprintf(&path, "%s/changes-%08llu.log", folder, (unsigned long long)number) < 0 ? NULL
                                                                                            : path;
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static uint64_t frame_checksum(const uint8_t *head, const void *payload, size_t size) {
    return XXH3_64bits_withSeed(payload, size, hash_bytes(head, FRAME_BYTES - 8));
}

/* Appends a frame to a buffer. In: *checksum of the previous frame. Out: the checksum of this one.
 */
static bool append_frame(struct buffer *buffer, const void *payload, size_t size,
                         uint64_t *checksum) {
    static const uint8_t zeros[ALIGNMENT];
    uint8_t head[FRAME_BYTES] = {0};
    encode_u32(head, FRAME_MARK);
    encode_u64(head + 8, size);
    encode_u64(head + 16, *checksum);
    *checksum = frame_checksum(head, payload, size);
    encode_u64(head + 24, *checksum);
    return buffer_append(buffer, head, sizeof head) && buffer_append(buffer, payload, size) &&
           buffer_append(buffer, zeros, (size_t)(padded(size) - size));
}

/* Whether a frame of this size fits into the file at this offset. */
static bool fits(uint64_t at, uint64_t size, uint64_t file_bytes) {
    return file_bytes >= FRAME_BYTES && at <= file_bytes - FRAME_BYTES &&
           size <= file_bytes - FRAME_BYTES - at && padded(size) <= file_bytes - FRAME_BYTES - at;
}

/* Reads the frame at an offset if it is complete. */
static cog_status read_frame(const struct change_log *log, uint64_t at, uint64_t file_bytes,
                             uint8_t head[FRAME_BYTES], struct buffer *buffer, bool *found,
                             cog_error *error) {
    *found = false;
    if (!fits(at, 0, file_bytes))
        return COG_OK;
    TRY(descriptor_read_at(log->descriptor, head, FRAME_BYTES, at, log->path, error));
    uint64_t size = decode_u64(head + 8);
    if (decode_u32(head) != FRAME_MARK || decode_u32(head + 4) != 0 || !fits(at, size, file_bytes))
        return COG_OK;
    buffer_reset(buffer);
    if (!buffer_reserve(buffer, (size_t)size + 1))
        return error_memory(error, (size_t)size, "the log of an index");
    TRY(descriptor_read_at(log->descriptor, buffer->data, (size_t)size, at + FRAME_BYTES, log->path,
                           error));
    buffer->size = (size_t)size;
    *found = frame_checksum(head, buffer->data, buffer->size) == decode_u64(head + 24);
    return COG_OK;
}

static cog_status file_size(const struct change_log *log, uint64_t *size_bytes, cog_error *error) {
    struct stat info;
    if (fstat(log->descriptor, &info) != 0)
        return error_system(error, "read", log->path);
    *size_bytes = (uint64_t)info.st_size;
    return COG_OK;
}

/* Whether the last frame read is still at its place. */
static cog_status find_own_frame(const struct change_log *log, uint64_t file_bytes, bool *found,
                                 cog_error *error) {
    uint8_t head[FRAME_BYTES];
    *found = file_bytes >= log->end_bytes;
    if (!*found || log->begin_bytes == 0)
        return COG_OK;
    TRY(descriptor_read_at(log->descriptor, head, FRAME_BYTES, log->begin_bytes, log->path, error));
    *found = decode_u64(head + 24) == log->checksum;
    return COG_OK;
}

cog_status change_log_next(struct change_log *log, struct buffer *buffer,
                           struct bytes_view *payload, bool *found, cog_error *error) {
    uint64_t file_bytes = 0;
    uint8_t head[FRAME_BYTES];
    bool known;
    TRY(file_size(log, &file_bytes, error));
    TRY(find_own_frame(log, file_bytes, &known, error));
    TRY(read_frame(log, log->end_bytes, file_bytes, head, buffer, found, error));
    log->is_replaced = !known || (*found && decode_u64(head + 16) != log->checksum);
    *found = *found && !log->is_replaced;
    if (!*found)
        return COG_OK;
    log->checksum = decode_u64(head + 24);
    log->begin_bytes = log->end_bytes;
    log->end_bytes += FRAME_BYTES + padded(buffer->size);
    *payload = view_of(buffer->data, buffer->size);
    return COG_OK;
}

/* The first complete frame from an offset on, UINT64_MAX if there is none. */
static cog_status find_frame(const struct change_log *log, uint64_t at, uint64_t file_bytes,
                             uint64_t *place, cog_error *error) {
    uint8_t *block, head[FRAME_BYTES];
    struct buffer buffer = {0};
    cog_status status = COG_OK;
    bool found = false;
    *place = UINT64_MAX;
    TAKE(block, BLOCK_BYTES, "the log of an index", error);
    while (status == COG_OK && !found && at + FRAME_BYTES <= file_bytes) {
        size_t size = file_bytes - at < BLOCK_BYTES ? (size_t)(file_bytes - at) : BLOCK_BYTES;
        status = descriptor_read_at(log->descriptor, block, size, at, log->path, error);
        for (size_t i = 0; i + ALIGNMENT <= size && status == COG_OK && !found; i += ALIGNMENT)
            if (decode_u32(block + i) == FRAME_MARK) {
                *place = at + i;
                status = read_frame(log, at + i, file_bytes, head, &buffer, &found, error);
            }
        at += size;
    }
    if (!found)
        *place = UINT64_MAX;
    buffer_free(&buffer);
    free(block);
    return status;
}

static bool is_zero(const uint8_t *bytes, size_t size) {
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Whether only zeros follow the last frame. A write there starts with a frame's mark, so a region
 * that was zero before and still starts with zeros is zero. That does not hold after a power loss.
 */
static cog_status check_zeros(struct change_log *log, uint64_t file_bytes, bool *zero,
                              cog_error *error) {
    uint64_t end = log->end_bytes;
    uint64_t head_end = end + FRAME_BYTES < file_bytes ? end + FRAME_BYTES : file_bytes;
    uint64_t at = log->zero_bytes > head_end ? log->zero_bytes : head_end;
    uint8_t head[FRAME_BYTES], *block;
    *zero = true;
    if (file_bytes <= end)
        return COG_OK;
    TRY(descriptor_read_at(log->descriptor, head, (size_t)(head_end - end), end, log->path, error));
    *zero = is_zero(head, (size_t)(head_end - end));
    if (!*zero || at >= file_bytes)
        return COG_OK;
    TAKE(block, BLOCK_BYTES, "the log of an index", error);
    cog_status status = COG_OK;
    while (status == COG_OK && *zero && at < file_bytes) {
        size_t size = file_bytes - at < BLOCK_BYTES ? (size_t)(file_bytes - at) : BLOCK_BYTES;
        status = descriptor_read_at(log->descriptor, block, size, at, log->path, error);
        *zero = status == COG_OK && is_zero(block, size);
        at += size;
    }
    if (*zero)
        log->zero_bytes = file_bytes;
    free(block);
    return status;
}

cog_status change_log_check_end(struct change_log *log, uint64_t *torn_bytes, cog_error *error) {
    uint64_t file_bytes = 0, first, again;
    bool zero = false;
    *torn_bytes = 0;
    TRY(file_size(log, &file_bytes, error));
    TRY(check_zeros(log, file_bytes, &zero, error));
    if (zero)
        return COG_OK;
    *torn_bytes = file_bytes - log->end_bytes;
    TRY(find_frame(log, log->end_bytes, file_bytes, &first, error));
    /* A writer may be active there: a frame that is complete at the second look is no damage. */
    if (first != UINT64_MAX && first != log->end_bytes) {
        TRY(find_frame(log, log->end_bytes, file_bytes, &again, error));
        first = again;
    }
    if (first == UINT64_MAX || first == log->end_bytes)
        return COG_OK;
    return error_set(error, COG_ERR_FORMAT,
                     "%s: damaged at byte %llu, before complete changes; restore the folder "
                     "from a copy, or build the index again",
                     log->path, (unsigned long long)log->end_bytes);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void encode_header(uint8_t header[HEADER_BYTES], uint64_t number) {
    memset(header, 0, HEADER_BYTES);
    memcpy(header, magic, sizeof magic);
    encode_u32(header + 8, LOG_VERSION);
    encode_u64(header + 16, number);
    encode_u64(header + 24, hash_bytes(header, HEADER_BYTES - 8));
}

cog_status change_log_create(const char *folder, uint64_t number, const struct buffer *payload,
                             cog_error *error) {
    uint8_t header[HEADER_BYTES];
    struct buffer bytes = {0};
    struct output *output = NULL;
    char *path = change_log_path(folder, number);
    encode_header(header, number);
    uint64_t checksum = decode_u64(header + 24);
    bool made = path && buffer_append(&bytes, header, sizeof header) &&
                (!payload || !payload->size ||
                 append_frame(&bytes, payload->data, payload->size, &checksum));
    cog_status status = made ? output_open_plain(path, &output, error)
                             : error_memory(error, bytes.size, "the log of an index");
    THEN(status, output_write(output, bytes.data, bytes.size, error));
    THEN(status, output_commit(output, error));
    output_close(output);
    buffer_free(&bytes);
    free(path);
    return status;
}

cog_status change_log_open(const char *folder, uint64_t number, struct change_log *log,
                           cog_error *error) {
    uint8_t header[HEADER_BYTES], expected[HEADER_BYTES];
    uint64_t file_bytes = 0;
    *log = (struct change_log){.descriptor = -1, .number = number};
    log->path = change_log_path(folder, number);
    if (!log->path)
        return error_memory(error, strlen(folder), "a path");
    log->descriptor = open(log->path, O_RDWR | O_CLOEXEC);
    if (log->descriptor < 0 && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        log->is_read_only = true;
        log->descriptor = open(log->path, O_RDONLY | O_CLOEXEC);
    }
    cog_status status = log->descriptor < 0 ? error_system(error, "open", log->path)
                                            : file_size(log, &file_bytes, error);
    encode_header(expected, number);
    if (status == COG_OK && file_bytes >= HEADER_BYTES)
        status = descriptor_read_at(log->descriptor, header, sizeof header, 0, log->path, error);
    if (status == COG_OK &&
        (file_bytes < HEADER_BYTES || memcmp(header, expected, sizeof header) != 0))
        status =
            error_set(error, COG_ERR_FORMAT,
                      "%s: not the log of this index, from another version, or damaged; restore "
                      "the folder from a copy, or build the index again",
                      log->path);
    log->end_bytes = HEADER_BYTES;
    log->checksum = decode_u64(expected + 24);
    if (status != COG_OK)
        change_log_close(log);
    return status;
}

cog_status change_log_cut(struct change_log *log, cog_error *error) {
    log->zero_bytes = 0;
    return ftruncate(log->descriptor, (off_t)log->end_bytes) == 0 && fdatasync(log->descriptor) == 0
               ? COG_OK
               : error_system(error, "cut", log->path);
}

/* Writes a frame and zeros up to room_bytes after the last frame, and syncs. */
static cog_status write_bytes(const struct change_log *log, const struct buffer *frame,
                              uint64_t room_bytes, cog_error *error) {
    struct buffer longer = {0};
    const struct buffer *bytes = frame;
    if (room_bytes > frame->size) {
        if (!buffer_reserve(&longer, (size_t)room_bytes))
            return error_memory(error, (size_t)room_bytes, "a change of an index");
        memset(longer.data, 0, (size_t)room_bytes);
        memcpy(longer.data, frame->data, frame->size);
        longer.size = (size_t)room_bytes;
        bytes = &longer;
    }
    cog_status status = descriptor_write_at(log->descriptor, bytes->data, bytes->size,
                                            log->end_bytes, log->path, error);
    if (status == COG_OK && fdatasync(log->descriptor) != 0)
        status = error_system(error, "sync", log->path);
    buffer_free(&longer);
    return status;
}

/* A frame that does not fit into the file extends it for the next frames as well, if the disk has
 * room. */
static cog_status write_frame(struct change_log *log, const struct buffer *frame,
                              cog_error *error) {
    uint64_t file_bytes = 0, end = log->end_bytes + frame->size;
    TRY(file_size(log, &file_bytes, error));
    if (end <= file_bytes)
        return write_bytes(log, frame, 0, error);
    uint64_t more = end < LEAST_ROOM_BYTES  ? LEAST_ROOM_BYTES
                    : end > MOST_ROOM_BYTES ? MOST_ROOM_BYTES
                                            : end;
    if (write_bytes(log, frame, frame->size + more, NULL) == COG_OK) {
        log->zero_bytes = end + more;
        return COG_OK;
    }
    TRY(change_log_cut(log, error));
    return write_bytes(log, frame, 0, error);
}

cog_status change_log_append(struct change_log *log, const void *payload, size_t size,
                             cog_error *error) {
    struct buffer frame = {0};
    uint64_t checksum = log->checksum;
    if (log->is_read_only)
        return error_set(error, COG_ERR_IO, "%s: no permission to write this file", log->path);
    cog_status status = append_frame(&frame, payload, size, &checksum)
                            ? COG_OK
                            : error_memory(error, size, "a change of an index");
    if (status != COG_OK) {
        buffer_free(&frame);
        return status;
    }
    status = write_frame(log, &frame, error);
    if (status == COG_OK) {
        log->begin_bytes = log->end_bytes;
        log->end_bytes += frame.size;
        log->checksum = checksum;
    } else if (change_log_cut(log, NULL) != COG_OK) {
        cog_error cause = error ? *error : (cog_error){0};
        status = error_set(error, status,
                           "%s; the change was not confirmed and could not be undone: check "
                           "whether it was made before you repeat it",
                           cause.message);
    }
    buffer_free(&frame);
    return status;
}

void change_log_close(struct change_log *log) {
    if (log->descriptor >= 0)
        close(log->descriptor);
    free(log->path);
    *log = (struct change_log){.descriptor = -1};
}
