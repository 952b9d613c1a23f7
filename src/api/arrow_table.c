#include "api/arrow_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Columns --------------------------------------------------------------------------------- */

/* A column's pointers to its buffers, followed by buffer 1: one allocation, because the answer to a
 * single query is made in microseconds. */
struct column_block {
    const void *buffers[4]; /* validity, values or offsets, texts; the last keeps the alignment */
    unsigned char values[];
};

static struct column_block *block_create(size_t value_bytes) {
    struct column_block *block = calloc(1, sizeof *block + value_bytes + 8);
    if (block)
        block->buffers[1] = block->values;
    return block;
}

static void block_free(struct column_block *block) {
    if (!block)
        return;
    FREE((void *)(uintptr_t)block->buffers[0], (void *)(uintptr_t)block->buffers[2], block);
}

/* A column whose buffer 1 has `bytes` bytes; NULL if memory ran out. */
static void *add_column(struct arrow_table *table, const char *name, const char *format,
                        size_t bytes) {
    struct column_block *block = table->out_of_memory ? NULL : block_create(bytes);
    table->out_of_memory = !block;
    if (!block)
        return NULL;
    struct arrow_table_column *column = &table->columns[table->count++];
    *column = (struct arrow_table_column){.name = name, .block = block, .buffer_count = 2};
    memcpy(column->format, format, strnlen(format, sizeof column->format - 1));
    return block->values;
}

int64_t *arrow_table_int64(struct arrow_table *table, const char *name) {
    return add_column(table, name, "l", table->rows * sizeof(int64_t));
}

int32_t *arrow_table_int32(struct arrow_table *table, const char *name) {
    return add_column(table, name, "i", table->rows * sizeof(int32_t));
}

double *arrow_table_double(struct arrow_table *table, const char *name) {
    return add_column(table, name, "g", table->rows * sizeof(double));
}

uint8_t *arrow_table_bytes(struct arrow_table *table, const char *name, size_t width) {
    char format[16];
    snprintf(format, sizeof format, "w:%zu", width);
    return add_column(table, name, format, table->rows * width);
}

uint8_t *arrow_table_bool(struct arrow_table *table, const char *name) {
    return add_column(table, name, "b", table->rows / 8 + 1);
}

struct arrow_table_column *arrow_table_text(struct arrow_table *table, const char *name) {
    void *offsets = add_column(table, name, "U", (table->rows + 1) * sizeof(int64_t));
    if (!offsets)
        return NULL;
    struct arrow_table_column *column = &table->columns[table->count - 1];
    column->buffer_count = 3;
    return column;
}

struct arrow_list arrow_table_list(struct arrow_table *table, const char *name, size_t items) {
    int32_t *offsets = add_column(table, name, "+l", (table->rows + 1) * sizeof(int32_t));
    struct column_block *values = offsets ? block_create(items * sizeof(int64_t)) : NULL;
    if (!values) {
        table->out_of_memory = true;
        return (struct arrow_list){NULL, NULL};
    }
    table->columns[table->count - 1].items = values;
    table->columns[table->count - 1].item_count = items;
    return (struct arrow_list){offsets, (int64_t *)values->values};
}

void arrow_table_append(struct arrow_table *table, struct arrow_table_column *column,
                        struct bytes_view text) {
    if (table->out_of_memory || !buffer_append(&column->text, text.data, text.size)) {
        table->out_of_memory = true;
        return;
    }
    int64_t *ends = (int64_t *)(uintptr_t)column->block->buffers[1];
    ends[++column->texts] = (int64_t)column->text.size;
}

void arrow_table_hits(struct arrow_table *table, const struct match *hits) {
    int64_t *queries = arrow_table_int64(table, "query");
    int64_t *rows = arrow_table_int64(table, "row");
    int32_t *distances = arrow_table_int32(table, "distance");
    for (size_t i = 0; i < table->rows && distances; i++) {
        queries[i] = hits[i].a;
        rows[i] = hits[i].b;
        distances[i] = (int32_t)hits[i].distance;
    }
}

void arrow_table_set_null(struct arrow_table *table, size_t row) {
    if (table->out_of_memory)
        return;
    struct arrow_table_column *column = &table->columns[table->count - 1];
    uint8_t *validity = (uint8_t *)(uintptr_t)column->block->buffers[0];
    if (!validity) {
        size_t bytes = table->rows / 8 + 1;
        validity = malloc(bytes);
        table->out_of_memory = !validity;
        if (!validity)
            return;
        memset(validity, 0xff, bytes);
        column->block->buffers[0] = validity;
    }
    validity[row / 8] &= (uint8_t) ~(1u << row % 8);
    column->null_count++;
}

/* ---- The schema ------------------------------------------------------------------------------ */

/* All children and their texts in one block. */
struct schema_block {
    struct ArrowSchema *pointers[ARROW_TABLE_COLUMNS];
    struct ArrowSchema children[ARROW_TABLE_COLUMNS];
    char formats[ARROW_TABLE_COLUMNS][16];
};

/* What a list consists of. */
struct list_schema {
    struct ArrowSchema *pointer, item;
};

static void release_item_schema(struct ArrowSchema *schema) {
    schema->release = NULL;
}

