/* Arrow: how documents and results travel between Cognate and other libraries.
 *
 * Documents come from Arrow streams, and results go to Arrow streams, by the Arrow C data interface
 * and the Arrow C stream interface: these three structs are their whole ABI, and the guards are
 * theirs.
 *
 * In: cog_documents_from_arrow takes columns of type string, large_string or string_view, or their
 * binary forms, plain or encoded by a dictionary; a column without a type has nulls only. The
 * stream is a struct with a column of texts (options->text_field, "text" by default; a struct of
 * one column needs not have that name) and perhaps columns of ids (id_field; texts or integers) and
 * of languages (lang_field), or it is texts alone. The call reads the stream to its end and
 * releases it, also if it fails; the arrays are kept, and released by cog_documents_close. Texts
 * are not copied. Rows whose text is null are skipped. cog_dedup may keep documents by the values
 * of another column (keep_field): texts, numbers, dates, times. options may be NULL.
 *
 * Out: cog_..._to_arrow fills *stream, which the caller releases. It has one array, a copy: the
 * result may be freed at once. Rows in these streams are positions in the input, from 0 on, where
 * skipped records count, while the getters of results number the documents that were read;
 * cog_..._position converts. */
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
