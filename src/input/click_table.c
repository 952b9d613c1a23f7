#include "input/click_table.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "input/documents/text_bytes.h"

/* The columns of the stream, and their values in one array. */
struct click_table {
    struct arrow_field query, url, clicks;
    struct arrow_column queries, urls, counts;
    const struct ArrowArray *array;
    struct query_log *log;
    uint64_t rows; /* of earlier arrays */
};

/* ---- Columns --------------------------------------------------------------------------------- */

static int64_t field_of(const struct ArrowSchema *schema, const char *name) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (strcasecmp(arrow_schema_name(schema->children[i]), name) == 0)
            return i;
    return ARROW_FIELD_NONE;
}

static cog_status take_text(const struct ArrowSchema *schema, struct arrow_field *field,
                            cog_error *error) {
    const struct ArrowSchema *column = schema->children[field->child];
    if (arrow_column_type_of(column, &field->type) && field->type.type != ARROW_INTEGER)
        return COG_OK;
    return arrow_field_refused(column, "string, large_string or string_view", error);
}

/* Dates and times are read as integers too, but count nothing. */
static cog_status take_count(const struct ArrowSchema *schema, struct arrow_field *field,
                             cog_error *error) {
    const struct ArrowSchema *column = schema->children[field->child];
    const char *format = column->format ? column->format : "";
    if (format[0] != 't' && arrow_column_order_type(column, &field->type) &&
        (field->type.type == ARROW_INTEGER || field->type.type == ARROW_REAL ||
         field->type.type == ARROW_NULL))
        return COG_OK;
    return arrow_field_refused(column, "an integer or a double", error);
}

static cog_status find_columns(struct click_table *table, const struct ArrowSchema *schema,
                               cog_error *error) {
    static const char remedy[] =
        "a query log has the columns query, url and clicks, or AOL's Query and ClickURL";
    const bool is_struct = schema->format && strcmp(schema->format, "+s") == 0;
    if (!is_struct)
        return error_set(error, COG_ERR_USAGE, "the Arrow stream is no table: %s", remedy);
    table->query.child = field_of(schema, "query");
    table->url.child = field_of(schema, "url");
    if (table->url.child == ARROW_FIELD_NONE)
        table->url.child = field_of(schema, "clickurl");
    table->clicks.child = field_of(schema, "clicks");
    if (table->query.child == ARROW_FIELD_NONE || table->url.child == ARROW_FIELD_NONE)
        return arrow_field_missing(schema, table->query.child == ARROW_FIELD_NONE ? "query" : "url",
                                   "format", remedy, error);
    TRY(take_text(schema, &table->query, error));
    TRY(take_text(schema, &table->url, error));
    return table->clicks.child == ARROW_FIELD_NONE ? COG_OK
                                                   : take_count(schema, &table->clicks, error);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* NULL, or the problem with the value (a constant). */
static const char *read_text(const struct arrow_column *column, int64_t index,
                             struct bytes_view *text) {
    if (!arrow_column_text(column, index, text))
        return "the offsets of a text run backwards or out of its buffer";
    return utf8_is_valid(text->data, text->size) ? NULL : "not valid UTF-8";
}

static const char *read_count(const struct click_table *table, int64_t index, double *clicks) {
    static const double MOST = 1e30; /* sums of such numbers are finite */
    if (table->clicks.child == ARROW_FIELD_NONE)
        return NULL;
    if (arrow_column_is_null(&table->counts, index))
        return "the clicks are null";
    return arrow_column_number(&table->counts, index, clicks) && *clicks >= 0 && *clicks < MOST
               ? NULL
               : "the clicks are not a number from 0 on";
}

static const char *read_row(const struct click_table *table, int64_t index, struct query_row *row) {
    *row = (struct query_row){.query = view_of("", 0), .url = view_of("", 0), .clicks = 1};
    if (arrow_array_is_null(table->array, index) || arrow_column_is_null(&table->queries, index))
        return "the query is null";
    const char *problem = read_text(&table->queries, index, &row->query);
    if (!problem && !row->query.size)
        problem = "the query is empty";
    if (problem || arrow_column_is_null(&table->urls, index))
        return problem;
    problem = read_text(&table->urls, index, &row->url);
    return problem ? problem : read_count(table, index, &row->clicks);
}

static cog_status read_array(void *context, struct ArrowArray *array, cog_error *error) {
    struct click_table *table = context;
    table->array = array;
    TRY(arrow_field_open(&table->query, array, "query", &table->queries, error));
    TRY(arrow_field_open(&table->url, array, "url", &table->urls, error));
    TRY(arrow_field_open(&table->clicks, array, "clicks", &table->counts, error));
    for (int64_t i = 0; i < array->length; i++) {
        struct query_row row;
        const char *problem = read_row(table, i, &row);
        TRY(query_log_add_row(table->log, &row, problem, 0, table->rows + (uint64_t)i, error));
    }
    table->rows += (uint64_t)array->length;
    return COG_OK;
}

cog_status query_log_of_stream(struct ArrowArrayStream *stream, struct query_log **log,
                               uint64_t *rows, cog_error *error) {
    struct click_table table = {.log = query_log_create()};
    struct ArrowSchema schema = {0};
    cog_status status = table.log ? COG_OK : error_memory(error, 1, "a query log");
    THEN(status, arrow_stream_schema(stream, &schema, error));
    THEN(status, find_columns(&table, &schema, error));
    THEN(status, arrow_stream_read(stream, read_array, &table, error));
    if (schema.release)
        schema.release(&schema);
    stream->release(stream);
    *rows = table.rows;
    return HAND_OUT(status, table.log, query_log_free, log);
}
