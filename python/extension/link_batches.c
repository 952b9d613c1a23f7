/* Links between two languages in steps: terms, projector, vectors, nearest rows, decision. */
#include "module.h"

/* ---- Terms ----------------------------------------------------------------------------------- */

struct terms_job {
    struct job job;
    cog_documents *documents;
    const cog_lexicon *lexicon;
    int side;
    cog_link_terms terms;
};

static cog_status terms_work(struct job *job) {
    struct terms_job *own = (struct terms_job *)job;
    return cog_link_terms_read(own->documents, own->lexicon, own->side, &job->run, &own->terms,
                               job->report, &job->error);
}

static void free_terms(cog_link_terms *terms) {
    cog_statistics_free(terms->statistics);
    if (terms->rows.release)
        terms->rows.release(&terms->rows);
    if (terms->words.release)
        terms->words.release(&terms->words);
}

/* link_terms(documents, lexicon, side, run): statistics, three numbers of languages, table of rows,
 * table of words, report. */
static PyObject *link_terms(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *lexicon, *run, *result = NULL;
    struct terms_job job = {.job = {.work = terms_work}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOiO!", &capsule, &lexicon, &job.side, &PyDict_Type, &run))
        return NULL;
    struct documents *documents = documents_of(capsule);
    if (!documents || !(job.lexicon = lexicon_of(lexicon)))
        return NULL;
    job.documents = documents->handle;
    if (job_run(&job.job, run, false)) {
        PyObject *statistics = statistics_hand_out(job.terms.statistics);
        PyObject *rows = table_of_stream(&job.terms.rows);
        PyObject *words = table_of_stream(&job.terms.words);
        PyObject *report = job_report(&job.job);
        if (statistics && rows && words && report)
            result =
                Py_BuildValue("O(KKK)OOO", statistics, (unsigned long long)job.terms.languages[0],
                              (unsigned long long)job.terms.languages[1],
                              (unsigned long long)job.terms.languages[2], rows, words, report);
        Py_XDECREF(statistics);
        Py_XDECREF(rows);
        Py_XDECREF(words);
        Py_XDECREF(report);
    } else {
        free_terms(&job.terms);
    }
    job_end(&job.job);
    return result;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

static const char projector_name[] = "cognate.link_projector";

static cog_link_projector *projector_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, projector_name);
}

static void projector_release(PyObject *capsule) {
    cog_link_projector_free(projector_of(capsule));
}

struct projector_job {
    struct job job;
    const cog_lexicon *lexicon;
    cog_link_side sides[2];
    cog_projection_options options;
    cog_link_projector *projector;
};

static cog_status projector_work(struct job *job) {
    struct projector_job *own = (struct projector_job *)job;
    return cog_link_projector_create(own->lexicon, &own->sides[0], &own->sides[1], &own->options,
                                     &job->run, &own->projector, job->report, &job->error);
}

static PyObject *hand_out_projector(cog_link_projector *projector) {
    PyObject *capsule = PyCapsule_New(projector, projector_name, projector_release);
    if (!capsule)
        cog_link_projector_free(projector);
    return capsule;
}

/* A side as (statistics, three numbers of languages). */
static bool take_side(PyObject *statistics, const unsigned long long languages[3],
                      cog_link_side *side) {
    for (int i = 0; i < 3; i++)
        side->languages[i] = languages[i];
    side->statistics = statistics_of(statistics);
    return side->statistics != NULL;
}

/* link_projector(lexicon, statistics and languages of both sides, bytes of the words, offsets of
 * the words, words, options, run): capsule, report. */
