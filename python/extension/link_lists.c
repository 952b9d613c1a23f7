/* Candidates of links by posting lists, in steps. */
#include "module.h"

/* Rows of both sides that meet, facts about all target rows, and options. */
struct meeting {
    cog_number_rows queries, block;
    cog_link_lists lists;
    cog_link_options options;
    Py_buffer views[5];
};

struct meeting_objects {
    PyObject *offsets[2], *items[2], *frequencies, *options;
    Py_ssize_t counts[2], columns, blocks;
};

static bool take_facts(PyObject *frequencies, Py_ssize_t columns, Py_ssize_t blocks,
                       Py_buffer *view, cog_link_lists *lists) {
    if (!buffer_of(frequencies, columns * 4, false, "frequencies", view))
        return false;
    *lists = (cog_link_lists){
        .frequencies = view->buf, .column_count = (size_t)columns, .block_count = (size_t)blocks};
    return true;
}

static bool meeting_take(const struct meeting_objects *given, struct meeting *meeting) {
    return link_options_of(given->options, &meeting->options) &&
           number_rows_of(given->offsets[0], given->items[0], given->counts[0], meeting->views,
                          &meeting->queries) &&
           number_rows_of(given->offsets[1], given->items[1], given->counts[1], meeting->views + 2,
                          &meeting->block) &&
           take_facts(given->frequencies, given->columns, given->blocks, &meeting->views[4],
                      &meeting->lists);
}

/* link_block_starts(offsets of rows, rows): list of the first rows of blocks. */
static PyObject *link_block_starts(PyObject *self, PyObject *arguments) {
    PyObject *offsets;
    Py_ssize_t rows;
    Py_buffer view = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "On", &offsets, &rows) ||
        !offsets_of(offsets, rows, "offsets", &view))
        return NULL;
    PyObject *list = PyList_New(0);
    for (size_t first = 0; list && first < (size_t)rows;
         first += cog_link_block_rows(view.buf, (size_t)rows, first)) {
        PyObject *number = PyLong_FromSize_t(first);
        if (!number || PyList_Append(list, number) != 0)
            Py_CLEAR(list);
        Py_XDECREF(number);
    }
    buffers_release(&view, 1);
    return list;
}

/* A truth as (documents, offsets, rows, similarities). */
static bool take_truth(Py_ssize_t documents, PyObject *const objects[3], Py_buffer views[4],
                       cog_link_neighbours *truth) {
    PyObject *const all[] = {NULL, objects[0], objects[1], objects[2]};
    return link_neighbours_of(all, documents, views, truth);
}

/* link_lists_try(offsets, entries and rows of the sample, of a block, frequencies, columns, blocks,
 * first row of the block, documents, offsets, rows and similarities of the truth, buffer of the
 * tally, options). */
static PyObject *link_lists_try(PyObject *self, PyObject *arguments) {
    struct meeting_objects given;
    struct meeting meeting = {0};
    PyObject *objects[3], *tally;
    Py_ssize_t documents;
    unsigned long long first;
    Py_buffer views[5] = {{0}};
    cog_link_neighbours truth;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOnOOnOnnKnOOOOO!", &given.offsets[0], &given.items[0],
                          &given.counts[0], &given.offsets[1], &given.items[1], &given.counts[1],
                          &given.frequencies, &given.columns, &given.blocks, &first, &documents,
                          &objects[0], &objects[1], &objects[2], &tally, &PyDict_Type,
                          &given.options))
        return NULL;
    bool good = meeting_take(&given, &meeting) && take_truth(documents, objects, views, &truth) &&
                buffer_of(tally, COG_LINK_LISTS_TALLY * 8, true, "tally", &views[4]);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_link_lists_try(&meeting.queries, &meeting.block, first, &truth, &meeting.lists,
                                    &meeting.options, views[4].buf, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(meeting.views, 5);
    buffers_release(views, 5);
    return none_or_error(good, status, &error);
}

