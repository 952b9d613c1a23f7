/* Lexicons: word-translation tables. */
#include "module.h"

#include <stdlib.h>

static const char lexicon_name[] = "cognate.lexicon";

cog_lexicon *lexicon_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, lexicon_name);
}

static void lexicon_release(PyObject *capsule) {
    cog_lexicon_free(lexicon_of(capsule));
}

static PyObject *lexicon_hand_out(cog_lexicon *lexicon) {
    PyObject *capsule = PyCapsule_New(lexicon, lexicon_name, lexicon_release);
    if (!capsule)
        cog_lexicon_free(lexicon);
    return capsule;
}

struct train_job {
    struct job job;
    const char **paths;
    size_t count;
    cog_lexicon_options options;
    cog_lexicon *lexicon;
};

static cog_status train_work(struct job *job) {
    struct train_job *own = (struct train_job *)job;
    return cog_lexicon_train(own->paths, own->count, &own->options, &job->run, &own->lexicon,
                             job->report, &job->error);
}

/* lexicon_train(paths, options, run): capsule, report. Paths are a tuple of bytes. */
static PyObject *train(PyObject *self, PyObject *arguments) {
    PyObject *paths, *dictionary, *run, *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyTuple_Type, &paths, &PyDict_Type, &dictionary,
                          &PyDict_Type, &run))
        return NULL;
    struct train_job job = {.job = {.work = train_work}};
    cog_lexicon_options_init(&job.options);
    const struct field_set sets[] = {
        {lexicon_fields, &job.options}, {term_fields, &job.options.terms}, {NULL, NULL}};
    if (!options_take(dictionary, sets, NULL, NULL))
        return NULL;
    job.count = (size_t)PyTuple_Size(paths);
    job.paths = calloc(job.count + 1, sizeof *job.paths);
    if (!job.paths)
        return PyErr_NoMemory();
    bool good = true;
    for (size_t i = 0; i < job.count && good; i++)
        good = (job.paths[i] = PyBytes_AsString(PyTuple_GetItem(paths, (Py_ssize_t)i))) != NULL;
    if (good && job_run(&job.job, run, false))
        result = job_pair(lexicon_hand_out(job.lexicon), &job.job);
    else
        cog_lexicon_free(job.lexicon);
    job_end(&job.job);
    free(job.paths);
    return result;
}

static PyObject *lexicon_open(PyObject *self, PyObject *path) {
    cog_lexicon *lexicon = NULL;
    cog_error error = {0};
    (void)self;
    const char *name = PyBytes_AsString(path);
    if (!name)
        return NULL;
    cog_status status;
    Py_BEGIN_ALLOW_THREADS
    status = cog_lexicon_open(name, &lexicon, &error);
    Py_END_ALLOW_THREADS
    return status == COG_OK ? lexicon_hand_out(lexicon) : raise_error(&error);
}

static PyObject *lexicon_save(PyObject *self, PyObject *arguments) {
    PyObject *capsule;
    const char *path;
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Oy", &capsule, &path))
        return NULL;
    cog_lexicon *lexicon = lexicon_of(capsule);
    if (!lexicon)
        return NULL;
    cog_status status;
    Py_BEGIN_ALLOW_THREADS
    status = cog_lexicon_save(lexicon, path, &error);
    Py_END_ALLOW_THREADS
    return none_or_error(true, status, &error);
}

/* lexicon_to_bytes(capsule): bytes. */
static PyObject *lexicon_to_bytes(PyObject *self, PyObject *capsule) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    cog_error error = {0};
    (void)self;
    cog_lexicon *lexicon = lexicon_of(capsule);
    if (!lexicon)
        return NULL;
    cog_status status = cog_lexicon_to_bytes(lexicon, &bytes, &size, &error);
    return bytes_or_error(status, bytes, size, &error);
}

/* lexicon_from_bytes(bytes): capsule. */
static PyObject *lexicon_from_bytes(PyObject *self, PyObject *bytes) {
    char *data = NULL;
    Py_ssize_t size = 0;
    cog_lexicon *lexicon = NULL;
    cog_error error = {0};
    (void)self;
    if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
        return NULL;
    return cog_lexicon_from_bytes((const uint8_t *)data, (size_t)size, &lexicon, &error) == COG_OK
               ? lexicon_hand_out(lexicon)
               : raise_error(&error);
}

/* Source and target language, words, entries, checksum. */
static PyObject *lexicon_info(PyObject *self, PyObject *capsule) {
    (void)self;
    cog_lexicon *lexicon = lexicon_of(capsule);
    return lexicon ? Py_BuildValue("ssnnK", cog_lexicon_from(lexicon), cog_lexicon_to(lexicon),
                                   (Py_ssize_t)cog_lexicon_words(lexicon),
                                   (Py_ssize_t)cog_lexicon_entries(lexicon),
                                   (unsigned long long)cog_lexicon_checksum(lexicon))
                   : NULL;
}

/* lexicon_translate(capsule, text): a list of (from, to, p(to | from), p(from | to)). */
static PyObject *lexicon_translate(PyObject *self, PyObject *arguments) {
    PyObject *capsule;
    const char *text;
    Py_ssize_t size;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Os#", &capsule, &text, &size))
        return NULL;
    cog_lexicon *lexicon = lexicon_of(capsule);
    cog_projection_options options;
    cog_translation *found = NULL;
    size_t count = 0;
    cog_error error = {0};
    if (!lexicon)
        return NULL;
    cog_projection_options_init(&options);
    if (cog_lexicon_translate(lexicon, text, (size_t)size, options.linkers, &found, &count,
                              &error) != COG_OK)
        return raise_error(&error);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < count && list; i++) {
        PyObject *item = Py_BuildValue("s#s#dd", found[i].from, (Py_ssize_t)found[i].from_size,
                                       found[i].to, (Py_ssize_t)found[i].to_size,
                                       found[i].to_given_from, found[i].from_given_to);
        if (!item || PyList_Append(list, item) != 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    cog_free(found);
    return list;
}

PyMethodDef lexicon_methods[] = {{"lexicon_train", train, METH_VARARGS, NULL},
                                 {"lexicon_open", lexicon_open, METH_O, NULL},
                                 {"lexicon_save", lexicon_save, METH_VARARGS, NULL},
                                 {"lexicon_to_bytes", lexicon_to_bytes, METH_O, NULL},
                                 {"lexicon_from_bytes", lexicon_from_bytes, METH_O, NULL},
                                 {"lexicon_info", lexicon_info, METH_O, NULL},
                                 {"lexicon_translate", lexicon_translate, METH_VARARGS, NULL},
                                 {0}};
