#include "collection/bag_spool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/output.h"

/* A batch on disk: its size, then its documents. A document: the header below, hashes, frequencies,
 * weights where it has them, id, each padded to 8 bytes, so that the arrays are used as they lie.
 */
struct spooled {
    uint64_t length;
    uint64_t term_count;
    uint64_t has_weights;
    uint64_t id_size;
};

struct bag_spool {
    int descriptor;
    bool failed;
    uint64_t written, read;
};

cog_status bag_spool_create(const char *beside, struct bag_spool **result, cog_error *error) {
    struct bag_spool *spool;
    TAKE_ZEROED(spool, 1, "a spool", error);
    spool->descriptor = scratch_file_open_beside(beside, error);
    if (spool->descriptor < 0) {
        free(spool);
        return COG_ERR_IO;
    }
    *result = spool;
    return COG_OK;
}

void bag_spool_free(struct bag_spool *spool) {
    if (!spool)
        return;
    close(spool->descriptor);
    free(spool);
}

static size_t padded_size(size_t size) {
    return (size + 7) / 8 * 8;
}

static char *append_padded(char *to, const void *from, size_t size) {
    if (size)
        memcpy(to, from, size);
    memset(to + size, 0, padded_size(size) - size);
    return to + padded_size(size);
}

bool bag_spool_encode(struct buffer *batch, struct bytes_view id, const struct bag_view *bag) {
    struct spooled header = {bag->length, bag->count, bag->weights != NULL, id.size};
    size_t hashes = bag->count * sizeof *bag->hashes;
    size_t frequencies = bag->count * sizeof *bag->frequencies;
    size_t weights = bag->weights ? bag->count * sizeof *bag->weights : 0;
    size_t total = sizeof header + hashes + padded_size(frequencies) + padded_size(weights) +
                   padded_size(id.size);
    if (!buffer_reserve(batch, total))
        return false;
    char *at = append_padded(batch->data + batch->size, &header, sizeof header);
    at = append_padded(at, bag->hashes, hashes);
    at = append_padded(at, bag->frequencies, frequencies);
    at = append_padded(at, bag->weights, weights);
    append_padded(at, id.data, id.size);
    batch->size += total;
    return true;
}

static bool write_piece(struct bag_spool *spool, const void *data, size_t size) {
    bool written = descriptor_write_at(spool->descriptor, data, size, spool->written,
                                       "scratch file", NULL) == COG_OK;
    spool->written += written ? size : 0;
    return written;
}

void bag_spool_write(struct bag_spool *spool, const struct buffer *batch) {
    uint64_t size = batch->size;
    if (spool->failed || size == 0)
        return;
    spool->failed =
        !write_piece(spool, &size, sizeof size) || !write_piece(spool, batch->data, batch->size);
    if (spool->failed) /* nobody reads it any more: make room */
        (void)!ftruncate(spool->descriptor, 0);
}

bool bag_spool_is_complete(const struct bag_spool *spool) {
    return !spool->failed;
}

void bag_spool_rewind(struct bag_spool *spool) {
    spool->read = 0;
}

static cog_status read_piece(struct bag_spool *spool, void *data, size_t size, cog_error *error) {
    cog_status status =
        descriptor_read_at(spool->descriptor, data, size, spool->read, "scratch file", error);
    spool->read += size;
    return status;
}

cog_status bag_spool_read(struct bag_spool *spool, struct buffer *batch, bool *end,
                          cog_error *error) {
    uint64_t size = 0;
    buffer_reset(batch);
    if (spool->read == spool->written) {
        *end = true;
        return COG_OK;
    }
    cog_status status = read_piece(spool, &size, sizeof size, error);
    if (status == COG_OK && !buffer_reserve(batch, size))
        status = error_memory(error, size, "a batch of documents");
    THEN(status, read_piece(spool, batch->data, size, error));
    batch->size = status == COG_OK ? size : 0;
    return status;
}

void bag_spool_decode(const struct buffer *batch, size_t *at, struct bytes_view *id,
                      struct bag_view *bag) {
    struct spooled header;
    const char *data = batch->data + *at;
    memcpy(&header, data, sizeof header);
    data += sizeof header;
    *bag = (struct bag_view){.hashes = (const uint64_t *)(const void *)data,
                             .count = header.term_count,
                             .length = header.length};
    data += header.term_count * sizeof *bag->hashes;
    bag->frequencies = (const uint32_t *)(const void *)data;
    data += padded_size(header.term_count * sizeof *bag->frequencies);
    if (header.has_weights) {
        bag->weights = (const float *)(const void *)data;
        data += padded_size(header.term_count * sizeof *bag->weights);
    }
    *id = view_of(data, header.id_size);
    *at = (size_t)(data - batch->data) + padded_size(header.id_size);
}
