#include "input/table_columns.h"

#include <stdio.h>
#include <string.h>

#include "input/documents/text_bytes.h"

/* The column that a number names; CSV_NO_COLUMN if the name is no number. */
static size_t numbered_column(const char *name) {
    enum { MOST_DIGITS = 9 };
    size_t number = 0, digits = 0;
    for (; name && name[digits] >= '0' && name[digits] <= '9' && digits < MOST_DIGITS; digits++)
        number = 10 * number + (size_t)(name[digits] - '0');
    return digits && !name[digits] && number ? number - 1 : CSV_NO_COLUMN;
}

/* Names that mean none without a header row, and the options that name the fields. */
static const struct {
    const char *usual, *option;
} fields[DOCUMENT_FIELDS] = {[FIELD_TEXT] = {NULL, "text_field"},
                             [FIELD_ID] = {"id", "id_field"},
                             [FIELD_LANG] = {"lang", "lang_field"},
                             [FIELD_EXTRA] = {NULL, "extra_field"}};

static cog_status check_number(const struct reader_options *options, enum document_field field,
                               cog_error *error) {
    const char *name = field_name(options, field), *usual = fields[field].usual;
    if (!name && field == FIELD_TEXT)
        name = "";
    bool unnamed = !name || (usual && strcmp(name, usual) == 0);
    if (unnamed || numbered_column(name) != CSV_NO_COLUMN)
        return COG_OK;
    return error_about(error, COG_ERR_USAGE, fields[field].option,
                       "\"%s\": tables without a header row have no names for their fields; give "
                       "the number of the field, from 1",
                       name);
}

cog_status table_options_check(const struct reader_options *options,
                               const struct input_files *inputs, cog_error *error) {
    unsigned char delimiter = (unsigned char)options->delimiter;
    bool any = inputs->count == 0;
    if (delimiter >= 0x80 || (delimiter && is_one_of((char)delimiter, "\"\r\n")))
        return error_about(error, COG_ERR_USAGE, "delimiter",
                           "this character cannot separate fields: choose one of ASCII that is no "
                           "quote and no line end");
    for (size_t i = 0; i < inputs->count; i++)
        any |= format_is_table(inputs->files[i].format);
    if (!any)
        return error_about(
            error, COG_ERR_USAGE, delimiter ? "delimiter" : "no_header",
            "no input is a table: name csv or tsv files, or the format of the input");
    for (int field = 0; field < DOCUMENT_FIELDS && options->no_header; field++)
        TRY(check_number(options, (enum document_field)field, error));
    return COG_OK;
}

static bool column_is(struct bytes_view field, const char *name) {
    return name && view_is(field, name);
}

static void take_column(const struct reader_options *options, struct csv_columns *columns,
                        struct bytes_view field) {
    size_t column = columns->count++;
    for (int f = 0; f < DOCUMENT_FIELDS; f++)
        if (columns->of_field[f] == CSV_NO_COLUMN &&
            column_is(field, field_name(options, (enum document_field)f)))
            columns->of_field[f] = column;
    columns->has_added |= column_is(field, options->added_field);
}

/* The columns of a file by its first row, whose fields are names or not; `names` gets a list of
 * them. Returns what is wrong with the row, or NULL. */
static const char *find_columns(const struct reader_options *options, struct input_file *file,
                                struct bytes_view row, struct buffer *decoded, char *names,
                                size_t names_size) {
    struct csv_columns *columns = &file->columns;
    struct csv_cursor cursor = csv_row_fields(without_mark(row), file->form);
    struct bytes_view field;
    *columns = (struct csv_columns){0};
    for (int f = 0; f < DOCUMENT_FIELDS; f++)
        columns->of_field[f] = options->no_header
                                   ? numbered_column(field_name(options, (enum document_field)f))
                                   : CSV_NO_COLUMN;
    while (csv_next_field(&cursor, decoded, &field)) {
        if (options->no_header) {
            columns->count++;
            continue;
        }
        take_column(options, columns, field);
        size_t used = strlen(names);
        snprintf(names + used, names_size - used, "%s%.*s", used ? ", " : "",
                 field.size < 100 ? (int)field.size : 100, field.data);
    }
    return cursor.problem;
}

/* Whether the table has the columns that are asked for, and not the one that is added. */
static cog_status check_columns(const struct reader_options *options, const struct input_file *file,
                                const char *names, cog_error *error) {
    const struct csv_columns *columns = &file->columns;
    if (columns->has_added)
        return error_about(error, COG_ERR_INPUT, "added_field",
                           "%s:1: has a column \"%s\" already: choose another name", file->path,
                           options->added_field);
    for (int field = 0; field < DOCUMENT_FIELDS; field++) {
        const char *name = field_name(options, (enum document_field)field);
        const char *option = fields[field].option;
        const size_t column = columns->of_field[field];
        const bool needed = field == FIELD_TEXT || (field == FIELD_EXTRA && name);
        if (column != CSV_NO_COLUMN && column >= columns->count)
            return error_about(error, COG_ERR_INPUT, option,
                               "%s:1: no field %s: the first row has %zu; choose another field, or "
                               "another delimiter",
                               file->path, name, columns->count);
        if (column == CSV_NO_COLUMN && needed)
            return error_about(
                error, COG_ERR_INPUT, option,
                field == FIELD_TEXT
                    ? "%s:1: no column \"%s\"; name the one that holds the text%s: %s"
                    : "%s:1: no column \"%s\"; name one of these%s: %s",
                file->path, name, columns->count == 1 ? ", or another delimiter" : "", names);
    }
    return COG_OK;
}

cog_status table_first_row_take(const struct reader_options *options, struct input_file *file,
                                struct bytes_view row, cog_error *error) {
    struct buffer decoded = {0};
    char names[256] = "";
    bool has_header = !options->no_header;
    if ((has_header && !buffer_append(&file->header, row.data, row.size)) ||
        !buffer_reserve(&decoded, row.size)) {
        buffer_free(&decoded);
        return error_memory(error, row.size, "the first row of a table");
    }
    const bool is_utf16 = row.size >= 2 && (memcmp(row.data, "\xff\xfe", 2) == 0 ||
                                            memcmp(row.data, "\xfe\xff", 2) == 0);
    const char *problem = is_utf16
                              ? "it is UTF-16, convert the file"
                              : find_columns(options, file, row, &decoded, names, sizeof names);
    buffer_free(&decoded);
    if (problem)
        return error_set_at(error, COG_ERR_INPUT, 1, "%s:1: %s row: %s", file->path,
                            has_header ? "header" : "first", problem);
    TRY(check_columns(options, file, names, error));
    file->header_is_complete = true;
    return COG_OK;
}