/* A child may be released on its own; the block goes with its parent. */
static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

static bool make_list_schema(struct ArrowSchema *list) {
    struct list_schema *own = calloc(1, sizeof *own);
    if (!own)
        return false;
    own->item = (struct ArrowSchema){.format = "l", .name = "item", .release = release_item_schema};
    own->pointer = &own->item;
    list->n_children = 1;
    list->children = &own->pointer;
    list->private_data = own;
    return true;
}

static bool make_schema(const struct arrow_table *table, struct ArrowSchema *schema) {
    struct schema_block *block = calloc(1, sizeof *block);
    if (!block)
        return false;
    *schema = (struct ArrowSchema){.format = "+s",
                                   .name = "",
                                   .n_children = (int64_t)table->count,
                                   .children = block->pointers,
                                   .release = release_schema,
                                   .private_data = block};
    bool made = true;
    for (size_t i = 0; i < table->count; i++) {
        memcpy(block->formats[i], table->columns[i].format, sizeof block->formats[i]);
        block->pointers[i] = &block->children[i];
        block->children[i] = (struct ArrowSchema){
            .format = block->formats[i],
            .name = table->columns[i].name,
            .flags = table->columns[i].null_count ? ARROW_FLAG_NULLABLE : 0,
            .release = release_schema,
        };
        if (table->columns[i].format[0] == '+')
            made = made && make_list_schema(&block->children[i]);
    }
    if (!made)
        schema->release(schema);
    return made;
}

/* ---- The array ------------------------------------------------------------------------------- */

struct array_block {
    struct ArrowArray *pointers[ARROW_TABLE_COLUMNS];
    struct ArrowArray children[ARROW_TABLE_COLUMNS];
    const void *no_validity;
};

/* A column that was moved out of the array frees its buffers when it is released itself. The items
 * of a list go with it. */
static void release_column(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    free(array->children);
    block_free(array->private_data);
    array->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    free(array->private_data);
    array->release = NULL;
}

void arrow_table_discard(struct arrow_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        struct arrow_table_column *column = &table->columns[i];
        block_free(column->block);
        buffer_free(&column->text);
        block_free(column->items);
    }
    *table = (struct arrow_table){0};
}

/* Hands a block over to an array. */
static void give_block(struct column_block **block, struct ArrowArray *array) {
    array->buffers = (*block)->buffers;
    array->private_data = *block;
    array->release = release_column;
    *block = NULL;
}

/* What a list consists of; `pointer` is the children of its array. */
struct list_items {
    struct ArrowArray *pointer, array;
};

static bool make_items(struct arrow_table_column *column, struct ArrowArray *array) {
    struct list_items *own = calloc(1, sizeof *own);
    if (!own)
        return false;
    own->array = (struct ArrowArray){.length = (int64_t)column->item_count, .n_buffers = 2};
    give_block(&column->items, &own->array);
    own->pointer = &own->array;
    array->children = &own->pointer;
    array->n_children = 1;
    return true;
}

/* Moves the buffers of a column into an array. */
static bool make_column(struct arrow_table *table, struct arrow_table_column *column,
                        struct ArrowArray *array) {
    *array = (struct ArrowArray){.length = (int64_t)table->rows,
                                 .null_count = column->null_count,
                                 .n_buffers = column->buffer_count};
    column->block->buffers[2] = column->text.data;
    column->text = (struct buffer){0};
    give_block(&column->block, array);
    return !column->items || make_items(column, array);
}

static bool make_array(struct arrow_table *table, struct ArrowArray *array) {
    struct array_block *block = calloc(1, sizeof *block);
    if (!block)
        return false;
    *array = (struct ArrowArray){.length = (int64_t)table->rows,
                                 .n_buffers = 1,
                                 .n_children = (int64_t)table->count,
                                 .buffers = &block->no_validity,
                                 .children = block->pointers,
                                 .release = release_array,
                                 .private_data = block};
    bool made = true;
    for (size_t i = 0; i < table->count; i++) {
        block->pointers[i] = &block->children[i];
        made = made && make_column(table, &table->columns[i], &block->children[i]);
    }
    if (!made)
        array->release(array);
    return made;
}

/* ---- The stream ------------------------------------------------------------------------------ */

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema) {
    return make_schema(stream->private_data, schema) ? 0 : ENOMEM;
}

/* The table remembers that its array was given away by having no rows and no buffers. */
static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *array) {
    struct arrow_table *table = stream->private_data;
    *array = (struct ArrowArray){0};
    if (table->count && table->columns[0].block)
        return make_array(table, array) ? 0 : ENOMEM;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream) {
    arrow_table_discard(stream->private_data);
    free(stream->private_data);
    stream->release = NULL;
}

cog_status arrow_table_finish(struct arrow_table *table, struct ArrowArrayStream *stream,
                              cog_error *error) {
    struct arrow_table *own = table->out_of_memory ? NULL : malloc(sizeof *own);
    if (!own) {
        size_t rows = table->rows;
        arrow_table_discard(table);
        return error_memory(error, rows * sizeof(int64_t), "an Arrow table");
    }
    *own = *table;
    *table = (struct arrow_table){0};
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, own};
    return COG_OK;
}
