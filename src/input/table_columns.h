/* Columns of csv and tsv files: which of them hold text, id, language and a further field.
 *
 * Columns are named by the header row, or by their numbers, from 1, if there is none. */
#pragma once

#include "input/input_files.h"
#include "input/reader.h"

static inline bool input_is_table(const struct input_file *file) {
    return file->format == INPUT_CSV || file->format == INPUT_TSV;
}

/* Checks a delimiter or the lack of a header row: some input has to be a table, and fields of
 * tables without a header are numbers. */
cog_status table_options_check(const struct reader_options *options,
                               const struct input_files *inputs, cog_error *error);

/* Finds the file's columns by its first row, and keeps the row if it is a header. In later passes
 * it is known already. */
cog_status table_first_row_take(const struct reader_options *options, struct input_file *file,
                                struct bytes_view row, cog_error *error);
