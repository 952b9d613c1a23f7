#include "input/arrow_column.h"

#include <stdio.h>
#include <string.h>

#include "base/strings.h"

static struct arrow_number integer_of(const char *format) {
    static const char formats[] = "cCsSiIlL"; /* int8, uint8, int16, ... uint64 */
    const char *found = format[0] && !format[1] ? strchr(formats, format[0]) : NULL;
    if (!found)
        return (struct arrow_number){0};
    const size_t place = (size_t)(found - formats);
    return (struct arrow_number){1u << place / 2, place % 2 == 0};
}

bool arrow_column_type_of(const struct ArrowSchema *schema, struct arrow_column_type *type) {
    static const struct {
        const char *format;
        enum arrow_type type;
    } types[] = {{"u", ARROW_STRING},       {"z", ARROW_STRING},       {"U", ARROW_LARGE_STRING},
                 {"Z", ARROW_LARGE_STRING}, {"vu", ARROW_STRING_VIEW}, {"vz", ARROW_STRING_VIEW},
                 {"n", ARROW_NULL}};
    const struct ArrowSchema *values = schema->dictionary ? schema->dictionary : schema;
    const char *format = values->format ? values->format : "";
    *type = (struct arrow_column_type){.number = integer_of(format)};
    if (schema->dictionary) {
        type->index = integer_of(schema->format ? schema->format : "");
        if (!type->index.width_bytes || values->dictionary)
            return false;
    }
    if (type->number.width_bytes) {
        type->type = ARROW_INTEGER;
        return true;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(format, types[i].format) == 0) {
            type->type = types[i].type;
            return true;
        }
    return false;
}

bool arrow_column_order_type(const struct ArrowSchema *schema, struct arrow_column_type *type) {
    static const struct {
        const char *begin; /* of a format; units and zones follow */
        unsigned width_bytes;
    } times[] = {{"tdD", 4}, {"tdm", 8}, {"tts", 4}, {"ttm", 4},
                 {"ttu", 8}, {"ttn", 8}, {"ts", 8},  {"tD", 8}};
    const char *format = schema->format ? schema->format : "";
    if (schema->dictionary || arrow_column_type_of(schema, type))
        return arrow_column_type_of(schema, type);
    *type = (struct arrow_column_type){.type = ARROW_REAL};
    if (strcmp(format, "f") == 0 || strcmp(format, "g") == 0) {
        type->number.width_bytes = format[0] == 'f' ? sizeof(float) : sizeof(double);
        return true;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strncmp(format, times[i].begin, strlen(times[i].begin)) == 0) {
            type->type = ARROW_INTEGER;
            type->number = (struct arrow_number){times[i].width_bytes, true};
            return true;
        }
    return false;
}

/* Whether the array has the buffers of its type for `least` values. */
static bool has_buffers(const struct ArrowArray *array, enum arrow_type type, int64_t least) {
    if (!array || array->length < least || array->offset < 0)
        return false;
    if (type == ARROW_NULL || (!array->buffers && least == 0))
        return true;
    const int64_t buffers = type == ARROW_INTEGER || type == ARROW_REAL ? 2 : 3;
    const bool views = type == ARROW_STRING_VIEW;
    if (!array->buffers || (views ? array->n_buffers < buffers : array->n_buffers != buffers))
        return false;
    return least == 0 || (array->buffers[1] && (!views || array->n_buffers == 3 ||
                                                array->buffers[array->n_buffers - 1]));
}

cog_status arrow_column_open(struct arrow_column *column, struct arrow_column_type type,
                             const struct ArrowArray *array, int64_t skip, int64_t length,
                             const char *name, cog_error *error) {
    const bool encoded = type.index.width_bytes;
    bool fits = array && skip >= 0 && length >= 0 && array->length >= skip &&
                array->length - skip >= length &&
                has_buffers(array, encoded ? ARROW_INTEGER : type.type, length);
    const struct ArrowArray *values = fits && encoded ? array->dictionary : array;
    if (fits && encoded)
        fits = values && values->length >= 0 && has_buffers(values, type.type, values->length);
    if (!fits)
        return error_set(
            error, COG_ERR_INPUT,
            "the Arrow column \"%s\" has %lld values in %lld buffers where %lld values "
            "were announced: the program that made the stream is wrong",
            name, (long long)(array ? array->length : 0), (long long)(array ? array->n_buffers : 0),
            (long long)(skip + length));
    *column = (struct arrow_column){.type = type,
                                    .array = array,
                                    .first = array->offset + skip,
                                    .values = encoded ? values : NULL};
    if (type.type == ARROW_STRING_VIEW && values->buffers && values->n_buffers > 3) {
        column->block_count = values->n_buffers - 3;
        column->block_bytes = values->buffers[values->n_buffers - 1];
    }
    return COG_OK;
}

static bool bit_is_clear(const struct ArrowArray *array, int64_t place) {
    const uint8_t *validity = array->n_buffers > 0 && array->buffers ? array->buffers[0] : NULL;
    return validity && array->null_count != 0 && !(validity[place / 8] >> place % 8 & 1);
}

bool arrow_array_is_null(const struct ArrowArray *array, int64_t index) {
    return bit_is_clear(array, array->offset + index);
}

/* The bits of the integer at a place, and its value if it is signed. */
static uint64_t integer_at(const struct ArrowArray *array, struct arrow_number type, int64_t place,
                           int64_t *number) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)array->buffers[1] + (size_t)place * type.width_bytes,
           type.width_bytes);
    const unsigned spare = 64 - 8 * type.width_bytes;
    *number = (int64_t)(bits << spare) >> spare;
    return bits;
}

/* The array that holds a value, and its index in the buffers there. False if the row's place in the
 * dictionary does not exist. */
