/* Cognate: finds documents that say the same thing.
 *
 * This is the public C API, in the order in which a user meets it: errors, running a job,
 * documents, terms, signatures, similar pairs, near-duplicates, index and search, evaluation.
 * Programs include only this header; it includes cognate_arrow.h (the structs in which documents
 * and results travel), cognate_index.h (indexes and searches), cognate_explain.h (why two documents
 * match), cognate_crosslingual.h (lexicons and links across languages), cognate_batch.h (single
 * steps of jobs, for programs that spread them over machines) and cognate_live.h (indexes that
 * change while they are searched).
 *
 * Errors: a call that can fail returns a cog_status and fills the cog_error. If it fails, it does
 * not touch the handle that it would have made. The library never prints and never exits.
 *
 * Ownership: handles are opaque; their free accepts NULL. Inputs are borrowed for the duration of
 * the call, and what a handle returns belongs to the handle, unless a comment says otherwise.
 *
 * Optional arguments: `run`, `report`, `error` and callbacks may be NULL. An options struct has an
 * init function that sets every field; call it first, then change fields.
 *
 * Threads: a handle that a call takes as const may be used by several threads at the same time, any
 * other handle by one thread at a time. Handles share nothing. The only state of the library itself
 * is a list of the files being written.
 *
 * Argument checks: a call that returns a cog_status checks every pointer, enum and index; an
 * invalid one is COG_ERR_USAGE. Getters take a handle that is not NULL, and return zeros, NULL or
 * false for an index out of range.
 *
 * Versions: the name of the shared library contains the version up to its last dot (from 1.0 on: up
 * to the first). Libraries of the same name are compatible: no struct changes its size, no field
 * its place, no function its arguments, no constant its value. New functions and constants may be
 * added, and new options may use reserved words. A program that loads the library by hand, or
 * repeats its structs in another language, should compare cog_version.
 *
 * Growing options: every options struct ends in reserved words. The init function belongs to the
 * library that the program runs with and fills the whole struct, so a program built before an
 * option existed gets that option's default. A library that does not know an option refuses a
 * nonzero reserved word, so nothing is ignored silently. (A size field would not work: options
 * structs contain others by value, and one that grew would move its neighbours. Opaque options with
 * setters would need a function per field and hide the fields from debuggers.) */
#ifndef COGNATE_H
#define COGNATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cognate_arrow.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COG_API __attribute__((visibility("default")))

enum { COG_MAX_THREADS = 256 };

