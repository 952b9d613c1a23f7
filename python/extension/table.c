/* Results as tables: the type Table, which exports Arrow and lends its columns as buffers. */
#include "module.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* One Arrow array and its schema, shared by a Table and all exports from it. It has its own
 * reference count, because consumers release arrays on any thread. */
struct shared {
    atomic_size_t users;
    struct ArrowSchema schema;
    struct ArrowArray array;
};

static struct shared *share(struct shared *shared) {
    atomic_fetch_add(&shared->users, 1);
    return shared;
}

static void let_go(struct shared *shared) {
    if (atomic_fetch_sub(&shared->users, 1) != 1)
        return;
    if (shared->array.release)
        shared->array.release(&shared->array);
    if (shared->schema.release)
        shared->schema.release(&shared->schema);
    free(shared);
}

/* ---- Export ---------------------------------------------------------------------------------- */

/* An export is a copy of the shared struct. Its children are copies in one block: the pointers,
 * then the structs. A consumer may move any of them, so each copy counts as a user. */

static void release_child_schema(struct ArrowSchema *schema) {
    let_go(schema->private_data);
    schema->release = NULL;
}

static void release_schema(struct ArrowSchema *schema) {
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    free(schema->children);
    release_child_schema(schema);
}

static int export_schema(struct shared *shared, struct ArrowSchema *out) {
    const size_t count = (size_t)shared->schema.n_children;
    struct ArrowSchema **children = malloc(count * (sizeof *children + sizeof **children) + 1);
    if (!children)
        return ENOMEM;
    struct ArrowSchema *copies = (struct ArrowSchema *)(children + count);
    for (size_t i = 0; i < count; i++) {
        children[i] = &copies[i];
        copies[i] = *shared->schema.children[i];
        copies[i].private_data = share(shared);
        copies[i].release = release_child_schema;
    }
    *out = shared->schema;
    out->children = children;
    out->private_data = share(shared);
    out->release = release_schema;
    return 0;
}

static void release_child_array(struct ArrowArray *array) {
    let_go(array->private_data);
    array->release = NULL;
}

static void release_array(struct ArrowArray *array) {
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    free(array->children);
    release_child_array(array);
}

static int export_array(struct shared *shared, struct ArrowArray *out) {
    const size_t count = (size_t)shared->array.n_children;
    struct ArrowArray **children = malloc(count * (sizeof *children + sizeof **children) + 1);
    if (!children)
        return ENOMEM;
    struct ArrowArray *copies = (struct ArrowArray *)(children + count);
    for (size_t i = 0; i < count; i++) {
        children[i] = &copies[i];
        copies[i] = *shared->array.children[i];
        copies[i].private_data = share(shared);
        copies[i].release = release_child_array;
    }
    *out = shared->array;
    out->children = children;
    out->private_data = share(shared);
    out->release = release_array;
    return 0;
}

struct exported {
    struct shared *shared;
    bool given;
};

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    return export_schema(((struct exported *)stream->private_data)->shared, out);
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct exported *exported = stream->private_data;
    *out = (struct ArrowArray){0};
    if (exported->given)
        return 0;
    exported->given = true;
    return export_array(exported->shared, out);
}

static const char *stream_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return "out of memory";
}

static void stream_release(struct ArrowArrayStream *stream) {
    struct exported *exported = stream->private_data;
    let_go(exported->shared);
    free(exported);
    stream->release = NULL;
}

void stream_capsule_release(PyObject *capsule) {
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release)
        stream->release(stream);
    free(stream);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

/* A buffer of a column, for memoryview and numpy.frombuffer. */
struct buffer_object {
    PyObject_HEAD
    struct shared *shared;
    const void *data;
    Py_ssize_t size;
};

static PyObject *buffer_type, *table_type;

static int buffer_get(PyObject *self, Py_buffer *view, int flags) {
    struct buffer_object *buffer = (struct buffer_object *)self;
    return PyBuffer_FillInfo(view, self, (void *)(uintptr_t)buffer->data, buffer->size, 1, flags);
}

static void free_object(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static void buffer_dealloc(PyObject *self) {
    let_go(((struct buffer_object *)self)->shared);
    free_object(self);
}

/* A new reference, or None without data. */
static PyObject *buffer_new(struct shared *shared, const void *data, size_t size) {
    if (!data)
        Py_RETURN_NONE;
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)buffer_type, Py_tp_alloc);
    struct buffer_object *buffer = (struct buffer_object *)allocate((PyTypeObject *)buffer_type, 0);
    if (!buffer)
        return NULL;
    buffer->shared = share(shared);
    buffer->data = data;
    buffer->size = (Py_ssize_t)size;
    return (PyObject *)buffer;
}

/* ---- The type -------------------------------------------------------------------------------- */

struct table_object {
    PyObject_HEAD
    struct shared *shared;
};

static void table_dealloc(PyObject *self) {
    let_go(((struct table_object *)self)->shared);
    free_object(self);
}

