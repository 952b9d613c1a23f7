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

static cog_status check_number(const char *name, const char *usual, const char *option,
                               cog_error *error) {
    bool unnamed = !name || (usual && strcmp(name, usual) == 0);
    if (unnamed || numbered_column(name) != CSV_NO_COLUMN)
        return COG_OK;
    return error_about(error, COG_ERR_USAGE, option,
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
    if (!options->no_header)
        return COG_OK;
    TRY(check_number(options->text_field ? options->text_field : "", NULL, "text_field", error));
    TRY(check_number(options->id_field, "id", "id_field", error));
    TRY(check_number(options->lang_field, "lang", "lang_field", error));
    return check_number(options->extra_field, NULL, "extra_field", error);
}

static bool column_is(struct bytes_view field, const char *name) {
    return name && view_is(field, name);
}

static void take_column(const struct reader_options *options, struct csv_columns *columns,
                        struct bytes_view field) {
    size_t column = columns->count++;
    if (columns->text == CSV_NO_COLUMN && column_is(field, options->text_field))
        columns->text = column;
    if (columns->id == CSV_NO_COLUMN && column_is(field, options->id_field))
        columns->id = column;
    if (columns->lang == CSV_NO_COLUMN && column_is(field, options->lang_field))
        columns->lang = column;
    if (columns->extra == CSV_NO_COLUMN && column_is(field, options->extra_field))
        columns->extra = column;
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
    *columns = (struct csv_columns){
        .text = CSV_NO_COLUMN, .id = CSV_NO_COLUMN, .lang = CSV_NO_COLUMN, .extra = CSV_NO_COLUMN};
    if (options->no_header) {
        columns->text = numbered_column(options->text_field);
        columns->id = numbered_column(options->id_field);
        columns->lang = numbered_column(options->lang_field);
        columns->extra = numbered_column(options->extra_field);
    }
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
    const struct {
        size_t column;
        const char *name, *option;
        bool needed;
    } asked[] = {{columns->text, options->text_field, "text_field", true},
                 {columns->id, options->id_field, "id_field", false},
                 {columns->lang, options->lang_field, "lang_field", false},
                 {columns->extra, options->extra_field, "extra_field", options->extra_field}};
    if (columns->has_added)
        return error_about(error, COG_ERR_INPUT, "added_field",
                           "%s:1: has a column \"%s\" already: choose another name", file->path,
                           options->added_field);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        bool missing = asked[i].column == CSV_NO_COLUMN;
        if (!missing && asked[i].column >= columns->count)
            return error_about(error, COG_ERR_INPUT, asked[i].option,
                               "%s:1: no field %s: the first row has %zu; choose another field, or "
                               "another delimiter",
                               file->path, asked[i].name, columns->count);
        if (missing && asked[i].needed)
            return error_about(error, COG_ERR_INPUT, asked[i].option,
                               i ? "%s:1: no column \"%s\"; name one of these%s: %s"
                                 : "%s:1: no column \"%s\"; name the one that holds the text%s: %s",
                               file->path, asked[i].name,
                               columns->count == 1 ? ", or another delimiter" : "", names);
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
