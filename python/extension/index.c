/* Indexes: building, changing, files. Changes run one at a time on the handle. Searches see a
 * snapshot, which each change replaces. Neither waits for the other, and both run without the
 * interpreter lock. */
#include "module.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char index_name[] = "cognate.index";

struct index *index_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, index_name);
}

struct index *index_from(PyObject *object) {
    return PyCapsule_IsValid(object, index_name) ? index_of(object) : NULL;
}

cog_index *index_shown(struct index *index) {
    pthread_mutex_lock(&index->lock);
    cog_index *shown = cog_index_retain(index->shown);
    pthread_mutex_unlock(&index->lock);
    return shown;
}

/* Publishes the state of the handle to searches. */
static cog_status index_show(struct index *index, cog_error *error) {
    cog_index *fresh = NULL;
    cog_status status = cog_index_snapshot(index->handle, &fresh, error);
    if (status != COG_OK)
        return status;
    pthread_mutex_lock(&index->lock);
    cog_index *before = index->shown;
    index->shown = fresh;
    pthread_mutex_unlock(&index->lock);
    cog_index_close(before);
    return COG_OK;
}

static void index_free(struct index *index) {
    cog_index_close(index->shown);
    cog_index_close(index->handle);
    for (size_t i = 0; i < index->lent_count; i++) {
        cog_signatures_free(index->lent[i].signatures);
        PyBuffer_Release(&index->lent[i].view);
    }
    free(index->lent);
    pthread_mutex_destroy(&index->lock);
    pthread_mutex_destroy(&index->change);
    free(index);
}

static void index_release(PyObject *capsule) {
    index_free(index_of(capsule));
}

static struct index *index_new(void) {
    struct index *index = calloc(1, sizeof *index);
    if (!index) {
        PyErr_NoMemory();
        return NULL;
    }
    pthread_mutex_init(&index->lock, NULL);
    pthread_mutex_init(&index->change, NULL);
    return index;
}

static PyObject *index_hand_out(struct index *index) {
    PyObject *capsule = PyCapsule_New(index, index_name, index_release);
    if (!capsule)
        index_free(index);
    return capsule;
}

/* Reserves room for signatures, before a job that will borrow them. */
static struct lent *index_lend(struct index *index, PyObject *object, Py_ssize_t rows,
                               unsigned bits) {
    struct lent *grown = realloc(index->lent, (index->lent_count + 1) * sizeof *grown);
    if (!grown) {
        PyErr_NoMemory();
        return NULL;
    }
    index->lent = grown;
    struct lent *lent = &grown[index->lent_count];
    *lent = (struct lent){0};
    if (!signatures_of(object, rows, bits, &lent->view, &lent->signatures))
        return NULL;
    index->lent_count++;
    return lent;
}

/* ---- Building and changing ------------------------------------------------------------------- */

struct index_job {
    struct job job;
    struct index *index;
    cog_documents *documents;         /* or */
    const cog_signatures *signatures; /* or */
    const char **ids;
    size_t id_count;
    cog_index_options options;
};

static cog_status build_work(struct job *job) {
    struct index_job *own = (struct index_job *)job;
    cog_index **handle = &own->index->handle;
    cog_status status = own->signatures
                            ? cog_index_build_signatures(own->signatures, &own->options, &job->run,
                                                         handle, job->report, &job->error)
                            : cog_index_build(own->documents, &own->options, &job->run, handle,
                                              job->report, &job->error);
    return status == COG_OK ? index_show(own->index, &job->error) : status;
}

static bool refuse_fields(PyObject *dictionary, const struct field *field, const char *why) {
    for (; field->name; field++)
        if (options_have(dictionary, field->name)) {
            PyErr_Format(PyExc_TypeError, "%s %s", field->name, why);
            return false;
        }
    return true;
}

