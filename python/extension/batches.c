/* Single steps of jobs: statistics, keys, term sets, measures and clusters of given pairs. */
#include "module.h"

#include <string.h>

/* ---- Statistics ------------------------------------------------------------------------------ */

static const char statistics_name[] = "cognate.statistics";

cog_statistics *statistics_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, statistics_name);
}

static void statistics_release(PyObject *capsule) {
    cog_statistics_free(statistics_of(capsule));
}

PyObject *statistics_hand_out(cog_statistics *statistics) {
    PyObject *capsule = PyCapsule_New(statistics, statistics_name, statistics_release);
    if (!capsule)
        cog_statistics_free(statistics);
    return capsule;
}

struct collect_job {
    struct job job;
    cog_documents *documents;
    cog_term_options terms;
    cog_statistics *statistics;
};

static cog_status collect_work(struct job *job) {
    struct collect_job *own = (struct collect_job *)job;
    return cog_statistics_collect(own->documents, &own->terms, &job->run, &own->statistics,
                                  job->report, &job->error);
}

/* statistics_collect(documents, options, run): capsule, report. */
static PyObject *collect(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *dictionary, *run, *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &capsule, &PyDict_Type, &dictionary, &PyDict_Type,
                          &run))
        return NULL;
    struct documents *documents = documents_of(capsule);
    struct collect_job job = {.job = {.work = collect_work}};
    cog_term_options_init(&job.terms);
    const struct field_set sets[] = {{term_fields, &job.terms}, {NULL, NULL}};
    if (!documents || !options_take(dictionary, sets, NULL, NULL))
        return NULL;
    options_complete_terms(dictionary, &job.terms);
    job.documents = documents->handle;
    if (job_run(&job.job, run, false))
        result = job_pair(statistics_hand_out(job.statistics), &job.job);
    else
        cog_statistics_free(job.statistics);
    job_end(&job.job);
    return result;
}

/* statistics_merge(statistics, other): adds the other's counts. */
static PyObject *merge(PyObject *self, PyObject *arguments) {
    PyObject *objects[2];
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO", &objects[0], &objects[1]))
        return NULL;
    cog_statistics *statistics = statistics_of(objects[0]);
    const cog_statistics *other = statistics ? statistics_of(objects[1]) : NULL;
    if (!other)
        return NULL;
    return none_or_error(true, cog_statistics_merge(statistics, other, &error), &error);
}

static PyObject *to_bytes(PyObject *self, PyObject *capsule) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    cog_error error = {0};
    (void)self;
    const cog_statistics *statistics = statistics_of(capsule);
    if (!statistics)
        return NULL;
    cog_status status = cog_statistics_to_bytes(statistics, &bytes, &size, &error);
    return bytes_or_error(status, bytes, size, &error);
}

static PyObject *from_bytes(PyObject *self, PyObject *bytes) {
    char *data = NULL;
    Py_ssize_t size = 0;
    cog_statistics *statistics = NULL;
    cog_error error = {0};
    (void)self;
    if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
        return NULL;
    return cog_statistics_from_bytes((const uint8_t *)data, (size_t)size, NULL, &statistics,
                                     &error) == COG_OK
               ? statistics_hand_out(statistics)
               : raise_error(&error);
}

static PyObject *documents_in(PyObject *self, PyObject *capsule) {
    (void)self;
    const cog_statistics *statistics = statistics_of(capsule);
    return statistics ? PyLong_FromUnsignedLongLong(cog_statistics_documents(statistics)) : NULL;
}

/* ---- Measures and term sets ------------------------------------------------------------------ */

struct verify_job {
    struct job job;
    cog_documents *documents, *against;
    cog_verify_options options;
    const int64_t *a, *b;
    size_t count;
    double *similarities;
    struct ArrowArrayStream stream;
};

static bool take_verify(PyObject *dictionary, cog_verify_options *options) {
    int measure = options_choice(dictionary, "measure", measure_names, COG_MEASURE_JACCARD);
    if (measure < 0)
        return false;
    cog_verify_options_init(options, (cog_measure)measure);
    const struct field_set sets[] = {{verify_fields, options},
                                     {term_fields, &options->terms},
                                     {weight_fields, &options->weights},
                                     {NULL, NULL}};
    if (!options_take_weighting(dictionary, &options->weights) ||
        !options_take(dictionary, sets, NULL, NULL))
        return false;
    options_complete_terms(dictionary, &options->terms);
    return true;
}

static cog_status verify_work(struct job *job) {
    struct verify_job *own = (struct verify_job *)job;
    return cog_verify_pairs(own->documents, own->against, own->a, own->b, own->count, &own->options,
                            &job->run, own->similarities, job->report, &job->error);
}

