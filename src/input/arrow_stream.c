#include "input/arrow_stream.h"

#include <string.h>

#include "base/memory.h"

static cog_status stream_failed(struct ArrowArrayStream *stream, int code, cog_error *error) {
    const char *reason = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    return error_set(error, COG_ERR_INPUT, "the Arrow stream failed: %s",
                     reason ? reason : strerror(code));
}

cog_status arrow_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                               cog_error *error) {
    const int code = stream->get_schema(stream, schema);
    return code ? stream_failed(stream, code, error) : COG_OK;
}

/* The next array; its release is NULL at the end of the stream and after a failure. */
static cog_status stream_next(struct ArrowArrayStream *stream, struct ArrowArray *array,
                              cog_error *error) {
    *array = (struct ArrowArray){0};
    const int code = stream->get_next(stream, array);
    if (code) {
        array->release = NULL;
        return stream_failed(stream, code, error);
    }
    if (!array->release || (array->length >= 0 && array->offset >= 0))
        return COG_OK;
    error_set(error, COG_ERR_INPUT,
              "an array of the Arrow stream has %lld rows from row %lld on: the program that made "
              "the stream is wrong",
              (long long)array->length, (long long)array->offset);
    array->release(array);
    array->release = NULL;
    return COG_ERR_INPUT;
}

cog_status arrow_stream_read(struct ArrowArrayStream *stream, arrow_array_reader *read,
                             void *context, cog_error *error) {
    for (;;) {
        struct ArrowArray array;
        TRY(stream_next(stream, &array, error));
        if (!array.release)
            return COG_OK;
        cog_status status = read(context, &array, error);
        if (array.release)
            array.release(&array);
        TRY(status);
    }
}

const char *arrow_schema_name(const struct ArrowSchema *schema) {
    return schema->name ? schema->name : "";
}

int64_t arrow_field_named(const struct ArrowSchema *schema, const char *name) {
    for (int64_t i = 0; name && i < schema->n_children; i++)
        if (strcmp(arrow_schema_name(schema->children[i]), name) == 0)
            return i;
    return ARROW_FIELD_NONE;
}

cog_status arrow_field_missing(const struct ArrowSchema *schema, const char *name,
                               const char *option, const char *remedy, cog_error *error) {
    struct buffer names = {0};
    for (int64_t i = 0; i < schema->n_children && names.size < 400; i++)
        buffer_printf(&names, "%s\"%.100s\"", i ? ", " : "",
                      arrow_schema_name(schema->children[i]));
    cog_status status = error_about(
        error, COG_ERR_USAGE, option, "the Arrow stream has no column \"%s\": %s; there %s %.*s",
        name, remedy, schema->n_children == 1 ? "is" : "are", names.size ? (int)names.size : 4,
        names.size ? names.data : "none");
    buffer_free(&names);
    return status;
}

cog_status arrow_field_refused(const struct ArrowSchema *column, const char *wanted,
                               cog_error *error) {
    const struct ArrowSchema *values = column->dictionary ? column->dictionary : column;
    return error_set(error, COG_ERR_USAGE,
                     "the Arrow column \"%s\" has the format \"%s\"%s: cast it to %s",
                     arrow_schema_name(column), values->format ? values->format : "",
                     column->dictionary ? " in a dictionary" : "", wanted);
}

cog_status arrow_field_open(const struct arrow_field *field, const struct ArrowArray *array,
                            const char *name, struct arrow_column *column, cog_error *error) {
    if (field->child == ARROW_FIELD_NONE)
        return COG_OK;
    if (field->child == ARROW_FIELD_ITSELF)
        return arrow_column_open(column, field->type, array, 0, array->length, name, error);
    const bool exists = field->child < array->n_children && array->children;
    return arrow_column_open(column, field->type, exists ? array->children[field->child] : NULL,
                             array->offset, array->length, name, error);
}
