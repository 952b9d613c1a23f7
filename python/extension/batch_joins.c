/* Single steps of joins of signatures: settings, orders of bits, and pairs along a band. */
#include "module.h"

/* plan_join(rows, rows of the other collection or 0, options): a dictionary. */
static PyObject *plan_join(PyObject *self, PyObject *arguments) {
    static const char *const flip_modes[] = {"none", "random", "distance", "across"};
    unsigned long long rows, against;
    PyObject *numbers[2], *dictionary;
    cog_pairs_options options;
    cog_join_plan plan;
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOO!", &numbers[0], &numbers[1], &PyDict_Type, &dictionary) ||
        !whole_of(numbers[0], "rows", &rows) || !whole_of(numbers[1], "against", &against))
        return NULL;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    const struct field_set sets[] = {
        {pairs_fields, &options}, {signature_fields, &options.sign.signature}, {NULL, NULL}};
    if (!options_take(dictionary, sets, &options.knobs, &options.method))
        return NULL;
    if (cog_plan_join(&options, rows, against, &plan, &error) != COG_OK)
        return raise_error(&error);
    return Py_BuildValue(
        "{s:s,s:I,s:K,s:O,s:I,s:I,s:s,s:O,s:I,s:d,s:d,s:d,s:K}", "method",
        cog_method_name(plan.method), "tables", plan.tables, "window",
        (unsigned long long)plan.window, "shared_window", plan.shared_window ? Py_True : Py_False,
        "key_bits", plan.key_bits, "flips", plan.flips, "flip_mode", flip_modes[plan.flip_mode],
        "flip_both", plan.flip_both ? Py_True : Py_False, "radius", (unsigned)plan.radius_bits,
        "threshold", plan.threshold, "expected_recall", plan.expected_recall, "comparisons",
        plan.comparisons, "margins_per_row", (unsigned long long)plan.margins_per_row);
}

struct band_job {
    struct job job;
    cog_signatures *signatures[2];
    const uint32_t *begins, *ends;
    uint32_t radius_bits;
    uint64_t seed;
    unsigned first_table, tables;
    uint8_t *permuted;
    struct ArrowArrayStream stream;
};

static cog_status permute_work(struct job *job) {
    struct band_job *own = (struct band_job *)job;
    return cog_permute_signatures(own->signatures[0], own->seed, own->first_table, own->tables,
                                  &job->run, own->permuted, &job->error);
}

/* permute(signatures, rows, bits, seed, first table, tables, permuted, run) */
static PyObject *permute(PyObject *self, PyObject *arguments) {
    PyObject *objects[2], *numbers[3], *run, *result = NULL;
    Py_ssize_t rows;
    unsigned bits;
    unsigned long long seed;
    struct band_job job = {.job = {.work = permute_work}};
    Py_buffer views[2] = {{0}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnIOOOOO!", &objects[0], &rows, &bits, &numbers[0],
                          &numbers[1], &numbers[2], &objects[1], &PyDict_Type, &run) ||
        !whole_of(numbers[0], "seed", &seed) ||
        !unsigned_of(numbers[1], "first_table", &job.first_table) ||
        !unsigned_of(numbers[2], "tables", &job.tables))
        return NULL;
    if (!signatures_of(objects[0], rows, bits, &views[0], &job.signatures[0]))
        return NULL;
    if (buffer_of(objects[1], rows * (Py_ssize_t)(bits / 8) * (Py_ssize_t)job.tables, true,
                  "permuted signatures", &views[1])) {
        job.seed = seed;
        job.permuted = views[1].buf;
        if (job_run(&job.job, run, false))
            result = Py_NewRef(Py_None);
        job_end(&job.job);
    }
    cog_signatures_free(job.signatures[0]);
    buffers_release(views, 2);
    return result;
}

static cog_status band_work(struct job *job) {
    struct band_job *own = (struct band_job *)job;
    return cog_band_pairs(own->signatures[0], own->signatures[1], own->begins, own->ends,
                          own->radius_bits, &job->run, &own->stream, &job->error);
}

/* band_pairs(queries, rows, others or None, rows, bits, begins, ends, radius, run): table, report.
 */
