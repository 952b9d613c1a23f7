/* Jobs over documents and signatures: dedup, pairs, sign, link, related, explain. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- Options that depend on each other --------------------------------------------------------
 */

/* Hash tables over minhash signatures use bands of whole values, as in the program. */
static void choose_values(PyObject *dictionary, cog_pairs_options *options) {
    enum { VALUES = 128, VALUE_BITS = 32 };
    cog_signature_options *signature = &options->sign.signature;
    if (options->method != COG_METHOD_LSH || signature->kind != COG_SIGNATURE_MINHASH)
        return;
    bool of_bits = options_have(dictionary, "key_bits") || options_have(dictionary, "flips") ||
                   options_have(dictionary, "flip_mode") || options_have(dictionary, "flip_side");
    if (!options_have(dictionary, "value_bits"))
        signature->value_bits = of_bits ? 1 : VALUE_BITS;
    if (signature->value_bits != 1 && !options_have(dictionary, "bits"))
        signature->bits = signature->value_bits * VALUES;
}

/* Another kind of signatures, or weighting, brings its own defaults. */
static bool take_kinds(PyObject *dictionary, cog_sign_options *sign) {
    int usual = (int)sign->signature.kind;
    int kind = options_choice(dictionary, "signature", kind_names, usual);
    if (kind >= 0 && kind != usual)
        cog_signature_options_init(&sign->signature, (cog_signature_kind)kind);
    return kind >= 0 && options_take_weighting(dictionary, &sign->weights);
}

static bool take_pairs(PyObject *dictionary, cog_pairs_options *options,
                       const struct field *more_fields, void *more) {
    const struct field_set sets[] = {{pairs_fields, options},
                                     {term_fields, &options->sign.terms},
                                     {weight_fields, &options->sign.weights},
                                     {signature_fields, &options->sign.signature},
                                     {more_fields, more},
                                     {NULL, NULL}};
    if (!take_kinds(dictionary, &options->sign) ||
        !options_take(dictionary, sets, &options->knobs, &options->method))
        return false;
    choose_values(dictionary, options);
    options_complete_terms(dictionary, &options->sign.terms);
    return true;
}

/* ---- dedup ----------------------------------------------------------------------------------- */

struct dedup_job {
    struct job job;
    cog_documents *documents;
    cog_dedup_options options;
    bool ids;
    struct ArrowArrayStream streams[3];
};

static cog_status dedup_work(struct job *job) {
    struct dedup_job *own = (struct dedup_job *)job;
    cog_clusters *clusters = NULL;
    cog_error *error = &job->error;
    cog_status status =
        cog_dedup(own->documents, &own->options, NULL, &job->run, &clusters, job->report, error);
    if (status == COG_OK)
        status = cog_clusters_kept_to_arrow(clusters, &own->streams[0], error);
    if (status == COG_OK)
        status = cog_clusters_to_arrow(clusters, own->ids, &own->streams[1], error);
    if (status == COG_OK)
        status = cog_clusters_removed_to_arrow(clusters, &own->streams[2], error);
    cog_clusters_free(clusters);
    return status;
}

/* dedup(documents, against (documents or an index) or None, options, ids, run): kept rows,
 * clusters, removed rows, report. */
static PyObject *dedup(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *against, *dictionary, *run, *tables[3] = {NULL}, *report = NULL;
    PyObject *result = NULL;
    int ids;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO!pO!", &capsule, &against, &PyDict_Type, &dictionary, &ids,
                          &PyDict_Type, &run))
        return NULL;
    struct documents *documents = documents_of(capsule), *reference = NULL;
    struct index *index = index_from(against);
    int measure = options_choice(dictionary, "measure", measure_names, COG_MEASURE_JACCARD);
    if (!documents || measure < 0 ||
        (!index && against != Py_None && !(reference = documents_of(against))))
        return NULL;
    struct dedup_job job = {
        .job = {.work = dedup_work}, .documents = documents->handle, .ids = ids != 0};
    cog_dedup_options_init(&job.options);
    cog_pairs_options_init(&job.options.pairs, (cog_measure)measure);
    job.options.against = reference ? reference->handle : NULL;
    if (!take_pairs(dictionary, &job.options.pairs, dedup_fields, &job.options))
        return NULL;
    cog_index *shown = index ? index_shown(index) : NULL;
    job.options.against_index = shown;
    bool good = job_run(&job.job, run, false);
    if (shown)
        cog_index_close(shown);
    for (int i = 0; i < 3; i++)
        if (job.streams[i].release && good)
            good = (tables[i] = table_of_stream(&job.streams[i])) != NULL;
        else if (job.streams[i].release)
            job.streams[i].release(&job.streams[i]);
    if (good && (report = job_report(&job.job)))
        result = PyTuple_Pack(4, tables[0], tables[1], tables[2], report);
    Py_XDECREF(report);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(tables[i]);
    job_end(&job.job);
    return result;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

