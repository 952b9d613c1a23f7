#include "search/multisort/multisort_scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/output.h"

enum { DIGIT_BITS_MAX = 12, BUFFER_BYTES_MIN = 4096 };

static const char scratch_name[] = "a scratch file in TMPDIR";

/* A record is the words of the key, then the row. */
static size_t record_bytes(unsigned key_bits) {
    return key_bits / 8 + sizeof(uint32_t);
}

size_t scratch_rows_within(size_t memory_bytes, unsigned key_bits) {
    return memory_bytes / (2 * record_bytes(key_bits) + sizeof(uint32_t));
}

cog_status scratch_parts_open(struct scratch_parts *parts, const struct signatures_view *views,
                              unsigned view_count, size_t memory_bytes, cog_error *error) {
    *parts = (struct scratch_parts){.views = views, .view_count = view_count, .descriptor = -1};
    for (unsigned v = 0; v < view_count; v++)
        parts->rows += views[v].rows;
    parts->buffer_bytes = memory_bytes / 4;
    parts->part_rows = scratch_rows_within(memory_bytes - parts->buffer_bytes, views->bits);
    parts->descriptor = scratch_file_open(error);
    if (parts->descriptor < 0)
        return error ? error->status : COG_ERR_IO;
    errno = posix_fallocate(parts->descriptor, 0, (off_t)(parts->rows * record_bytes(views->bits)));
    return errno ? error_system(error, "take space for", "a scratch file in TMPDIR") : COG_OK;
}

void scratch_parts_close(struct scratch_parts *parts) {
    if (parts->descriptor >= 0)
        close(parts->descriptor);
    parts->descriptor = -1;
}

/* How a pass cuts the rows: the part of each digit, where each part lies, and its buffer. */
struct cut {
    unsigned bit, width;
    uint32_t part_of[1 << DIGIT_BITS_MAX];
    size_t starts[(1 << DIGIT_BITS_MAX) + 1]; /* first row of each part */
    size_t written[1 << DIGIT_BITS_MAX];      /* rows of each part that are on disk */
    size_t buffered[1 << DIGIT_BITS_MAX];
    size_t count;
    char *buffers;
    size_t buffer_records;
};

static unsigned digit_of(const struct cut *cut, short_key key) {
    return (unsigned)((key << cut->bit) >> (128 - cut->width));
}

/* Joins neighbouring digits into parts of at most part_rows. */
static cog_status plan_cut(const struct scratch_parts *parts, struct cut *cut, cog_error *error) {
    size_t *counts = memory_zeroed_array((size_t)1 << cut->width, sizeof *counts);
    if (!counts)
        return error_memory(error, sizeof *counts << cut->width, "the parts of a join");
    for (unsigned v = 0; v < parts->view_count; v++)
        for (size_t row = 0; row < parts->views[v].rows; row++)
            counts[digit_of(cut, short_key_of_row(&parts->views[v], row))]++;
    size_t in_part = 0, most = 0;
    cut->count = 1;
    cut->starts[0] = 0;
    cut->starts[1] = 0;
    for (size_t digit = 0; digit < (size_t)1 << cut->width; digit++) {
        if (in_part > 0 && in_part + counts[digit] > parts->part_rows) {
            in_part = 0;
            cut->count++;
            cut->starts[cut->count] = cut->starts[cut->count - 1];
        }
        cut->part_of[digit] = (uint32_t)(cut->count - 1);
        in_part += counts[digit];
        most = counts[digit] > most ? counts[digit] : most;
        cut->starts[cut->count] += counts[digit];
    }
    free(counts);
    if (most > parts->part_rows)
        return error_set(error, COG_ERR_MEMORY,
                         "%zu rows are too alike to be joined in parts of %zu: allow more memory",
                         most, parts->part_rows);
    return COG_OK;
}

static cog_status write_buffer(const struct scratch_parts *parts, struct cut *cut, size_t part,
                               cog_error *error) {
    size_t record = record_bytes(parts->views->bits);
    size_t at = (cut->starts[part] + cut->written[part]) * record;
    size_t count = cut->buffered[part];
    cut->written[part] += count;
    cut->buffered[part] = 0;
    return descriptor_write_at(parts->descriptor,
                               cut->buffers + part * cut->buffer_records * record, count * record,
                               at, scratch_name, error);
}