static PyObject *link_projector(PyObject *self, PyObject *arguments) {
    PyObject *lexicon, *statistics[2], *words, *offsets, *dictionary, *run, *result = NULL;
    unsigned long long languages[2][3];
    Py_ssize_t count;
    Py_buffer views[2] = {{0}};
    struct projector_job job = {.job = {.work = projector_work}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OO(KKK)O(KKK)OOnO!O!", &lexicon, &statistics[0],
                          &languages[0][0], &languages[0][1], &languages[0][2], &statistics[1],
                          &languages[1][0], &languages[1][1], &languages[1][2], &words, &offsets,
                          &count, &PyDict_Type, &dictionary, &PyDict_Type, &run))
        return NULL;
    cog_projection_options_init(&job.options);
    const struct field_set sets[] = {{projection_fields, &job.options}, {NULL, NULL}};
    if (!(job.lexicon = lexicon_of(lexicon)) ||
        !take_side(statistics[0], languages[0], &job.sides[0]) ||
        !take_side(statistics[1], languages[1], &job.sides[1]) ||
        !options_take(dictionary, sets, NULL, NULL) ||
        !offsets_of(offsets, count, "offsets of words", &views[0]))
        return NULL;
    const int64_t *at = views[0].buf;
    if (buffer_of(words, (Py_ssize_t)at[count], false, "words", &views[1])) {
        job.sides[0].words = views[1].buf;
        job.sides[0].word_offsets = at;
        job.sides[0].word_count = (size_t)count;
        if (job_run(&job.job, run, false))
            result = job_pair(hand_out_projector(job.projector), &job.job);
        else
            cog_link_projector_free(job.projector);
        job_end(&job.job);
    }
    buffers_release(views, 2);
    return result;
}

/* link_lengths(projector, side, offsets, terms, rows, lengths) */
static PyObject *link_lengths(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *offsets, *items, *lengths;
    int side;
    Py_ssize_t count;
    Py_buffer views[3] = {{0}};
    cog_number_rows rows;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OiOOnO", &capsule, &side, &offsets, &items, &count, &lengths))
        return NULL;
    cog_link_projector *projector = projector_of(capsule);
    bool good = projector && number_rows_of(offsets, items, count, views, &rows) &&
                buffer_of(lengths, count * 8, true, "lengths", &views[2]);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_link_lengths(projector, side, &rows, views[2].buf, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 3);
    return none_or_error(good, status, &error);
}

/* link_vectors(projector, side, offsets, terms, rows, mean length): table. */
static PyObject *link_vectors(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *offsets, *items;
    int side;
    double mean_length;
    Py_ssize_t count;
    Py_buffer views[2] = {{0}};
    cog_number_rows rows;
    struct ArrowArrayStream stream;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OiOOnd", &capsule, &side, &offsets, &items, &count,
                          &mean_length))
        return NULL;
    cog_link_projector *projector = projector_of(capsule);
    bool good = projector && number_rows_of(offsets, items, count, views, &rows);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_link_vectors(projector, side, &rows, mean_length, &stream, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 2);
    return table_or_error(good, status, &stream, &error);
}

/* ---- Neighbours and the decision ------------------------------------------------------------- */

bool link_options_of(PyObject *dictionary, cog_link_options *options) {
    cog_link_options_init(options);
    const struct field_set sets[] = {
        {link_fields, options}, {projection_fields, &options->projection}, {NULL, NULL}};
    return options_take(dictionary, sets, &options->knobs, &options->method);
}

/* link_plan(options): neighbours of both sides, proposals of both sides. */
static PyObject *link_plan(PyObject *self, PyObject *dictionary) {
    cog_link_options options;
    cog_link_plan plan;
    cog_error error = {0};
    (void)self;
    if (!link_options_of(dictionary, &options))
        return NULL;
    if (cog_link_plan_of(&options, &plan, &error) != COG_OK)
        return raise_error(&error);
    return Py_BuildValue(
        "(KK)(KK)", (unsigned long long)plan.neighbours[0], (unsigned long long)plan.neighbours[1],
        (unsigned long long)plan.proposals[0], (unsigned long long)plan.proposals[1]);
}

struct nearest_job {
    struct job job;
    cog_number_rows queries, rows;
    int side;
    cog_link_options options;
    struct ArrowArrayStream stream;
};