static bool value_at(const struct arrow_column *column, int64_t index,
                     const struct ArrowArray **array, int64_t *place) {
    *array = column->array;
    *place = column->first + index;
    if (!column->values)
        return true;
    const struct arrow_number type = column->type.index;
    int64_t number;
    const uint64_t bits = integer_at(column->array, type, *place, &number);
    const uint64_t chosen = type.is_signed ? (uint64_t)number : bits;
    if (chosen >= (uint64_t)column->values->length) /* a negative number is too large as well */
        return false;
    *array = column->values;
    *place = column->values->offset + (int64_t)chosen;
    return true;
}

bool arrow_column_is_null(const struct arrow_column *column, int64_t index) {
    const struct ArrowArray *array;
    int64_t place;
    if (column->values && bit_is_clear(column->array, column->first + index))
        return true; /* what a null row has for a place is not said */
    return value_at(column, index, &array, &place) &&
           (column->type.type == ARROW_NULL || bit_is_clear(array, place));
}

/* A view has 16 bytes: the size, then the text itself, or its first four bytes, the number of a
 * data buffer and the place there. */
static bool view_text(const struct arrow_column *column, const struct ArrowArray *array,
                      int64_t place, struct bytes_view *text) {
    enum { VIEW_BYTES = 16, INLINE_BYTES = 12 };
    const char *view = (const char *)array->buffers[1] + place * VIEW_BYTES;
    int32_t size, block, offset;
    memcpy(&size, view, sizeof size);
    memcpy(&block, view + 8, sizeof block);
    memcpy(&offset, view + 12, sizeof offset);
    *text = view_of(view + 4, (size_t)(size < 0 ? 0 : size));
    if (size <= INLINE_BYTES)
        return size >= 0;
    if (block < 0 || block >= column->block_count || offset < 0 ||
        column->block_bytes[block] < (int64_t)offset + size)
        return false;
    text->data = (const char *)array->buffers[2 + block] + offset;
    return true;
}

static void offsets_of(const struct ArrowArray *array, bool large, int64_t place, int64_t *begin,
                       int64_t *end) {
    const void *offsets = array->buffers[1];
    *begin = large ? ((const int64_t *)offsets)[place] : ((const int32_t *)offsets)[place];
    *end = large ? ((const int64_t *)offsets)[place + 1] : ((const int32_t *)offsets)[place + 1];
}

bool arrow_column_text(const struct arrow_column *column, int64_t index, struct bytes_view *text) {
    const struct ArrowArray *array;
    int64_t place, begin, end;
    if (!value_at(column, index, &array, &place)) {
        *text = view_of("", 0);
        return false;
    }
    if (column->type.type == ARROW_STRING_VIEW)
        return view_text(column, array, place, text);
    offsets_of(array, column->type.type == ARROW_LARGE_STRING, place, &begin, &end);
    const char *data = array->buffers[2];
    bool good = begin >= 0 && end >= begin && (data || end == begin);
    *text = good && data ? view_of(data + begin, (size_t)(end - begin)) : view_of("", 0);
    return good;
}

static double real_at(const struct arrow_column *column, const struct ArrowArray *array,
                      int64_t place) {
    const unsigned width_bytes = column->type.number.width_bytes;
    const char *value = (const char *)array->buffers[1] + (size_t)place * width_bytes;
    double real;
    float narrow;
    memcpy(width_bytes == sizeof real ? (void *)&real : &narrow, value, width_bytes);
    return width_bytes == sizeof real ? real : (double)narrow;
}

size_t arrow_column_digits(const struct arrow_column *column, int64_t index,
                           char digits[ARROW_DIGITS_BYTES]) {
    const struct ArrowArray *array;
    int64_t place, number;
    if (!value_at(column, index, &array, &place))
        return 0;
    if (column->type.type == ARROW_REAL) {
        const double real = real_at(column, array, place);
        return real != real ? 0 : (size_t)snprintf(digits, ARROW_DIGITS_BYTES, "%.17g", real);
    }
    const struct arrow_number type = column->type.number;
    const uint64_t bits = integer_at(array, type, place, &number);
    const bool is_negative = type.is_signed && number < 0;
    digits[0] = '-';
    return is_negative +
           number_digits(is_negative ? 0 - (uint64_t)number : bits, digits + is_negative);
}

bool arrow_column_number(const struct arrow_column *column, int64_t index, double *number) {
    const struct ArrowArray *array;
    int64_t place, integer;
    if (!value_at(column, index, &array, &place))
        return false;
    if (column->type.type == ARROW_REAL) {
        *number = real_at(column, array, place);
        return true;
    }
    const struct arrow_number type = column->type.number;
    const uint64_t bits = integer_at(array, type, place, &integer);
    *number = type.is_signed ? (double)integer : (double)bits;
    return true;
}

uint64_t arrow_column_bytes(const struct arrow_column *column, int64_t length) {
    const enum arrow_type type = column->type.type;
    uint64_t bytes = 0;
    int64_t begin, end, unused;
    if (length == 0 || type == ARROW_INTEGER || type == ARROW_REAL || type == ARROW_NULL)
        return 0;
    if (type == ARROW_STRING_VIEW || column->values) {
        for (int64_t i = 0; i < length; i++) {
            struct bytes_view text;
            if (!arrow_column_is_null(column, i) && arrow_column_text(column, i, &text))
                bytes += text.size;
        }
        return bytes;
    }
    offsets_of(column->array, type == ARROW_LARGE_STRING, column->first, &begin, &unused);
    offsets_of(column->array, type == ARROW_LARGE_STRING, column->first + length - 1, &unused,
               &end);
    return begin >= 0 && end > begin ? (uint64_t)(end - begin) : 0;
}
