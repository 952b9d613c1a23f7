#include "api/arrow_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int arrow_live_arrays;

/* ---- Documents as streams -------------------------------------------------------------------- */

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++) {
        free(schema->children[i]->dictionary);
        free(schema->children[i]);
    }
    free(schema->children);
    free(schema->dictionary);
    schema->release = NULL;
}

static void encode_schema(const struct arrow_producer *producer, struct ArrowSchema *schema) {
    if (!producer->index)
        return;
    schema->dictionary = calloc(1, sizeof *schema->dictionary);
    *schema->dictionary = (struct ArrowSchema){.format = schema->format, .name = ""};
    schema->format = producer->index;
}

static const char *format_of(const struct arrow_producer *producer, int column) {
    return column == 1 && producer->id_format ? producer->id_format : producer->format;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    static const char *const names[] = {"text", "id", "lang"};
    const struct arrow_producer *producer = stream->private_data;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .release = release_schema};
    if (producer->bare) {
        out->format = producer->format;
        encode_schema(producer, out);
        return 0;
    }
    out->n_children = 3;
    out->children = calloc(3, sizeof *out->children);
    for (int i = 0; i < 3; i++) {
        out->children[i] = calloc(1, sizeof *out->children[i]);
        out->children[i]->format = format_of(producer, i);
        out->children[i]->name = names[i];
        encode_schema(producer, out->children[i]);
    }
    return 0;
}