struct pairs_job {
    struct job job;
    cog_documents *documents, *against;
    cog_index *index;           /* instead of `against`; or NULL */
    const cog_lexicon *lexicon; /* NULL inside one language */
    const cog_signatures *signatures[2];
    uint32_t radius_bits;
    cog_related_options options; /* pairs uses its first part */
    cog_projection_options projection;
    bool related, ids;
    struct ArrowArrayStream stream;
};

static cog_status find_pairs(struct pairs_job *own, cog_pairs **pairs) {
    struct job *job = &own->job;
    if (own->signatures[0])
        return cog_pairs_find_signatures(own->signatures[0], own->signatures[1], own->radius_bits,
                                         &own->options.pairs, &job->run, pairs, job->report,
                                         &job->error);
    if (own->related)
        return cog_related_find(own->documents, &own->options, &job->run, pairs, job->report,
                                &job->error);
    if (own->lexicon)
        return cog_pairs_find_across(own->documents, own->against, own->lexicon, &own->projection,
                                     &own->options.pairs, &job->run, pairs, job->report,
                                     &job->error);
    if (own->index)
        return cog_pairs_find_in_index(own->documents, own->index, &own->options.pairs, &job->run,
                                       pairs, job->report, &job->error);
    return cog_pairs_find(own->documents, own->against, &own->options.pairs, &job->run, pairs,
                          job->report, &job->error);
}

static cog_status pairs_work(struct job *job) {
    struct pairs_job *own = (struct pairs_job *)job;
    cog_pairs *pairs = NULL;
    cog_status status = find_pairs(own, &pairs);
    if (status == COG_OK)
        status = cog_pairs_to_arrow(pairs, own->ids, &own->stream, &job->error);
    cog_pairs_free(pairs);
    return status;
}

static PyObject *run_pairs(struct pairs_job *job, PyObject *run) {
    return job_run_for_table(&job->job, run, false, &job->stream);
}

/* pairs(documents, against or an index or None, lexicon or None, options, ids, run) */
static PyObject *pairs(PyObject *self, PyObject *arguments) {
    PyObject *capsules[2], *lexicon, *dictionary, *run;
    int ids;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO!pO!", &capsules[0], &capsules[1], &lexicon, &PyDict_Type,
                          &dictionary, &ids, &PyDict_Type, &run))
        return NULL;
    struct pairs_job job = {.job = {.work = pairs_work}, .ids = ids != 0};
    struct documents *first = documents_of(capsules[0]), *second = NULL;
    struct index *index = index_from(capsules[1]);
    int measure = options_choice(dictionary, "measure", measure_names, COG_MEASURE_COSINE);
    if (!first || measure < 0 ||
        (!index && capsules[1] != Py_None && !(second = documents_of(capsules[1]))))
        return NULL;
    if (lexicon != Py_None && !(job.lexicon = lexicon_of(lexicon)))
        return NULL;
    job.documents = first->handle;
    job.against = second ? second->handle : NULL;
    cog_pairs_options_init(&job.options.pairs, (cog_measure)measure);
    cog_projection_options_init(&job.projection);
    if (job.lexicon)
        job.options.pairs.threshold = COG_THRESHOLD_ACROSS;
    if (!take_pairs(dictionary, &job.options.pairs, job.lexicon ? projection_fields : NULL,
                    &job.projection))
        return NULL;
    job.index = index ? index_shown(index) : NULL;
    PyObject *result = run_pairs(&job, run);
    if (job.index)
        cog_index_close(job.index);
    return result;
}

/* The texts of a tuple, borrowed from it; free the array. NULL with an exception set on failure. */
static const char **take_texts(PyObject *tuple) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    const char **texts = calloc((size_t)count + 1, sizeof *texts);
    if (!texts)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count && texts; i++) {
        PyObject *text = PyTuple_GetItem(tuple, i);
        texts[i] = PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
        if (texts[i])
            continue;
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "a query must be a str, not %R", text);
        free(texts);
        return NULL;
    }
    return texts;
}

