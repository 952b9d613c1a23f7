#include "api/arrow_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Columns --------------------------------------------------------------------------------- */

/* A column whose buffer 1 has `bytes` bytes; NULL if memory is out. */
static void *add_column(struct arrow_table *table, const char *name, const char *format,
                        size_t bytes) {
    void *values = table->out_of_memory ? NULL : calloc(1, bytes + 8);
    table->out_of_memory = !values;
    if (!values)
        return NULL;
    struct arrow_table_column *column = &table->columns[table->count++];
    *column = (struct arrow_table_column){.name = name, .buffers = {NULL, values}};
    column->buffer_count = 2;
    memcpy(column->format, format, strnlen(format, sizeof column->format - 1));
    return values;
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
    int64_t *values = offsets ? calloc(items + 1, sizeof *values) : NULL;
    if (!values) {
        table->out_of_memory = true;
        return (struct arrow_list){NULL, NULL};
    }
    table->columns[table->count - 1].items = values;
    table->columns[table->count - 1].item_count = items;
    return (struct arrow_list){offsets, values};
}

void arrow_table_append(struct arrow_table *table, struct arrow_table_column *column,
                        struct bytes_view text) {
    if (table->out_of_memory || !buffer_append(&column->text, text.data, text.size)) {
        table->out_of_memory = true;
        return;
    }
    ((int64_t *)(uintptr_t)column->buffers[1])[++column->texts] = (int64_t)column->text.size;
}

void arrow_table_set_null(struct arrow_table *table, size_t row) {
    if (table->out_of_memory)
        return;
    struct arrow_table_column *column = &table->columns[table->count - 1];
    size_t bytes = table->rows / 8 + 1;
    if (!column->buffers[0]) {
        column->buffers[0] = malloc(bytes);
        table->out_of_memory = !column->buffers[0];
        if (table->out_of_memory)
            return;
        memset((void *)(uintptr_t)column->buffers[0], 0xff, bytes);
    }
    ((uint8_t *)(uintptr_t)column->buffers[0])[row / 8] &= (uint8_t) ~(1u << row % 8);
    column->null_count++;
}

/* ---- The schema ------------------------------------------------------------------------------ */

/* All children and their texts in one block. */
struct schema_block {
    struct ArrowSchema *pointers[ARROW_TABLE_COLUMNS];
    struct ArrowSchema children[ARROW_TABLE_COLUMNS];
    struct ArrowSchema *item_pointers[ARROW_TABLE_COLUMNS]; /* of lists */
    struct ArrowSchema items[ARROW_TABLE_COLUMNS];
    char formats[ARROW_TABLE_COLUMNS][16];
};

/* A child may be released on its own; the block goes with its parent. */
static void release_child_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    schema->release = NULL;
}

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

static bool make_schema(const struct arrow_table *table, struct ArrowSchema *schema) {
    struct schema_block *block = calloc(1, sizeof *block);
    if (!block)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        memcpy(block->formats[i], table->columns[i].format, sizeof block->formats[i]);
        block->pointers[i] = &block->children[i];
        block->children[i] = (struct ArrowSchema){
            .format = block->formats[i],
            .name = table->columns[i].name,
            .flags = table->columns[i].null_count ? ARROW_FLAG_NULLABLE : 0,
            .release = release_child_schema,
        };
        if (table->columns[i].format[0] != '+')
            continue;
        block->items[i] =
            (struct ArrowSchema){.format = "l", .name = "item", .release = release_child_schema};
        block->item_pointers[i] = &block->items[i];
        block->children[i].n_children = 1;
        block->children[i].children = &block->item_pointers[i];
    }
    *schema = (struct ArrowSchema){.format = "+s",
                                   .name = "",
                                   .n_children = (int64_t)table->count,
                                   .children = block->pointers,
                                   .release = release_schema,
                                   .private_data = block};
    return true;
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
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    for (int64_t i = 0; i < array->n_buffers; i++)
        free((void *)(uintptr_t)array->buffers[i]);
    free((void *)array->buffers);
    array->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    free(array->private_data);
    array->release = NULL;
}

static void free_columns(struct arrow_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        struct arrow_table_column *column = &table->columns[i];
        free((void *)(uintptr_t)column->buffers[0]);
        free((void *)(uintptr_t)column->buffers[1]);
        buffer_free(&column->text);
        free(column->items);
    }
    *table = (struct arrow_table){0};
}

void arrow_table_discard(struct arrow_table *table) {
    free_columns(table);
}

/* Moves the items of a list into a child of its array. */
static bool make_items(struct arrow_table_column *column, struct ArrowArray *array) {
    struct ArrowArray **children = calloc(1, sizeof *children), *child = calloc(1, sizeof *child);
    const void **buffers = calloc(2, sizeof *buffers);
    if (!children || !child || !buffers) {
        free(children);
        free(child);
        free((void *)buffers);
        return false;
    }
    buffers[1] = column->items;
    *child = (struct ArrowArray){.length = (int64_t)column->item_count,
                                 .n_buffers = 2,
                                 .buffers = buffers,
                                 .release = release_column};
    *children = child;
    array->children = children;
    array->n_children = 1;
    column->items = NULL;
    return true;
}

/* Moves the buffers of a column into an array. */
static bool make_column(struct arrow_table *table, struct arrow_table_column *column,
                        struct ArrowArray *array) {
    const void **buffers = calloc(3, sizeof *buffers);
    if (!buffers)
        return false;
    memcpy(buffers, column->buffers, sizeof column->buffers);
    if (column->buffer_count == 3)
        buffers[2] = column->text.data;
    *array = (struct ArrowArray){.length = (int64_t)table->rows,
                                 .null_count = column->null_count,
                                 .n_buffers = column->buffer_count,
                                 .buffers = buffers,
                                 .release = release_column};
    column->text = (struct buffer){0};
    column->buffers[0] = column->buffers[1] = NULL;
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
    if (table->count && table->columns[0].buffers[1])
        return make_array(table, array) ? 0 : ENOMEM;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream) {
    free_columns(stream->private_data);
    free(stream->private_data);
    stream->release = NULL;
}

cog_status arrow_table_finish(struct arrow_table *table, struct ArrowArrayStream *stream,
                              cog_error *error) {
    struct arrow_table *own = table->out_of_memory ? NULL : malloc(sizeof *own);
    if (!own) {
        size_t rows = table->rows;
        free_columns(table);
        return error_memory(error, rows * sizeof(int64_t), "an Arrow table");
    }
    *own = *table;
    *table = (struct arrow_table){0};
    *stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, own};
    return COG_OK;
}