/* verify(documents, against or None, a, b, count, statistics or None, similarities, options, run):
 * the report. */
static PyObject *verify(PyObject *self, PyObject *arguments) {
    PyObject *capsules[2], *statistics, *objects[3], *dictionary, *run, *result = NULL;
    Py_ssize_t count;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOnOOO!O!", &capsules[0], &capsules[1], &objects[0],
                          &objects[1], &count, &statistics, &objects[2], &PyDict_Type, &dictionary,
                          &PyDict_Type, &run))
        return NULL;
    struct documents *documents = documents_of(capsules[0]), *against = NULL;
    struct verify_job job = {.job = {.work = verify_work}, .count = (size_t)count};
    if (!documents || (capsules[1] != Py_None && !(against = documents_of(capsules[1]))) ||
        !take_verify(dictionary, &job.options) ||
        (statistics != Py_None && !(job.options.statistics = statistics_of(statistics))))
        return NULL;
    Py_buffer views[3] = {{0}};
    bool good = true;
    for (int i = 0; i < 3 && good; i++)
        good = buffer_of(objects[i], count * 8, i == 2, "rows and similarities", &views[i]);
    if (good) {
        job.documents = documents->handle;
        job.against = against ? against->handle : NULL;
        job.a = views[0].buf;
        job.b = views[1].buf;
        job.similarities = views[2].buf;
        result = job_run_for_report(&job.job, run);
    }
    buffers_release(views, 3);
    return result;
}

static cog_status sets_work(struct job *job) {
    struct verify_job *own = (struct verify_job *)job;
    return cog_term_sets(own->documents, &own->options.terms, own->options.measure, &job->run,
                         &own->stream, job->report, &job->error);
}

/* term_sets(documents, options, run): table, report. */
static PyObject *term_sets(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *dictionary, *run;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &capsule, &PyDict_Type, &dictionary, &PyDict_Type,
                          &run))
        return NULL;
    struct documents *documents = documents_of(capsule);
    struct verify_job job = {.job = {.work = sets_work}};
    if (!documents || !take_verify(dictionary, &job.options))
        return NULL;
    job.documents = documents->handle;
    return job_run_for_table(&job.job, run, false, &job.stream);
}

/* index_term_sets(index, options, first, count): table. */
static PyObject *index_term_sets(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *dictionary;
    unsigned long long first, count;
    cog_verify_options options;
    struct ArrowArrayStream stream = {0};
    cog_error error = {0};
    cog_status status;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO!KK", &capsule, &PyDict_Type, &dictionary, &first, &count))
        return NULL;
    struct index *index = index_of(capsule);
    if (!index || !take_verify(dictionary, &options))
        return NULL;
    cog_index *shown = index_shown(index);
    Py_BEGIN_ALLOW_THREADS
    status =
        cog_index_term_sets(shown, &options.terms, options.measure, first, count, &stream, &error);
    cog_index_close(shown);
    Py_END_ALLOW_THREADS
    return table_or_error(true, status, &stream, &error);
}

/* distances(first, rows, second or None, rows, bits, a, b, count, distances) */
static PyObject *distances(PyObject *self, PyObject *arguments) {
    PyObject *signed_rows[2], *objects[3];
    Py_ssize_t rows[2], count;
    unsigned bits;
    cog_signatures *signatures[2] = {NULL, NULL};
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnOnIOOnO", &signed_rows[0], &rows[0], &signed_rows[1],
                          &rows[1], &bits, &objects[0], &objects[1], &count, &objects[2]))
        return NULL;
    Py_buffer views[5] = {{0}};
    bool good = signatures_of(signed_rows[0], rows[0], bits, &views[3], &signatures[0]);
    if (good && signed_rows[1] != Py_None)
        good = signatures_of(signed_rows[1], rows[1], bits, &views[4], &signatures[1]);
    for (int i = 0; i < 3 && good; i++)
        good = buffer_of(objects[i], count * (i == 2 ? 4 : 8), i == 2, "rows and distances",
                         &views[i]);
    cog_status status = COG_OK;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_verify_distances(signatures[0], signatures[1], views[0].buf, views[1].buf,
                                      (size_t)count, views[2].buf, &error);
        Py_END_ALLOW_THREADS
    }
    cog_signatures_free(signatures[0]);
    cog_signatures_free(signatures[1]);
    buffers_release(views, 5);
    return none_or_error(good, status, &error);
}

/* ---- Keys ------------------------------------------------------------------------------------ */