static void free_column(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_buffers; i++)
        free((void *)(uintptr_t)array->buffers[i]);
    free((void *)array->buffers);
    if (array->dictionary)
        free_column(array->dictionary);
    free(array->dictionary);
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++) {
        free_column(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    free_column(array);
    array->release = NULL;
    arrow_live_arrays--;
}

static const char *value_of(const struct arrow_row *row, int column) {
    return column == 0 ? row->text : column == 1 ? row->id : row->lang;
}

/* Texts in one of the three layouts, behind `lead` rows of garbage. */
static void fill_texts(const struct arrow_producer *producer, const struct arrow_row *rows,
                       size_t count, int column, struct ArrowArray *array) {
    enum { BLOCK_BYTES = 1 << 14 };
    bool views = producer->format[0] == 'v';
    bool large = producer->format[0] == 'U' || producer->format[0] == 'Z';
    size_t total = count + (size_t)producer->lead, used = 0;
    uint8_t *validity = calloc(1, total / 8 + 1), *places = calloc(total + 1, 16);
    char *data = calloc(1, BLOCK_BYTES);
    for (size_t i = 0; i < total; i++) {
        const char *value = i < (size_t)producer->lead
                                ? "in front"
                                : value_of(&rows[i - (size_t)producer->lead], column);
        size_t size = value ? strlen(value) : 0;
        memcpy(data + used, value ? value : "", size);
        validity[i / 8] |= (uint8_t)((value != NULL) << i % 8);
        array->null_count += !value;
        if (views) {
            int32_t view[4] = {(int32_t)size, 0, 0, (int32_t)used};
            memcpy(view + 1, value ? value : "", size <= 12 ? size : 4);
            memcpy(places + 16 * i, view, 16);
        } else if (large) {
            ((int64_t *)(void *)places)[i + 1] = (int64_t)(used + size);
        } else {
            ((int32_t *)(void *)places)[i + 1] = (int32_t)(used + size);
        }
        used += size;
    }
    array->length = (int64_t)count;
    array->offset = producer->lead;
    array->n_buffers = views ? 4 : 3;
    array->buffers = calloc(4, sizeof *array->buffers);
    array->buffers[0] = validity;
    array->buffers[1] = places;
    array->buffers[2] = data;
    if (views) {
        int64_t *sizes = calloc(1, sizeof *sizes);
        *sizes = (int64_t)used;
        array->buffers[3] = sizes;
    }
}

/* Bytes of an integer of this format. */
static size_t width_of(const char *format) {
    static const char formats[] = "cCsSiIlL";
    return (size_t)1 << (strchr(formats, format[0]) - formats) / 2;
}

/* Little-endian. */
static void fill_integers(const struct arrow_producer *producer, const struct arrow_row *rows,
                          size_t count, struct ArrowArray *array) {
    const size_t width = width_of(producer->id_format), total = count + (size_t)producer->lead;
    uint8_t *validity = calloc(1, total / 8 + 1);
    char *values = calloc(total + 1, width);
    for (size_t i = 0; i < count; i++) {
        const size_t at = i + (size_t)producer->lead;
        const long long value = rows[i].id ? strtoll(rows[i].id, NULL, 10) : 0;
        memcpy(values + at * width, &value, width);
        validity[at / 8] |= (uint8_t)((rows[i].id != NULL) << at % 8);
        array->null_count += !rows[i].id;
    }
    array->length = (int64_t)count;
    array->offset = producer->lead;
    array->n_buffers = 2;
    array->buffers = calloc(2, sizeof *array->buffers);
    array->buffers[0] = validity;
    array->buffers[1] = values;
}

/* The column as places in a dictionary, whose values are in reverse order after `lead` others. The
 * values of rows without a text are null there, and every other such row is null itself, with a
 * place that does not exist. */
static void fill_encoded(const struct arrow_producer *producer, const struct arrow_row *rows,
                         size_t count, int column, struct ArrowArray *array) {
    const size_t width = width_of(producer->index);
    struct arrow_row reversed[ARROW_MAX_ROWS];
    for (size_t i = 0; i < count; i++)
        reversed[i] = rows[count - 1 - i];
    array->dictionary = calloc(1, sizeof *array->dictionary);
    if (column == 1 && producer->id_format)
        fill_integers(producer, reversed, count, array->dictionary);
    else
        fill_texts(producer, reversed, count, column, array->dictionary);
    const size_t total = count + (size_t)producer->lead;
    uint8_t *validity = calloc(1, total / 8 + 1);
    char *places = calloc(total + 1, width);
    for (size_t i = 0; i < count; i++) {
        const size_t at = i + (size_t)producer->lead;
        const bool is_null = !value_of(&rows[i], column) && i % 2;
        const int64_t wrong = -1, right = (int64_t)(count - 1 - i);
        const bool is_wrong = is_null || (producer->bad_index && i == count - 1);
        memcpy(places + at * width, is_wrong ? &wrong : &right, width); /* little-endian */
        validity[at / 8] |= (uint8_t)(!is_null << at % 8);
        array->null_count += is_null;
    }
    array->length = (int64_t)count;
    array->offset = producer->lead;
    array->n_buffers = 2;
    array->buffers = calloc(2, sizeof *array->buffers);
    array->buffers[0] = validity;
    array->buffers[1] = places;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct arrow_producer *producer = stream->private_data;
    *out = (struct ArrowArray){0};
    if ((int)producer->next_chunk == producer->fails_at)
        return EIO;
    if (producer->next_chunk == producer->chunk_count)
        return 0;
    size_t count = producer->sizes[producer->next_chunk++];
    const struct arrow_row *rows = producer->rows + producer->next_row;
    producer->next_row += count;
    arrow_live_arrays++;
    out->release = release_array;
    if (producer->bare) {
        (producer->index ? fill_encoded : fill_texts)(producer, rows, count, 0, out);
        return 0;
    }
    out->length = (int64_t)count;
    out->n_buffers = 1;
    out->buffers = calloc(1, sizeof *out->buffers);
    out->n_children = 3;
    out->children = calloc(3, sizeof *out->children);
    for (int i = 0; i < 3; i++) {
        out->children[i] = calloc(1, sizeof *out->children[i]);
        if (producer->index)
            fill_encoded(producer, rows, count, i, out->children[i]);
        else if (i == 1 && producer->id_format)
            fill_integers(producer, rows, count, out->children[i]);
        else
            fill_texts(producer, rows, count, i, out->children[i]);
    }
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "the disk of the test is broken";
}

static void release_stream(struct ArrowArrayStream *stream) {
    stream->release = NULL;
}

struct ArrowArrayStream arrow_stream_of(struct arrow_producer *producer) {
    return (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream,
                                     producer};
}

/* ---- Results --------------------------------------------------------------------------------- */

bool arrow_result_read(struct ArrowArrayStream *stream, struct arrow_result *result) {
    struct ArrowArray end = {0};
    bool good = stream->get_schema(stream, &result->schema) == 0 &&
                stream->get_next(stream, &result->array) == 0 && result->array.release &&
                stream->get_next(stream, &end) == 0 && !end.release;
    stream->release(stream);
    return good && !stream->release;
}

void arrow_result_free(struct arrow_result *result) {
    result->schema.release(&result->schema);
    result->array.release(&result->array);
}

const struct ArrowArray *arrow_column_named(const struct arrow_result *result, const char *name) {
    for (int64_t i = 0; i < result->schema.n_children; i++)
        if (strcmp(result->schema.children[i]->name, name) == 0)
            return result->array.children[i];
    return NULL;
}

int64_t arrow_whole(const struct arrow_result *result, const char *name, size_t row) {
    return ((const int64_t *)arrow_column_named(result, name)->buffers[1])[row];
}

double arrow_real(const struct arrow_result *result, const char *name, size_t row) {
    return ((const double *)arrow_column_named(result, name)->buffers[1])[row];
}

bool arrow_text_is(const struct arrow_result *result, const char *name, size_t row,
                   const char *text) {
    const struct ArrowArray *array = arrow_column_named(result, name);
    const int64_t *offsets = array->buffers[1];
    size_t size = (size_t)(offsets[row + 1] - offsets[row]);
    return size == strlen(text) &&
           memcmp((const char *)array->buffers[2] + offsets[row], text, size) == 0;
}
