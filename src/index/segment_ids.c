#include "index/segment_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "index/segment.h"

/* Fewer than 2^29 buckets: the product fits in 64 bits. */
static inline size_t id_bucket_of(uint64_t hash, size_t buckets) {
    return (size_t)((hash >> 32) * buckets >> 32);
}

static uint8_t tag_of(uint64_t hash) {
    return (uint8_t)hash;
}

static void id_entry_encode(uint8_t entry[ID_ENTRY_BYTES], uint64_t hash, uint32_t row) {
    entry[0] = tag_of(hash);
    encode_u32(entry + 1, row);
}

static cog_status damaged(const struct segment *segment, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT,
                     "%s: the table of ids is damaged; build the index again, or restore the file",
                     segment->container.path);
}

static bool hash_of_row(const struct segment *segment, size_t row, uint64_t *hash) {
    struct bytes_view id;
    if (!segment_id(segment, row, &id))
        return false;
    *hash = hash_bytes(id.data, id.size);
    return true;
}

/* ---- The table -------------------------------------------------------------------------------
 *
 * Ids are hashed twice, once to count and once to place them, instead of storing eight bytes each.
 */

enum { DIGITS_MAX = 20 };

/* A decimal number incremented in place: many times faster than printing every number. */
struct counter {
    char digits[DIGITS_MAX + 1]; /* right-aligned, followed by a NUL */
    char *begin;
};

static void counter_start(struct counter *counter, uint64_t number) {
    char text[DIGITS_MAX + 1];
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    counter->begin = counter->digits + DIGITS_MAX - length;
    memcpy(counter->begin, text, (size_t)length + 1);
}

static void counter_advance(struct counter *counter) {
    char *digit = counter->digits + DIGITS_MAX - 1;
    while (digit >= counter->begin && *digit == '9')
        *digit-- = '0';
    if (digit >= counter->begin) {
        ++*digit;
    } else if (digit >= counter->digits) {
        *digit = '1';
        counter->begin = digit;
    }
}

static size_t counter_size(const struct counter *counter) {
    return (size_t)(counter->digits + DIGITS_MAX - counter->begin);
}

/* The ids that a table is built from: those of a segment, or numbers from `first` on. */
struct hashed_ids {
    const struct segment *segment; /* NULL: numbers */
    uint64_t first;
    struct counter counter;
};

/* The hash of a row's id; call for rows in order, from 0. False if the id is damaged. */
static bool next_hash(struct hashed_ids *ids, size_t row, uint64_t *hash) {
    if (ids->segment)
        return hash_of_row(ids->segment, row, hash);
    if (row == 0)
        counter_start(&ids->counter, ids->first);
    else
        counter_advance(&ids->counter);
    *hash = hash_bytes(ids->counter.begin, counter_size(&ids->counter));
    return true;
}

/* Sets starts[bucket] to the beginning of the bucket. */
static bool count_ids(struct hashed_ids *ids, size_t rows, uint32_t *starts) {
    size_t buckets = id_buckets_count(rows);
    uint64_t hash;
    for (size_t row = 0; row < rows; row++) {
        if (!next_hash(ids, row, &hash))
            return false;
        starts[id_bucket_of(hash, buckets) + 1]++;
    }
    for (size_t bucket = 0; bucket < buckets; bucket++)
        starts[bucket + 1] += starts[bucket];
    return true;
}

/* Writes the entries of buckets [begin, end) and advances starts[bucket] to the bucket's end. */
static void fill_entries(struct hashed_ids *ids, size_t rows, size_t begin, size_t end,
                         uint32_t *starts, uint8_t *entries) {
    size_t buckets = id_buckets_count(rows), base = starts[begin];
    uint64_t hash = 0;
    for (size_t row = 0; row < rows; row++) {
        next_hash(ids, row, &hash);
        size_t bucket = id_bucket_of(hash, buckets);
        if (bucket >= begin && bucket < end)
            id_entry_encode(entries + (starts[bucket]++ - base) * ID_ENTRY_BYTES, hash,
                            (uint32_t)row);
    }
}

