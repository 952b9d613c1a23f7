/* Tables from copies of their buffers, the content of a pickled table. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN_BUFFERS = 3 }; /* validity, values, texts */

struct column {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffers[COLUMN_BUFFERS]; /* owned */
};

/* The columns of a table, shared by its schema and its array; the last one released frees them. */
struct columns {
    unsigned users;
    size_t count;
    struct ArrowSchema **schemas;
    struct ArrowArray **arrays;
    const void *no_buffers[1];
    struct column items[];
};

static void columns_free(struct columns *columns) {
    for (size_t i = 0; i < columns->count; i++) {
        free((char *)(uintptr_t)columns->items[i].schema.format);
        free((char *)(uintptr_t)columns->items[i].schema.name);
        for (int j = 0; j < COLUMN_BUFFERS; j++)
            free((void *)(uintptr_t)columns->items[i].buffers[j]);
    }
    free(columns->schemas);
    free(columns->arrays);
    free(columns);
}

static void schema_release(struct ArrowSchema *schema) {
    struct columns *columns = schema->private_data;
    schema->release = NULL;
    if (--columns->users == 0)
        columns_free(columns);
}

static void array_release(struct ArrowArray *array) {
    struct columns *columns = array->private_data;
    array->release = NULL;
    if (--columns->users == 0)
        columns_free(columns);
}

/* A table takes the schema and the array at once, and releases both together; so the count needs no
 * lock. */
static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    struct columns *columns = stream->private_data;
    columns->users++;
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = (int64_t)columns->count,
                                .children = columns->schemas,
                                .release = schema_release,
                                .private_data = columns};
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct columns *columns = stream->private_data;
    columns->users++;
    *out = (struct ArrowArray){.length = columns->count ? columns->items[0].array.length : 0,
                               .n_buffers = 1,
                               .buffers = columns->no_buffers,
                               .n_children = (int64_t)columns->count,
                               .children = columns->arrays,
                               .release = array_release,
                               .private_data = columns};
    return 0;
}

static void stream_release(struct ArrowArrayStream *stream) {
    struct columns *columns = stream->private_data;
    stream->release = NULL;
    if (--columns->users == 0)
        columns_free(columns);
}

static char *text_copy(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/* A copy of a bytes object; NULL of None. At least one byte, so that there is a buffer. */
static bool bytes_copy(PyObject *object, const void **copy) {
    char *data;
    Py_ssize_t size;
    *copy = NULL;
    if (object == Py_None)
        return true;
    if (PyBytes_AsStringAndSize(object, &data, &size) != 0)
        return false;
    void *bytes = malloc((size_t)size + 1);
    if (!bytes) {
        PyErr_NoMemory();
        return false;
    }
    *copy = memcpy(bytes, data, (size_t)size);
    return true;
}

/* Whether the buffers are large enough for the rows, with ascending offsets of texts. */
static bool is_whole(const char *format, size_t rows, PyObject *const buffers[COLUMN_BUFFERS]) {
    const size_t given[] = {
        buffers[0] == Py_None ? SIZE_MAX : (size_t)PyBytes_Size(buffers[0]),
        buffers[1] == Py_None ? 0 : (size_t)PyBytes_Size(buffers[1]),
        buffers[2] == Py_None ? 0 : (size_t)PyBytes_Size(buffers[2]),
    };
    if (!strchr("bilgwU", format[0]) || given[0] < (rows + 7) / 8 ||
        given[1] < table_value_bytes(format, rows))
        return false;
    int64_t before = 0, end;
    for (size_t i = 0; format[0] == 'U' && i <= rows; i++) {
        memcpy(&end, PyBytes_AsString(buffers[1]) + i * sizeof end, sizeof end);
        if (end < before || (uint64_t)end > given[2])
            return false;
        before = end;
    }
    return true;
}

static bool fill_column(struct column *column, PyObject *item, Py_ssize_t rows) {
    const char *name, *format;
    PyObject *buffers[COLUMN_BUFFERS];
    Py_ssize_t nulls;
    if (!PyArg_ParseTuple(item, "ssnOOO", &name, &format, &nulls, &buffers[0], &buffers[1],
                          &buffers[2]))
        return false;
    for (int i = 0; i < COLUMN_BUFFERS; i++)
        if (!bytes_copy(buffers[i], &column->buffers[i]))
            return false;
    if (!is_whole(format, (size_t)rows, buffers)) {
        PyErr_Format(PyExc_ValueError, "the pickled column %s is damaged", name);
        return false;
    }
    column->schema = (struct ArrowSchema){.format = text_copy(format),
                                          .name = text_copy(name),
                                          .flags = buffers[0] == Py_None ? 0 : ARROW_FLAG_NULLABLE};
    column->array = (struct ArrowArray){.length = rows,
                                        .null_count = nulls,
                                        .n_buffers = format[0] == 'U' ? 3 : 2,
                                        .buffers = column->buffers};
    if (column->schema.format && column->schema.name)
        return true;
    PyErr_NoMemory();
    return false;
}

/* table_of_columns(rows, list of (name, format, nulls, validity or None, values, texts or None)) */
static PyObject *table_of_columns(PyObject *self, PyObject *arguments) {
    Py_ssize_t rows;
    PyObject *list;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "nO!", &rows, &PyList_Type, &list) || rows < 0)
        return NULL;
    size_t count = (size_t)PyList_Size(list);
    struct columns *columns = calloc(1, sizeof *columns + count * sizeof *columns->items);
    if (!columns)
        return PyErr_NoMemory();
    columns->users = 1;
    columns->schemas = calloc(count + 1, sizeof *columns->schemas);
    columns->arrays = calloc(count + 1, sizeof *columns->arrays);
    bool good = columns->schemas && columns->arrays;
    if (!good)
        PyErr_NoMemory();
    for (size_t i = 0; i < count && good; i++) {
        columns->count = i + 1;
        columns->schemas[i] = &columns->items[i].schema;
        columns->arrays[i] = &columns->items[i].array;
        good = fill_column(&columns->items[i], PyList_GetItem(list, (Py_ssize_t)i), rows);
    }
    if (!good) {
        columns_free(columns);
        return NULL;
    }
    struct ArrowArrayStream stream = {get_schema, get_next, NULL, stream_release, columns};
    return table_of_stream(&stream);
}

PyMethodDef pickled_methods[] = {{"table_of_columns", table_of_columns, METH_VARARGS, NULL}, {0}};
