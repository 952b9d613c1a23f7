/* Sentence pairs of links in steps: splitting, alignment, and the file. */
#include "module.h"

#include <stddef.h>
#include <string.h>

bool number_rows_of(PyObject *offsets, PyObject *items, Py_ssize_t count, Py_buffer views[2],
                    cog_number_rows *rows) {
    if (!offsets_of(offsets, count, "offsets of rows", &views[0]))
        return false;
    const int64_t *at = views[0].buf;
    if (!buffer_of(items, (Py_ssize_t)at[count] * 8, false, "items of rows", &views[1]))
        return false;
    *rows = (cog_number_rows){at, views[1].buf, (size_t)count};
    return true;
}

/* ---- Splitting and alignment ----------------------------------------------------------------- */

struct split_job {
    struct job job;
    cog_documents *documents;
    const cog_lexicon *lexicon;
    int side;
    struct ArrowArrayStream stream;
};

static cog_status split_work(struct job *job) {
    struct split_job *own = (struct split_job *)job;
    return cog_sentences_split(own->documents, own->lexicon, own->side, &job->run, &own->stream,
                               &job->error);
}

/* sentences_split(documents, lexicon, side, run): table, report. */
static PyObject *split(PyObject *self, PyObject *arguments) {
    PyObject *capsule, *lexicon, *run;
    struct split_job job = {.job = {.work = split_work}};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "OOiO!", &capsule, &lexicon, &job.side, &PyDict_Type, &run))
        return NULL;
    struct documents *documents = documents_of(capsule);
    if (!documents || !(job.lexicon = lexicon_of(lexicon)))
        return NULL;
    job.documents = documents->handle;
    return job_run_for_table(&job.job, run, false, &job.stream);
}

enum { SIDE_VIEWS = 6 };

/* A side as (offsets and entries of vectors, sentences, offsets of documents, documents, bytes of
 * the texts, their offsets, joined). */
static bool take_side(PyObject *tuple, Py_buffer views[SIDE_VIEWS], cog_sentence_rows *rows) {
    PyObject *vectors[2], *offsets, *text, *text_offsets, *joined;
    Py_ssize_t sentences, documents;
    if (!PyArg_ParseTuple(tuple, "OOnOnOOO", &vectors[0], &vectors[1], &sentences, &offsets,
                          &documents, &text, &text_offsets, &joined) ||
        !number_rows_of(vectors[0], vectors[1], sentences, views, &rows->vectors) ||
        !offsets_of(offsets, documents, "offsets of documents", &views[2]) ||
        !offsets_of(text_offsets, sentences, "offsets of texts", &views[3]))
        return false;
    rows->documents = (size_t)documents;
    rows->offsets = views[2].buf;
    rows->text_offsets = views[3].buf;
    if (!buffer_of(text, (Py_ssize_t)rows->text_offsets[sentences], false, "texts", &views[4]) ||
        !buffer_of(joined, sentences, false, "joined", &views[5]))
        return false;
    rows->text = views[4].buf;
    rows->joined = views[5].buf;
    return true;
}

/* sentences_align(first side, second side, a, b, links, threshold): table, cosines computed. */
static PyObject *align(PyObject *self, PyObject *arguments) {
    PyObject *tuples[2], *documents[2];
    Py_ssize_t count;
    Py_buffer views[2 * SIDE_VIEWS + 2] = {{0}};
    Py_buffer *links = views + (ptrdiff_t)(2 * SIDE_VIEWS);
    cog_sentence_rows sides[2] = {0};
    cog_sentence_options options;
    struct ArrowArrayStream stream;
    uint64_t compared = 0;
    cog_error error = {0};
    cog_status status = COG_OK;
    (void)self;
    cog_sentence_options_init(&options);
    if (!PyArg_ParseTuple(arguments, "O!O!OOnd", &PyTuple_Type, &tuples[0], &PyTuple_Type,
                          &tuples[1], &documents[0], &documents[1], &count, &options.threshold))
        return NULL;
    bool good = take_side(tuples[0], views, &sides[0]) &&
                take_side(tuples[1], views + SIDE_VIEWS, &sides[1]) &&
                buffer_of(documents[0], count * 8, false, "documents", &links[0]) &&
                buffer_of(documents[1], count * 8, false, "documents", &links[1]);
    if (good) {
        Py_BEGIN_ALLOW_THREADS
        status = cog_sentences_align(&sides[0], &sides[1], links[0].buf, links[1].buf,
                                     (size_t)count, &options, &stream, &compared, &error);
        Py_END_ALLOW_THREADS
    }
    buffers_release(views, 2 * SIDE_VIEWS + 2);
    PyObject *table = table_or_error(good, status, &stream, &error);
    return table ? Py_BuildValue("NK", table, (unsigned long long)compared) : NULL;
}