struct keys_job {
    struct job job;
    const cog_signatures *signatures;
    const float *margins;
    const uint32_t *term_counts;
    cog_key_plan plan;
    bool flipped;
    struct ArrowArrayStream stream;
};

static cog_status keys_work(struct job *job) {
    struct keys_job *own = (struct keys_job *)job;
    return cog_table_keys(own->signatures, own->margins, own->term_counts, &own->plan, own->flipped,
                          &job->run, &own->stream, &job->error);
}

/* table_keys(signatures, rows, bits, margins or None, term counts or None, options, flipped, run):
 * table, report. */
static PyObject *table_keys(PyObject *self, PyObject *arguments) {
    PyObject *object, *margins, *counts, *dictionary, *run, *result = NULL;
    Py_ssize_t rows;
    unsigned bits;
    int flipped;
    cog_signatures *signatures = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnIOOO!pO!", &object, &rows, &bits, &margins, &counts,
                          &PyDict_Type, &dictionary, &flipped, &PyDict_Type, &run))
        return NULL;
    struct keys_job job = {.job = {.work = keys_work}, .flipped = flipped != 0};
    const struct field_set sets[] = {{key_fields, &job.plan}, {NULL, NULL}};
    Py_buffer views[3] = {{0}};
    if (!options_take(dictionary, sets, NULL, NULL) ||
        !signatures_of(object, rows, bits, &views[0], &signatures))
        return NULL;
    if (buffer_of(margins, rows * (Py_ssize_t)bits * 4, false, "margins", &views[1]) &&
        buffer_of(counts, rows * 4, false, "counts of terms", &views[2])) {
        job.signatures = signatures;
        job.margins = views[1].buf;
        job.term_counts = views[2].buf;
        result = job_run_for_table(&job.job, run, false, &job.stream);
    }
    cog_signatures_free(signatures);
    buffers_release(views, 3);
    return result;
}

/* bands(threshold, values, value bits, recall): bands, values per band, expected recall. */
static PyObject *bands(PyObject *self, PyObject *arguments) {
    PyObject *numbers[2];
    double threshold, recall;
    unsigned values, value_bits;
    cog_key_plan plan;
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "dOOd", &threshold, &numbers[0], &numbers[1], &recall) ||
        !unsigned_of(numbers[0], "values", &values) ||
        !unsigned_of(numbers[1], "value_bits", &value_bits))
        return NULL;
    if (cog_key_plan_bands(threshold, values, value_bits, &recall, &plan, &error) != COG_OK)
        return raise_error(&error);
    return Py_BuildValue("IId", plan.tables, plan.band_values, recall);
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* clusters(rows, a, b, count, similarities or None, keys or None, grouping): table. */
static PyObject *clusters(PyObject *self, PyObject *arguments) {
    PyObject *objects[4];
    Py_ssize_t rows, count;
    const char *name;
    cog_error error = {0};
    struct ArrowArrayStream stream;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "nOOnOOs", &rows, &objects[0], &objects[1], &count,
                          &objects[2], &objects[3], &name))
        return NULL;
    if (rows < 0)
        return PyErr_Format(PyExc_ValueError, "rows of %zd: give 0 or more", rows);
    int grouping = 0;
    while (grouping_names[grouping] && strcmp(grouping_names[grouping], name) != 0)
        grouping++;
    Py_buffer views[4] = {{0}};
    bool good = true;
    for (int i = 0; i < 4 && good; i++)
        good =
            buffer_of(objects[i], (i == 3 ? rows : count) * 8, false, "pairs and keys", &views[i]);
    cog_status status = COG_OK;
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_clusters_of_pairs((size_t)rows, views[0].buf, views[1].buf, views[2].buf,
                                       (size_t)count, views[3].buf, (cog_grouping)grouping, &stream,
                                       &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 4);
    return table_or_error(good, status, &stream, &error);
}

PyMethodDef batch_methods[] = {{"statistics_collect", collect, METH_VARARGS, NULL},
                               {"statistics_merge", merge, METH_VARARGS, NULL},
                               {"statistics_to_bytes", to_bytes, METH_O, NULL},
                               {"statistics_from_bytes", from_bytes, METH_O, NULL},
                               {"statistics_documents", documents_in, METH_O, NULL},
                               {"term_sets", term_sets, METH_VARARGS, NULL},
                               {"index_term_sets", index_term_sets, METH_VARARGS, NULL},
                               {"verify", verify, METH_VARARGS, NULL},
                               {"distances", distances, METH_VARARGS, NULL},
                               {"table_keys", table_keys, METH_VARARGS, NULL},
                               {"bands", bands, METH_VARARGS, NULL},
                               {"clusters", clusters, METH_VARARGS, NULL},
                               {0}};