static cog_status nearest_work(struct job *job) {
    struct nearest_job *own = (struct nearest_job *)job;
    return cog_link_nearest(&own->queries, &own->rows, own->side, &own->options, &job->run,
                            &own->stream, &job->error);
}

/* link_nearest(offsets, entries and rows of the queries, of the others, side, options, run): table,
 * report. */
static PyObject *link_nearest(PyObject *self, PyObject *arguments) {
    PyObject *offsets[2], *items[2], *dictionary, *run, *result = NULL;
    Py_ssize_t counts[2];
    Py_buffer views[4] = {{0}};
    struct nearest_job job = {.job = {.work = nearest_work}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOnOOniO!O!", &offsets[0], &items[0], &counts[0], &offsets[1],
                          &items[1], &counts[1], &job.side, &PyDict_Type, &dictionary, &PyDict_Type,
                          &run))
        return NULL;
    if (link_options_of(dictionary, &job.options) &&
        number_rows_of(offsets[0], items[0], counts[0], views, &job.queries) &&
        number_rows_of(offsets[1], items[1], counts[1], views + 2, &job.rows))
        result = job_run_for_table(&job.job, run, false, &job.stream);
    buffers_release(views, 4);
    return result;
}

/* link_sign(offsets, entries, rows, buffer of signatures, options). */
static PyObject *link_sign(PyObject *self, PyObject *arguments) {
    PyObject *offsets, *items, *signatures, *dictionary;
    Py_ssize_t count;
    Py_buffer views[3] = {{0}};
    cog_number_rows rows;
    cog_link_options options;
    const cog_run_options run = {.threads = 1};
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOnOO!", &offsets, &items, &count, &signatures, &PyDict_Type,
                          &dictionary))
        return NULL;
    bool good = link_options_of(dictionary, &options) &&
                number_rows_of(offsets, items, count, views, &rows) &&
                buffer_of(signatures, count * (Py_ssize_t)(options.bits / 8), true, "signatures",
                          &views[2]);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_link_sign(&rows, &options, &run, views[2].buf, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 3);
    return none_or_error(good, status, &error);
}

/* link_radius_rows(documents): list of rows. */
static PyObject *link_radius_rows(PyObject *self, PyObject *number) {
    uint32_t rows[COG_LINK_RADIUS_ROWS];
    const unsigned long long documents = PyLong_AsUnsignedLongLong(number);
    (void)self;
    if (PyErr_Occurred())
        return NULL;
    const size_t count = cog_link_radius_rows(documents, rows);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++)
        if (PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromUnsignedLong(rows[i])) != 0)
            Py_CLEAR(list);
    return list;
}

/* link_radius(distances, rows, options): radius, cosine at the radius. */
static PyObject *link_radius(PyObject *self, PyObject *arguments) {
    PyObject *distances, *dictionary;
    Py_ssize_t count;
    Py_buffer view = {0};
    cog_link_options options;
    uint32_t radius_bits = 0;
    double beyond = 0;
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnO!", &distances, &count, &PyDict_Type, &dictionary) ||
        !link_options_of(dictionary, &options) ||
        !buffer_of(distances, count * (Py_ssize_t)(options.bits + 1) * 8, false, "distances",
                   &view))
        return NULL;
    cog_status status =
        cog_link_radius(view.buf, (size_t)count, &options, &radius_bits, &beyond, &error);
    buffers_release(&view, 1);
    return status == COG_OK ? Py_BuildValue("Id", radius_bits, beyond) : raise_error(&error);
}

