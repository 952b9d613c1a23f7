/* Arrow streams and their columns by name.
 *
 * In: streams of the Arrow C stream interface (structs in cognate.h). Out: their arrays, checked as
 * far as the interface lets us, and columns of them as arrow_column.h reads values. The caller
 * releases schemas. */
#pragma once

#include "base/error.h"
#include "input/arrow_column.h"

/* COG_ERR_INPUT with the producer's reason if the stream fails. */
cog_status arrow_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema,
                               cog_error *error);
/* Reads one array. To keep it, copy the struct and set its release to NULL. */
typedef cog_status arrow_array_reader(void *context, struct ArrowArray *array, cog_error *error);
/* Calls `read` for the remaining arrays in order, and releases those that it does not keep. */
cog_status arrow_stream_read(struct ArrowArrayStream *stream, arrow_array_reader *read,
                             void *context, cog_error *error);

/* A column of a stream. */
struct arrow_field {
    int64_t child; /* of the schema and of each array, or one of these */
    struct arrow_column_type type;
};
enum { ARROW_FIELD_ITSELF = -1, /* the stream has no struct */ ARROW_FIELD_NONE = -2 };

/* "" if it has none. */
const char *arrow_schema_name(const struct ArrowSchema *schema);
/* ARROW_FIELD_NONE if no child has the name, which may be NULL. */
int64_t arrow_field_named(const struct ArrowSchema *schema, const char *name);
/* COG_ERR_USAGE about `option`: there is no column `name`, what to do (`remedy`), and which columns
 * there are. */
cog_status arrow_field_missing(const struct ArrowSchema *schema, const char *name,
                               const char *option, const char *remedy, cog_error *error);
/* COG_ERR_USAGE: the column has a type that is not read; `wanted` says which are. */
cog_status arrow_field_refused(const struct ArrowSchema *column, const char *wanted,
                               cog_error *error);
/* The values of the field in an array of the stream; nothing for ARROW_FIELD_NONE. */
cog_status arrow_field_open(const struct arrow_field *field, const struct ArrowArray *array,
                            const char *name, struct arrow_column *column, cog_error *error);
