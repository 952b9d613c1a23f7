/* The module itself, and how it runs jobs. */
#include "module.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POLL_NS = 50000000 };

PyObject *raise_error(const cog_error *error) {
    PyObject *kind = PyExc_ValueError;
    switch (error->status) {
    case COG_ERR_IO:
    case COG_ERR_DISK:
        kind = PyExc_OSError;
        break;
    case COG_ERR_BUSY:
        kind = PyExc_BlockingIOError;
        break;
    case COG_ERR_MEMORY:
        kind = PyExc_MemoryError;
        break;
    case COG_ERR_CANCELLED:
        kind = PyExc_KeyboardInterrupt;
        break;
    default:
        break;
    }
    PyErr_SetString(kind, error->message[0] ? error->message : cog_status_name(error->status));
    return NULL;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

/* Shared by the thread of a job and the thread that waits for it. */
struct waiting {
    struct job *job;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool finished;
    cog_progress progress; /* stage NULL: none yet */
};

static bool note_progress(void *context, const cog_progress *progress) {
    struct waiting *waiting = context;
    pthread_mutex_lock(&waiting->lock);
    waiting->progress = *progress;
    pthread_mutex_unlock(&waiting->lock);
    return true;
}

static void *job_thread(void *context) {
    struct waiting *waiting = context;
    waiting->job->status = waiting->job->work(waiting->job);
    pthread_mutex_lock(&waiting->lock);
    waiting->finished = true;
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->lock);
    return NULL;
}

/* Waits for the end, but not longer than the interval; without the interpreter lock. */
static bool wait_for_interval(struct waiting *waiting, cog_progress *progress) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += POLL_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&waiting->lock);
    int code = 0;
    while (!waiting->finished && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&waiting->changed, &waiting->lock, &until);
    bool finished = waiting->finished;
    *progress = waiting->progress;
    pthread_mutex_unlock(&waiting->lock);
    return finished;
}

/* False with an exception set if the callable raised. */
static bool show_progress(PyObject *callable, const cog_progress *progress) {
    if (!callable || !progress->stage)
        return true;
    PyObject *result =
        PyObject_CallFunction(callable, "sKK", progress->stage, (unsigned long long)progress->done,
                              (unsigned long long)progress->total);
    Py_XDECREF(result);
    return result != NULL;
}

/* False with an exception set if a signal handler or the callable raised one; the job has then
 * ended. */
static bool wait_for(struct waiting *waiting, PyObject *callable, cog_cancel *cancel) {
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    bool finished = false, raised = false;
    while (!finished) {
        cog_progress progress;
        Py_BEGIN_ALLOW_THREADS
        finished = wait_for_interval(waiting, &progress);
        Py_END_ALLOW_THREADS
        if (!raised && (PyErr_CheckSignals() != 0 || !show_progress(callable, &progress))) {
            raised = true;
            PyErr_Fetch(&type, &value, &traceback);
            cog_cancel_set(cancel);
        }
    }
    if (raised)
        PyErr_Restore(type, value, traceback);
    return !raised;
}

static bool run_on_thread(struct job *job, PyObject *callable) {
    struct waiting waiting = {.job = job};
    pthread_condattr_t attributes;
    pthread_t thread;
    cog_cancel *cancel = NULL;
    if (cog_cancel_create(&cancel, &job->error) != COG_OK)
        return raise_error(&job->error) != NULL;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&waiting.changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&waiting.lock, NULL);
    job->run.cancel = cancel;
    if (callable) {
        job->run.progress = note_progress;
        job->run.progress_context = &waiting;
    }
    bool good;
    if (pthread_create(&thread, NULL, job_thread, &waiting) == 0) {
        good = wait_for(&waiting, callable, cancel);
        pthread_join(thread, NULL);
    } else {
        Py_BEGIN_ALLOW_THREADS
        job_thread(&waiting);
        Py_END_ALLOW_THREADS
        good = PyErr_CheckSignals() == 0;
    }
    pthread_mutex_destroy(&waiting.lock);
    pthread_cond_destroy(&waiting.changed);
    cog_cancel_free(cancel);
    return good;
}

