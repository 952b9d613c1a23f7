/* Writes a result as a table: TSV with a header line, JSON lines, or a numpy file of records.
 *
 * A job opens the table with its columns, which are borrowed until it is closed, adds the rows one
 * by one, and closes it. Memory: one line. The file appears complete or not at all. */
#pragma once

#include "base/io/output.h"
#include "base/memory.h"

enum result_type {
    RESULT_ID,       /* text; the row number in numpy files and if there is no text */
    RESULT_NUMBER,   /* non-negative integer */
    RESULT_REAL,     /* six decimals */
    RESULT_DISTANCE, /* in bits; negative: unknown, written as "-" */
};

struct result_column {
    const char *name;
    enum result_type type;
};

/* One value of a row. An id has its text and the number of its row. */
struct result_cell {
    double number;
    struct bytes_view text;
};

/* Zero-initialise. */
struct result_table {
    const struct result_column *columns;
    size_t column_count;
    cog_output_format format;
    struct output *output;
    struct buffer line;
};

/* `path` "-" is standard output. `row_count` is the number of rows to come; numpy files store it.
 */
cog_status result_table_open(struct result_table *table, const struct result_column *columns,
                             size_t column_count, size_t row_count, cog_output_format format,
                             const char *path, cog_error *error);
/* Adds a row of column_count cells. */
cog_status result_table_add(struct result_table *table, const struct result_cell *cells,
                            cog_error *error);
/* Makes the file visible if `status` (of opening and all additions) is COG_OK. Releases in any
 * case, and returns the first failure. */
cog_status result_table_close(struct result_table *table, cog_status status, cog_error *error);
