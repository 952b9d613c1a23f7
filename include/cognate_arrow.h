/* Arrow: how documents and results travel between Cognate and other libraries.
 *
 * Documents are read from Arrow streams and results are returned as Arrow streams, by the Arrow C
 * data interface and the Arrow C stream interface. The three structs below are the whole ABI of
 * these interfaces, with their standard include guards.
 *
 * Input: cog_documents_from_arrow reads a struct with a column of texts (options->text_field,
 * "text" by default; a single column may have any name), optionally a column of ids (id_field;
 * texts or integers) and of languages (lang_field), or an array of texts alone. Texts are string,
 * large_string or string_view, or the binary forms of these, plain or dictionary-encoded; a column
 * of type null has only nulls. The call reads the stream to its end and releases it, also if it
 * fails. The arrays are kept and released by cog_documents_close; texts are not copied. Rows whose
 * text is null are skipped. cog_dedup may keep documents by the values of another column
 * (keep_field): texts, numbers, dates, times. `options` may be NULL.
 *
 * With the format COG_FORMAT_QUERYLOG, the stream is a query log: a struct with the columns query,
 * url and clicks, or Query and ClickURL as AOL has them (in any case). Without a column of clicks,
 * each row is one click; a row without a URL is a query without a click. The first row of a query
 * is its document. Queries are copied and the arrays released at once.
 *
 * Output: cog_..._to_arrow fills *stream, which the caller releases. The stream has one array, a
 * copy, so the result may be freed at once. Rows in these streams are positions in the input, from
 * 0, skipped records included. Getters of results number only the documents that were read;
 * cog_..._position converts their rows to positions. */
#ifndef COGNATE_ARROW_H
#define COGNATE_ARROW_H

#include <stdint.h>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

#endif
