#include "collection/bag_spool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"

/* A document of a batch in memory: this header, hashes, frequencies, weights if any, and id, each
 * padded to 8 bytes so that the arrays are used in place. */
struct spooled {
    uint64_t length;
    uint64_t term_count;
    uint64_t has_weights;
    uint64_t id_size;
};

/* On disk, a batch is its documents one after the other without padding, each with this header.
 * Frequencies are stored as bytes if all of them fit. */
struct packed {
    uint64_t length;
    uint32_t term_count;
    uint32_t id_size;
    uint8_t has_weights, wide_frequencies;
};
enum { PACKED_BYTES = 18 };

struct spool_batch {
    uint64_t offset; /* in the file */
    uint64_t size_bytes;
    uint64_t memory_bytes; /* of the batch once it is read */
    uint64_t first_row;
};

struct bag_spool {
    int descriptor;
    bool failed;
    struct spool_batch *batches;
    size_t batch_count, batch_capacity, next; /* next: the batch to read next */
    uint64_t written, rows;
    struct buffer packed; /* a batch being written or read */
};

cog_status bag_spool_create(const char *near_path, struct bag_spool **result, cog_error *error) {
    struct bag_spool *spool;
    TAKE_ZEROED(spool, 1, "a spool", error);
    cog_status status = scratch_file_open_near(near_path, &spool->descriptor, error);
    return HAND_OUT(status, spool, free, result);
}

