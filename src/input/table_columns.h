/* The columns of csv and tsv files: which of them hold the text, the id, the language and the extra
 * field. Columns are named by the header row, or by their numbers from 1 if there is none. */
#pragma once

#include "input/input_files.h"
#include "input/reader.h"

static inline bool format_is_table(enum input_format format) {
    return format == INPUT_CSV || format == INPUT_TSV;
}

/* Checks the options `delimiter` and `no_header`: some input has to be a table, and fields of
 * tables without a header have to be numbers. */
cog_status table_options_check(const struct reader_options *options,
                               const struct input_files *inputs, cog_error *error);

/* Finds the file's columns from its first row, and keeps the row if it is a header. Does nothing in
 * later passes. */
cog_status table_first_row_take(const struct reader_options *options, struct input_file *file,
                                struct bytes_view row, cog_error *error);
