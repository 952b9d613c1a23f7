#include "jobs/dedup/keep_order.h"

#include <ctype.h>
#include <string.h>

#include "base/numbers.h"

cog_status keep_order_check(const cog_dedup_options *options, const cog_documents *documents,
                            cog_error *error) {
    if (options->keep != COG_KEEP_FIELD)
        return COG_OK;
    if (!options->keep_field || !*options->keep_field)
        return error_about(error, COG_ERR_USAGE, "keep", "the field to keep by has no name");
    return reader_set_extra_field(documents->source, options->keep_field, error);
}

/* ---- Values of fields ------------------------------------------------------------------------ */

/* Maps numbers to integers above 0 in the same order. */
static uint64_t ordered_bits(double number) {
    uint64_t bits;
    number += 0.0; /* -0 is 0 */
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Converts a date or time, such as 2024-05-01T10:00:00Z, to the number 20240501.1; the time is a
 * fraction, so that dates with and without a time compare. Ignores time zones. False for other
 * text. */
static bool parse_date(struct bytes_view text, double *number) {
    enum { DAY_DIGITS = 8, MINUTE_DIGITS = 12, DIGITS_MOST = 24 };
    double unit = 1;
    size_t digits = 0;
    bool is_zone = false;
    *number = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char c = text.data[i];
        if (isdigit((unsigned char)c)) {
            if (++digits <= DAY_DIGITS)
                *number = *number * 10 + (c - '0');
            else if (!is_zone)
                *number += (c - '0') * (unit /= 10);
        } else if (c == 'Z' || c == '+' || (c == '-' && digits >= MINUTE_DIGITS)) {
            is_zone = true;
        } else if (!c || !strchr("-/:. T", c)) {
            return false;
        }
    }
    return digits >= DAY_DIGITS && digits <= DIGITS_MOST;
}

/* 0 means that there is no value. */
static uint64_t key_of_value(struct bytes_view value, bool least) {
    double number;
    uint64_t key = 0;
    if (!value.data || value.size == 0)
        return 0;
    if (number_parse(value, &number) || parse_date(value, &number)) {
        key = ordered_bits(number);
    } else {
        for (size_t i = 0; i < sizeof key; i++)
            key = key << 8 | (i < value.size ? (unsigned char)value.data[i] : 0);
    }
    key = least ? ~key : key;
    return key ? key : 1;
}

struct key_batch {
    uint64_t *keys;
    size_t count, capacity;
};

struct key_reading {
    struct ingest *ingest;
    bool least;
    uint64_t *keys;
    size_t count, most, with_value;
};

static cog_status take_values(void *context, unsigned worker, void *ingest_batch,
                              cog_error *error) {
    const struct key_reading *reading = context;
    struct key_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(reading->ingest, worker, ingest_batch, &item, error));
        if (!item.document)
            return COG_OK;
        GROW(batch->keys, batch->capacity, batch->count + 1, "values of a field", error);
        batch->keys[batch->count++] = key_of_value(item.document->extra, reading->least);
    }
}

static cog_status deliver_values(void *context, void *ingest_batch, cog_error *error) {
    struct key_reading *reading = context;
    struct key_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    (void)error;
    for (size_t i = 0; i < batch->count && reading->count < reading->most; i++) {
        reading->with_value += batch->keys[i] != 0;
        reading->keys[reading->count++] = batch->keys[i];
    }
    batch->count = 0;
    return COG_OK;
}

static cog_status read_field(const cog_dedup_options *options, cog_documents *documents,
                             size_t count, struct job *job, uint64_t *keys, cog_error *error) {
    struct key_reading reading = {.least = options->keep_least, .keys = keys, .most = count};
    cog_status status = ingest_open(documents, NULL, sizeof(struct key_batch), "reading values",
                                    &job->run, job->report, true, &reading.ingest, error);
    THEN(status, ingest_run(reading.ingest, &reading, take_values, deliver_values, error));
    for (size_t i = 0; reading.ingest && i < reading.ingest->batch_count; i++)
        free(((struct key_batch *)reading.ingest->batches[i].result)->keys);
    ingest_close(reading.ingest);
    if (status == COG_OK && count && reading.with_value == 0)
        return error_about(error, COG_ERR_INPUT, "keep",
                           "no document has a value in the field '%s': check its name",
                           options->keep_field);
    return status;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

cog_status keep_order_keys(const cog_dedup_options *options, cog_documents *documents, size_t count,
                           struct job *job, uint64_t *keys, cog_error *error) {
    if (options->keep == COG_KEEP_FIELD)
        return read_field(options, documents, count, job, keys, error);
    for (size_t row = 0; row < count && options->keep != COG_KEEP_LONGEST; row++)
        keys[row] = options->keep == COG_KEEP_LAST ? row : 0;
    return COG_OK;
}