/* link_cosines(offsets, entries and rows of both sides, a, b, pairs, buffer of cosines). */
static PyObject *link_cosines(PyObject *self, PyObject *arguments) {
    PyObject *offsets[2], *items[2], *numbers[3];
    Py_ssize_t counts[2], pairs;
    Py_buffer views[7] = {{0}};
    cog_number_rows rows[2];
    const cog_run_options run = {.threads = 1};
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOnOOnOOnO", &offsets[0], &items[0], &counts[0], &offsets[1],
                          &items[1], &counts[1], &numbers[0], &numbers[1], &pairs, &numbers[2]))
        return NULL;
    bool good = number_rows_of(offsets[0], items[0], counts[0], views, &rows[0]) &&
                number_rows_of(offsets[1], items[1], counts[1], views + 2, &rows[1]);
    for (int i = 0; i < 3; i++)
        good = good && buffer_of(numbers[i], pairs * 8, i == 2, "pairs", &views[4 + i]);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_link_cosines(&rows[0], &rows[1], views[4].buf, views[5].buf, (size_t)pairs,
                                  &run, views[6].buf, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 7);
    return none_or_error(good, status, &error);
}

struct decide_job {
    struct job job;
    cog_link_neighbours sides[2];
    cog_link_options options;
    struct ArrowArrayStream stream;
};

static cog_status decide_work(struct job *job) {
    struct decide_job *own = (struct decide_job *)job;
    return cog_link_decide(&own->sides[0], &own->sides[1], &own->options, &job->run, &own->stream,
                           job->report, &job->error);
}

bool link_neighbours_of(PyObject *const objects[4], Py_ssize_t documents, Py_buffer views[4],
                        cog_link_neighbours *side) {
    if ((objects[0] &&
         !buffer_of(objects[0], documents * 8, false, "lengths of documents", &views[0])) ||
        !offsets_of(objects[1], documents, "offsets of neighbours", &views[1]))
        return false;
    const int64_t *at = views[1].buf;
    for (int i = 2; i < 4; i++)
        if (!buffer_of(objects[i], (Py_ssize_t)at[documents] * 8, false, "neighbours", &views[i]))
            return false;
    *side =
        (cog_link_neighbours){(uint64_t)documents, views[0].buf, at, views[2].buf, views[3].buf, 0};
    return true;
}

/* link_decide(documents, lengths, offsets, rows and similarities of the first side, of the second,
 * the cosine of neighbours that are not found, options, run): table, report. */
static PyObject *link_decide(PyObject *self, PyObject *arguments) {
    PyObject *objects[2][4], *dictionary, *run, *result = NULL;
    double beyond;
    Py_ssize_t documents[2];
    Py_buffer views[8] = {{0}};
    struct decide_job job = {.job = {.work = decide_work}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "nOOOOnOOOOdO!O!", &documents[0], &objects[0][0],
                          &objects[0][1], &objects[0][2], &objects[0][3], &documents[1],
                          &objects[1][0], &objects[1][1], &objects[1][2], &objects[1][3], &beyond,
                          &PyDict_Type, &dictionary, &PyDict_Type, &run))
        return NULL;
    if (link_options_of(dictionary, &job.options) &&
        link_neighbours_of(objects[0], documents[0], views, &job.sides[0]) &&
        link_neighbours_of(objects[1], documents[1], views + 4, &job.sides[1])) {
        job.sides[0].beyond = job.sides[1].beyond = beyond;
        result = job_run_for_table(&job.job, run, false, &job.stream);
    }
    buffers_release(views, 8);
    return result;
}

PyMethodDef link_batch_methods[] = {{"link_terms", link_terms, METH_VARARGS, NULL},
                                    {"link_projector", link_projector, METH_VARARGS, NULL},
                                    {"link_lengths", link_lengths, METH_VARARGS, NULL},
                                    {"link_vectors", link_vectors, METH_VARARGS, NULL},
                                    {"link_plan", link_plan, METH_O, NULL},
                                    {"link_nearest", link_nearest, METH_VARARGS, NULL},
                                    {"link_sign", link_sign, METH_VARARGS, NULL},
                                    {"link_radius_rows", link_radius_rows, METH_O, NULL},
                                    {"link_radius", link_radius, METH_VARARGS, NULL},
                                    {"link_cosines", link_cosines, METH_VARARGS, NULL},
                                    {"link_decide", link_decide, METH_VARARGS, NULL},
                                    {0}};
