#include "jobs/dedup/record_marks.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/strings.h"
#include "input/documents/csv_row.h"
#include "input/documents/json_parser.h"
#include "input/input_files.h"
#include "input/table_columns.h"

#define NONE UINT32_MAX

struct record_marks {
    const struct duplicates *duplicates;
    const struct reader *reader;
    const char *field;
    struct buffer name; /* the field as a JSON string */
    uint32_t *rows;     /* by record, or NONE */
    uint32_t *clusters; /* by row, or NONE */
    size_t record_count;
};

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Without quotes, a delimiter inside a mark can be written as a JSON escape, but only within a
 * string. */
static cog_status check_table(const struct input_file *file, const char *field, cog_error *error) {
    const char delimiter = file->form.delimiter;
    const bool is_structure = isalnum((unsigned char)delimiter) || strchr("{}:,._-\\ ", delimiter);
    if (file->form.quotes)
        return COG_OK;
    if (is_structure)
        return error_about(error, COG_ERR_USAGE, "mark",
                           "%s: fields separated by '%c' and not quoted cannot hold marks; ask for "
                           "the clusters instead",
                           file->path, delimiter);
    if (strchr(field, delimiter) || strpbrk(field, "\r\n"))
        return error_about(error, COG_ERR_USAGE, "mark",
                           "%s: the name of the column for marks has a character that separates "
                           "fields or rows; choose another name",
                           file->path);
    return COG_OK;
}

/* Appends text as the last field of a row, in quotes or with delimiters as JSON escapes. */
static bool append_field(struct buffer *row, struct csv_form form, struct bytes_view text,
                         bool needs_quotes) {
    bool fits = buffer_append(row, &form.delimiter, 1);
    if (form.quotes && needs_quotes)
        fits = fits && buffer_append(row, "\"", 1);
    for (size_t i = 0; i < text.size && fits; i++) {
        const char c = text.data[i];
        if (form.quotes)
            fits = c == '"' && needs_quotes ? buffer_append(row, "\"\"", 2)
                                            : buffer_append(row, &c, 1);
        else
            fits = c == form.delimiter ? buffer_printf(row, "\\u%04x", (unsigned)c)
                                       : buffer_append(row, &c, 1);
    }
    return fits && (!(form.quotes && needs_quotes) || buffer_append(row, "\"", 1));
}

static bool needs_quotes(struct bytes_view text, struct csv_form form) {
    const char special[] = {form.delimiter, '"', '\r', '\n', ' ', 0};
    for (size_t i = 0; i < text.size; i++)
        if (is_one_of(text.data[i], special))
            return true;
    return text.size == 0;
}

/* Appends a row with one more field, inserted before its line end. */
static cog_status append_row(struct csv_form form, struct bytes_view row, struct bytes_view field,
                             struct buffer *bytes, cog_error *error) {
    const size_t front = without_line_end(row).size;
    const bool fits = buffer_append(bytes, row.data, front) &&
                      append_field(bytes, form, field, needs_quotes(field, form)) &&
                      buffer_append(bytes, row.data + front, row.size - front);
    return fits ? COG_OK : error_memory(error, row.size, "marks");
}

cog_status record_marks_header(const struct record_marks *marks, uint32_t file,
                               struct bytes_view header, struct buffer *bytes, cog_error *error) {
    const struct input_file *input = &reader_inputs(marks->reader)->files[file];
    const struct bytes_view name = view_of_text(marks->field);
    if (header.size == 0 || !format_is_table(input->format))
        return buffer_append(bytes, header.data, header.size)
                   ? COG_OK
                   : error_memory(error, header.size, "marks");
    return append_row(input->form, header, name, bytes, error);
}

/* ---- The whole ------------------------------------------------------------------------------- */

cog_status record_marks_check(const char *field, cog_documents *documents, cog_error *error) {
    struct reader *reader = documents->reader;
    if (!*field)
        return error_about(error, COG_ERR_USAGE, "mark", "the field for marks has no name");
    for (uint32_t file = 0; reader && file < reader_file_count(reader); file++) {
        const enum input_format format = reader_file_format(reader, file);
        if (format_is_table(format))
            TRY(check_table(&reader_inputs(reader)->files[file], field, error));
        else if (format != INPUT_JSONL && format != INPUT_AUTO)
            return error_about(
                error, COG_ERR_USAGE, "mark",
                "%s: only JSON, csv and tsv records take marks; ask for the clusters "
                "instead",
                reader_file_name(reader, file));
    }
    return reader ? reader_add_field(reader, field, error) : COG_OK;
}