/* The version of this header. */
#define COG_VERSION "0.1.0"
/* The library's version: COG_VERSION of the header that it was built with. */
COG_API const char *cog_version(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef enum cog_status {
    COG_OK = 0,
    COG_ERR_USAGE,     /* an invalid argument or combination of options */
    COG_ERR_INPUT,     /* a file or a document cannot be read as it should */
    COG_ERR_IO,        /* a system call on a file failed */
    COG_ERR_FORMAT,    /* a Cognate file is damaged, foreign, or of a later version */
    COG_ERR_MEMORY,    /* out of memory, or the memory budget is too small */
    COG_ERR_DISK,      /* the disk is full */
    COG_ERR_CANCELLED, /* stopped by the progress callback or the cancel token */
    COG_ERR_BUSY,      /* another process or handle is changing the index; try again later */
} cog_status;

/* The status as a word: "ok", "usage", "input", "io", "format", "memory", "disk", "cancelled",
 * "busy". */
COG_API const char *cog_status_name(cog_status status);
/* Frees memory that a call has allocated for its caller. The same as free of the C library that
 * Cognate uses. */
COG_API void cog_free(void *memory);

typedef struct cog_error {
    cog_status status;
    uint64_t position; /* line or byte offset, whichever the message names; 0 if none */
    /* The option that the message is about: the name of a field of an options struct
     * ("memory_bytes", "text_field") or of a knob ("band-values"), for programs that have their own
     * names for options. NULL if there is none; otherwise it lives as long as the library. Messages
     * never name command-line flags. */
    const char *option;
    char message[1024];
} cog_error;

/* ---- Running a job: threads, memory, progress, cancelling ------------------------------------ */

typedef struct cog_progress {
    const char *stage; /* "reading", "joining", ... */
    /* In the unit of the stage: bytes, documents, rows. If a stage has several loops, each counts
     * from 0. */
    uint64_t done;
    uint64_t total; /* 0 only if the input comes through a pipe */
} cog_progress;

/* Called now and then, from any thread but never from two at once. Return false to stop the job: it
 * ends with COG_ERR_CANCELLED and leaves no result. */
typedef bool cog_progress_callback(void *context, const cog_progress *progress);

/* A token that stops jobs. Any thread or signal handler may set it; jobs that were given the token
 * then end with COG_ERR_CANCELLED and leave no result. Several jobs may share a token. Free it when
 * none of them runs. */
typedef struct cog_cancel cog_cancel;
COG_API cog_status cog_cancel_create(cog_cancel **cancel, cog_error *error);
COG_API void cog_cancel_set(cog_cancel *cancel);
COG_API bool cog_cancel_is_set(const cog_cancel *cancel);
COG_API void cog_cancel_free(cog_cancel *cancel);

/* How a job runs. Zero-initialise: 0 is the default of every field. */
typedef struct cog_run_options {
    unsigned threads; /* 0: all processors. Results do not depend on it. */
    uint64_t
        memory_bytes; /* budget; 0: none. A job that cannot keep it ends with COG_ERR_MEMORY. */
    cog_progress_callback *progress; /* may be NULL */
    void *progress_context;
    /* Called at once with a message that cannot wait for the report: the memory that the job will
     * need, if it is more than a quarter of the budget (or of the machine's memory if there is no
     * budget). Gets progress_context; may be NULL. */
    void (*announce)(void *context, const char *text);
    const cog_cancel *cancel; /* borrowed for the call; may be NULL */
    uint64_t reserved[4];
} cog_run_options;

/* Deletes the unfinished output files of all threads, for a program that is about to end without
 * its jobs (as after a second Ctrl-C). Calls that write never return after it. Not for signal
 * handlers: call it from a thread that waits for signals. */
COG_API void cog_abandon_outputs(void);

/* What a job did: counts, seconds and bytes per stage, settings, and notices for people (skipped
 * records, short documents). One report serves one job. The number peak_memory_bytes is the most
 * memory that this job held at a time, without other jobs of the process and without memory of ICU
 * and of decompression; process_peak_bytes is the peak resident memory of the process. */
typedef struct cog_report cog_report;
COG_API cog_status cog_report_create(cog_report **report, cog_error *error);
COG_API void cog_report_free(cog_report *report);
/* The whole report as a JSON object; an empty object if memory ran out. Owned by the report, valid
 * until the report changes or is freed. */
COG_API const char *cog_report_json(cog_report *report);
/* Writes the same JSON to a file, which appears complete or not at all; "-" is standard output. */
COG_API cog_status cog_report_write(cog_report *report, const char *path, cog_error *error);
/* A number of the report by its name; 0 if there is none. */
COG_API double cog_report_number(const cog_report *report, const char *name);
COG_API size_t cog_report_notice_count(const cog_report *report);
COG_API const char *cog_report_notice(const cog_report *report, size_t index);

/* ---- Documents ------------------------------------------------------------------------------- */

typedef enum cog_format {
    COG_FORMAT_AUTO, /* by the file's extension */
    COG_FORMAT_TXT,
    COG_FORMAT_JSONL,
    COG_FORMAT_CSV,
    COG_FORMAT_TSV,
    COG_FORMAT_WIKIXML,
    COG_FORMAT_LETT,
    COG_FORMAT_QUERYLOG,
    COG_FORMAT_WARC, /* web crawls: pages as they were received */
    COG_FORMAT_WET,  /* web crawls: texts extracted from the pages */
    COG_FORMAT_NPY,  /* signatures; for cog_signatures_open only */
} cog_format;

typedef struct cog_input_options {
    cog_format format;
    bool lines;             /* txt: each line is a document */
    bool strict;            /* the first bad record ends the job */
    const char *text_field; /* jsonl, csv, tsv; borrowed until the documents are closed */
    const char *id_field;
    const char *lang_field;
    /* csv, tsv: the field separator, an ASCII character; 0: a comma in csv, a tab in tsv. */
    char delimiter;
    /* csv, tsv: the file has no header row; fields are named by their numbers, from "1". */
    bool no_header;
    /* The documents are used by one call only. Input from a pipe is then copied to a scratch file
     * in TMPDIR only if that call reads it twice. */
    bool read_once;
    /* Arrow: the number of the first row. Documents without an id get their number as id. */
    uint64_t first_number;
    uint64_t reserved[4];
} cog_input_options;
COG_API void cog_input_options_init(cog_input_options *options);

/* A stream of documents that can be read more than once, by one job at a time. */
typedef struct cog_documents cog_documents;

/* Opens files, folders, or "-" for standard input. */
COG_API cog_status cog_documents_open(const cog_input_options *options, const char *const *paths,
                                      size_t path_count, cog_documents **documents,
                                      cog_error *error);

/* One document. Everything must be UTF-8, and ids without NUL characters; a document that breaks
 * this is a bad record. */
typedef struct cog_document {
    const char *id; /* NULL: the row number */
    size_t id_size;
    const char *text; /* NULL: the document is skipped */
    size_t text_size;
    const char *lang; /* ISO 639-1, or NULL */
    size_t lang_size;
} cog_document;

/* Documents in memory. The array and the strings it points to are borrowed until the documents are
 * closed. */
COG_API cog_status cog_documents_from_memory(const cog_document *items, size_t count,
                                             cog_documents **documents, cog_error *error);
/* Documents from an Arrow stream: see cognate_arrow.h. */
COG_API cog_status cog_documents_from_arrow(struct ArrowArrayStream *stream,
                                            const cog_input_options *options,
                                            cog_documents **documents, cog_error *error);
COG_API void cog_documents_close(cog_documents *documents);
/* The number of documents in memory or from Arrow; 0 for files, whose records are not counted
 * before they are read, and for query logs, of which not every row is a document. */
COG_API size_t cog_documents_count(const cog_documents *documents);
/* The records that the last job skipped (null, not UTF-8, an id used before), as ascending
 * positions in the input, from 0. Returns their number. *positions belongs to the documents and is
 * valid until the next job. */
COG_API size_t cog_documents_skipped(cog_documents *documents, const uint64_t **positions);

/* ---- Terms, weights, statistics -------------------------------------------------------------- */

typedef enum cog_tokens {
    COG_TOKENS_WORDS, /* Unicode words */
    COG_TOKENS_REGEX, /* the matches of \w+ in Python */
    COG_TOKENS_CHARS, /* characters */
    COG_TOKENS_CODE,  /* identifiers, numbers and signs of source code, case kept */
} cog_tokens;

/* The default length of n-grams of source code in the program: it tells copies and independent
 * programs apart best (docs/text.md). */
enum { COG_CODE_NGRAM = 5 };

typedef struct cog_term_options {
    cog_tokens tokens;
    unsigned ngram; /* consecutive tokens per term */
    bool stem;
    bool drop_stop_words;
    const char *lang; /* ISO 639-1, "auto", or "" for none; a document's own language wins */
    uint64_t reserved[4];
} cog_term_options;
/* Stemmed words without stop words; the language is detected. */
COG_API void cog_term_options_init(cog_term_options *options);

typedef enum cog_weighting {
    COG_WEIGHTING_BM25,
    COG_WEIGHTING_TFIDF,
    COG_WEIGHTING_TF,
    COG_WEIGHTING_BINARY
} cog_weighting;

typedef struct cog_weight_options {
    cog_weighting scheme;
    double k1, b;                      /* BM25 */
    unsigned min_collection_frequency; /* rarer terms are dropped (BM25, TF-IDF) */
    uint64_t reserved[4];
} cog_weight_options;
COG_API void cog_weight_options_init(cog_weight_options *options, cog_weighting scheme);

/* Document and collection frequencies of terms, which are identified by their hashes. Statistics of
 * parts can be merged, and saved to files. */
typedef struct cog_statistics cog_statistics;
COG_API cog_status cog_statistics_collect(cog_documents *documents, const cog_term_options *terms,
                                          const cog_run_options *run, cog_statistics **statistics,
                                          cog_report *report, cog_error *error);
COG_API cog_status cog_statistics_merge(cog_statistics *statistics, const cog_statistics *other,
                                        cog_error *error);
COG_API cog_status cog_statistics_save(const cog_statistics *statistics, const char *path,
                                       cog_error *error);
/* COG_ERR_USAGE if the terms of the file were made with options other than `terms`. */
COG_API cog_status cog_statistics_open(const char *path, const cog_term_options *terms,
                                       cog_statistics **statistics, cog_error *error);
COG_API uint64_t cog_statistics_documents(const cog_statistics *statistics);
COG_API void cog_statistics_free(cog_statistics *statistics);

/* ---- Signatures ------------------------------------------------------------------------------ */

typedef enum cog_signature_kind {
    COG_SIGNATURE_RP,
    COG_SIGNATURE_SIMHASH,
    COG_SIGNATURE_TOPSIG,
    COG_SIGNATURE_MINHASH
} cog_signature_kind;

typedef struct cog_signature_options {
    cog_signature_kind kind;
    unsigned bits;
    uint64_t seed;
    bool gaussian;       /* rp: Gaussian values instead of signs */
    double density;      /* topsig: share of positions that are +1; the same share is -1 */
    unsigned value_bits; /* minhash: bits kept of each value */
    uint64_t reserved[4];
} cog_signature_options;
COG_API void cog_signature_options_init(cog_signature_options *options, cog_signature_kind kind);

/* Everything that a signature depends on. */
typedef struct cog_sign_options {
    cog_signature_options signature;
    cog_term_options terms;
    cog_weight_options weights;
} cog_sign_options;
/* The usual terms and weights of a kind. rp and topsig: stemmed words by BM25; simhash: words by
 * frequency; minhash: sets of word 3-grams. */
COG_API void cog_sign_options_init(cog_sign_options *options, cog_signature_kind kind);

/* Computes the signature of one text at a time; use one signer per thread. `statistics` (NULL if
 * the weights need none) is borrowed for the signer's life. */
typedef struct cog_signer cog_signer;
COG_API cog_status cog_signer_create(const cog_sign_options *options,
                                     const cog_statistics *statistics, cog_signer **signer,
                                     cog_error *error);
COG_API void cog_signer_free(cog_signer *signer);
/* Bytes per signature: bits / 8, rounded up. */
COG_API size_t cog_signer_signature_bytes(const cog_signer *signer);
/* `weights`, if not NULL, receives `bits` floats: the margins, which are the sums whose signs are
 * the bits. `term_count`, if not NULL, receives the number of distinct weighted terms; if it is 0,
 * the signature carries no information. */
COG_API cog_status cog_signer_sign(cog_signer *signer, const char *text, size_t text_size,
                                   const char *lang, uint8_t *signature, float *weights,
                                   size_t *term_count, cog_error *error);

/* Where cog_sign writes: signatures and weights as .npy files (uint8 [n, bits/8], float32 [n,
 * bits]), ids as one line each. "-" is standard output, NULL writes nothing. */
typedef struct cog_sign_outputs {
    const char *signatures;
    const char *weights;
    const char *ids;
} cog_sign_outputs;
/* Signs documents as a stream; memory does not grow with their number. If `statistics` is NULL and
 * the weights need some, a first pass over the documents collects them. */
COG_API cog_status cog_sign(cog_documents *documents, const cog_sign_options *options,
                            const cog_statistics *statistics, const cog_sign_outputs *outputs,
                            const cog_run_options *run, cog_report *report, cog_error *error);

/* The caller's memory for the signatures of `rows` documents. */
typedef struct cog_sign_buffers {
    size_t rows;           /* cog_documents_count */
    uint8_t *signatures;   /* rows * bits / 8 bytes */
    float *margins;        /* rows * bits: the sums whose signs are the bits; NULL: not wanted */
    uint32_t *term_counts; /* weighted terms of each row (some kinds count repetitions); 0: the
                              signature carries no information. NULL: not wanted */
} cog_sign_buffers;
/* cog_sign for documents in memory or from Arrow, into the caller's memory. A row is a position in
 * the input; the rows of skipped documents are zeros. */
COG_API cog_status cog_sign_rows(cog_documents *documents, const cog_sign_options *options,
                                 const cog_statistics *statistics, const cog_sign_buffers *buffers,
                                 const cog_run_options *run, cog_report *report, cog_error *error);

/* ---- Similar pairs --------------------------------------------------------------------------- */

typedef enum cog_measure {
    COG_MEASURE_COSINE,
    COG_MEASURE_JACCARD,
    COG_MEASURE_CONTAINMENT, /* the share of the smaller set found in the larger */
} cog_measure;

typedef enum cog_method {
    COG_METHOD_AUTO,
    COG_METHOD_EXACT,  /* true similarities of vectors or sets; misses no pair */
    COG_METHOD_FLAT,   /* compares all signatures, then computes the true measure of near ones */
    COG_METHOD_SLICES, /* posting lists by slices of the signatures; of an index only */
    COG_METHOD_LSH,    /* hash tables: rows that share a key get their true measure */
    COG_METHOD_WINDOW, /* sliding windows over signatures sorted under permutations of their bits */
    COG_METHOD_COLUMNS, /* signatures stored by columns of bits; of an index only */
    COG_METHOD_PSM,   /* 64 or 128 bits within a radius, approximately; of an index with margins */
    COG_METHOD_BPHS,  /* the same exactly, with ten times the memory at radius 3 */
    COG_METHOD_LISTS, /* posting lists, bounded for the wanted recall; pairs by cosine only */
    COG_METHOD_COUNT,
} cog_method;

/* The questions that a method answers; values are added. */
enum cog_answers {
    COG_ANSWERS_PAIRS = 1,   /* all similar pairs of a collection, or of two */
    COG_ANSWERS_NEAREST = 2, /* the k nearest rows of a query */
    COG_ANSWERS_WITHIN = 4,  /* all rows within a radius or above a threshold */
    COG_ANSWERS_ANY = 8,     /* any one row within a radius */
};

/* A knob is a setting of one method, usually a parameter of its paper. Knobs are optional: those
 * not set are chosen by the size of the collection and the wanted recall. */
typedef enum cog_knob_kind { COG_KNOB_NUMBER, COG_KNOB_FLAG, COG_KNOB_CHOICE } cog_knob_kind;
enum cog_knob_use { COG_KNOB_PAIRS = 1, COG_KNOB_BUILD = 2, COG_KNOB_SEARCH = 4 };
typedef struct cog_knob {
    const char *name; /* "slice-bits" */
    cog_knob_kind kind;
    uint64_t least, most;       /* range; a flag is 0 or 1, a choice is an index into `choices` */
    const char *const *choices; /* COG_KNOB_CHOICE: the names, most + 1 of them */
    const char *symbol;         /* its symbol in the paper, such as "W" */
    const char *help;           /* one line that ends with the default */
    unsigned uses;              /* sum of cog_knob_use: where it can be set */
} cog_knob;

/* Values for the knobs of one method. Zero-initialise: no knob is set. */
enum { COG_KNOBS_MAX = 8 };
typedef struct cog_knobs {
    cog_method method;              /* whose knobs they are */
    uint32_t given;                 /* bit i: knob i is set */
    uint64_t values[COG_KNOBS_MAX]; /* in the order of cog_method_knob */
} cog_knobs;

/* Facts about methods; NULL, 0 or false for a number that is no method, and for COG_METHOD_AUTO
 * (whose name is "auto"). Owned by the library. */
COG_API const char *cog_method_name(cog_method method);
COG_API bool cog_method_named(const char *name, cog_method *method);
COG_API const char *cog_method_summary(cog_method method);
COG_API unsigned cog_method_answers(cog_method method);  /* cog_answers */
COG_API bool cog_method_keeps_tables(cog_method method); /* an index can be built for it */
COG_API size_t cog_method_knob_count(cog_method method);
COG_API const cog_knob *cog_method_knob(cog_method method, size_t number);
/* Sets a knob by name. COG_ERR_USAGE if the method has no such knob, the value is out of range, or
 * the knobs were set for another method. */
COG_API cog_status cog_knobs_set(cog_knobs *knobs, cog_method method, const char *name,
                                 uint64_t value, cog_error *error);

typedef struct cog_pairs_options {
    cog_measure measure;
    double threshold; /* at or above, before rounding */
    cog_method method;
    double recall;         /* that signatures aim for; it sets the radius */
    bool verify;           /* false: signatures decide, and similarities are estimates */
    cog_sign_options sign; /* terms and weights; the signature if the method uses one */
    cog_knobs knobs;       /* of the method; none with AUTO */
    uint64_t reserved[4];
} cog_pairs_options;
/* Cosine: stemmed words by BM25, rp with 1024 bits. Jaccard: sets of word 3-grams, minhash with
 * 1024 values of one bit, which suits distances (bands of hash tables want values of more bits).
 * Containment: sets of word 3-grams; it has no signatures and is always exact. */
COG_API void cog_pairs_options_init(cog_pairs_options *options, cog_measure measure);

/* The result: pairs sorted by rows, with the ids of their documents. */
typedef struct cog_pairs cog_pairs;
typedef struct cog_pair {
    uint32_t a, b; /* a is the earlier row, or the row of the first collection */
    double similarity;
    int distance; /* in bits; -1 if no signatures were compared */
} cog_pair;

/* Finds pairs within a collection, or between two if `against` is not NULL. */
COG_API cog_status cog_pairs_find(cog_documents *documents, cog_documents *against,
                                  const cog_pairs_options *options, const cog_run_options *run,
                                  cog_pairs **pairs, cog_report *report, cog_error *error);
COG_API void cog_pairs_free(cog_pairs *pairs);
COG_API size_t cog_pairs_count(const cog_pairs *pairs);
COG_API cog_pair cog_pairs_get(const cog_pairs *pairs, size_t index);
/* Reads many pairs at once: `items` receives up to `count` pairs, starting with pair `first`.
 * Returns their number. */
COG_API size_t cog_pairs_read(const cog_pairs *pairs, size_t first, size_t count, cog_pair *items);
/* The id of a row of the first (side 0) or second (side 1) collection. Not zero-terminated; owned
 * by the pairs. */
COG_API const char *cog_pairs_id(const cog_pairs *pairs, int side, uint32_t row, size_t *size);
/* The position in the input of a row of the first (side 0) or second (side 1) collection; rows do
 * not count skipped records, positions do. */
COG_API uint64_t cog_pairs_position(const cog_pairs *pairs, int side, uint32_t row);
/* Whether similarities are estimates from signatures instead of true measures. */
COG_API bool cog_pairs_are_estimates(const cog_pairs *pairs);
/* Columns a, b (int64), similarity (double), distance (int32, null if no signatures were compared);
 * if `ids`, also a_id, b_id (string). */
COG_API cog_status cog_pairs_to_arrow(const cog_pairs *pairs, bool ids,
                                      struct ArrowArrayStream *stream, cog_error *error);

typedef enum cog_output_format {
    COG_OUTPUT_TSV,
    COG_OUTPUT_JSONL,
    COG_OUTPUT_NPY, /* a numpy array of records, with row numbers instead of ids */
} cog_output_format;
/* Writes the pairs. "-" is standard output; a file appears complete or not at all. */
COG_API cog_status cog_pairs_write(const cog_pairs *pairs, cog_output_format format,
                                   const char *path, cog_error *error);

/* Related queries of a log (COG_FORMAT_QUERYLOG, files or Arrow): pairs whose vectors of clicked
 * URLs are alike. */
typedef struct cog_related_options {
    cog_pairs_options pairs;
    unsigned min_urls; /* queries with fewer distinct clicked URLs are left out */
    /* Lists only the neighbours of these queries: zero-terminated strings, or a file with one query
     * per line as results write them ("-" is standard input). `a` of every pair is then one of
     * them. Both NULL: all pairs. The report names queries that the log does not have. */
    const char *const *queries;
    size_t query_count;
    const char *queries_file;
    uint64_t reserved[1];
} cog_related_options;
/* Cosine of clicks at or above 0.7; queries with at least six URLs. */
COG_API void cog_related_options_init(cog_related_options *options);
COG_API cog_status cog_related_find(cog_documents *documents, const cog_related_options *options,
                                    const cog_run_options *run, cog_pairs **pairs,
                                    cog_report *report, cog_error *error);

/* ---- Signatures that exist already ----------------------------------------------------------- */

typedef struct cog_signatures cog_signatures;
/* Whether a path is taken for a file of signatures: by the format, or for COG_FORMAT_AUTO by the
 * name (.npy, also compressed). */
COG_API bool cog_is_signature_file(cog_format format, const char *path);
/* Opens a .npy file, uint8 [rows, bits / 8], plain or compressed; "-" is standard input. */
COG_API cog_status cog_signatures_open(const char *path, cog_signatures **signatures,
                                       cog_error *error);
/* Takes rows * bits / 8 bytes. They are borrowed until the signatures are freed, or copied if bits
 * is not a multiple of 64 or the address not a multiple of 8. */
COG_API cog_status cog_signatures_from_memory(const uint8_t *data, size_t rows, unsigned bits,
                                              cog_signatures **signatures, cog_error *error);
COG_API void cog_signatures_free(cog_signatures *signatures);
COG_API size_t cog_signatures_rows(const cog_signatures *signatures);
COG_API unsigned cog_signatures_bits(const cog_signatures *signatures);
/* One column, signature (fixed_size_binary of bits / 8). */
COG_API cog_status cog_signatures_to_arrow(const cog_signatures *signatures,
                                           struct ArrowArrayStream *stream, cog_error *error);

/* Finds all pairs within radius_bits. Exact with FLAT (all comparisons) and AUTO (which also joins
 * short signatures within a small radius by blocks that must agree). WINDOW finds the stated recall
 * of the pairs at the radius, on disk if the rows of a file do not fit the memory budget. Only the
 * method, its knobs and the recall of the options are used. Similarities are estimates. */
COG_API cog_status cog_pairs_find_signatures(const cog_signatures *signatures,
                                             const cog_signatures *against, uint32_t radius_bits,
                                             const cog_pairs_options *options,
                                             const cog_run_options *run, cog_pairs **pairs,
                                             cog_report *report, cog_error *error);
/* The largest distance at which the estimated cosine is at or above the threshold. */
COG_API uint32_t cog_radius_of_cosine(double threshold, unsigned bits);

/* ---- Near-duplicates ------------------------------------------------------------------------- */

/* Which document of a group of near-duplicates is kept; among equal ones the earlier. */
typedef enum cog_keep {
    COG_KEEP_LONGEST, /* the most bytes of text */
    COG_KEEP_FIRST,
    COG_KEEP_LAST,
    COG_KEEP_FIELD, /* the greatest (or least) value of a field */
} cog_keep;
typedef enum cog_grouping {
    COG_GROUP_REPRESENTATIVE, /* every member is within the threshold of its representative */
    COG_GROUP_CONNECTED,      /* connected components: members may be far from each other */
} cog_grouping;

struct cog_index;
typedef struct cog_dedup_options {
    cog_pairs_options pairs;
    cog_keep keep;
    cog_grouping grouping;
    /* COG_KEEP_FIELD: the name of the field (borrowed), and whether the least value is kept.
     * Numbers compare by value, dates by day and time (time zones are not applied), other text by
     * its first eight bytes; documents without a value come last. */
    const char *keep_field;
    bool keep_least;
    /* A reference collection (borrowed): documents of the input that match one of its documents are
     * removed; documents of the input are not compared with each other. NULL: none. */
    cog_documents *against;
    /* An index by Jaccard or containment as reference (borrowed); its measure and terms must be
     * those of the options. The result is the same as with its documents as `against`, and each
     * document of the input costs one search. With a report (which then has no texts of the index)
     * or a work folder, the index is copied to disk and joined instead. NULL: none. */
    const struct cog_index *against_index;
    /* A folder for intermediate results (borrowed): the terms of the documents, and the decisions.
     * A later job over the same input reuses them, whatever its threshold and rules. NULL: scratch
     * files, deleted at the end. With `resume`, a stopped job goes on; without it, the folder of a
     * stopped job is refused. Jaccard and containment only. */
    const char *work;
    bool resume;
    /* A file of verdicts (borrowed): decisions of a person, made in the report or by hand, which
     * overrule the result. JSON lines {"verdict": "keep", "id", "row"}, or {"verdict": "different"
     * or "duplicate", "a", "a_row", "b", "b_row"}: docs/report.md. Jaccard and containment only.
     * NULL: none. */
    const char *verdicts;
    uint64_t reserved[7];
} cog_dedup_options;
/* Jaccard of word 3-grams at or above 0.8; the longest document is kept. */
COG_API void cog_dedup_options_init(cog_dedup_options *options);

/* Clusters of two or more documents, in the order of their first rows. */
typedef struct cog_clusters cog_clusters;
typedef struct cog_cluster_member {
    uint32_t cluster, row, representative; /* the representative is kept */
    double similarity;                     /* to the representative; 1 for itself */
} cog_cluster_member;

typedef struct cog_dedup_outputs {
    /* The kept records, byte for byte, in input order; NULL: not written. A folder (an existing
     * one, or a name that ends in '/') receives one file per input file, with the same relative
     * name; none of these may exist yet. If each input file is one document, this must be a folder.
     */
    const char *kept;
    /* A table: cluster, id, representative, similarity, kept; NULL: not written. With a reference
     * collection: the removed documents, grouped by the reference document that each matches. */
    const char *clusters;
    const char *rejects;               /* bad records, unchanged; NULL: not written */
    cog_output_format clusters_format; /* of `clusters` and `removed` */
    /* A report as one HTML file: what is removed and why, pairs just below the threshold, and
     * verdicts to export; NULL: none. Pairs are searched down to 0.2 below the threshold, which
     * takes longer. */
    const char *report;
    const char *removed; /* a table of removed documents: id, kept twin, similarity, reason; NULL:
                            not written */
    /* The name of a field: `kept` then receives all documents, each with this field added: an
     * object with cluster, kept, twin, similarity and reason; in csv and tsv it is the last column.
     * NULL: none. */
    const char *mark;
} cog_dedup_outputs;
/* Removes near-duplicates. `outputs` may be NULL: then only the clusters are made. */
COG_API cog_status cog_dedup(cog_documents *documents, const cog_dedup_options *options,
                             const cog_dedup_outputs *outputs, const cog_run_options *run,
                             cog_clusters **clusters, cog_report *report, cog_error *error);
COG_API void cog_clusters_free(cog_clusters *clusters);
COG_API size_t cog_clusters_count(const cog_clusters *clusters);
/* Members of all clusters, sorted by cluster, then row. */
COG_API size_t cog_clusters_member_count(const cog_clusters *clusters);
COG_API cog_cluster_member cog_clusters_member(const cog_clusters *clusters, size_t index);
/* Many at once, as cog_pairs_read. */
COG_API size_t cog_clusters_read(const cog_clusters *clusters, size_t first, size_t count,
                                 cog_cluster_member *members);
COG_API size_t cog_clusters_document_count(const cog_clusters *clusters);
COG_API bool cog_clusters_is_kept(const cog_clusters *clusters, uint32_t row);
/* The id of a row. Owned by the clusters, valid until the next call. */
COG_API const char *cog_clusters_id(cog_clusters *clusters, uint32_t row, size_t *size);
/* For a removed row: the kept row that it matches (a row of the reference collection, if there is
 * one) and the similarity to it. False for a kept row. */
COG_API bool cog_clusters_twin(const cog_clusters *clusters, uint32_t row, uint32_t *twin,
                               double *similarity);
/* The position in the input of a row; rows do not count skipped records, positions do. */
COG_API uint64_t cog_clusters_position(const cog_clusters *clusters, uint32_t row);
/* The position of a twin in its collection. */
COG_API uint64_t cog_clusters_twin_position(const cog_clusters *clusters, uint32_t twin);
/* Columns cluster, row, representative (int64), similarity (double), kept (bool); if `ids`, also id
 * and representative_id (string). */
COG_API cog_status cog_clusters_to_arrow(cog_clusters *clusters, bool ids,
                                         struct ArrowArrayStream *stream, cog_error *error);
/* The removed rows in ascending order: columns removed, kept (int64; its twin), similarity
 * (double). */
COG_API cog_status cog_clusters_removed_to_arrow(const cog_clusters *clusters,
                                                 struct ArrowArrayStream *stream, cog_error *error);
/* The kept rows in ascending order: one column, row (int64). */
COG_API cog_status cog_clusters_kept_to_arrow(const cog_clusters *clusters,
                                              struct ArrowArrayStream *stream, cog_error *error);

/* ---- Index and search ------------------------------------------------------------------------ */

#include "cognate_index.h"

/* ---- Evaluation ------------------------------------------------------------------------------ */

/* How well a kind of signature estimates true cosines: over all pairs of a sample of documents (0),
 * pairs above 0.1 (1) and above 0.2 (2), averaged over seeds. */
typedef struct cog_signature_error {
    cog_signature_options signature;
    double error[3];  /* mean absolute error */
    double theory[3]; /* expected error of random signs */
    uint64_t pairs[3];
    double milliseconds; /* to sign a document on one thread */
} cog_signature_error;

/* Fills results[i] for kinds[i]. Signs a random sample of `sample` documents (or all, if there are
 * fewer) with the terms and weights of `options`, and with `seeds` seeds, starting with the kind's
 * own. */
COG_API cog_status cog_evaluate_signatures(cog_documents *documents,
                                           const cog_sign_options *options,
                                           const cog_signature_options *kinds, size_t kind_count,
                                           size_t sample, unsigned seeds,
                                           const cog_run_options *run, cog_signature_error *results,
                                           cog_report *report, cog_error *error);

/* How good lists of neighbours are, compared with the true neighbours. */
typedef struct cog_neighbour_quality {
    size_t queries; /* of the truth */
    size_t k;
    double recall; /* recall@k; a row tied with the last true one counts */
    double cdr;    /* cumulative distance ratio at k; negative if distances are unknown */
} cog_neighbour_quality;
/* Compares results of `cognate search` in TSV files; queries are matched by their ids. A missing
 * neighbour counts as one at a distance of missing_distance_bits. */
COG_API cog_status cog_evaluate_neighbour_files(const char *found, const char *truth, size_t k,
                                                uint32_t missing_distance_bits,
                                                cog_neighbour_quality *quality, cog_error *error);
/* Compares two sets of answers to the same queries of one index. */
COG_API cog_status cog_evaluate_hits(const cog_hits *found, const cog_hits *truth, size_t k,
                                     cog_neighbour_quality *quality, cog_error *error);

#ifdef __cplusplus
}
#endif

/* In this order: each uses the ones before it. */
#include "cognate_explain.h"

#include "cognate_crosslingual.h"

#include "cognate_batch.h"

#include "cognate_live.h"

#endif