void bag_spool_free(struct bag_spool *spool) {
    if (!spool)
        return;
    close(spool->descriptor);
    buffer_free(&spool->packed);
    FREE(spool->batches, spool);
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

/* ---- Packing --------------------------------------------------------------------------------- */

static bool frequencies_are_bytes(const struct bag_view *bag) {
    uint32_t all = 0;
    for (size_t i = 0; i < bag->count; i++)
        all |= bag->frequencies[i];
    return all <= UINT8_MAX;
}

static char *pack_header(char *to, const struct packed *header) {
    memcpy(to, &header->length, 8);
    memcpy(to + 8, &header->term_count, 4);
    memcpy(to + 12, &header->id_size, 4);
    to[16] = (char)header->has_weights;
    to[17] = (char)header->wide_frequencies;
    return to + PACKED_BYTES;
}

static const char *unpack_header(const char *from, struct packed *header) {
    memcpy(&header->length, from, 8);
    memcpy(&header->term_count, from + 8, 4);
    memcpy(&header->id_size, from + 12, 4);
    header->has_weights = (uint8_t)from[16];
    header->wide_frequencies = (uint8_t)from[17];
    return from + PACKED_BYTES;
}

static char *put(char *to, const void *from, size_t size) {
    if (size)
        memcpy(to, from, size);
    return to + size;
}

/* A packed document is never larger than in memory. */
static char *pack_document(char *to, struct bytes_view id, const struct bag_view *bag) {
    const bool wide = !frequencies_are_bytes(bag);
    const struct packed header = {bag->length, (uint32_t)bag->count, (uint32_t)id.size,
                                  bag->weights != NULL, wide};
    to = pack_header(to, &header);
    to = put(to, bag->hashes, bag->count * sizeof *bag->hashes);
    if (wide)
        to = put(to, bag->frequencies, bag->count * sizeof *bag->frequencies);
    for (size_t i = 0; i < bag->count && !wide; i++)
        *to++ = (char)bag->frequencies[i];
    if (bag->weights)
        to = put(to, bag->weights, bag->count * sizeof *bag->weights);
    return put(to, id.data, id.size);
}

/* Packs a batch into spool->packed; false if out of memory. */
static bool pack_batch(struct bag_spool *spool, const struct buffer *batch) {
    buffer_reset(&spool->packed);
    if (!buffer_reserve(&spool->packed, batch->size))
        return false;
    char *to = spool->packed.data;
    for (size_t at = 0; at < batch->size; spool->rows++) {
        struct bytes_view id;
        struct bag_view bag;
        bag_spool_decode(batch, &at, &id, &bag);
        to = pack_document(to, id, &bag);
    }
    spool->packed.size = (size_t)(to - spool->packed.data);
    return true;
}

static const char *unpack_frequencies(const struct packed *header, const char *from, char *to) {
    const size_t bytes = header->term_count * sizeof(uint32_t);
    if (header->wide_frequencies) {
        append_padded(to, from, bytes);
        return from + bytes;
    }
    uint32_t *frequencies = (uint32_t *)(void *)to;
    for (size_t i = 0; i < header->term_count; i++)
        frequencies[i] = (uint8_t)from[i];
    memset(to + bytes, 0, padded_size(bytes) - bytes);
    return from + header->term_count;
}

/* Unpacks the document at `from` to *to; returns the end of the packed document. */
static const char *unpack_document(const char *from, char **to) {
    struct packed packed;
    from = unpack_header(from, &packed);
    const size_t hashes = packed.term_count * sizeof(uint64_t);
    const size_t weights = packed.has_weights ? packed.term_count * sizeof(float) : 0;
    const struct spooled header = {packed.length, packed.term_count, packed.has_weights,
                                   packed.id_size};
    *to = append_padded(*to, &header, sizeof header);
    *to = append_padded(*to, from, hashes);
    from = unpack_frequencies(&packed, from + hashes, *to);
    *to += padded_size(packed.term_count * sizeof(uint32_t));
    *to = append_padded(*to, from, weights);
    *to = append_padded(*to, from + weights, packed.id_size);
    return from + weights + packed.id_size;
}

static void unpack_batch(const struct buffer *packed, struct buffer *batch) {
    char *to = batch->data;
    for (const char *from = packed->data; from < packed->data + packed->size;)
        from = unpack_document(from, &to);
    batch->size = (size_t)(to - batch->data);
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool write_batch(struct bag_spool *spool, const struct buffer *batch) {
    struct spool_batch entry = {spool->written, 0, batch->size, spool->rows};
    if (!memory_grow((void **)&spool->batches, &spool->batch_capacity, spool->batch_count + 1,
                     sizeof *spool->batches) ||
        !pack_batch(spool, batch) ||
        descriptor_write_at(spool->descriptor, spool->packed.data, spool->packed.size,
                            spool->written, "scratch file", NULL) != COG_OK)
        return false;
    entry.size_bytes = spool->packed.size;
    spool->written += entry.size_bytes;
    spool->batches[spool->batch_count++] = entry;
    return true;
}

void bag_spool_write(struct bag_spool *spool, const struct buffer *batch) {
    if (spool->failed || batch->size == 0)
        return;
    spool->failed = !write_batch(spool, batch);
    if (spool->failed) /* nobody reads it any more: free the disk space */
        (void)!ftruncate(spool->descriptor, 0);
}

bool bag_spool_is_complete(const struct bag_spool *spool) {
    return !spool->failed;
}

uint64_t bag_spool_size_bytes(const struct bag_spool *spool) {
    return spool->written;
}

void bag_spool_rewind(struct bag_spool *spool) {
    spool->next = 0;
}

size_t bag_spool_seek(struct bag_spool *spool, size_t row) {
    size_t behind;
    FIND_FIRST_NOT(behind, 1, spool->batch_count, spool->batches[behind].first_row <= row);
    spool->next = behind - 1;
    return spool->next < spool->batch_count ? spool->batches[spool->next].first_row : 0;
}

cog_status bag_spool_read(struct bag_spool *spool, struct buffer *batch, bool *end,
                          cog_error *error) {
    buffer_reset(batch);
    if (spool->next == spool->batch_count) {
        *end = true;
        return COG_OK;
    }
    const struct spool_batch *entry = &spool->batches[spool->next++];
    buffer_reset(&spool->packed);
    if (!buffer_reserve(batch, entry->memory_bytes) ||
        !buffer_reserve(&spool->packed, entry->size_bytes))
        return error_memory(error, entry->memory_bytes, "a batch of documents");
    TRY(descriptor_read_at(spool->descriptor, spool->packed.data, entry->size_bytes, entry->offset,
                           "scratch file", error));
    spool->packed.size = entry->size_bytes;
    unpack_batch(&spool->packed, batch);
    return COG_OK;
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
