/* Documents from Python: strings, Arrow streams and arrays, files. */
#include "module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char documents_name[] = "cognate.documents";

struct documents *documents_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, documents_name);
}

static void documents_free(struct documents *documents) {
    cog_documents_close(documents->handle);
    free(documents->items);
    Py_XDECREF(documents->kept);
    Py_XDECREF(documents->lexicon);
    free(documents);
}

static void documents_release(PyObject *capsule) {
    documents_free(PyCapsule_GetPointer(capsule, documents_name));
}

static PyObject *documents_hand_out(struct documents *documents) {
    PyObject *capsule = PyCapsule_New(documents, documents_name, documents_release);
    if (!capsule)
        documents_free(documents);
    return capsule;
}

/* ---- Strings --------------------------------------------------------------------------------- */

/* The UTF-8 of a str, bytes or None (NULL). Invalid text (lone surrogates) becomes bytes that the
 * library skips; `others` owns them. */
static bool utf8_of(PyObject *value, Py_ssize_t row, PyObject *others, const char **data,
                    size_t *size) {
    Py_ssize_t length = 0;
    char *bytes = NULL;
    *data = NULL;
    *size = 0;
    if (value == Py_None)
        return true;
    if (PyUnicode_Check(value)) {
        *data = PyUnicode_AsUTF8AndSize(value, &length);
        *size = (size_t)length;
        if (*data || !PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return *data != NULL;
        PyErr_Clear();
        value = PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass");
        int code = value ? PyList_Append(others, value) : -1;
        Py_XDECREF(value);
        if (code != 0)
            return false;
    }
    if (PyBytes_AsStringAndSize(value, &bytes, &length) != 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "document %zd: texts, ids and languages are str, or None if there is none, "
                     "not %R",
                     row, value);
        return false;
    }
    *data = bytes;
    *size = (size_t)length;
    return true;
}

static bool fill_items(cog_document *items, PyObject *const columns[3], Py_ssize_t count,
                       PyObject *others) {
    for (Py_ssize_t i = 0; i < count; i++) {
        cog_document *item = &items[i];
        const char **const data[] = {&item->text, &item->id, &item->lang};
        size_t *const sizes[] = {&item->text_size, &item->id_size, &item->lang_size};
        for (int j = 0; j < 3; j++)
            if (columns[j] &&
                !utf8_of(PyTuple_GetItem(columns[j], i), i, others, data[j], sizes[j]))
                return false;
    }
    return true;
}

/* from_texts(texts, ids, langs): tuples of str, or None for the last two. */
static PyObject *from_texts(PyObject *self, PyObject *arguments) {
    PyObject *given[3], *columns[3] = {NULL};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!OO", &PyTuple_Type, &given[0], &given[1], &given[2]))
        return NULL;
    Py_ssize_t count = PyTuple_Size(given[0]);
    for (int i = 0; i < 3; i++) {
        columns[i] = given[i] == Py_None ? NULL : given[i];
        if (columns[i] && (!PyTuple_Check(columns[i]) || PyTuple_Size(columns[i]) != count)) {
            PyErr_SetString(PyExc_ValueError, "give as many ids and languages as documents");
            return NULL;
        }
    }
    struct documents *documents = calloc(1, sizeof *documents);
    if (!documents)
        return PyErr_NoMemory();
    PyObject *others = PyList_New(0);
    documents->items = calloc((size_t)count + 1, sizeof *documents->items);
    documents->kept = others ? PyTuple_Pack(2, arguments, others) : NULL;
    cog_error error = {0};
    if (!documents->items)
        PyErr_NoMemory();
    bool good =
        documents->items && documents->kept && fill_items(documents->items, columns, count, others);
    Py_XDECREF(others);
    if (good && cog_documents_from_memory(documents->items, (size_t)count, &documents->handle,
                                          &error) != COG_OK)
        good = raise_error(&error) != NULL;
    if (good)
        return documents_hand_out(documents);
    documents_free(documents);
    return NULL;
}

/* ---- Arrow ----------------------------------------------------------------------------------- */

/* from_stream(capsule, options). Runs without the interpreter lock: producers may be slow, or need
 * the lock themselves. */
static PyObject *from_stream(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *dictionary;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!", &capsule, &PyDict_Type, &dictionary))
        return NULL;
    cog_input_options options;
    cog_input_options_init(&options);
    const struct field_set sets[] = {{input_fields, &options}, {NULL, NULL}};
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream || !options_take(dictionary, sets, NULL, NULL))
        return NULL;
    struct documents *documents = calloc(1, sizeof *documents);
    if (!documents)
        return PyErr_NoMemory();
    cog_error error = {0};
    cog_status status;
    Py_BEGIN_ALLOW_THREADS
    status = cog_documents_from_arrow(stream, &options, &documents->handle, &error);
    Py_END_ALLOW_THREADS
    if (status == COG_OK)
        return documents_hand_out(documents);
    documents_free(documents);
    return raise_error(&error);
}