/* Sets have neither weights nor signatures; without vectors, minhash signatures stand for them. */
static bool take_sets(PyObject *dictionary, cog_index_options *options) {
    cog_signature_options *signature = &options->sign.signature;
    const struct field_set sets[] = {{index_fields, options},
                                     {term_fields, &options->sign.terms},
                                     {signature_fields, signature},
                                     {NULL, NULL}};
    int kind = options_choice(dictionary, "signature", kind_names, (int)signature->kind);
    if (kind < 0 ||
        !refuse_fields(dictionary, weight_fields,
                       "goes with the measure cosine; an index by jaccard or containment has sets, "
                       "and neither weights nor signatures") ||
        !options_take(dictionary, sets, &options->knobs, &options->method))
        return false;
    signature->kind = (cog_signature_kind)kind;
    if (options->vectors &&
        !refuse_fields(dictionary, signature_fields,
                       "goes with the measure cosine, or with vectors=False; an index by jaccard "
                       "or containment has sets, and neither weights nor signatures"))
        return false;
    options_complete_terms(dictionary, &options->sign.terms);
    return true;
}

static bool take_index(PyObject *dictionary, cog_index_options *options) {
    int measure = options_choice(dictionary, "measure", measure_names, COG_MEASURE_COSINE);
    if (measure < 0)
        return false;
    cog_index_options_init_for(options, (cog_measure)measure);
    if (measure != COG_MEASURE_COSINE)
        return take_sets(dictionary, options);
    int kind = options_choice(dictionary, "signature", kind_names, COG_SIGNATURE_RP);
    if (kind < 0)
        return false;
    if (kind != COG_SIGNATURE_RP)
        cog_sign_options_init(&options->sign, (cog_signature_kind)kind);
    if (!options_take_weighting(dictionary, &options->sign.weights))
        return false;
    const struct field_set sets[] = {{index_fields, options},
                                     {term_fields, &options->sign.terms},
                                     {weight_fields, &options->sign.weights},
                                     {signature_fields, &options->sign.signature},
                                     {NULL, NULL}};
    if (!options_take(dictionary, sets, &options->knobs, &options->method))
        return false;
    options_complete_terms(dictionary, &options->sign.terms);
    return true;
}

/* Returns capsule and report. Takes ownership of the index. */
static PyObject *finish_build(struct index_job *job, PyObject *run) {
    if (!job_run(&job->job, run, false)) {
        job_end(&job->job);
        index_free(job->index);
        return NULL;
    }
    PyObject *result = job_pair(index_hand_out(job->index), &job->job);
    job_end(&job->job);
    return result;
}

/* index_build(documents, options, run) */
static PyObject *build(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *dictionary, *run;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &capsule, &PyDict_Type, &dictionary, &PyDict_Type,
                          &run))
        return NULL;
    struct documents *documents = documents_of(capsule);
    struct index_job job = {.job = {.work = build_work}};
    if (!documents || !take_index(dictionary, &job.options) || !(job.index = index_new()))
        return NULL;
    job.documents = documents->handle;
    return finish_build(&job, run);
}

/* index_build_signatures(buffer, rows, bits, margins or None, options, run) */
static PyObject *build_signatures(PyObject *self, PyObject *arguments) {
    PyObject *object, *margins, *dictionary, *run, *result = NULL;
    Py_ssize_t rows;
    unsigned bits;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnIOO!O!", &object, &rows, &bits, &margins, &PyDict_Type,
                          &dictionary, &PyDict_Type, &run))
        return NULL;
    struct index_job job = {.job = {.work = build_work}};
    Py_buffer view = {0};
    if (!take_index(dictionary, &job.options) || !(job.index = index_new()))
        return NULL;
    struct lent *lent = index_lend(job.index, object, rows, bits);
    bool good = lent != NULL;
    if (good && margins != Py_None) {
        good = PyObject_GetBuffer(margins, &view, PyBUF_SIMPLE) == 0;
        if (good && view.len != rows * (Py_ssize_t)bits * 4) {
            PyErr_SetString(PyExc_ValueError, "margins are float32 [rows, bits]");
            good = false;
        }
        job.options.weights = view.buf;
    }
    if (good) {
        job.signatures = lent->signatures;
        result = finish_build(&job, run);
    } else {
        index_free(job.index);
    }
    if (view.obj)
        PyBuffer_Release(&view);
    return result;
}

