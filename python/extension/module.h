/* The extension module cognate._cognate: the C library for Python, on Python's limited API.
 *
 * It does what Python cannot: it runs jobs without the interpreter lock, borrows texts from strings
 * and Arrow arrays, and exports results as Arrow. Everything that a user sees (names, defaults,
 * checks of types) is Python code in the package around it. Handles are capsules. Options are
 * dictionaries from Python names to values. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <cognate.h>
#include <pthread.h>

/* ---- Jobs (module.c) ------------------------------------------------------------------------- */

/* A call of the library that may take long: the first member of a struct with its arguments. */
struct job {
    cog_status (*work)(struct job *job); /* called without the interpreter lock */
    cog_run_options run;
    cog_report *report;
    cog_error error;
    cog_status status;
};

/* Runs a job on its own thread, while this thread checks for signals and calls run["progress"] with
 * (stage, done, total). `run` also has threads and memory. A brief job runs on this thread. False
 * with an exception set if it failed or was stopped: the callable may raise after the work is done,
 * so free what the job has made. Call job_end in any case. */
bool job_run(struct job *job, PyObject *run, bool brief);
/* The report as a JSON text; a new reference. */
PyObject *job_report(const struct job *job);
void job_end(struct job *job);

/* These run a job, end it, and return the report alone; or (table, report), with the table that the
 * job left in `stream`, which they take over, also on failure. NULL with an exception set. */
PyObject *job_run_for_report(struct job *job, PyObject *run);
PyObject *job_run_for_table(struct job *job, PyObject *run, bool brief,
                            struct ArrowArrayStream *stream);
/* (made, report): a new reference, which takes `made` over; NULL if that is NULL. */
PyObject *job_pair(PyObject *made, const struct job *job);
/* A buffer of exactly `bytes` bytes; None gives an empty view. False with an exception set. */
bool buffer_of(PyObject *object, Py_ssize_t bytes, bool is_written, const char *what,
               Py_buffer *view);
/* Offsets of `count` rows, as a buffer of one more int64. False with an exception set. */
bool offsets_of(PyObject *object, Py_ssize_t count, const char *what, Py_buffer *view);
void buffers_release(Py_buffer *views, size_t count);

/* Sets the exception that fits the error; returns NULL. */
PyObject *raise_error(const cog_error *error);
/* None, or NULL with an exception set: if not `good`, there is one already. */
PyObject *none_or_error(bool good, cog_status status, const cog_error *error);
/* A table of a stream that a call has made if it was `good` and its status is COG_OK, or NULL with
 * an exception set: if not `good`, there is one already. */
PyObject *table_or_error(bool good, cog_status status, struct ArrowArrayStream *stream,
                         const cog_error *error);
/* Bytes of an object that the library has written, which are freed. */
PyObject *bytes_or_error(cog_status status, uint8_t *bytes, size_t size, const cog_error *error);

/* ---- Options (options.c) --------------------------------------------------------------------- */

enum field_kind {
    FIELD_BOOL,
    FIELD_UNSIGNED,
    FIELD_U64, /* and size_t */
    FIELD_DOUBLE,
    FIELD_TEXT,   /* borrowed from the dictionary's value */
    FIELD_CHOICE, /* an enum by its names */
    FIELD_METHOD,
};
struct field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    const char *const *choices; /* ended by NULL */
};
/* Fields of one struct; a list ends with fields NULL. */
struct field_set {
    const struct field *fields; /* ended by a name of NULL */
    void *base;
};
extern const struct field run_fields[], input_fields[], term_fields[], weight_fields[],
    signature_fields[], pairs_fields[], dedup_fields[], related_fields[], index_fields[],
    search_fields[], link_fields[], projection_fields[], lexicon_fields[], key_fields[],
    verify_fields[], seen_fields[];
extern const char *const measure_names[], *const kind_names[], *const grouping_names[];

/* A whole number, 0 or more, from an int or an object that converts to one, such as NumPy's. */
bool whole_of(PyObject *value, const char *name, unsigned long long *number);
bool unsigned_of(PyObject *value, const char *name, unsigned *number); /* below 2^32 */
/* Sets the fields that the dictionary names. Names that no set has are knobs of `method`, or a
 * TypeError if `knobs` is NULL. */
