/* Texts that were seen before. */
#include "module.h"

static const char seen_name[] = "cognate.seen";

static cog_seen *seen_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, seen_name);
}

static void seen_release(PyObject *capsule) {
    cog_seen_close(seen_of(capsule));
}

/* seen_open(options, folder or None) */
static PyObject *open_seen(PyObject *self, PyObject *arguments) {
    PyObject *dictionary;
    cog_seen_options options;
    const char *folder;
    cog_seen *seen = NULL;
    cog_error error = {0};
    cog_status status;
    (void)self;
    cog_seen_options_init(&options);
    const struct field_set sets[] = {{seen_fields, &options}, {NULL, NULL}};
    if (!PyArg_ParseTuple(arguments, "O!z", &PyDict_Type, &dictionary, &folder) ||
        !options_take(dictionary, sets, NULL, NULL))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = cog_seen_open(&options, folder, &seen, &error);
    Py_END_ALLOW_THREADS
    if (status != COG_OK)
        return raise_error(&error);
    PyObject *capsule = PyCapsule_New(seen, seen_name, seen_release);
    if (!capsule)
        cog_seen_close(seen);
    return capsule;
}

/* seen_check(seen, text): number and similarity, or None. */
static PyObject *check(PyObject *self, PyObject *arguments) {
    PyObject *capsule;
    const char *text;
    Py_ssize_t size;
    uint64_t number;
    double similarity;
    cog_error error = {0};
    cog_status status;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Os#", &capsule, &text, &size))
        return NULL;
    cog_seen *seen = seen_of(capsule);
    if (!seen)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = cog_seen_check(seen, text, (size_t)size, &number, &similarity, &error);
    Py_END_ALLOW_THREADS
    if (status != COG_OK)
        return raise_error(&error);
    if (number == COG_SEEN_NONE)
        Py_RETURN_NONE;
    return Py_BuildValue("Kd", (unsigned long long)number, similarity);
}

/* seen_count(seen) */
static PyObject *count(PyObject *self, PyObject *capsule) {
    (void)self;
    const cog_seen *seen = seen_of(capsule);
    return seen ? PyLong_FromUnsignedLongLong(cog_seen_count(seen)) : NULL;
}

/* seen_sync(seen) */
static PyObject *sync_seen(PyObject *self, PyObject *capsule) {
    cog_error error = {0};
    cog_status status;
    (void)self;
    cog_seen *seen = seen_of(capsule);
    if (!seen)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    status = cog_seen_sync(seen, &error);
    Py_END_ALLOW_THREADS
    return none_or_error(true, status, &error);
}

PyMethodDef seen_methods[] = {{"seen_open", open_seen, METH_VARARGS, NULL},
                              {"seen_check", check, METH_VARARGS, NULL},
                              {"seen_count", count, METH_O, NULL},
                              {"seen_sync", sync_seen, METH_O, NULL},
                              {0}};
