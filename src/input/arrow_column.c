#include "input/arrow_column.h"

#include <string.h>

#include "base/strings.h"

bool arrow_column_type_of(const struct ArrowSchema *schema, struct arrow_column_type *type) {
    static const char integers[] = "cCsSiIlL"; /* int8, uint8, int16, ... uint64 */
    const char *format = schema->format ? schema->format : "";
    const char *integer = format[0] && !format[1] ? strchr(integers, format[0]) : NULL;
    *type = (struct arrow_column_type){0};
    if (schema->dictionary)
        return false;
    if (integer) {
        size_t place = (size_t)(integer - integers);
        *type = (struct arrow_column_type){ARROW_INTEGER, 1u << place / 2, place % 2 == 0};
    } else if (strcmp(format, "U") == 0) {
        type->type = ARROW_LARGE_STRING;
    } else if (strcmp(format, "vu") == 0) {
        type->type = ARROW_STRING_VIEW;
    } else {
        return strcmp(format, "u") == 0;
    }
    return true;
}

cog_status arrow_column_open(struct arrow_column *column, struct arrow_column_type type,
                             const struct ArrowArray *array, int64_t skip, int64_t length,
                             const char *name, cog_error *error) {
    const int64_t buffers = type.type == ARROW_INTEGER ? 2 : 3;
    bool views = type.type == ARROW_STRING_VIEW;
    bool fits = array && array->length >= 0 && array->offset >= 0 && skip >= 0 && length >= 0 &&
                array->length >= skip && array->length - skip >= length && array->buffers &&
                (views ? array->n_buffers >= buffers : array->n_buffers == buffers);
    if (fits && length)
        fits = array->buffers[1] &&
               (array->n_buffers == 3 || !views || array->buffers[array->n_buffers - 1]);
    if (!fits)
        return error_set(
            error, COG_ERR_INPUT,
            "the Arrow column \"%s\" has %lld values in %lld buffers where %lld values "
            "were announced: the program that made the stream is wrong",
            name, (long long)(array ? array->length : 0), (long long)(array ? array->n_buffers : 0),
            (long long)(skip + length));
    *column = (struct arrow_column){.type = type, .array = array, .first = array->offset + skip};
    if (views) {
        column->block_count = array->n_buffers - 3;
        column->block_bytes = array->buffers[array->n_buffers - 1];
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

bool arrow_column_is_null(const struct arrow_column *column, int64_t index) {
    return bit_is_clear(column->array, column->first + index);
}

/* A view has 16 bytes: the size, then the text itself, or its first four bytes, the number of a
 * data buffer and the place there. */
static bool view_text(const struct arrow_column *column, int64_t place, struct bytes_view *text) {
    enum { VIEW_BYTES = 16, INLINE_BYTES = 12 };
    const char *view = (const char *)column->array->buffers[1] + place * VIEW_BYTES;
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
    text->data = (const char *)column->array->buffers[2 + block] + offset;
    return true;
}

static void offsets_of(const struct arrow_column *column, int64_t place, int64_t *begin,
                       int64_t *end) {
    const void *offsets = column->array->buffers[1];
    bool large = column->type.type == ARROW_LARGE_STRING;
    *begin = large ? ((const int64_t *)offsets)[place] : ((const int32_t *)offsets)[place];
    *end = large ? ((const int64_t *)offsets)[place + 1] : ((const int32_t *)offsets)[place + 1];
}

bool arrow_column_text(const struct arrow_column *column, int64_t index, struct bytes_view *text) {
    int64_t place = column->first + index, begin, end;
    if (column->type.type == ARROW_STRING_VIEW)
        return view_text(column, place, text);
    offsets_of(column, place, &begin, &end);
    const char *data = column->array->buffers[2];
    bool good = begin >= 0 && end >= begin && (data || end == begin);
    *text = good && data ? view_of(data + begin, (size_t)(end - begin)) : view_of("", 0);
    return good;
}

size_t arrow_column_digits(const struct arrow_column *column, int64_t index,
                           char digits[ARROW_DIGITS_BYTES]) {
    const struct arrow_column_type *type = &column->type;
    const char *value = (const char *)column->array->buffers[1] +
                        (size_t)(column->first + index) * type->width_bytes;
    uint64_t bits = 0;
    memcpy(&bits, value, type->width_bytes);
    unsigned spare = 64 - 8 * type->width_bytes;
    const int64_t number = (int64_t)(bits << spare) >> spare;
    const bool is_negative = type->is_signed && number < 0;
    digits[0] = '-';
    return is_negative +
           number_digits(is_negative ? 0 - (uint64_t)number : bits, digits + is_negative);
}

uint64_t arrow_column_bytes(const struct arrow_column *column, int64_t length) {
    uint64_t bytes = 0;
    int64_t begin, end, unused;
    if (length == 0 || column->type.type == ARROW_INTEGER)
        return 0;
    for (int64_t i = 0; i < length && column->type.type == ARROW_STRING_VIEW; i++) {
        struct bytes_view text;
        bytes += !arrow_column_is_null(column, i) && view_text(column, column->first + i, &text)
                     ? text.size
                     : 0;
    }
    if (column->type.type == ARROW_STRING_VIEW)
        return bytes;
    offsets_of(column, column->first, &begin, &unused);
    offsets_of(column, column->first + length - 1, &unused, &end);
    return begin >= 0 && end > begin ? (uint64_t)(end - begin) : 0;
}