bool options_take(PyObject *dictionary, const struct field_set *sets, cog_knobs *knobs,
                  const cog_method *method);
/* The number of a choice in the dictionary, or `otherwise` if it is not there; -1 with an exception
 * set. */
int options_choice(PyObject *dictionary, const char *name, const char *const *names, int otherwise);
bool options_have(PyObject *dictionary, const char *name);
/* Another weighting brings its own defaults; options_take then sets what is given. */
bool options_take_weighting(PyObject *dictionary, cog_weight_options *weights);
/* Sets the n-gram length of source code, as the program does, unless ngram is given. */
void options_complete_terms(PyObject *dictionary, cog_term_options *terms);

/* ---- Documents and tables (documents.c, table.c) --------------------------------------------- */

struct documents {
    cog_documents *handle;
    cog_document *items; /* of Python's strings */
    PyObject *kept;      /* owns the memory that the handle borrows */
    PyObject *lexicon;   /* capsule of the lexicon that projects them; NULL: none */
};
/* NULL with an exception set if the object is no capsule of documents. */
struct documents *documents_of(PyObject *capsule);
extern PyMethodDef documents_methods[];

/* Makes a new Table. Takes ownership of the stream, also after a failure. */
PyObject *table_of_stream(struct ArrowArrayStream *stream);
/* Bytes of the values of a column, by the formats that the library exports. */
size_t table_value_bytes(const char *format, size_t rows);
/* Of capsules named "arrow_array_stream". */
void stream_capsule_release(PyObject *capsule);
extern PyMethodDef pickled_methods[];
bool table_ready(PyObject *module);

/* Signatures over a buffer of rows * bits / 8 bytes, which `view` holds. */
bool signatures_of(PyObject *object, Py_ssize_t rows, unsigned bits, Py_buffer *view,
                   cog_signatures **signatures);

/* ---- Indexes (index.c, search.c) --------------------------------------------------------------
 */

/* Signatures that an index in memory borrows, with their buffer. */
struct lent {
    cog_signatures *signatures;
    Py_buffer view;
};
struct index {
    cog_index *handle;      /* used by changes */
    pthread_mutex_t change; /* one change at a time */
    pthread_mutex_t lock;   /* of `shown`, for a moment */
    cog_index *shown;       /* the state that searches see */
    struct lent *lent;
    size_t lent_count;
};
/* NULL with an exception set if the object is no capsule of an index. */
struct index *index_of(PyObject *capsule);
/* NULL without an exception if the object is no capsule of an index. */
struct index *index_from(PyObject *object);
/* The state that searches see now; close it with cog_index_close. A change does not touch it. */
cog_index *index_shown(struct index *index);

/* ---- Functions ------------------------------------------------------------------------------- */

extern PyMethodDef job_methods[], index_methods[], search_methods[], lexicon_methods[],
    batch_methods[], set_batch_methods[], batch_join_methods[], link_batch_methods[],
    link_lists_methods[], sentence_batch_methods[], seen_methods[], sketch_methods[];
/* Offsets and items of rows, as two buffers of int64. False with an exception set. */
bool number_rows_of(PyObject *offsets, PyObject *items, Py_ssize_t count, Py_buffer views[2],
                    cog_number_rows *rows);
/* Options of links; false with an exception set. */
bool link_options_of(PyObject *dictionary, cog_link_options *options);
/* Lengths (NULL: none), offsets, rows and similarities of neighbours, as four buffers. False with
 * an exception set. */
bool link_neighbours_of(PyObject *const objects[4], Py_ssize_t documents, Py_buffer views[4],
                        cog_link_neighbours *side);
/* NULL with an exception set if the object is no capsule of statistics. */
cog_statistics *statistics_of(PyObject *capsule);
/* A capsule that owns the statistics, which are freed if there is none. */
PyObject *statistics_hand_out(cog_statistics *statistics);
/* NULL with an exception set if the object is no capsule of a lexicon. */
cog_lexicon *lexicon_of(PyObject *capsule);
