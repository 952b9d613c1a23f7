#include "index/numbered_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "index/id_buckets.h"
#include "index/segment_sections.h"

enum { DIGITS_MAX = 20, TABLE_PARTS = 4, OFFSETS_AT_ONCE = 4096 };

/* A number as text, counted up in place: many times faster than printing each. */
struct counter {
    char digits[DIGITS_MAX + 1]; /* at the end, and a NUL behind them */
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

static uint64_t counter_hash(const struct counter *counter) {
    return hash_bytes(counter->begin, counter_size(counter));
}

static cog_status write_offsets(struct container_writer *writer, uint64_t first, size_t rows,
                                cog_error *error) {
    uint64_t offsets[OFFSETS_AT_ONCE], end = 0;
    struct counter counter;
    size_t count = 0;
    counter_start(&counter, first);
    cog_status status = container_writer_begin(writer, SECTION_ID_OFFSETS, error);
    for (size_t row = 0; row <= rows && status == COG_OK; row++, counter_advance(&counter)) {
        offsets[count++] = end;
        end += counter_size(&counter);
        if (count < OFFSETS_AT_ONCE && row < rows)
            continue;
        status = container_writer_append(writer, offsets, count * sizeof *offsets, error);
        count = 0;
    }
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

static cog_status write_bytes(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error) {
    char bytes[OFFSETS_AT_ONCE * DIGITS_MAX];
    struct counter counter;
    size_t used = 0;
    counter_start(&counter, first);
    cog_status status = container_writer_begin(writer, SECTION_ID_BYTES, error);
    for (size_t row = 0; row < rows && status == COG_OK; row++, counter_advance(&counter)) {
        memcpy(bytes + used, counter.begin, counter_size(&counter));
        used += counter_size(&counter);
        if (used + DIGITS_MAX <= sizeof bytes && row + 1 < rows)
            continue;
        status = container_writer_append(writer, bytes, used, error);
        used = 0;
    }
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

static void count_rows(uint64_t first, size_t rows, uint32_t *starts) {
    size_t buckets = id_buckets_count(rows);
    struct counter counter;
    counter_start(&counter, first);
    for (size_t row = 0; row < rows; row++, counter_advance(&counter))
        starts[id_bucket_of(counter_hash(&counter), buckets) + 1]++;
    for (size_t bucket = 0; bucket < buckets; bucket++)
        starts[bucket + 1] += starts[bucket];
}

/* The entries of the buckets [begin, end), and where the next of each goes: starts[bucket] becomes
 * the bucket's end. */
static void fill_entries(uint64_t first, size_t rows, size_t begin, size_t end, uint32_t *starts,
                         uint8_t *entries) {
    size_t buckets = id_buckets_count(rows), base = starts[begin];
    struct counter counter;
    counter_start(&counter, first);
    for (size_t row = 0; row < rows; row++, counter_advance(&counter)) {
        uint64_t hash = counter_hash(&counter);
        size_t bucket = id_bucket_of(hash, buckets);
        if (bucket >= begin && bucket < end)
            id_entry_encode(entries + (starts[bucket]++ - base) * ID_ENTRY_BYTES, hash,
                            (uint32_t)row);
    }
}

static cog_status write_entries(struct container_writer *writer, uint64_t first, size_t rows,
                                uint32_t *starts, cog_error *error) {
    size_t buckets = id_buckets_count(rows), step = buckets / TABLE_PARTS + 1;
    cog_status status = container_writer_begin(writer, SECTION_ID_ENTRIES, error);
    for (size_t begin = 0; begin < buckets && status == COG_OK; begin += step) {
        size_t end = begin + step < buckets ? begin + step : buckets;
        size_t size_bytes = (size_t)(starts[end] - starts[begin]) * ID_ENTRY_BYTES;
        uint8_t *entries = memory_array(size_bytes + 1, 1);
        if (!entries)
            return error_memory(error, size_bytes, "a table of ids");
        fill_entries(first, rows, begin, end, starts, entries);
        status = container_writer_append(writer, entries, size_bytes, error);
        free(entries);
    }
    return status == COG_OK ? container_writer_end(writer, error) : status;
}

static cog_status write_table(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error) {
    size_t count = id_buckets_count(rows) + 1;
    uint32_t *starts = memory_zeroed_array(count, sizeof *starts);
    if (!starts)
        return error_memory(error, count * sizeof *starts, "a table of ids");
    count_rows(first, rows, starts);
    cog_status status =
        container_writer_section(writer, SECTION_ID_STARTS, starts, count * sizeof *starts, error);
    THEN(status, write_entries(writer, first, rows, starts, error));
    free(starts);
    return status;
}

cog_status numbered_ids_write(struct container_writer *writer, uint64_t first, size_t rows,
                              cog_error *error) {
    cog_status status = write_offsets(writer, first, rows, error);
    THEN(status, write_bytes(writer, first, rows, error));
    return status == COG_OK ? write_table(writer, first, rows, error) : status;
}

double numbered_ids_memory_bytes(size_t rows) {
    return (double)id_buckets_count(rows) * sizeof(uint32_t) +
           (double)rows * ID_ENTRY_BYTES / TABLE_PARTS;
}
