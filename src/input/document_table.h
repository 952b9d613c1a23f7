/* Documents in memory as a table: an array of cog_document, or the arrays of an Arrow stream. A
 * reader reads it like files (reader_open_table), so that jobs see one kind of input.
 *
 * In: the array, which is borrowed, or the stream, which the table takes over. Out: one row at a
 * time, as views of the caller's bytes; texts are never copied. Memory: a few words per Arrow
 * array. */
#pragma once

#include "base/error.h"
#include "base/memory.h"
#include "input/arrow_column.h"

struct document_table;

cog_status document_table_of_items(const cog_document *items, size_t count,
                                   struct document_table **table, cog_error *error);

/* Column names, and the number of the first row if row numbers are the ids. */
struct table_fields {
    const char *text, *id, *lang;
    uint64_t first_id;
};
/* Reads the stream to its end and releases it, also after a failure. The arrays are released with
 * the table. A stream of texts alone (no struct) or a struct of one column needs no names. */
cog_status document_table_of_stream(struct ArrowArrayStream *stream,
                                    const struct table_fields *fields,
                                    struct document_table **table, cog_error *error);
void document_table_free(struct document_table *table);

/* From now on rows also have the value of the column `name`, as text (NULL: none). The column holds
 * texts, numbers, dates or times; dates and times become Arrow's integers. */
cog_status document_table_set_extra(struct document_table *table, const char *name,
                                    cog_error *error);

size_t document_table_rows(const struct document_table *table);
uint64_t document_table_text_bytes(const struct document_table *table);

/* One row. */
struct document_row {
    struct bytes_view id; /* data is NULL if the row has none */
    struct bytes_view text, lang;
    struct bytes_view extra;               /* the extra column; data is NULL if the row has none */
    const char *problem;                   /* why the row cannot be a document, or NULL */
    char digits[ARROW_DIGITS_BYTES];       /* if the id is a number, `id` is a view of this */
    char extra_digits[ARROW_DIGITS_BYTES]; /* the same for `extra` */
};
void document_table_get(const struct document_table *table, size_t row,
                        struct document_row *result);