static cog_status fill(struct record_marks *marks, const cog_cluster_member *members,
                       size_t member_count, cog_error *error) {
    const struct duplicates *duplicates = marks->duplicates;
    const char *field = marks->field;
    const size_t count = duplicates->count;
    marks->record_count = count ? (size_t)duplicates_record(duplicates, count - 1) + 1 : 0;
    if (!json_append_string(&marks->name, view_of_text(field)))
        return error_memory(error, strlen(field), "marks");
    TAKE(marks->rows, marks->record_count, "marks", error);
    TAKE(marks->clusters, count, "marks", error);
    for (size_t record = 0; record < marks->record_count; record++)
        marks->rows[record] = NONE;
    for (uint32_t row = 0; row < count; row++) {
        marks->rows[duplicates_record(duplicates, row)] = row;
        marks->clusters[row] = NONE;
    }
    for (size_t i = 0; i < member_count; i++)
        marks->clusters[members[i].row] = members[i].cluster;
    return COG_OK;
}

cog_status record_marks_create(const char *field, const struct reader *reader,
                               const struct duplicates *duplicates,
                               const cog_cluster_member *members, size_t member_count,
                               struct record_marks **result, cog_error *error) {
    struct record_marks *marks;
    TAKE_ZEROED(marks, 1, "marks", error);
    marks->duplicates = duplicates;
    marks->reader = reader;
    marks->field = field;
    cog_status status = fill(marks, members, member_count, error);
    return HAND_OUT(status, marks, record_marks_free, result);
}

void record_marks_free(struct record_marks *marks) {
    if (!marks)
        return;
    buffer_free(&marks->name);
    FREE(marks->rows, marks->clusters, marks);
}

/* Appends the mark of a row, a JSON object. */
static cog_status append_mark(const struct record_marks *marks, uint32_t row, struct buffer *bytes,
                              cog_error *error) {
    const struct duplicates *duplicates = marks->duplicates;
    const bool is_kept = duplicates_keeps(duplicates, row);
    struct buffer twin = {0};
    cog_status status = COG_OK;
    bool fits = buffer_append_text(bytes, "{");
    if (marks->clusters[row] != NONE)
        fits = fits && buffer_printf(bytes, "\"cluster\":%u,", marks->clusters[row]);
    fits = fits && buffer_printf(bytes, "\"kept\":%s", is_kept ? "true" : "false");
    if (!is_kept) {
        status = duplicates_id(duplicates, duplicates->twin[row], duplicates->by_reference, &twin,
                               error);
        fits = fits && buffer_append_text(bytes, ",\"twin\":") &&
               json_append_string(bytes, view_of(twin.data, twin.size)) &&
               buffer_printf(bytes, ",\"similarity\":%.6f,\"reason\":\"%s\"",
                             (double)duplicates->similarity[row],
                             duplicate_reason_name(duplicates->reason[row]));
        buffer_free(&twin);
    }
    fits = fits && buffer_append(bytes, "}", 1);
    return fits || status != COG_OK ? status : error_memory(error, bytes->size, "marks");
}

/* Inserts the mark before the closing brace of the record. */
static cog_status mark_json(const struct record_marks *marks, uint64_t record,
                            struct bytes_view raw, struct buffer *bytes, cog_error *error) {
    const char *brace = memrchr(raw.data, '}', raw.size);
    /* Records that a work folder has were not parsed, so nobody has looked for the field yet. */
    if (!brace || json_has_name(raw, view_of(marks->name.data, marks->name.size)))
        return error_about(error, COG_ERR_INPUT, "mark",
                           "record %llu has a field %.*s already: choose another name for marks",
                           (unsigned long long)record + 1, (int)marks->name.size, marks->name.data);
    const size_t front = (size_t)(brace - raw.data);
    if (!buffer_append(bytes, raw.data, front) || !buffer_append(bytes, ",", 1) ||
        !buffer_append(bytes, marks->name.data, marks->name.size) || !buffer_append(bytes, ":", 1))
        return error_memory(error, raw.size, "marks");
    TRY(append_mark(marks, marks->rows[record], bytes, error));
    return buffer_append(bytes, brace, raw.size - front) ? COG_OK
                                                         : error_memory(error, raw.size, "marks");
}

cog_status record_marks_append(const struct record_marks *marks, uint64_t record,
                               const struct document *document, struct buffer *bytes,
                               cog_error *error) {
    const struct input_file *file = &reader_inputs(marks->reader)->files[document->file];
    struct buffer mark = {0};
    if (record >= marks->record_count || marks->rows[record] == NONE)
        return COG_OK;
    if (!format_is_table(file->format))
        return mark_json(marks, record, document->raw, bytes, error);
    cog_status status = append_mark(marks, marks->rows[record], &mark, error);
    THEN(status,
         append_row(file->form, document->raw, view_of(mark.data, mark.size), bytes, error));
    buffer_free(&mark);
    return status;
}