static void begin_change(struct index *index) {
    pthread_mutex_lock(&index->change);
}

static cog_status end_change(struct index *index, cog_status status, cog_error *error) {
    if (status == COG_OK)
        status = index_show(index, error);
    pthread_mutex_unlock(&index->change);
    return status;
}

static cog_status add_work(struct job *job) {
    struct index_job *own = (struct index_job *)job;
    begin_change(own->index);
    cog_status status = own->signatures
                            ? cog_index_add_signatures(own->index->handle, own->signatures,
                                                       &job->run, job->report, &job->error)
                            : cog_index_add(own->index->handle, own->documents, &job->run,
                                            job->report, &job->error);
    return end_change(own->index, status, &job->error);
}

/* index_add(index, documents, run) */
static PyObject *add(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *added, *run;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO!", &capsule, &added, &PyDict_Type, &run))
        return NULL;
    struct index_job job = {.job = {.work = add_work}, .index = index_of(capsule)};
    struct documents *documents = job.index ? documents_of(added) : NULL;
    if (!documents)
        return NULL;
    job.documents = documents->handle;
    return job_run_for_report(&job.job, run);
}

/* index_add_signatures(index, buffer, rows, bits, run). The buffer stays borrowed after a failure:
 * the index may have kept it. */
static PyObject *add_signatures(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *object, *run;
    Py_ssize_t rows;
    unsigned bits;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOnIO!", &capsule, &object, &rows, &bits, &PyDict_Type, &run))
        return NULL;
    struct index_job job = {.job = {.work = add_work}, .index = index_of(capsule)};
    struct lent *lent = job.index ? index_lend(job.index, object, rows, bits) : NULL;
    if (!lent)
        return NULL;
    job.signatures = lent->signatures;
    return job_run_for_report(&job.job, run);
}

static cog_status remove_work(struct job *job) {
    struct index_job *own = (struct index_job *)job;
    begin_change(own->index);
    cog_status status =
        cog_index_remove(own->index->handle, own->ids, own->id_count, job->report, &job->error);
    return end_change(own->index, status, &job->error);
}

/* index_remove(index, ids, run): ids are a tuple of bytes. */
static PyObject *remove_ids(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *ids, *run, *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &capsule, &PyTuple_Type, &ids, &PyDict_Type, &run))
        return NULL;
    struct index_job job = {.job = {.work = remove_work}, .index = index_of(capsule)};
    if (!job.index)
        return NULL;
    job.id_count = (size_t)PyTuple_Size(ids);
    job.ids = calloc(job.id_count + 1, sizeof *job.ids);
    if (!job.ids)
        return PyErr_NoMemory();
    bool good = true;
    for (size_t i = 0; i < job.id_count && good; i++)
        good = (job.ids[i] = PyBytes_AsString(PyTuple_GetItem(ids, (Py_ssize_t)i))) != NULL;
    if (good)
        result = job_run_for_report(&job.job, run);
    free(job.ids);
    return result;
}

static cog_status compact_work(struct job *job) {
    struct index_job *own = (struct index_job *)job;
    begin_change(own->index);
    cog_status status = cog_index_compact(own->index->handle, &job->run, job->report, &job->error);
    return end_change(own->index, status, &job->error);
}

/* index_compact(index, run) */
static PyObject *compact(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *run;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!", &capsule, &PyDict_Type, &run))
        return NULL;
    struct index_job job = {.job = {.work = compact_work}, .index = index_of(capsule)};
    return job.index ? job_run_for_report(&job.job, run) : NULL;
}