PyObject *table_of_stream(struct ArrowArrayStream *stream) {
    struct shared *shared = calloc(1, sizeof *shared);
    if (!shared) {
        stream->release(stream);
        return PyErr_NoMemory();
    }
    shared->users = 1;
    int code = stream->get_schema(stream, &shared->schema);
    if (code == 0)
        code = stream->get_next(stream, &shared->array);
    stream->release(stream);
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)table_type, Py_tp_alloc);
    struct table_object *table =
        code ? NULL : (struct table_object *)allocate((PyTypeObject *)table_type, 0);
    if (!table) {
        let_go(shared);
        return code ? PyErr_NoMemory() : NULL;
    }
    table->shared = shared;
    return (PyObject *)table;
}

static PyObject *table_stream(PyObject *self, PyObject *arguments) {
    (void)arguments; /* a requested schema may be ignored */
    struct exported *exported = malloc(sizeof *exported);
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (!exported || !stream) {
        free(exported);
        free(stream);
        return PyErr_NoMemory();
    }
    *exported = (struct exported){share(((struct table_object *)self)->shared), false};
    *stream = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release,
                                        exported};
    return PyCapsule_New(stream, "arrow_array_stream", stream_capsule_release);
}

static PyObject *table_names(PyObject *self, PyObject *arguments) {
    (void)arguments;
    const struct ArrowSchema *schema = &((struct table_object *)self)->shared->schema;
    PyObject *names = PyList_New((Py_ssize_t)schema->n_children);
    for (int64_t i = 0; i < schema->n_children && names; i++)
        if (PyList_SetItem(names, (Py_ssize_t)i, PyUnicode_FromString(schema->children[i]->name)) !=
            0)
            Py_CLEAR(names);
    return names;
}

static Py_ssize_t table_length(PyObject *self) {
    return (Py_ssize_t)((struct table_object *)self)->shared->array.length;
}

size_t table_value_bytes(const char *format, size_t rows) {
    switch (format[0]) {
    case 'b':
        return rows / 8 + 1;
    case 'i':
        return rows * 4;
    case 'w':
        return rows * strtoul(format + 2, NULL, 10);
    case 'U':
        return (rows + 1) * 8;
    case '+':
        return (rows + 1) * 4;
    default:
        return rows * 8;
    }
}

/* column(number): format, validity or None, values (texts and lists: offsets), bytes of texts or
 * items of lists or None. */
static PyObject *table_column(PyObject *self, PyObject *argument) {
    struct shared *shared = ((struct table_object *)self)->shared;
    Py_ssize_t number = PyLong_AsSsize_t(argument);
    if (number == -1 && PyErr_Occurred())
        return NULL;
    if (number < 0 || number >= shared->array.n_children) {
        PyErr_SetString(PyExc_IndexError, "there is no such column");
        return NULL;
    }
    const struct ArrowArray *array = shared->array.children[number];
    const char *format = shared->schema.children[number]->format;
    size_t rows = (size_t)array->length, behind_bytes = 0;
    const void *behind = NULL;
    if (format[0] == 'U') {
        behind_bytes = (size_t)((const int64_t *)array->buffers[1])[rows];
        behind = array->buffers[2];
    } else if (format[0] == '+') {
        behind_bytes = (size_t)array->children[0]->length * sizeof(int64_t);
        behind = array->children[0]->buffers[1];
    }
    PyObject *validity = buffer_new(shared, array->buffers[0], rows / 8 + 1);
    PyObject *values = buffer_new(shared, array->buffers[1], table_value_bytes(format, rows));
    PyObject *texts = buffer_new(shared, behind_bytes ? behind : NULL, behind_bytes);
    PyObject *result =
        validity && values && texts ? Py_BuildValue("sOOO", format, validity, values, texts) : NULL;
    Py_XDECREF(validity);
    Py_XDECREF(values);
    Py_XDECREF(texts);
    return result;
}

bool table_ready(PyObject *module) {
    static PyType_Slot buffer_slots[] = {
        {Py_tp_dealloc, buffer_dealloc}, {Py_bf_getbuffer, buffer_get}, {0, NULL}};
    static PyType_Spec buffer_spec = {"cognate._cognate.Buffer", sizeof(struct buffer_object), 0,
                                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                      buffer_slots};
    static PyMethodDef methods[] = {{"__arrow_c_stream__", table_stream, METH_VARARGS, NULL},
                                    {"names", table_names, METH_NOARGS, NULL},
                                    {"column", table_column, METH_O, NULL},
                                    {0}};
    static PyType_Slot table_slots[] = {{Py_tp_dealloc, table_dealloc},
                                        {Py_tp_methods, methods},
                                        {Py_sq_length, table_length},
                                        {0, NULL}};
    static PyType_Spec table_spec = {"cognate._cognate.ArrowTable", sizeof(struct table_object), 0,
                                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                     table_slots};
    if (!buffer_type)
        buffer_type = PyType_FromSpec(&buffer_spec);
    if (!table_type)
        table_type = PyType_FromSpec(&table_spec);
    return buffer_type && table_type &&
           PyModule_AddObjectRef(module, "ArrowTable", table_type) == 0;
}