/* related(documents, queries or None, options, ids, run) */
static PyObject *related(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *queries, *dictionary, *run;
    int ids;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO!pO!", &capsule, &queries, &PyDict_Type, &dictionary, &ids,
                          &PyDict_Type, &run))
        return NULL;
    struct pairs_job job = {.job = {.work = pairs_work}, .related = true, .ids = ids != 0};
    struct documents *documents = documents_of(capsule);
    if (!documents)
        return NULL;
    job.documents = documents->handle;
    cog_related_options_init(&job.options);
    if (!take_pairs(dictionary, &job.options.pairs, related_fields, &job.options))
        return NULL;
    const char **texts = NULL;
    if (queries != Py_None) {
        if (!(texts = take_texts(queries)))
            return NULL;
        job.options.queries = texts;
        job.options.query_count = (size_t)PyTuple_Size(queries);
    }
    PyObject *result = run_pairs(&job, run);
    free(texts);
    return result;
}

bool signatures_of(PyObject *object, Py_ssize_t rows, unsigned bits, Py_buffer *view,
                   cog_signatures **signatures) {
    cog_error error = {0};
    if (PyObject_GetBuffer(object, view, PyBUF_SIMPLE) != 0)
        return false;
    if (rows < 0 || view->len != rows * (Py_ssize_t)(bits / 8))
        PyErr_Format(PyExc_ValueError, "%zd bytes for %zd signatures of %u bits", view->len, rows,
                     bits);
    else if (cog_signatures_from_memory(view->buf, (size_t)rows, bits, signatures, &error) ==
             COG_OK)
        return true;
    else
        raise_error(&error);
    PyBuffer_Release(view);
    return false;
}

/* pairs_of_signatures(a, rows, b or None, rows, bits, radius or None, options, run) */
static PyObject *pairs_of_signatures(PyObject *self, PyObject *arguments) {
    PyObject *objects[2], *radius, *dictionary, *run, *result = NULL;
    Py_ssize_t rows[2];
    unsigned bits;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnOnIOO!O!", &objects[0], &rows[0], &objects[1], &rows[1],
                          &bits, &radius, &PyDict_Type, &dictionary, &PyDict_Type, &run))
        return NULL;
    struct pairs_job job = {.job = {.work = pairs_work}};
    Py_buffer views[2];
    cog_signatures *signatures[2] = {NULL, NULL};
    cog_pairs_options_init(&job.options.pairs, COG_MEASURE_COSINE);
    if (!take_pairs(dictionary, &job.options.pairs, NULL, NULL))
        return NULL;
    unsigned long long wanted = cog_radius_of_cosine(job.options.pairs.threshold, bits);
    bool good = radius == Py_None || whole_of(radius, "radius", &wanted);
    job.radius_bits = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
    for (int i = 0; i < 2 && good; i++)
        if (objects[i] != Py_None)
            good = signatures_of(objects[i], rows[i], bits, &views[i], &signatures[i]);
    for (int i = 0; i < 2; i++)
        job.signatures[i] = signatures[i];
    if (good)
        result = run_pairs(&job, run);
    for (int i = 0; i < 2; i++)
        if (signatures[i]) {
            cog_signatures_free(signatures[i]);
            PyBuffer_Release(&views[i]);
        }
    return result;
}

/* ---- sign ------------------------------------------------------------------------------------ */

struct sign_job {
    struct job job;
    cog_documents *documents;
    cog_sign_options options;
    const cog_statistics *statistics; /* may be NULL */
    cog_sign_buffers buffers;         /* sign */
    cog_sign_outputs outputs;         /* sign_files */
};

static cog_status sign_work(struct job *job) {
    struct sign_job *own = (struct sign_job *)job;
    return cog_sign_rows(own->documents, &own->options, own->statistics, &own->buffers, &job->run,
                         job->report, &job->error);
}

static bool take_sign(PyObject *dictionary, cog_signature_kind usual, cog_sign_options *options) {
    int kind = options_choice(dictionary, "signature", kind_names, (int)usual);
    if (kind < 0)
        return false;
    cog_sign_options_init(options, (cog_signature_kind)kind);
    const struct field_set sets[] = {{term_fields, &options->terms},
                                     {weight_fields, &options->weights},
                                     {signature_fields, &options->signature},
                                     {NULL, NULL}};
    if (!take_kinds(dictionary, options) || !options_take(dictionary, sets, NULL, NULL))
        return false;
    options_complete_terms(dictionary, &options->terms);
    return true;
}

