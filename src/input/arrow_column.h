/* Columns of Arrow arrays as readers of documents need them: texts, and ids that are texts or whole
 * numbers. Texts may be binary columns; whether their bytes are UTF-8 is checked with each
 * document. Any column may be encoded by a dictionary, and a column without a type has nulls only.
 *
 * In: arrays of the Arrow C data interface (structs in cognate.h), borrowed. Out: one value at a
 * time, as a view of the array's own bytes. Everything that the interface lets us check is checked:
 * the number of buffers, lengths, offsets that run backwards. The sizes of string and large_string
 * data are not in the interface, so their last offset is trusted. */
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

/* The type of a column without values. */
struct arrow_column_type {
    enum arrow_type type;
    struct arrow_number number; /* ARROW_INTEGER, ARROW_REAL */
    struct arrow_number index;  /* a column encoded by a dictionary: of its rows' places there */
};
/* A column of texts or integers, or of nulls. False if the schema is of another type. */
bool arrow_column_type_of(const struct ArrowSchema *schema, struct arrow_column_type *type);
/* The same for a column that rows are ordered by: also float, double, dates, times and durations,
 * which are integers then. */
bool arrow_column_order_type(const struct ArrowSchema *schema, struct arrow_column_type *type);

/* The values of one array; borrows the array. */
struct arrow_column {
    struct arrow_column_type type;
    const struct ArrowArray *array;
    int64_t first;                   /* the index in the buffers of value 0 */
    const struct ArrowArray *values; /* the dictionary, or NULL */
    const int64_t *block_bytes;      /* string_view: the sizes of its data buffers */
    int64_t block_count;
};
/* `skip` values in front and `length` to read. COG_ERR_INPUT if the array is not of that type;
 * `name` is for the message. */
cog_status arrow_column_open(struct arrow_column *column, struct arrow_column_type type,
                             const struct ArrowArray *array, int64_t skip, int64_t length,
                             const char *name, cog_error *error);
/* Whether the value at `index` of an array is null by its validity bitmap, which may be absent. */
bool arrow_array_is_null(const struct ArrowArray *array, int64_t index);
bool arrow_column_is_null(const struct arrow_column *column, int64_t index);
/* A text; false if its offsets or its place in the dictionary make no sense. The value is not null.
 */
bool arrow_column_text(const struct arrow_column *column, int64_t index, struct bytes_view *text);
/* A number as digits. Returns their number; 0 if its place in the dictionary makes no sense,
 * or if it is not a number (NaN). */
enum { ARROW_DIGITS_BYTES = 32 };
size_t arrow_column_digits(const struct arrow_column *column, int64_t index,
                           char digits[ARROW_DIGITS_BYTES]);
/* Bytes of all texts, about. */
uint64_t arrow_column_bytes(const struct arrow_column *column, int64_t length);
