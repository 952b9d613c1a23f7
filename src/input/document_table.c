#include "input/document_table.h"

#include <string.h>

#include "base/memory.h"
#include "base/strings.h"
#include "input/arrow_stream.h"

/* The columns of one Arrow array. */
struct table_chunk {
    struct ArrowArray array; /* owned */
    size_t first_row;
    struct arrow_column text, id, lang, extra;
};

struct document_table {
    size_t rows;
    uint64_t text_bytes, first_id;
    const cog_document *items; /* NULL for Arrow */
    struct table_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    struct ArrowSchema schema; /* owned */
    struct arrow_field text, id, lang, extra;
};

cog_status document_table_of_items(const cog_document *items, size_t count,
                                   struct document_table **result, cog_error *error) {
    struct document_table *table;
    TAKE_ZEROED(table, 1, "documents", error);
    table->extra.child = ARROW_FIELD_NONE;
    table->items = items;
    table->rows = count;
    for (size_t i = 0; i < count; i++)
        table->text_bytes += items[i].text_size;
    *result = table;
    return COG_OK;
}

void document_table_free(struct document_table *table) {
    if (!table)
        return;
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->chunks[i].array.release)
            table->chunks[i].array.release(&table->chunks[i].array);
    if (table->schema.release)
        table->schema.release(&table->schema);
    FREE(table->chunks, table);
}

size_t document_table_rows(const struct document_table *table) {
    return table->rows;
}

uint64_t document_table_text_bytes(const struct document_table *table) {
    return table->text_bytes;
}

/* ---- The columns of a stream ----------------------------------------------------------------- */

static cog_status take_type(const struct ArrowSchema *schema, struct arrow_field *column,
                            bool integers, cog_error *error) {
    if (column->child == ARROW_FIELD_NONE)
        return COG_OK;
    const struct ArrowSchema *own =
        column->child == ARROW_FIELD_ITSELF ? schema : schema->children[column->child];
    if (arrow_column_type_of(own, &column->type) &&
        (integers || column->type.type != ARROW_INTEGER))
        return COG_OK;
    return arrow_field_refused(own,
                               integers ? "string, large_string or string_view, or an integer"
                                        : "string, large_string or string_view",
                               error);
}

static cog_status find_columns(struct document_table *table, const struct ArrowSchema *schema,
                               const struct table_fields *fields, cog_error *error) {
    table->text.child = ARROW_FIELD_ITSELF;
    table->id.child = table->lang.child = table->extra.child = ARROW_FIELD_NONE;
    if (schema->format && strcmp(schema->format, "+s") == 0) {
        const char *text = fields->text ? fields->text : "text";
        table->text.child = arrow_field_named(schema, text);
        if (table->text.child == ARROW_FIELD_NONE && schema->n_children == 1 &&
            strcmp(text, "text") == 0)
            table->text.child = 0;
        table->id.child = arrow_field_named(schema, fields->id);
        table->lang.child = arrow_field_named(schema, fields->lang);
        if (table->text.child == ARROW_FIELD_NONE)
            return arrow_field_missing(schema, text, "text_field",
                                       "name the column that has the texts", error);
        if (schema->n_children == 1)
            table->id.child = table->lang.child = ARROW_FIELD_NONE;
    }
    TRY(take_type(schema, &table->text, false, error));
    TRY(take_type(schema, &table->id, true, error));
    return take_type(schema, &table->lang, false, error);
}

static cog_status read_schema(struct document_table *table, struct ArrowArrayStream *stream,
                              const struct table_fields *fields, cog_error *error) {
    TRY(arrow_stream_schema(stream, &table->schema, error));
    return find_columns(table, &table->schema, fields, error);
}

/* ---- The arrays of a stream ------------------------------------------------------------------ */

static cog_status add_chunk(void *context, struct ArrowArray *array, cog_error *error) {
    struct document_table *table = context;
    GROW(table->chunks, table->chunk_capacity, table->chunk_count + 1,
         "the arrays of an Arrow stream", error);
    struct table_chunk *chunk = &table->chunks[table->chunk_count++];
    *chunk = (struct table_chunk){.array = *array, .first_row = table->rows};
    array->release = NULL;
    TRY(arrow_field_open(&table->text, &chunk->array, "text", &chunk->text, error));
    TRY(arrow_field_open(&table->id, &chunk->array, "id", &chunk->id, error));
    TRY(arrow_field_open(&table->lang, &chunk->array, "lang", &chunk->lang, error));
    table->rows += (size_t)array->length;
    table->text_bytes += arrow_column_bytes(&chunk->text, array->length);
    if (array->length == 0) {
        chunk->array.release(&chunk->array);
        table->chunk_count--;
    }
    return COG_OK;
}

/* Columns borrow their arrays, which move while the list of chunks grows. */
static void relocate_columns(struct document_table *table) {
    for (size_t i = 0; i < table->chunk_count; i++)
        if (table->text.child == ARROW_FIELD_ITSELF)
            table->chunks[i].text.array = &table->chunks[i].array;
}

