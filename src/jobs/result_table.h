/* Results as tables, written once for every command: TSV with a header line, JSON lines, or a numpy
 * file of records. A command says what its columns are and fills the cells of a row. */
#pragma once

#include "base/buffer.h"
#include "base/error.h"

enum result_type {
    RESULT_ID,       /* text; in numpy files, and where there is no text, the row's number */
    RESULT_NUMBER,   /* whole, not negative */
    RESULT_REAL,     /* six decimals */
    RESULT_DISTANCE, /* in bits; below 0: not known, "-" */
};

struct result_column {
    const char *name;
    enum result_type type;
};

struct result_cell {
    struct bytes_view text;
    double number;
};

enum { RESULT_COLUMNS_MAX = 8 };

struct result_table {
    const struct result_column *columns;
    size_t column_count, row_count;
    void (*fill)(const void *context, size_t row, struct result_cell *cells);
    const void *context;
};

/* "-" is standard output; a file appears whole or not at all. */
cog_status result_table_write(const struct result_table *table, cog_output_format format,
                              const char *path, cog_error *error);
