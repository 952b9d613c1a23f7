#include "input/one_form.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "input/documents/text_bytes.h"
#include "input/table_columns.h"

/* The header row without byte order mark and line end, which files may or may not have. */
static struct bytes_view bare_header(const struct input_file *file) {
    return without_line_end(without_mark(buffer_view(&file->header)));
}

static cog_status check_table(const struct input_file *file, const struct input_file *first,
                              cog_error *error) {
    if (!view_equals(bare_header(file), bare_header(first)))
        return error_set(
            error, COG_ERR_INPUT,
            "%s: a different header row from %s; one output has one table: name a folder",
            file->path, first->path);
    if (file->columns.count != first->columns.count)
        return error_set(
            error, COG_ERR_INPUT,
            "%s: a different number of fields from %s; one output has one table: name a folder",
            file->path, first->path);
    return COG_OK;
}

cog_status one_form_check(const struct input_file *file, const struct input_file *first,
                          cog_error *error) {
    if (file->format != first->format)
        return error_set(error, COG_ERR_USAGE,
                         "%s: a different format from %s; one output has one format: name a "
                         "folder",
                         file->path, first->path);
    if (format_is_table(file->format))
        return check_table(file, first, error);
    if (file->query_columns != first->query_columns)
        return error_set(error, COG_ERR_INPUT,
                         "%s: different columns from %s; one output has one kind of log: name a "
                         "folder",
                         file->path, first->path);
    if (file->is_array != first->is_array)
        return error_set(error, COG_ERR_INPUT,
                         "%s: a JSON array, and %s has an object per line; one output holds one "
                         "form: name a folder",
                         file->is_array ? file->path : first->path,
                         file->is_array ? first->path : file->path);
    return COG_OK;
}

/* ---- Looking ahead --------------------------------------------------------------------------- */

/* Whether the beginning says something and can be read twice. Files found in a folder that cannot
 * be read are skipped by the pass that reads them. */
static bool can_look_at(const struct input_file *file) {
    return (format_is_table(file->format) || file->format == INPUT_JSONL) && !file->is_pipe &&
           strcmp(file->path, "-") != 0 && access(file->path, R_OK) == 0;
}

/* A reader that has read the first record of the file; *reader is NULL if it has none. */
static cog_status read_beginning(const struct reader_options *options,
                                 const struct input_file *file, struct reader **reader,
                                 cog_error *error) {
    enum { BYTES_AT_ONCE = 4096 };
    struct reader_options beginning = *options;
    struct record_batch batch = {0};
    const char *path = file->path;
    bool is_empty = false;
    beginning.batch_bytes = BYTES_AT_ONCE;
    if (!format_is_table(file->format)) { /* options that a reader refuses without a table */
        beginning.delimiter = 0;
        beginning.no_header = false;
    }
    TRY(reader_open(&beginning, &path, 1, reader, error));
    cog_status status = reader_fill(*reader, &batch, &is_empty, error);
    record_batch_free(&batch);
    if (status != COG_OK || is_empty) {
        reader_close(*reader);
        *reader = NULL;
    }
    return status;
}

cog_status one_form_look_ahead(const struct input_files *inputs, bool is_one_output,
                               cog_error *error) {
    struct reader *first = NULL;
    cog_status status = COG_OK;
    for (size_t i = 0; i < inputs->count && status == COG_OK; i++) {
        struct reader *reader = NULL;
        if (!can_look_at(&inputs->files[i]))
            continue;
        status = read_beginning(inputs->options, &inputs->files[i], &reader, error);
        if (!first) {
            first = reader;
            continue;
        }
        if (reader && is_one_output)
            THEN(status, one_form_check(&reader_inputs(reader)->files[0],
                                        &reader_inputs(first)->files[0], error));
        reader_close(reader);
    }
    reader_close(first);
    return status;
}