cog_status id_buckets_build(const struct segment *segment, struct id_buckets *buckets,
                            cog_error *error) {
    TAKE_ZEROED(buckets->starts, id_buckets_count(segment->rows) + 1, "a table of ids", error);
    TAKE(buckets->entries, segment->rows * ID_ENTRY_BYTES, "a table of ids", error);
    struct hashed_ids ids = {.segment = segment};
    if (!count_ids(&ids, segment->rows, buckets->starts))
        return error_set(error, COG_ERR_FORMAT,
                         "%s: the ids are damaged; build the index again, or restore the file",
                         segment->container.path);
    size_t count = id_buckets_count(segment->rows);
    fill_entries(&ids, segment->rows, 0, count, buckets->starts, buckets->entries);
    for (size_t bucket = count; bucket > 0; bucket--) /* each start is now its bucket's end */
        buckets->starts[bucket] = buckets->starts[bucket - 1];
    buckets->starts[0] = 0;
    return COG_OK;
}

void id_buckets_free(struct id_buckets *buckets) {
    FREE(buckets->starts, buckets->entries);
    *buckets = (struct id_buckets){0};
}

cog_status id_buckets_find(const struct id_buckets *buckets, const struct segment *segment,
                           struct bytes_view id, uint64_t *row, cog_error *error) {
    uint64_t hash = hash_bytes(id.data, id.size);
    size_t bucket = id_bucket_of(hash, id_buckets_count(segment->rows));
    uint32_t begin = buckets->starts[bucket], end = buckets->starts[bucket + 1];
    *row = UINT64_MAX;
    if (begin > end || end > segment->rows)
        return damaged(segment, error);
    for (size_t i = begin; i < end; i++) {
        const uint8_t *entry = buckets->entries + i * ID_ENTRY_BYTES;
        struct bytes_view other;
        if (entry[0] != tag_of(hash))
            continue;
        uint32_t candidate = decode_u32(entry + 1);
        if (!segment_id(segment, candidate, &other))
            return damaged(segment, error);
        if (view_equals(id, other)) {
            *row = candidate;
            return COG_OK;
        }
    }
    return COG_OK;
}

static bool bucket_is_right(const struct id_buckets *buckets, const struct segment *segment,
                            size_t bucket) {
    uint32_t begin = buckets->starts[bucket], end = buckets->starts[bucket + 1], last = 0;
    if (begin > end || end > segment->rows)
        return false;
    for (size_t i = begin; i < end; i++) {
        const uint8_t *entry = buckets->entries + i * ID_ENTRY_BYTES;
        uint32_t row = decode_u32(entry + 1);
        uint64_t hash;
        if (!hash_of_row(segment, row, &hash) || entry[0] != tag_of(hash) ||
            id_bucket_of(hash, id_buckets_count(segment->rows)) != bucket ||
            (i > begin && row <= last))
            return false;
        last = row;
    }
    return true;
}

cog_status id_buckets_check(const struct id_buckets *buckets, const struct segment *segment,
                            cog_error *error) {
    size_t count = id_buckets_count(segment->rows);
    bool right = buckets->starts[0] == 0 && buckets->starts[count] == segment->rows;
    for (size_t bucket = 0; bucket < count && right; bucket++)
        right = bucket_is_right(buckets, segment, bucket);
    return right ? COG_OK : damaged(segment, error);
}

/* ---- Writing a table -------------------------------------------------------------------------
 *
 * The buckets are written in parts; every part reads all ids again. */

enum { TABLE_PARTS = 4, TABLE_BYTES = 16 << 20 };

