/* Searches of an index: many queries as a job, single queries by searchers. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- Many queries ---------------------------------------------------------------------------- */
struct search_job {
    struct job job;
    struct index *index;
    cog_documents *documents;
    const cog_signatures *signatures;
    const float *margins;
    cog_search_options options;
    bool ids;
    struct ArrowArrayStream stream;
};

static cog_status search_work(struct job *job) {
    struct search_job *own = (struct search_job *)job;
    cog_hits *hits = NULL;
    cog_index *shown = index_shown(own->index);
    cog_status status =
        own->signatures
            ? cog_index_search_signatures(shown, own->signatures, own->margins, &own->options,
                                          &job->run, &hits, job->report, &job->error)
            : cog_index_search(shown, own->documents, &own->options, &job->run, &hits, job->report,
                               &job->error);
    if (status == COG_OK)
        status = cog_hits_to_arrow(hits, own->ids, &own->stream, &job->error);
    cog_hits_free(hits);
    cog_index_close(shown);
    return status;
}

static bool take_search(PyObject *dictionary, cog_search_options *options) {
    cog_search_options_init(options);
    const struct field_set sets[] = {{search_fields, options}, {NULL, NULL}};
    if (!options_have(dictionary, "k") &&
        (options_have(dictionary, "threshold") || options_have(dictionary, "radius")))
        options->k = 0;
    return options_take(dictionary, sets, &options->knobs, &options->method);
}

static PyObject *run_search(struct search_job *job, PyObject *run, size_t queries) {
    enum { BRIEF_QUERIES = 16 }; /* fewer are answered before anybody could press a key */
    return job_run_for_table(&job->job, run, queries <= BRIEF_QUERIES, &job->stream);
}

/* index_search(index, documents, options, ids, run): table, report. */
static PyObject *search(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *queries, *dictionary, *run;
    int ids;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO!pO!", &capsule, &queries, &PyDict_Type, &dictionary, &ids,
                          &PyDict_Type, &run))
        return NULL;
    struct search_job job = {
        .job = {.work = search_work}, .index = index_of(capsule), .ids = ids != 0};
    struct documents *documents = job.index ? documents_of(queries) : NULL;
    if (!documents || !take_search(dictionary, &job.options))
        return NULL;
    job.documents = documents->handle;
    size_t count = cog_documents_count(documents->handle);
    return run_search(&job, run, count ? count : SIZE_MAX);
}

/* index_search_signatures(index, buffer, rows, bits, margins or None, options, run) */
static PyObject *search_signatures(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *object, *margins, *dictionary, *run, *result = NULL;
    Py_ssize_t rows;
    unsigned bits;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOnIOO!O!", &capsule, &object, &rows, &bits, &margins,
                          &PyDict_Type, &dictionary, &PyDict_Type, &run))
        return NULL;
    struct search_job job = {.job = {.work = search_work}, .index = index_of(capsule)};
    Py_buffer view, margin_view = {0};
    cog_signatures *signatures = NULL;
    if (!job.index || !take_search(dictionary, &job.options) ||
        !signatures_of(object, rows, bits, &view, &signatures))
        return NULL;
    bool good = margins == Py_None || PyObject_GetBuffer(margins, &margin_view, PyBUF_SIMPLE) == 0;
    if (good && margin_view.obj && margin_view.len != rows * (Py_ssize_t)bits * 4) {
        PyErr_SetString(PyExc_ValueError, "margins are float32 [rows, bits]");
        good = false;
    }
    job.signatures = signatures;
    job.margins = margin_view.buf;
    if (good)
        result = run_search(&job, run, (size_t)rows);
    if (margin_view.obj)
        PyBuffer_Release(&margin_view);
    cog_signatures_free(signatures);
    PyBuffer_Release(&view);
    return result;
}

/* ---- Single queries ---------------------------------------------------------------------------
 */

static const char searchers_name[] = "cognate.searchers";
enum { IDLE_MOST = 64 };

/* A searcher with the state of the index that it searches. */
struct found_by {
    cog_searcher *searcher;
    cog_index *state;
};

/* Searchers with the same options, one for each thread that searches at the same time. */
struct searchers {
    PyObject *capsule; /* of the index */
    PyObject *lexicon; /* capsule, or None */
    struct index *index;
    const cog_lexicon *with; /* that projects queries; or NULL */
    cog_search_options options;
    unsigned bits;
    pthread_mutex_t lock; /* protects the fields below */
    struct found_by idle[IDLE_MOST];
    size_t idle_count;
};

static void release_one(struct found_by *one) {
    cog_searcher_free(one->searcher);
    cog_index_close(one->state);
}

static void searchers_release(PyObject *capsule) {
    struct searchers *searchers = PyCapsule_GetPointer(capsule, searchers_name);
    while (searchers->idle_count)
        release_one(&searchers->idle[--searchers->idle_count]);
    pthread_mutex_destroy(&searchers->lock);
    Py_DECREF(searchers->capsule);
    Py_DECREF(searchers->lexicon);
    free(searchers);
}

static cog_status create_one(const struct searchers *searchers, const cog_index *shown,
                             struct found_by *one, cog_error *error) {
    cog_status status = cog_searcher_create(shown, &searchers->options, &one->searcher, error);
    if (status != COG_OK || !searchers->with)
        return status;
    status = cog_searcher_project(one->searcher, searchers->with, NULL, error);
    if (status != COG_OK) {
        cog_searcher_free(one->searcher);
        one->searcher = NULL;
    }
    return status;
}