bool job_run(struct job *job, PyObject *run, bool brief) {
    PyObject *callable = PyDict_GetItemString(run, "progress"); /* borrowed */
    const struct field_set sets[] = {{run_fields, &job->run}, {NULL, NULL}};
    bool is_shown = callable && callable != Py_None;
    if (!options_take(run, sets, NULL, NULL))
        return false;
    if (cog_report_create(&job->report, &job->error) != COG_OK)
        return raise_error(&job->error) != NULL;
    if (brief && !is_shown) {
        Py_BEGIN_ALLOW_THREADS
        job->status = job->work(job);
        Py_END_ALLOW_THREADS
    } else if (!run_on_thread(job, is_shown ? callable : NULL)) {
        return false;
    }
    return job->status == COG_OK || raise_error(&job->error) != NULL;
}

PyObject *job_report(const struct job *job) {
    return PyUnicode_FromString(cog_report_json(job->report));
}

void job_end(struct job *job) {
    cog_report_free(job->report);
    job->report = NULL;
}

PyObject *none_or_error(bool good, cog_status status, const cog_error *error) {
    if (!good)
        return NULL;
    return status == COG_OK ? Py_NewRef(Py_None) : raise_error(error);
}

PyObject *table_or_error(bool good, cog_status status, struct ArrowArrayStream *stream,
                         const cog_error *error) {
    if (!good)
        return NULL;
    return status == COG_OK ? table_of_stream(stream) : raise_error(error);
}

PyObject *bytes_or_error(cog_status status, uint8_t *bytes, size_t size, const cog_error *error) {
    if (status != COG_OK)
        return raise_error(error);
    PyObject *result = PyBytes_FromStringAndSize((const char *)bytes, (Py_ssize_t)size);
    cog_free(bytes);
    return result;
}

PyObject *job_pair(PyObject *made, const struct job *job) {
    PyObject *report = made ? job_report(job) : NULL;
    PyObject *pair = report ? PyTuple_Pack(2, made, report) : NULL;
    Py_XDECREF(made);
    Py_XDECREF(report);
    return pair;
}

PyObject *job_run_for_report(struct job *job, PyObject *run) {
    PyObject *report = job_run(job, run, false) ? job_report(job) : NULL;
    job_end(job);
    return report;
}

PyObject *job_run_for_table(struct job *job, PyObject *run, bool brief,
                            struct ArrowArrayStream *stream) {
    PyObject *pair = job_run(job, run, brief) ? job_pair(table_of_stream(stream), job) : NULL;
    if (stream->release)
        stream->release(stream);
    job_end(job);
    return pair;
}

bool buffer_of(PyObject *object, Py_ssize_t bytes, bool is_written, const char *what,
               Py_buffer *view) {
    *view = (Py_buffer){0};
    if (object == Py_None)
        return true;
    if (PyObject_GetBuffer(object, view, is_written ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
        return false;
    if (view->len == bytes)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: %zd bytes instead of %zd", what, view->len, bytes);
    PyBuffer_Release(view);
    return false;
}

bool offsets_of(PyObject *object, Py_ssize_t count, const char *what, Py_buffer *view) {
    if (count >= 0)
        return buffer_of(object, (count + 1) * (Py_ssize_t)sizeof(int64_t), false, what, view);
    PyErr_Format(PyExc_ValueError, "%s: none; give one more than there are lists", what);
    return false;
}

void buffers_release(Py_buffer *views, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (views[i].obj)
            PyBuffer_Release(&views[i]);
}

/* ---- The module ------------------------------------------------------------------------------ */

static PyObject *version(PyObject *self, PyObject *arguments) {
    (void)self, (void)arguments;
    return PyUnicode_FromString(cog_version());
}

static PyMethodDef own_methods[] = {{"version", version, METH_NOARGS, NULL}, {0}};

static int execute(PyObject *module) {
    PyMethodDef *const lists[] = {own_methods,
                                  documents_methods,
                                  pickled_methods,
                                  job_methods,
                                  index_methods,
                                  search_methods,
                                  lexicon_methods,
                                  batch_methods,
                                  set_batch_methods,
                                  batch_join_methods,
                                  link_batch_methods,
                                  link_lists_methods,
                                  sentence_batch_methods,
                                  seen_methods,
                                  sketch_methods};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (PyModule_AddFunctions(module, lists[i]) != 0)
            return -1;
    return table_ready(module) ? 0 : -1;
}

PyMODINIT_FUNC PyInit__cognate(void) {
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_cognate",
                                            .m_slots = slots};
    return PyModuleDef_Init(&definition);
}