/* Takes the documents, the statistics and the options of a signing job. */
static bool take_signing(PyObject *capsule, PyObject *statistics, PyObject *dictionary,
                         struct sign_job *job) {
    struct documents *documents = documents_of(capsule);
    if (!documents || !take_sign(dictionary, COG_SIGNATURE_SIMHASH, &job->options) ||
        (statistics != Py_None && !(job->statistics = statistics_of(statistics))))
        return false;
    job->documents = documents->handle;
    return true;
}

/* sign_bits(options): bits of a signature. */
static PyObject *sign_bits(PyObject *self, PyObject *dictionary) {
    cog_sign_options options;
    (void)self;
    return take_sign(dictionary, COG_SIGNATURE_SIMHASH, &options)
               ? PyLong_FromUnsignedLong(options.signature.bits)
               : NULL;
}

/* sign(documents, statistics or None, signatures, margins or None, term counts, options, run): the
 * report. */
static PyObject *sign(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *statistics, *objects[3], *dictionary, *run, *result = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOO!O!", &capsule, &statistics, &objects[0], &objects[1],
                          &objects[2], &PyDict_Type, &dictionary, &PyDict_Type, &run))
        return NULL;
    struct sign_job job = {.job = {.work = sign_work}};
    if (!take_signing(capsule, statistics, dictionary, &job))
        return NULL;
    job.buffers.rows = cog_documents_count(job.documents);
    const Py_ssize_t rows = (Py_ssize_t)job.buffers.rows, bits = job.options.signature.bits;
    const Py_ssize_t sizes[3] = {rows * (bits / 8), rows * bits * 4, rows * 4};
    Py_buffer views[3] = {{0}};
    bool good = true;
    for (int i = 0; i < 3 && good; i++)
        good = buffer_of(objects[i], sizes[i], true, "the memory for signatures", &views[i]);
    if (good) {
        job.buffers.signatures = views[0].buf;
        job.buffers.margins = views[1].buf;
        job.buffers.term_counts = views[2].buf;
        result = job_run_for_report(&job.job, run);
    }
    buffers_release(views, 3);
    return result;
}

static cog_status sign_files_work(struct job *job) {
    struct sign_job *own = (struct sign_job *)job;
    return cog_sign(own->documents, &own->options, own->statistics, &own->outputs, &job->run,
                    job->report, &job->error);
}

/* sign_files(documents, statistics or None, path of signatures, path of margins or None, options,
 * run): the report. */
static PyObject *sign_files(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *statistics, *dictionary, *run;
    struct sign_job job = {.job = {.work = sign_files_work}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOszO!O!", &capsule, &statistics, &job.outputs.signatures,
                          &job.outputs.weights, &PyDict_Type, &dictionary, &PyDict_Type, &run))
        return NULL;
    if (!take_signing(capsule, statistics, dictionary, &job))
        return NULL;
    return job_run_for_report(&job.job, run);
}

/* ---- link ------------------------------------------------------------------------------------ */

struct link_job {
    struct job job;
    cog_documents *from, *to;
    const cog_lexicon *lexicon;
    cog_link_options options;
    bool ids;
    struct ArrowArrayStream stream;
};

static cog_status link_work(struct job *job) {
    struct link_job *own = (struct link_job *)job;
    cog_links *links = NULL;
    cog_status status = cog_link(own->from, own->to, own->lexicon, &own->options, &job->run, &links,
                                 job->report, &job->error);
    if (status == COG_OK)
        status = cog_links_to_arrow(links, own->ids, &own->stream, &job->error);
    cog_links_free(links);
    return status;
}