/* link_lists_plan(documents, offsets, rows and similarities of the truth, tally, options): products
 * per document, the cosine below which neighbours are not needed. */
static PyObject *link_lists_plan(PyObject *self, PyObject *arguments) {
    PyObject *objects[3], *tally, *dictionary;
    Py_ssize_t documents;
    Py_buffer views[5] = {{0}};
    cog_link_neighbours truth;
    cog_link_options options;
    cog_error error = {0};
    cog_status status = COG_OK;
    double budget = 0, beyond = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "nOOOOO!", &documents, &objects[0], &objects[1], &objects[2],
                          &tally, &PyDict_Type, &dictionary))
        return NULL;
    bool good = link_options_of(dictionary, &options) &&
                take_truth(documents, objects, views, &truth) &&
                buffer_of(tally, COG_LINK_LISTS_TALLY * 8, false, "tally", &views[4]);
    if (good)
        status = cog_link_lists_plan(&truth, views[4].buf, &options, &budget, &beyond, &error);
    buffers_release(views, 5);
    if (!good)
        return NULL;
    return status == COG_OK ? Py_BuildValue("dd", budget, beyond) : raise_error(&error);
}

/* link_lists_propose(offsets, entries and rows of queries, of a block, frequencies, columns,
 * blocks, products per document, options): table. */
static PyObject *link_lists_propose(PyObject *self, PyObject *arguments) {
    struct meeting_objects given;
    struct meeting meeting = {0};
    struct ArrowArrayStream stream;
    cog_error error = {0};
    cog_status status = COG_OK;
    double budget;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOnOOnOnndO!", &given.offsets[0], &given.items[0],
                          &given.counts[0], &given.offsets[1], &given.items[1], &given.counts[1],
                          &given.frequencies, &given.columns, &given.blocks, &budget, &PyDict_Type,
                          &given.options))
        return NULL;
    bool good = meeting_take(&given, &meeting);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_link_lists_propose(&meeting.queries, &meeting.block, &meeting.lists, budget,
                                        &meeting.options, &stream, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(meeting.views, 5);
    return table_or_error(good, status, &stream, &error);
}

/* link_lists_keep(rows, blocks, offsets, number of rows in blocks, sums, number of sums, blocks in
 * all, buffer of kept, options). */
static PyObject *link_lists_keep(PyObject *self, PyObject *arguments) {
    PyObject *objects[5], *dictionary;
    Py_ssize_t count, sums, blocks;
    Py_buffer views[5] = {{0}};
    cog_link_options options;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOOnOnnOO!", &objects[0], &objects[1], &objects[2], &count,
                          &objects[3], &sums, &blocks, &objects[4], &PyDict_Type, &dictionary))
        return NULL;
    const Py_ssize_t sizes[] = {count, count, count + 1, sums, count};
    bool good = link_options_of(dictionary, &options);
    for (int i = 0; i < 5; i++)
        good = good && buffer_of(objects[i], sizes[i] * 8, i == 4, "proposals", &views[i]);
    if (good) {
        const cog_link_lists lists = {.block_count = (size_t)blocks};
        status = cog_link_lists_keep(views[0].buf, views[1].buf, views[2].buf, (size_t)count,
                                     views[3].buf, &lists, &options, views[4].buf, &error);
    }
    buffers_release(views, 5);
    return none_or_error(good, status, &error);
}

PyMethodDef link_lists_methods[] = {{"link_block_starts", link_block_starts, METH_VARARGS, NULL},
                                    {"link_lists_try", link_lists_try, METH_VARARGS, NULL},
                                    {"link_lists_plan", link_lists_plan, METH_VARARGS, NULL},
                                    {"link_lists_propose", link_lists_propose, METH_VARARGS, NULL},
                                    {"link_lists_keep", link_lists_keep, METH_VARARGS, NULL},
                                    {0}};