static PyObject *band_pairs(PyObject *self, PyObject *arguments) {
    PyObject *signed_rows[2], *objects[2], *radius, *run, *result = NULL;
    Py_ssize_t rows[2];
    unsigned bits;
    struct band_job job = {.job = {.work = band_work}};
    Py_buffer views[4] = {{0}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnOnIOOOO!", &signed_rows[0], &rows[0], &signed_rows[1],
                          &rows[1], &bits, &objects[0], &objects[1], &radius, &PyDict_Type, &run) ||
        !unsigned_of(radius, "radius", &job.radius_bits))
        return NULL;
    bool good = signatures_of(signed_rows[0], rows[0], bits, &views[0], &job.signatures[0]);
    if (good && signed_rows[1] != Py_None)
        good = signatures_of(signed_rows[1], rows[1], bits, &views[1], &job.signatures[1]);
    for (int i = 0; i < 2 && good; i++)
        good = buffer_of(objects[i], rows[0] * 4, false, "begins and ends", &views[2 + i]);
    if (good) {
        job.begins = views[2].buf;
        job.ends = views[3].buf;
        result = job_run_for_table(&job.job, run, false, &job.stream);
    }
    cog_signatures_free(job.signatures[0]);
    cog_signatures_free(job.signatures[1]);
    buffers_release(views, 4);
    return result;
}

struct range_job {
    struct job job;
    cog_signatures *signatures[2]; /* queries, rows */
    cog_row_ranges ranges;
    size_t k;
    uint32_t radius_bits;
    struct ArrowArrayStream stream;
};

static cog_status range_work(struct job *job) {
    struct range_job *own = (struct range_job *)job;
    return cog_range_search(own->signatures[0], own->signatures[1], &own->ranges, own->k,
                            own->radius_bits, &job->run, &own->stream, &job->error);
}

/* range_search(queries, count, rows, count, bits, offsets, begins, ends, ranges, k, radius, run):
 * table, report. */
static PyObject *range_search(PyObject *self, PyObject *arguments) {
    enum { BRIEF_QUERIES = 16 };
    PyObject *signed_rows[2], *objects[3], *run, *result = NULL;
    Py_ssize_t rows[2], count, k;
    unsigned bits, radius;
    struct range_job job = {.job = {.work = range_work}};
    Py_buffer views[5] = {{0}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OnOnIOOOnnIO!", &signed_rows[0], &rows[0], &signed_rows[1],
                          &rows[1], &bits, &objects[0], &objects[1], &objects[2], &count, &k,
                          &radius, &PyDict_Type, &run))
        return NULL;
    bool good = offsets_of(objects[0], rows[0], "offsets of ranges", &views[2]);
    for (int i = 0; i < 2 && good; i++)
        good = signatures_of(signed_rows[i], rows[i], bits, &views[i], &job.signatures[i]) &&
               buffer_of(objects[1 + i], count * 4, false, "begins and ends", &views[3 + i]);
    if (good) {
        job.ranges = (cog_row_ranges){views[2].buf, views[3].buf, views[4].buf, (size_t)count};
        job.k = k < 0 ? 0 : (size_t)k;
        job.radius_bits = radius;
        result = job_run_for_table(&job.job, run, rows[0] <= BRIEF_QUERIES, &job.stream);
    }
    cog_signatures_free(job.signatures[0]);
    cog_signatures_free(job.signatures[1]);
    buffers_release(views, 5);
    return result;
}

/* measured_share(hits, trials, rows): share, low, high. */
static PyObject *share(PyObject *self, PyObject *arguments) {
    PyObject *objects[2];
    Py_ssize_t rows;
    double measured, low, high;
    cog_error error = {0};
    Py_buffer views[2] = {{0}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOn", &objects[0], &objects[1], &rows))
        return NULL;
    bool good = true;
    for (int i = 0; i < 2 && good; i++)
        good = buffer_of(objects[i], rows * 8, false, "hits and trials", &views[i]);
    cog_status status = good ? cog_measured_share(views[0].buf, views[1].buf, (size_t)rows,
                                                  &measured, &low, &high, &error)
                             : COG_OK;
    buffers_release(views, 2);
    if (status != COG_OK)
        return raise_error(&error);
    return good ? Py_BuildValue("ddd", measured, low, high) : NULL;
}

PyMethodDef batch_join_methods[] = {{"measured_share", share, METH_VARARGS, NULL},
                                    {"plan_join", plan_join, METH_VARARGS, NULL},
                                    {"permute", permute, METH_VARARGS, NULL},
                                    {"band_pairs", band_pairs, METH_VARARGS, NULL},
                                    {"range_search", range_search, METH_VARARGS, NULL},
                                    {0}};