/* ---- Files and facts ------------------------------------------------------------------------- */

/* index_save(index, folder) */
static PyObject *save(PyObject *self, PyObject *arguments) {
    PyObject *capsule;
    const char *folder;
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Oy", &capsule, &folder))
        return NULL;
    struct index *index = index_of(capsule);
    if (!index)
        return NULL;
    cog_status status;
    cog_index *shown = index_shown(index);
    Py_BEGIN_ALLOW_THREADS
    status = cog_index_save(shown, folder, &error);
    cog_index_close(shown);
    Py_END_ALLOW_THREADS
    return none_or_error(true, status, &error);
}

/* index_open(folder) */
static PyObject *open_folder(PyObject *self, PyObject *path) {
    (void)self;
    const char *folder = PyBytes_AsString(path);
    struct index *index = folder ? index_new() : NULL;
    cog_error error = {0};
    if (!index)
        return NULL;
    cog_status status;
    Py_BEGIN_ALLOW_THREADS
    status = cog_index_open(folder, &index->handle, &error);
    if (status == COG_OK)
        status = index_show(index, &error);
    Py_END_ALLOW_THREADS
    if (status == COG_OK)
        return index_hand_out(index);
    index_free(index);
    return raise_error(&error);
}

/* index_exists(folder) */
static PyObject *exists(PyObject *self, PyObject *path) {
    const char *folder = PyBytes_AsString(path);
    (void)self;
    return folder ? PyBool_FromLong(cog_index_exists(folder)) : NULL;
}

/* index_info(index): rows, removed rows, segments, bits, method, documents, vectors. */
static PyObject *info(PyObject *self, PyObject *capsule) {
    cog_index_info described;
    (void)self;
    struct index *index = index_of(capsule);
    if (!index)
        return NULL;
    cog_index *shown = index_shown(index);
    Py_BEGIN_ALLOW_THREADS
    cog_index_describe(shown, &described);
    cog_index_close(shown);
    Py_END_ALLOW_THREADS
    return Py_BuildValue("{sKsKsKsIssssss}", "rows", (unsigned long long)described.rows,
                         "removed_rows", (unsigned long long)described.removed_rows, "segments",
                         (unsigned long long)described.segments, "bits", described.bits, "method",
                         cog_method_name(described.method), "measure",
                         measure_names[described.measure], "holds",
                         !described.documents ? "signatures"
                         : described.vectors  ? "documents"
                                              : "documents without vectors");
}

/* index_lexicons(index): maps the codes of projected languages to how they were projected. */
static PyObject *lexicons(PyObject *self, PyObject *capsule) {
    const char *from, *record;
    (void)self;
    struct index *index = index_of(capsule);
    PyObject *result = index ? PyDict_New() : NULL;
    cog_index *shown = result ? index_shown(index) : NULL;
    for (size_t i = 0; result && cog_index_lexicon(shown, i, &from, &record); i++) {
        PyObject *text = PyUnicode_FromString(record);
        if (!text || PyDict_SetItemString(result, from, text) != 0)
            Py_CLEAR(result);
        Py_XDECREF(text);
    }
    if (shown)
        cog_index_close(shown);
    return result;
}

PyMethodDef index_methods[] = {{"index_build", build, METH_VARARGS, NULL},
                               {"index_build_signatures", build_signatures, METH_VARARGS, NULL},
                               {"index_add", add, METH_VARARGS, NULL},
                               {"index_add_signatures", add_signatures, METH_VARARGS, NULL},
                               {"index_remove", remove_ids, METH_VARARGS, NULL},
                               {"index_compact", compact, METH_VARARGS, NULL},
                               {"index_save", save, METH_VARARGS, NULL},
                               {"index_open", open_folder, METH_O, NULL},
                               {"index_exists", exists, METH_O, NULL},
                               {"index_info", info, METH_O, NULL},
                               {"index_lexicons", lexicons, METH_O, NULL},
                               {0}};
