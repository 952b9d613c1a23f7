/* Reads documents from files or from memory. A reader cuts its inputs into batches of raw records
 * on one thread (reader_fill); any thread turns a record of a batch into a document (reader_parse).
 * Memory does not grow with the input, except for query logs, whose rows are grouped by query in
 * memory. A reader can be rewound, because statistics need a pass of their own; a job that does so
 * asks for pipes to be kept in a scratch file (reader_keep_pipes). A reader of a table (documents
 * in memory) has no files and no raw records; its texts are views of the table. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "input/document_table.h"

/* A term named by the input itself (a clicked URL with its clicks) instead of text. */
struct given_term {
    uint64_t hash; /* hash_bytes of the term's bytes */
    float weight;
};

/* A document: borrowed views into the batch that it was read from. */
struct document {
    struct bytes_view id;   /* never empty: a field of the record, or path:line; path:number for
                               elements of a JSON array */
    struct bytes_view lang; /* empty if the record has none */
    struct bytes_view text; /* valid UTF-8 */
    /* The value of reader_options.extra_field; data is NULL if the record has none. */
    struct bytes_view extra;
    struct bytes_view raw; /* the record's bytes as they stand in the input, its newline included */
    const struct given_term *terms; /* query logs: the terms, sorted by hash; else NULL */
    size_t term_count;
    uint32_t file;    /* index of the input file, in reading order */
    uint64_t line;    /* first line of the record in that file, from 1 */
    uint64_t record;  /* by reader_take_raw: its number, from 0, among the records of a pass that
                         parses them; rows of query logs have that of their query, and UINT64_MAX
                         if they are bad */
    bool passed_over; /* by reader_take_raw: the record is no document, but part of the file */
};

enum input_format {
    /* By extension (in front of a compression's extension); an unknown extension is txt. Input from
     * a pipe is jsonl if it starts with '{' or with '[' and '{', wikixml if with "<mediawiki", warc
     * if with "WARC/", else txt by lines. */
    INPUT_AUTO,
    INPUT_TXT,
    INPUT_JSONL, /* an object per line, or a JSON array of objects */
    INPUT_CSV,
    INPUT_TSV,
    INPUT_WIKIXML,
    INPUT_LETT,
    INPUT_QUERYLOG,
    INPUT_WARC, /* records of a crawl: pages, or texts made from them */
    INPUT_WET,  /* the same */
    INPUT_NPY,  /* recognised only to be refused: input/npy.h reads arrays */
};
/* INPUT_AUTO if the extension is unknown. */
enum input_format input_format_of_name(const char *path);

struct reader_options {
    enum input_format format;
    bool lines;             /* txt: each line is a document */
    const char *text_field; /* jsonl, csv, tsv; borrowed for the reader's life */
    const char *id_field;
    const char *lang_field;
    /* jsonl, csv, tsv: one more field to return with each document, or NULL. Its value is text:
     * strings without their escapes, numbers and booleans as written. Null, objects and arrays
     * count as no value. Opening fails for inputs of other formats, reading fails for a table
     * without that column. */
    const char *extra_field;
    /* jsonl, csv, tsv: a field that the job adds to the records, or NULL. A table or an object that
     * has it ends the reading. Between JSON objects and what they contain is no distinction. */
    const char *added_field;
    /* csv, tsv: the field separator; 0 means a comma in csv, a tab in tsv. */
    char delimiter;
    /* csv, tsv: the first row is a record. Fields are then named by their numbers from 1, and the
     * names "id" and "lang" mean none. */
    bool no_header;
    size_t batch_bytes; /* 0: 1 MiB; a longer record has a batch of its own */
};
void reader_options_init(struct reader_options *options);

struct reader;
/* State that a worker needs to parse (JSON parser, decoded text); one per thread. */
struct record_parser;
/* A raw record. */
struct record {
    size_t offset, size; /* in the batch */
    uint64_t line;       /* of its first byte, from 1 */
    uint64_t number;     /* in its file, from 1, counting every record */
    uint32_t file;
    /* Neither a document nor bad: a crawl record that only describes the crawl or holds no text,
     * which only passes over raw records see, or a later row of a query. Do not parse it. */
    bool passed_over;
};

/* Raw records; zero-initialise, reuse, release with record_batch_free. */
struct record_batch {
    struct buffer bytes;
    struct record *records;
    size_t count, capacity;
    size_t passed_over;    /* of these records */
    uint64_t first_record; /* number of records before this batch, over all files */
};

/* A record that cannot be a document, and why. The message names file and line. */
struct bad_record {
    uint32_t file;
    uint64_t line;
    char message[512];
};

/* Paths are files, folders (read recursively, in name order), or "-"; they are copied. */
cog_status reader_open(const struct reader_options *options, const char *const *paths, size_t count,
                       struct reader **reader, cog_error *error);
/* The rows of a table. The reader takes the table over, also after a failure. */
cog_status reader_open_table(struct document_table *table, struct reader **reader,
                             cog_error *error);
/* A query log of `rows` rows in memory, which query_log_finish has not seen. The reader takes it
 * over, also after a failure. Records are the rows: the first of each query is its document, the
 * others are passed over. Nothing is given raw. */
struct query_log;
cog_status reader_open_log(struct query_log *log, uint64_t rows, struct reader **reader,
                           cog_error *error);