static cog_status write_parts(const struct scratch_parts *parts, struct cut *cut,
                              cog_error *error) {
    size_t record = record_bytes(parts->views->bits), key_bytes = record - sizeof(uint32_t);
    uint32_t number = 0;
    cog_status status = COG_OK;
    for (unsigned v = 0; v < parts->view_count; v++)
        for (size_t row = 0; row < parts->views[v].rows && status == COG_OK; row++, number++) {
            short_key key = short_key_of_row(&parts->views[v], row);
            size_t part = cut->part_of[digit_of(cut, key)];
            size_t place = part * cut->buffer_records + cut->buffered[part]++;
            uint64_t words[2] = {(uint64_t)(key >> 64), (uint64_t)key};
            memcpy(cut->buffers + place * record, words, key_bytes);
            memcpy(cut->buffers + place * record + key_bytes, &number, sizeof number);
            if (cut->buffered[part] == cut->buffer_records)
                status = write_buffer(parts, cut, part, error);
        }
    for (size_t part = 0; part < cut->count && status == COG_OK; part++)
        status = write_buffer(parts, cut, part, error);
    return status;
}

/* Reads a part through the (then idle) write buffers. */
static cog_status read_part(const struct scratch_parts *parts, const struct cut *cut, size_t part,
                            struct key_array *keys, cog_error *error) {
    unsigned words = parts->views->bits / 64;
    size_t record = record_bytes(parts->views->bits), key_bytes = record - sizeof(uint32_t);
    size_t count = cut->starts[part + 1] - cut->starts[part];
    size_t at_once = cut->count * cut->buffer_records;
    cog_status status = key_array_init(keys, count, words, true, error);
    for (size_t done = 0; done < count && status == COG_OK; done += at_once) {
        size_t now = count - done < at_once ? count - done : at_once;
        status = descriptor_read_at(parts->descriptor, cut->buffers, now * record,
                                    (cut->starts[part] + done) * record, scratch_name, error);
        for (size_t i = 0; i < now && status == COG_OK; i++) {
            memcpy(keys->keys + (done + i) * words, cut->buffers + i * record, key_bytes);
            memcpy(keys->rows + done + i, cut->buffers + i * record + key_bytes,
                   sizeof *keys->rows);
        }
    }
    if (status != COG_OK)
        key_array_free(keys);
    return status;
}

static cog_status visit(struct scratch_parts *parts, struct cut *cut, scratch_part_use *use,
                        void *context, cog_error *error) {
    cog_status status = plan_cut(parts, cut, error);
    if (status != COG_OK)
        return status;
    size_t record = record_bytes(parts->views->bits);
    size_t each = parts->buffer_bytes / cut->count;
    cut->buffer_records = (each < BUFFER_BYTES_MIN ? BUFFER_BYTES_MIN : each) / record;
    cut->buffers = memory_array(cut->count * cut->buffer_records, record);
    if (!cut->buffers)
        return error_memory(error, cut->count * cut->buffer_records * record,
                            "the parts of a join");
    status = write_parts(parts, cut, error);
    for (size_t part = 0; part < cut->count && status == COG_OK; part++) {
        struct key_array keys;
        if (cut->starts[part + 1] - cut->starts[part] < 2)
            continue;
        status = read_part(parts, cut, part, &keys, error);
        THEN(status, use(context, &keys, error));
    }
    free(cut->buffers);
    return status;
}

cog_status scratch_parts_visit(struct scratch_parts *parts, unsigned bit, unsigned width,
                               scratch_part_use *use, void *context, cog_error *error) {
    struct cut *cut = memory_zeroed_array(1, sizeof *cut);
    if (!cut)
        return error_memory(error, sizeof *cut, "the parts of a join");
    cut->bit = bit;
    cut->width = width < DIGIT_BITS_MAX ? width : DIGIT_BITS_MAX;
    cog_status status = visit(parts, cut, use, context, error);
    free(cut);
    return status;
}