/* ---- The file -------------------------------------------------------------------------------- */

static const char writer_name[] = "cognate.sentence_writer";

static cog_sentence_writer *writer_of(PyObject *capsule) {
    return PyCapsule_GetPointer(capsule, writer_name);
}

static void writer_release(PyObject *capsule) {
    cog_sentence_writer_free(writer_of(capsule));
}

/* sentence_writer(lexicon, format, path as bytes): capsule. Format: auto, tsv, jsonl or tmx. */
static PyObject *writer_open(PyObject *self, PyObject *arguments) {
    static const char *const names[] = {"auto", "tsv", "jsonl", "tmx", NULL};
    PyObject *lexicon;
    const char *format, *path;
    cog_sentence_writer *writer = NULL;
    cog_error error = {0};
    int number = 0;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Osy", &lexicon, &format, &path) || !lexicon_of(lexicon))
        return NULL;
    while (names[number] && strcmp(names[number], format) != 0)
        number++;
    if (!names[number])
        return PyErr_Format(PyExc_ValueError, "format '%s': tsv, jsonl or tmx", format);
    if (cog_sentence_writer_open(lexicon_of(lexicon), (cog_sentence_format)number, path, &writer,
                                 &error) != COG_OK)
        return raise_error(&error);
    PyObject *capsule = PyCapsule_New(writer, writer_name, writer_release);
    if (!capsule)
        cog_sentence_writer_free(writer);
    return capsule;
}

/* sentence_add(writer, from, to, similarity, from_id, to_id, score) */
static PyObject *writer_add(PyObject *self, PyObject *arguments) {
    PyObject *capsule;
    cog_sentence_item item = {0};
    Py_ssize_t sizes[4];
    cog_error error = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Os#s#ds#s#d", &capsule, &item.from, &sizes[0], &item.to,
                          &sizes[1], &item.similarity, &item.from_id, &sizes[2], &item.to_id,
                          &sizes[3], &item.score))
        return NULL;
    cog_sentence_writer *writer = writer_of(capsule);
    if (!writer)
        return NULL;
    item.from_size = (size_t)sizes[0];
    item.to_size = (size_t)sizes[1];
    item.from_id_size = (size_t)sizes[2];
    item.to_id_size = (size_t)sizes[3];
    return none_or_error(true, cog_sentence_writer_add(writer, &item, &error), &error);
}

static PyObject *writer_finish(PyObject *self, PyObject *capsule) {
    cog_error error = {0};
    (void)self;
    cog_sentence_writer *writer = writer_of(capsule);
    if (!writer)
        return NULL;
    return none_or_error(true, cog_sentence_writer_finish(writer, &error), &error);
}

PyMethodDef sentence_batch_methods[] = {{"sentences_split", split, METH_VARARGS, NULL},
                                        {"sentences_align", align, METH_VARARGS, NULL},
                                        {"sentence_writer", writer_open, METH_VARARGS, NULL},
                                        {"sentence_add", writer_add, METH_VARARGS, NULL},
                                        {"sentence_finish", writer_finish, METH_O, NULL},
                                        {0}};