/* A stream of one array, moved out of both capsules. */
struct single {
    struct ArrowSchema schema;
    struct ArrowArray array;
};

/* Moves the schema out: the library asks only once. */
static int single_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
    struct single *single = stream->private_data;
    *out = single->schema;
    single->schema.release = NULL;
    return out->release ? 0 : EINVAL;
}

static int single_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
    struct single *single = stream->private_data;
    *out = single->array;
    single->array.release = NULL;
    return 0;
}

static const char *single_error(struct ArrowArrayStream *stream) {
    (void)stream;
    return NULL;
}

static void single_release(struct ArrowArrayStream *stream) {
    struct single *single = stream->private_data;
    if (single->schema.release)
        single->schema.release(&single->schema);
    if (single->array.release)
        single->array.release(&single->array);
    free(single);
    stream->release = NULL;
}

/* stream_of_array(schema, array): a capsule of a stream, from what __arrow_c_array__ returns. */
static PyObject *stream_of_array(PyObject *self, PyObject *arguments) {
    PyObject *first, *second;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &first, &second))
        return NULL;
    struct ArrowSchema *schema = PyCapsule_GetPointer(first, "arrow_schema");
    struct ArrowArray *array = schema ? PyCapsule_GetPointer(second, "arrow_array") : NULL;
    if (!array)
        return NULL;
    struct single *single = malloc(sizeof *single);
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (!single || !stream) {
        free(single);
        free(stream);
        return PyErr_NoMemory();
    }
    *single = (struct single){*schema, *array};
    schema->release = NULL;
    array->release = NULL;
    *stream =
        (struct ArrowArrayStream){single_schema, single_next, single_error, single_release, single};
    return PyCapsule_New(stream, "arrow_array_stream", stream_capsule_release);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* from_paths(paths, options): a tuple of bytes, as os.fsencode makes them. */
static PyObject *from_paths(PyObject *self, PyObject *arguments) {
    PyObject *paths, *dictionary;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyTuple_Type, &paths, &PyDict_Type, &dictionary))
        return NULL;
    cog_input_options options;
    cog_input_options_init(&options);
    const struct field_set sets[] = {{input_fields, &options}, {NULL, NULL}};
    if (!options_take(dictionary, sets, NULL, NULL))
        return NULL;
    Py_ssize_t count = PyTuple_Size(paths);
    struct documents *documents = calloc(1, sizeof *documents);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    bool good = documents && names;
    if (!good)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && good; i++)
        good = (names[i] = PyBytes_AsString(PyTuple_GetItem(paths, i))) != NULL;
    cog_error error = {0};
    if (good &&
        cog_documents_open(&options, names, (size_t)count, &documents->handle, &error) != COG_OK)
        good = raise_error(&error) != NULL;
    free(names);
    if (good) {
        Py_INCREF(arguments); /* the names of fields */
        documents->kept = arguments;
        return documents_hand_out(documents);
    }
    if (documents)
        documents_free(documents);
    return NULL;
}

/* ---- Facts about documents ------------------------------------------------------------------- */

static PyObject *count(PyObject *self, PyObject *capsule) {
    (void)self;
    struct documents *documents = documents_of(capsule);
    return documents ? PyLong_FromSize_t(cog_documents_count(documents->handle)) : NULL;
}

/* Positions of the records that the last job skipped, ascending. */
static PyObject *skipped(PyObject *self, PyObject *capsule) {
    const uint64_t *positions = NULL;
    (void)self;
    struct documents *documents = documents_of(capsule);
    if (!documents)
        return NULL;
    size_t number = cog_documents_skipped(documents->handle, &positions);
    PyObject *list = PyList_New((Py_ssize_t)number);
    for (size_t i = 0; i < number && list; i++) {
        PyObject *position = PyLong_FromUnsignedLongLong(positions[i]);
        if (!position || PyList_SetItem(list, (Py_ssize_t)i, position) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

/* documents_project(documents, lexicon): projects the documents into the lexicon's target language.
 */
static PyObject *project(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *lexicon_capsule;
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &capsule, &lexicon_capsule))
        return NULL;
    struct documents *documents = documents_of(capsule);
    cog_lexicon *lexicon = documents ? lexicon_of(lexicon_capsule) : NULL;
    if (!lexicon)
        return NULL;
    if (cog_documents_project(documents->handle, lexicon, NULL, &error) != COG_OK)
        return raise_error(&error);
    Py_XDECREF(documents->lexicon);
    documents->lexicon = Py_NewRef(lexicon_capsule);
    Py_RETURN_NONE;
}

PyMethodDef documents_methods[] = {{"from_texts", from_texts, METH_VARARGS, NULL},
                                   {"from_stream", from_stream, METH_VARARGS, NULL},
                                   {"stream_of_array", stream_of_array, METH_VARARGS, NULL},
                                   {"from_paths", from_paths, METH_VARARGS, NULL},
                                   {"documents_count", count, METH_O, NULL},
                                   {"documents_skipped", skipped, METH_O, NULL},
                                   {"documents_project", project, METH_VARARGS, NULL},
                                   {0}};
