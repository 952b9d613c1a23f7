#include "input/byte_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"

enum { SOURCE_BUFFER_BYTES = 1 << 18, MAGIC_BYTES = 10 };

/* Bytes as they lie in the file. */
static cog_status read_raw(struct byte_source *source, char *data, size_t size, size_t *got,
                           cog_error *error) {
    ssize_t done;
    do
        done = read(source->descriptor, data, size);
    while (done < 0 && errno == EINTR);
    if (done < 0)
        return error_system(error, "read", source->name);
    *got = (size_t)done;
    XXH64_update(&source->digest, data, *got);
    source->ended = done == 0;
    atomic_fetch_add_explicit(&source->raw_bytes, (uint64_t)done, memory_order_relaxed);
    return source->spool >= 0
               ? descriptor_write(source->spool, data, *got, "a scratch file in TMPDIR", error)
               : COG_OK;
}

static cog_status refill(struct byte_source *source, cog_error *error) {
    size_t got = 0;
    cog_status status = read_raw(source, source->buffer, SOURCE_BUFFER_BYTES, &got, error);
    source->pending = view_of(source->buffer, got);
    return status;
}

/* Pipes deliver in pieces: as many bytes as a magic number needs, unless the file is shorter. */
static cog_status peek(struct byte_source *source, cog_error *error) {
    size_t size = 0;
    while (size < MAGIC_BYTES && !source->ended) {
        size_t got = 0;
        TRY(read_raw(source, source->buffer + size, SOURCE_BUFFER_BYTES - size, &got, error));
        size += got;
    }
    source->pending = view_of(source->buffer, size);
    return COG_OK;
}

static cog_status start_decompressor(struct byte_source *source, cog_error *error) {
    size_t suffix;
    enum compression promised = compression_of_name(source->name, &suffix);
    enum compression found = compression_of_bytes(source->pending.data, source->pending.size);
    if (promised != COMPRESSION_NONE && found == COMPRESSION_NONE)
        return error_set(
            error, COG_ERR_INPUT,
            "%s: named as %s, but %s; fetch it again, or rename it if it is plain text",
            source->name, compression_name(promised),
            source->pending.size ? "its first bytes are not" : "empty");
    if (found == COMPRESSION_NONE)
        return COG_OK;
    source->decompressor = decompressor_create(found);
    return source->decompressor ? COG_OK : error_memory(error, 0, "decompression");
}

cog_status byte_source_start(struct byte_source *source, int descriptor, bool owns_descriptor,
                             const char *name, int spool, cog_error *error) {
    if (!source->buffer && !(source->buffer = malloc(SOURCE_BUFFER_BYTES))) {
        if (owns_descriptor)
            close(descriptor);
        return error_memory(error, SOURCE_BUFFER_BYTES, "reading");
    }
    source->descriptor = descriptor;
    source->owns_descriptor = owns_descriptor;
    source->name = name;
    source->spool = spool;
    source->ended = false;
    XXH64_reset(&source->digest, 0);
    cog_status status = peek(source, error);
    THEN(status, start_decompressor(source, error));
    if (status != COG_OK)
        byte_source_stop(source);
    return status;
}

static cog_status read_plain(struct byte_source *source, char *data, size_t size, size_t *got,
                             cog_error *error) {
    if (source->pending.size == 0)
        return source->ended ? COG_OK : read_raw(source, data, size, got, error);
    *got = size < source->pending.size ? size : source->pending.size;
    memcpy(data, source->pending.data, *got);
    source->pending.data += *got;
    source->pending.size -= *got;
    return COG_OK;
}

static cog_status damaged(const struct byte_source *source, cog_status status, const char *how,
                          cog_error *error) {
    uint64_t read_bytes = atomic_load_explicit(&source->raw_bytes, memory_order_relaxed);
    if (status == COG_ERR_MEMORY)
        return error_set(error, status, "%s: out of memory for decompression", source->name);
    return error_set_at(error, COG_ERR_INPUT, read_bytes,
                        "%s: the compressed stream %s; fetch the file again", source->name, how);
}

static cog_status read_compressed(struct byte_source *source, char *data, size_t size, size_t *got,
                                  cog_error *error) {
    while (*got == 0) {
        cog_status status = COG_OK;
        if (source->pending.size == 0 && !source->ended)
            status = refill(source, error);
        if (status != COG_OK)
            return status;
        size_t before = source->pending.size;
        status = codec_run(source->decompressor, &source->pending, source->ended, data, size, got);
        if (status != COG_OK)
            return damaged(source, status, "is damaged", error);
        if (*got)
            return COG_OK;
        if (source->pending.size == 0 && source->ended)
            return codec_is_complete(source->decompressor)
                       ? COG_OK
                       : damaged(source, COG_ERR_INPUT, "stops early (truncated)", error);
        if (before && source->pending.size == before)
            return damaged(source, COG_ERR_INPUT, "is damaged", error);
    }
    return COG_OK;
}

cog_status byte_source_read(struct byte_source *source, char *data, size_t size, size_t *got,
                            cog_error *error) {
    *got = 0;
    return source->decompressor ? read_compressed(source, data, size, got, error)
                                : read_plain(source, data, size, got, error);
}

cog_status byte_source_drain(struct byte_source *source, cog_error *error) {
    cog_status status = COG_OK;
    while (status == COG_OK && !source->ended)
        status = refill(source, error);
    return status;
}

void byte_source_stop(struct byte_source *source) {
    if (source->descriptor >= 0 && source->owns_descriptor)
        close(source->descriptor);
    source->descriptor = -1;
    codec_free(source->decompressor);
    source->decompressor = NULL;
    source->pending = view_of(NULL, 0);
}

void byte_source_free(struct byte_source *source) {
    byte_source_stop(source);
    free(source->buffer);
    source->buffer = NULL;
}