/* link(from, to, lexicon, options, ids, run) */
static PyObject *link_documents(PyObject *self, PyObject *arguments) {
    PyObject *from, *to, *lexicon, *dictionary, *run;
    int ids;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO!pO!", &from, &to, &lexicon, &PyDict_Type, &dictionary,
                          &ids, &PyDict_Type, &run))
        return NULL;
    struct documents *first = documents_of(from), *second = first ? documents_of(to) : NULL;
    struct link_job job = {.job = {.work = link_work}, .ids = ids != 0};
    if (!second || !(job.lexicon = lexicon_of(lexicon)))
        return NULL;
    job.from = first->handle;
    job.to = second->handle;
    cog_link_options_init(&job.options);
    const struct field_set sets[] = {
        {link_fields, &job.options}, {projection_fields, &job.options.projection}, {NULL, NULL}};
    if (!options_take(dictionary, sets, &job.options.knobs, &job.options.method))
        return NULL;
    return job_run_for_table(&job.job, run, false, &job.stream);
}

/* ---- explain --------------------------------------------------------------------------------- */

struct explain_job {
    struct job job;
    cog_documents *documents[2];
    const cog_lexicon *lexicon; /* NULL inside one language */
    cog_sign_options options;
    cog_projection_options projection;
    cog_links *links;
    cog_word_match *matches;
    size_t count;
    double cosine;
};

static cog_status explain_work(struct job *job) {
    struct explain_job *own = (struct explain_job *)job;
    if (!own->lexicon)
        return cog_pairs_explain(own->documents[0], own->documents[1], NULL, &own->options,
                                 &job->run, &own->matches, &own->count, &own->cosine, job->report,
                                 &job->error);
    cog_status status =
        cog_links_prepare(own->documents[0], own->documents[1], own->lexicon, &own->projection,
                          &job->run, &own->links, job->report, &job->error);
    if (status == COG_OK)
        status = cog_links_explain(own->links, 0, 0, &own->matches, &own->count, &job->error);
    if (status == COG_OK)
        own->cosine = cog_links_cosine(own->links, 0, 0);
    return status;
}

/* Cosine, and a list of (from, to, probability, share). */
static PyObject *explanation(const struct explain_job *job) {
    PyObject *words = PyList_New(0);
    for (size_t i = 0; i < job->count && words; i++) {
        const cog_word_match *match = &job->matches[i];
        PyObject *word =
            Py_BuildValue("s#s#dd", match->from, (Py_ssize_t)match->from_size, match->to,
                          (Py_ssize_t)match->to_size, match->probability, match->share);
        if (!word || PyList_Append(words, word) != 0)
            Py_CLEAR(words);
        Py_XDECREF(word);
    }
    return words ? Py_BuildValue("dN", job->cosine, words) : NULL;
}

/* explain(first, second, lexicon or None, options, run) */
static PyObject *explain(PyObject *self, PyObject *arguments) {
    PyObject *capsules[2], *lexicon, *dictionary, *run;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOO!O!", &capsules[0], &capsules[1], &lexicon, &PyDict_Type,
                          &dictionary, &PyDict_Type, &run))
        return NULL;
    struct explain_job job = {.job = {.work = explain_work}};
    for (int i = 0; i < 2; i++) {
        struct documents *documents = documents_of(capsules[i]);
        if (!documents)
            return NULL;
        job.documents[i] = documents->handle;
    }
    if (lexicon != Py_None && !(job.lexicon = lexicon_of(lexicon)))
        return NULL;
    cog_pairs_options usual;
    cog_pairs_options_init(&usual, COG_MEASURE_COSINE);
    job.options = usual.sign;
    cog_projection_options_init(&job.projection);
    const struct field_set inside[] = {
        {term_fields, &job.options.terms}, {weight_fields, &job.options.weights}, {NULL, NULL}};
    const struct field_set across[] = {{projection_fields, &job.projection}, {NULL, NULL}};
    if (!options_take(dictionary, job.lexicon ? across : inside, NULL, NULL))
        return NULL;
    PyObject *result = job_run(&job.job, run, false) ? explanation(&job) : NULL;
    cog_free(job.matches);
    cog_links_free(job.links);
    job_end(&job.job);
    return result;
}

PyMethodDef job_methods[] = {{"dedup", dedup, METH_VARARGS, NULL},
                             {"pairs", pairs, METH_VARARGS, NULL},
                             {"related", related, METH_VARARGS, NULL},
                             {"sign_files", sign_files, METH_VARARGS, NULL},
                             {"pairs_of_signatures", pairs_of_signatures, METH_VARARGS, NULL},
                             {"sign", sign, METH_VARARGS, NULL},
                             {"sign_bits", sign_bits, METH_O, NULL},
                             {"link", link_documents, METH_VARARGS, NULL},
                             {"explain", explain, METH_VARARGS, NULL},
                             {0}};