static cog_status write_entries(struct container_writer *writer, struct hashed_ids *ids,
                                size_t rows, uint32_t *starts, cog_error *error) {
    size_t buckets = id_buckets_count(rows), step = TABLE_BYTES / ID_BUCKET_ROWS / ID_ENTRY_BYTES;
    step = step > buckets / TABLE_PARTS ? buckets / TABLE_PARTS + 1 : step;
    TRY(container_writer_begin(writer, SECTION_ID_ENTRIES, error));
    for (size_t begin = 0; begin < buckets; begin += step) {
        size_t end = begin + step < buckets ? begin + step : buckets;
        size_t size_bytes = (size_t)(starts[end] - starts[begin]) * ID_ENTRY_BYTES;
        uint8_t *entries;
        TAKE(entries, size_bytes, "a table of ids", error);
        fill_entries(ids, rows, begin, end, starts, entries);
        cog_status status = container_writer_append(writer, entries, size_bytes, error);
        free(entries);
        TRY(status);
    }
    return container_writer_end(writer, error);
}

static cog_status write_table(struct container_writer *writer, struct hashed_ids *ids, size_t rows,
                              cog_error *error) {
    size_t count = id_buckets_count(rows) + 1;
    uint32_t *starts;
    TAKE_ZEROED(starts, count, "a table of ids", error);
    cog_status status = count_ids(ids, rows, starts)
                            ? COG_OK
                            : error_set(error, COG_ERR_USAGE, "ids that are impossible");
    THEN(status, container_writer_section(writer, SECTION_ID_STARTS, starts, count * sizeof *starts,
                                          error));
    THEN(status, write_entries(writer, ids, rows, starts, error));
    free(starts);
    return status;
}

cog_status id_buckets_write(struct container_writer *writer, const struct segment *segment,
                            cog_error *error) {
    struct hashed_ids ids = {.segment = segment};
    return write_table(writer, &ids, segment->rows, error);
}

/* ---- Numbers as ids -------------------------------------------------------------------------- */

enum { OFFSETS_AT_ONCE = 4096 };

static cog_status write_offsets(struct container_writer *writer, uint64_t first, size_t rows,
                                cog_error *error) {
    uint64_t offsets[OFFSETS_AT_ONCE], end = 0;
    struct counter counter;
    size_t count = 0;
    counter_start(&counter, first);
    TRY(container_writer_begin(writer, SECTION_ID_OFFSETS, error));
    for (size_t row = 0; row <= rows; row++, counter_advance(&counter)) {
        offsets[count++] = end;
        end += counter_size(&counter);
        if (count < OFFSETS_AT_ONCE && row < rows)
            continue;
        TRY(container_writer_append(writer, offsets, count * sizeof *offsets, error));
        count = 0;
    }
    return container_writer_end(writer, error);
}

static cog_status write_bytes(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error) {
    char bytes[OFFSETS_AT_ONCE * DIGITS_MAX];
    struct counter counter;
    size_t used = 0;
    counter_start(&counter, first);
    TRY(container_writer_begin(writer, SECTION_ID_BYTES, error));
    for (size_t row = 0; row < rows; row++, counter_advance(&counter)) {
        memcpy(bytes + used, counter.begin, counter_size(&counter));
        used += counter_size(&counter);
        if (used + DIGITS_MAX <= sizeof bytes && row + 1 < rows)
            continue;
        TRY(container_writer_append(writer, bytes, used, error));
        used = 0;
    }
    return container_writer_end(writer, error);
}

cog_status numbered_ids_write(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error) {
    TRY(write_offsets(writer, first, rows, error));
    TRY(write_bytes(writer, first, rows, error));
    struct hashed_ids ids = {.first = first};
    return write_table(writer, &ids, rows, error);
}

double numbered_ids_memory_bytes(size_t rows) {
    double entries = (double)rows * ID_ENTRY_BYTES / TABLE_PARTS;
    return (double)id_buckets_count(rows) * sizeof(uint32_t) +
           (entries < TABLE_BYTES ? entries : TABLE_BYTES);
}