cog_status document_table_of_stream(struct ArrowArrayStream *stream,
                                    const struct table_fields *fields,
                                    struct document_table **result, cog_error *error) {
    struct document_table *table = NULL;
    cog_status status = TAKEN_ZEROED(table, 1, "documents", error);
    THEN(status, read_schema(table, stream, fields, error));
    THEN(status, arrow_stream_read(stream, add_chunk, table, error));
    stream->release(stream);
    if (status == COG_OK) {
        table->first_id = fields->first_id;
        relocate_columns(table);
    }
    return HAND_OUT(status, table, document_table_free, result);
}

/* ---- One more column ------------------------------------------------------------------------- */

static cog_status find_extra(struct document_table *table, const char *name, cog_error *error) {
    const struct ArrowSchema *schema = &table->schema;
    if (table->items || !schema->format || strcmp(schema->format, "+s") != 0)
        return error_about(error, COG_ERR_USAGE, "extra_field",
                           "these documents are texts alone, without a field \"%s\": give a table",
                           name);
    const int64_t child = arrow_field_named(schema, name);
    if (child == ARROW_FIELD_NONE)
        return arrow_field_missing(schema, name, "extra_field",
                                   "name the column that has the values", error);
    const struct ArrowSchema *own = schema->children[child];
    if (!arrow_column_order_type(own, &table->extra.type))
        return error_about(
            error, COG_ERR_USAGE, "extra_field",
            "the Arrow column \"%s\" has the format \"%s\", which has no order here: "
            "cast it to a string, an integer or a double",
            name, own->format ? own->format : "");
    table->extra.child = child;
    return COG_OK;
}

cog_status document_table_set_extra(struct document_table *table, const char *name,
                                    cog_error *error) {
    table->extra.child = ARROW_FIELD_NONE;
    if (!name)
        return COG_OK;
    TRY(find_extra(table, name, error));
    cog_status status = COG_OK;
    for (size_t i = 0; i < table->chunk_count && status == COG_OK; i++)
        status = arrow_field_open(&table->extra, &table->chunks[i].array, name,
                                  &table->chunks[i].extra, error);
    if (status != COG_OK)
        table->extra.child = ARROW_FIELD_NONE;
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static const struct table_chunk *chunk_of(const struct document_table *table, size_t row) {
    size_t behind;
    FIND_FIRST_NOT(behind, 1, table->chunk_count, table->chunks[behind].first_row <= row);
    return &table->chunks[behind - 1];
}

static void number_id(uint64_t number, struct document_row *result) {
    result->id = view_of(result->digits, number_digits(number, result->digits));
}

static void get_item(const struct document_table *table, size_t row, struct document_row *result) {
    const cog_document *item = &table->items[row];
    if (item->id)
        result->id = view_of(item->id, item->id_size);
    else
        number_id(row, result);
    result->lang = view_of(item->lang, item->lang ? item->lang_size : 0);
    result->text = view_of(item->text, item->text_size);
    if (!item->text)
        result->problem = "the text is null";
}

static void get_id(const struct document_table *table, const struct table_chunk *chunk, size_t row,
                   struct document_row *result) {
    int64_t index = (int64_t)(row - chunk->first_row);
    if (table->id.child == ARROW_FIELD_NONE || arrow_column_is_null(&chunk->id, index))
        number_id(table->first_id + row, result);
    else if (table->id.type.type == ARROW_INTEGER) {
        result->id =
            view_of(result->digits, arrow_column_digits(&chunk->id, index, result->digits));
        if (!result->id.size)
            result->problem = "the id is not in its dictionary";
    } else if (!arrow_column_text(&chunk->id, index, &result->id))
        result->problem = "the offsets of the id run backwards or out of its buffer";
}

static void get_extra(const struct arrow_column *column, int64_t index,
                      struct document_row *result) {
    if (arrow_column_is_null(column, index))
        return;
    if (column->type.type == ARROW_INTEGER || column->type.type == ARROW_REAL)
        result->extra =
            view_of(result->extra_digits, arrow_column_digits(column, index, result->extra_digits));
    else if (!arrow_column_text(column, index, &result->extra))
        result->extra = view_of(NULL, 0);
}

void document_table_get(const struct document_table *table, size_t row,
                        struct document_row *result) {
    result->problem = NULL;
    result->extra = view_of(NULL, 0);
    result->text = result->lang = view_of("", 0);
    if (table->items) {
        get_item(table, row, result);
        return;
    }
    const struct table_chunk *chunk = chunk_of(table, row);
    int64_t index = (int64_t)(row - chunk->first_row);
    get_id(table, chunk, row, result);
    if (table->extra.child != ARROW_FIELD_NONE)
        get_extra(&chunk->extra, index, result);
    if (table->lang.child != ARROW_FIELD_NONE && !arrow_column_is_null(&chunk->lang, index) &&
        !arrow_column_text(&chunk->lang, index, &result->lang))
        result->problem = "the offsets of the language run backwards or out of its buffer";
    bool inside = table->text.child != ARROW_FIELD_ITSELF;
    if (arrow_column_is_null(&chunk->text, index) ||
        (inside && arrow_array_is_null(&chunk->array, index)))
        result->problem = "the text is null";
    else if (!arrow_column_text(&chunk->text, index, &result->text))
        result->problem = "the offsets of the text run backwards or out of its buffer";
}
