/* Columns of Arrow arrays as document readers need them: texts, and ids that are texts or integers.
 *
 * In: arrays of the Arrow C data interface (structs in cognate.h), borrowed. Out: one value at a
 * time, as a view of the array's own bytes. Text columns may be binary: each document is checked to
 * be valid UTF-8. Any column may be dictionary-encoded; a column without a type has only nulls.
 *
 * Everything that the interface lets us check is checked: the number of buffers, lengths, offsets
 * that run backwards. The interface does not carry the sizes of string and large_string data, so
 * their last offset is trusted. */
#pragma once

#include "base/error.h"
#include "base/memory.h"

enum arrow_type {
    ARROW_STRING,
    ARROW_LARGE_STRING,
    ARROW_STRING_VIEW,
    ARROW_INTEGER,
    ARROW_REAL,
    ARROW_NULL
};

struct arrow_number {
    unsigned width_bytes; /* 0: none */
    bool is_signed;
};

/* The type of a column, without its values. */
struct arrow_column_type {
    enum arrow_type type;
    struct arrow_number number; /* ARROW_INTEGER, ARROW_REAL */
    struct arrow_number index; /* dictionary-encoded: the type of the indices into the dictionary */
};
/* A column of texts, integers or nulls. False if the schema has another type. */
bool arrow_column_type_of(const struct ArrowSchema *schema, struct arrow_column_type *type);
/* The same for a column that rows are sorted by: also accepts float, double, dates, times and
 * durations; the last three are read as integers. */
bool arrow_column_order_type(const struct ArrowSchema *schema, struct arrow_column_type *type);

/* The values of one array; borrows the array. */
struct arrow_column {
    struct arrow_column_type type;
    const struct ArrowArray *array;
    int64_t first;                   /* the index of value 0 in the buffers */
    const struct ArrowArray *values; /* the dictionary, or NULL */
    const int64_t *block_bytes;      /* string_view: the sizes of its data buffers */
    int64_t block_count;
};
/* Skips `skip` values and reads `length`. COG_ERR_INPUT if the array is not of that type; `name` is
 * used in the message. */
cog_status arrow_column_open(struct arrow_column *column, struct arrow_column_type type,
                             const struct ArrowArray *array, int64_t skip, int64_t length,
                             const char *name, cog_error *error);
/* Whether the validity bitmap, if there is one, marks the value at `index` as null. */
bool arrow_array_is_null(const struct ArrowArray *array, int64_t index);
bool arrow_column_is_null(const struct arrow_column *column, int64_t index);
/* A text that is not null. False if its offsets or its dictionary index are invalid. */
bool arrow_column_text(const struct arrow_column *column, int64_t index, struct bytes_view *text);
/* Formats a number and returns the number of characters; 0 if its dictionary index is invalid or
 * the value is NaN. */
enum { ARROW_DIGITS_BYTES = 32 };
size_t arrow_column_digits(const struct arrow_column *column, int64_t index,
                           char digits[ARROW_DIGITS_BYTES]);
/* The value of a number that is not null. False if its dictionary index is invalid. */
bool arrow_column_number(const struct arrow_column *column, int64_t index, double *number);
/* Approximate bytes of all texts. */
uint64_t arrow_column_bytes(const struct arrow_column *column, int64_t length);