void reader_close(struct reader *reader);
/* Sets or changes reader_options.extra_field of an open reader, before a pass. The name is
 * borrowed. */
cog_status reader_set_extra_field(struct reader *reader, const char *field, cog_error *error);
/* All records go to one output: fails now if tables or JSON files have different forms (header,
 * number of fields, array or lines), and the pass that first reads pipes or query logs fails if
 * theirs differ. */
cog_status reader_want_one_form(struct reader *reader, cog_error *error);
/* Sets reader_options.added_field of an open reader: fails now if a table has it, and passes that
 * parse fail at a JSON object that has it. The name is borrowed. */
cog_status reader_add_field(struct reader *reader, const char *field, cog_error *error);
/* The inputs will be read more than once: input from pipes is copied to a scratch file in TMPDIR,
 * and a file that changes between passes is detected. Call before the first reader_fill. */
void reader_keep_pipes(struct reader *reader);
/* Sets reader_options.batch_bytes for the following passes; 0: the usual size. */
void reader_set_batch_bytes(struct reader *reader, size_t bytes);
/* Ends each batch as soon as it has a record, because the writer of a pipe may be waiting for the
 * answer. */
void reader_answer_at_once(struct reader *reader);
/* Back to the first record. Fails if a pipe that was not kept has been read. After
 * reader_keep_pipes, reader_fill fails at the end of a file that has changed since an earlier
 * pass. */
cog_status reader_rewind(struct reader *reader, cog_error *error);
/* After a rewind: this pass returns the records as they are in the files, for reader_take_raw. It
 * matters only for query logs, which then return their rows in input order instead of queries; an
 * earlier pass must have read them. */
cog_status reader_stay_raw(struct reader *reader, cog_error *error);

/* The next records. Sets *end and leaves the batch empty when the inputs are exhausted. A truncated
 * or damaged compressed file is an error. */
cog_status reader_fill(struct reader *reader, struct record_batch *batch, bool *end,
                       cog_error *error);
void record_batch_free(struct record_batch *batch);

cog_status record_parser_create(const struct reader *reader, struct record_parser **parser,
                                cog_error *error);
void record_parser_free(struct record_parser *parser);
/* From now on, records of standard input without an id of their own are bad: their place means
 * another document each time. */
void record_parser_want_ids(struct record_parser *parser);
/* COG_OK with the document (views are valid until the parser's next call and while the batch is
 * unchanged). COG_ERR_INPUT with *bad filled for a record that has to be skipped. Any other status
 * ends the run. */
cog_status reader_parse(struct record_parser *parser, const struct record_batch *batch,
                        size_t index, struct document *document, struct bad_record *bad,
                        cog_error *error);

/* A record without parsing: fills raw, file, line and number, and the id if the whole file is the
 * document. Bad records are not recognised, except rows of query logs. */
void reader_take_raw(const struct reader *reader, const struct record_batch *batch, size_t index,
                     struct document *document);

/* A number that is equal for two readers of the same inputs: names, sizes and times of the files,
 * and the options that decide which documents they have. */
uint64_t reader_identity(const struct reader *reader);

/* The files of a reader, and its table or NULL; for its parsers. */
const struct input_files *reader_inputs(const struct reader *reader);
const struct document_table *reader_table(const struct reader *reader);

/* The name of input file number `file`, as given or found; "document" for rows of a table. Owned by
 * the reader. */
const char *reader_file_name(const struct reader *reader, uint32_t file);
/* The format that input file number `file` was read as. */
enum input_format reader_file_format(const struct reader *reader, uint32_t file);
/* Whether the whole file is one document. */
bool reader_file_is_document(const struct reader *reader, uint32_t file);
uint32_t reader_file_count(const struct reader *reader);
/* The bytes around the records of a file, so that a selection of records can be written as a valid
 * file again. The header is the header row of csv, tsv and query logs, if they have one, or the
 * opening of a dump or an array. The separator goes between two records if the first does not end
 * in a newline. The footer closes the dump or array. Complete once the file has been read. */
struct record_frame {
    struct bytes_view header, separator, footer;
    bool is_array; /* the records are elements of a JSON array */
};
struct record_frame reader_file_frame(const struct reader *reader, uint32_t file);
/* For progress: bytes of the inputs on disk (for a table: of its texts), and bytes read so far. The
 * total is 0 if unknown. */
uint64_t reader_total_bytes(const struct reader *reader);
uint64_t reader_read_bytes(const struct reader *reader);
/* Approximate uncompressed size of the files (compressed ones count four times their size). */
uint64_t reader_text_bytes(const struct reader *reader);
/* Whether an input is a pipe, whose size is unknown. */
bool reader_has_pipe(const struct reader *reader);
/* Pages of MediaWiki dumps that are not articles, in this pass so far. They are neither records nor
 * bad, only counted. */
struct left_out_pages {
    uint64_t redirects, stubs, other_namespaces;
};
struct left_out_pages reader_left_out_pages(const struct reader *reader);
/* Files and folders that could not be opened, with a message each. Call while no reader_fill runs.
 */
size_t reader_skipped_file_count(const struct reader *reader);
const char *reader_skipped_file_message(const struct reader *reader, size_t index);