/* Returns a searcher of the current state: an idle one, moved to that state if the index has
 * changed, or a new one. */
static cog_status take_one(struct searchers *searchers, struct found_by *one, cog_error *error) {
    cog_index *shown = index_shown(searchers->index), *before;
    cog_status status = COG_OK;
    *one = (struct found_by){0};
    pthread_mutex_lock(&searchers->lock);
    if (searchers->idle_count)
        *one = searchers->idle[--searchers->idle_count];
    pthread_mutex_unlock(&searchers->lock);
    if (!one->searcher)
        status = create_one(searchers, shown, one, error);
    else if (one->state != shown)
        status = cog_searcher_move(one->searcher, shown, error);
    before = one->state;
    one->state = shown;
    cog_index_close(before);
    return status;
}

static void put_back(struct searchers *searchers, struct found_by *one) {
    bool kept = false;
    pthread_mutex_lock(&searchers->lock);
    if (one->searcher && searchers->idle_count < IDLE_MOST) {
        searchers->idle[searchers->idle_count++] = *one;
        kept = true;
    }
    pthread_mutex_unlock(&searchers->lock);
    if (!kept)
        release_one(one);
}

/* index_searchers(index, lexicon or None, options): a capsule for index_find. */
static PyObject *make_searchers(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *lexicon, *dictionary;
    cog_index_info info;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO!", &capsule, &lexicon, &PyDict_Type, &dictionary))
        return NULL;
    const cog_lexicon *with = lexicon == Py_None ? NULL : lexicon_of(lexicon);
    struct index *index = PyErr_Occurred() ? NULL : index_of(capsule);
    struct searchers *searchers = index ? calloc(1, sizeof *searchers) : NULL;
    if (!searchers)
        return index ? PyErr_NoMemory() : NULL;
    if (!take_search(dictionary, &searchers->options)) {
        free(searchers);
        return NULL;
    }
    cog_index *shown = index_shown(index);
    Py_BEGIN_ALLOW_THREADS
    cog_index_describe(shown, &info);
    cog_index_close(shown);
    Py_END_ALLOW_THREADS
    searchers->bits = info.bits;
    searchers->index = index;
    searchers->capsule = Py_NewRef(capsule);
    searchers->lexicon = Py_NewRef(lexicon);
    searchers->with = with;
    pthread_mutex_init(&searchers->lock, NULL);
    PyObject *result = PyCapsule_New(searchers, searchers_name, searchers_release);
    if (!result) {
        Py_DECREF(capsule);
        Py_DECREF(lexicon);
        free(searchers);
    }
    return result;
}

/* One query: a text, or a signature. */
struct query {
    const char *text;
    Py_ssize_t size;
    Py_buffer signature;
};

static cog_status find(struct searchers *searchers, const struct query *query, bool ids,
                       struct ArrowArrayStream *stream, cog_error *error) {
    const cog_hits *hits = NULL;
    struct found_by one;
    cog_status status = take_one(searchers, &one, error);
    if (status == COG_OK)
        status = query->text ? cog_searcher_find_text(one.searcher, query->text,
                                                      (size_t)query->size, NULL, &hits, error)
                             : cog_searcher_find_signature(one.searcher, query->signature.buf, NULL,
                                                           &hits, error);
    if (status == COG_OK)
        status = cog_hits_to_arrow(hits, ids, stream, error);
    put_back(searchers, &one);
    return status;
}

/* False if the object is not a single query: an array of another type, or with several rows. An
 * exception may be set. */
static bool take_query(const struct searchers *searchers, PyObject *object, struct query *query) {
    if (PyUnicode_Check(object)) {
        query->text = PyUnicode_AsUTF8AndSize(object, &query->size);
        if (!query->text && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            PyErr_Clear(); /* a job skips invalid text */
        return query->text != NULL;
    }
    Py_buffer *view = &query->signature;
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT) != 0) {
        PyErr_Clear(); /* not in one piece */
        return false;
    }
    return view->ndim == 2 && view->shape[0] == 1 && view->itemsize == 1 && view->format &&
           strcmp(view->format, "B") == 0 && view->len == searchers->bits / 8;
}

/* index_find(searchers, text or signatures, ids): a table, or None if the argument is not a single
 * query. */
static PyObject *find_one(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
    struct query query = {0};
    struct ArrowArrayStream stream;
    cog_error error;
    (void)self;
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "index_find takes three arguments");
        return NULL;
    }
    struct searchers *searchers = PyCapsule_GetPointer(arguments[0], searchers_name);
    bool single = searchers && take_query(searchers, arguments[1], &query);
    cog_status status = COG_OK;
    if (single) {
        bool ids = arguments[2] == Py_True;
        Py_BEGIN_ALLOW_THREADS
        status = find(searchers, &query, ids, &stream, &error);
        Py_END_ALLOW_THREADS
    }
    if (query.signature.obj)
        PyBuffer_Release(&query.signature);
    if (!single)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    return table_or_error(true, status, &stream, &error);
}

PyMethodDef search_methods[] = {
    {"index_search", search, METH_VARARGS, NULL},
    {"index_search_signatures", search_signatures, METH_VARARGS, NULL},
    {"index_searchers", make_searchers, METH_VARARGS, NULL},
    {"index_find", (PyCFunction)(void (*)(void))find_one, METH_FASTCALL, NULL},
    {0}};
