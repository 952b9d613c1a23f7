/* Joins of term sets in steps: counts of members, keys, candidates, measures. Arrays are buffers.
 */
#include "module.h"

/* Offsets and members of lists, as two buffers of int64. */
static bool take_sets(PyObject *offsets, PyObject *members, Py_ssize_t count, Py_buffer views[2],
                      cog_set_list *sets) {
    if (!offsets_of(offsets, count, "offsets of sets", &views[0]))
        return false;
    const int64_t *at = views[0].buf;
    if (PyObject_GetBuffer(members, &views[1], PyBUF_SIMPLE) != 0)
        return false;
    if (at[count] < 0 || views[1].len / 8 < at[count]) {
        PyErr_Format(PyExc_ValueError, "%zd members, and the last set ends at %lld",
                     views[1].len / 8, (long long)at[count]);
        return false;
    }
    *sets = (cog_set_list){at, views[1].buf, (size_t)count};
    return true;
}

static bool take_counts(PyObject *slots, PyObject *frequent, unsigned slot_bits,
                        unsigned frequent_bits, bool is_written, Py_buffer views[2],
                        cog_member_counts *counts) {
    if (slot_bits < 1 || slot_bits > 40 || frequent_bits > 32) {
        PyErr_SetString(PyExc_ValueError, "slots of 2^1 to 2^40, numbers of 2^0 to 2^32");
        return false;
    }
    if (!buffer_of(slots, (Py_ssize_t)1 << (slot_bits - 1), is_written, "slots", &views[0]) ||
        !buffer_of(frequent, (Py_ssize_t)4 << frequent_bits, is_written, "frequent", &views[1]))
        return false;
    *counts = (cog_member_counts){.slots = views[0].buf,
                                  .frequent = views[1].buf,
                                  .slot_bits = slot_bits,
                                  .frequent_bits = frequent_bits};
    return true;
}

/* counts_add(slots, frequent, slot bits, frequent bits, offsets, members, sets) */
static PyObject *counts_add(PyObject *self, PyObject *arguments) {
    PyObject *objects[4];
    unsigned bits[2];
    Py_ssize_t count;
    Py_buffer views[4] = {{0}};
    cog_member_counts counts;
    cog_set_list sets;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOIIOOn", &objects[0], &objects[1], &bits[0], &bits[1],
                          &objects[2], &objects[3], &count))
        return NULL;
    bool good = take_counts(objects[0], objects[1], bits[0], bits[1], true, views, &counts) &&
                take_sets(objects[2], objects[3], count, views + 2, &sets);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_member_counts_add(&counts, &sets, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 4);
    return none_or_error(good, status, &error);
}

/* counts_merge(slots, frequent, other slots, other frequent, slot bits, frequent bits) */
static PyObject *counts_merge(PyObject *self, PyObject *arguments) {
    PyObject *objects[4];
    unsigned bits[2];
    Py_buffer views[4] = {{0}};
    cog_member_counts counts, other;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOII", &objects[0], &objects[1], &objects[2], &objects[3],
                          &bits[0], &bits[1]))
        return NULL;
    bool good = take_counts(objects[0], objects[1], bits[0], bits[1], true, views, &counts) &&
                take_counts(objects[2], objects[3], bits[0], bits[1], false, views + 2, &other);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_member_counts_merge(&counts, &other, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 4);
    return none_or_error(good, status, &error);
}

/* set_keys(slots, frequent, slot bits, frequent bits, offsets, members, sets, measure, threshold):
 * table. */
static PyObject *set_keys(PyObject *self, PyObject *arguments) {
    PyObject *objects[4];
    unsigned bits[2];
    int measure;
    double threshold;
    Py_ssize_t count;
    Py_buffer views[4] = {{0}};
    cog_member_counts counts;
    cog_set_list sets;
    struct ArrowArrayStream stream;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOIIOOnid", &objects[0], &objects[1], &bits[0], &bits[1],
                          &objects[2], &objects[3], &count, &measure, &threshold))
        return NULL;
    bool good = take_counts(objects[0], objects[1], bits[0], bits[1], false, views, &counts) &&
                take_sets(objects[2], objects[3], count, views + 2, &sets);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_set_keys(&sets, &counts, (cog_measure)measure, threshold, &stream, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 4);
    return table_or_error(good, status, &stream, &error);
}

/* key_pairs(keys, first, second, places, sizes, flags, rows, measure, threshold): table,
 * comparisons. */
static PyObject *key_pairs(PyObject *self, PyObject *arguments) {
    enum { ARRAYS = 6 };
    static const Py_ssize_t widths[ARRAYS] = {8, 8, 8, 4, 4, 1};
    PyObject *objects[ARRAYS];
    int measure;
    double threshold;
    Py_ssize_t count;
    Py_buffer views[ARRAYS] = {{0}};
    struct ArrowArrayStream stream;
    uint64_t comparisons = 0;
    cog_error error = {0};
    cog_status status = COG_OK;
    bool good = true;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOnid", &objects[0], &objects[1], &objects[2],
                          &objects[3], &objects[4], &objects[5], &count, &measure, &threshold))
        return NULL;
    for (int i = 0; i < ARRAYS && good; i++)
        good = buffer_of(objects[i], count * widths[i], false, "rows of keys", &views[i]);
    if (good) {
        const cog_key_rows rows = {views[0].buf, views[1].buf, views[2].buf, views[3].buf,
                                   views[4].buf, views[5].buf, (size_t)count};
        Py_BEGIN_ALLOW_THREADS
        status =
            cog_key_pairs(&rows, (cog_measure)measure, threshold, &comparisons, &stream, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, ARRAYS);
    PyObject *table = table_or_error(good, status, &stream, &error);
    return table ? Py_BuildValue("NK", table, (unsigned long long)comparisons) : NULL;
}

/* measure_sets(a's terms: offsets, members; b's terms; a's words; b's words; sets, measure,
 * similarities) */
static PyObject *measure_sets(PyObject *self, PyObject *arguments) {
    PyObject *objects[8], *results;
    int measure;
    Py_ssize_t count;
    Py_buffer views[9] = {{0}};
    cog_set_list sets[4];
    cog_error error = {0};
    cog_status status = COG_OK;
    bool good = true;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOniO", &objects[0], &objects[1], &objects[2],
                          &objects[3], &objects[4], &objects[5], &objects[6], &objects[7], &count,
                          &measure, &results))
        return NULL;
    for (int i = 0; i < 4 && good; i++)
        good =
            take_sets(objects[2 * i], objects[2 * i + 1], count, views + 2 * (size_t)i, &sets[i]);
    good = good && buffer_of(results, count * 8, true, "similarities", &views[8]);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_measure_sets(&sets[0], &sets[1], &sets[2], &sets[3], (cog_measure)measure,
                                  views[8].buf, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 9);
    return none_or_error(good, status, &error);
}

PyMethodDef set_batch_methods[] = {{"counts_add", counts_add, METH_VARARGS, NULL},
                                   {"counts_merge", counts_merge, METH_VARARGS, NULL},
                                   {"set_keys", set_keys, METH_VARARGS, NULL},
                                   {"key_pairs", key_pairs, METH_VARARGS, NULL},
                                   {"measure_sets", measure_sets, METH_VARARGS, NULL},
                                   {0}};
