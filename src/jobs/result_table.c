#include "jobs/result_table.h"

#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/strings.h"

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool append_tsv_cell(struct buffer *line, enum result_type type,
                            const struct result_cell *cell) {
    if (type == RESULT_ID && cell->text.data)
        return escape_append(line, cell->text);
    if (type == RESULT_DISTANCE && cell->number < 0)
        return buffer_append(line, "-", 1);
    return buffer_printf(line, type == RESULT_REAL ? "%.6f" : "%.0f", cell->number);
}

static bool append_tsv(struct buffer *line, const struct result_table *table,
                       const struct result_cell *cells) {
    bool fits = true;
    for (size_t i = 0; i < table->column_count && fits; i++)
        fits = append_tsv_cell(line, table->columns[i].type, &cells[i]) &&
               buffer_append(line, i + 1 < table->column_count ? "\t" : "\n", 1);
    return fits;
}

/* Ids are strings also where they are numbers of rows, so that their type does not change. */
static bool append_json_cell(struct buffer *line, enum result_type type,
                             const struct result_cell *cell) {
    if (type == RESULT_ID && cell->text.data)
        return json_append_string(line, cell->text);
    const char *format = type == RESULT_ID ? "\"%.0f\"" : type == RESULT_REAL ? "%.6f" : "%.0f";
    return buffer_printf(line, format, cell->number);
}

static bool append_jsonl(struct buffer *line, const struct result_table *table,
                         const struct result_cell *cells) {
    const char *before = "{";
    bool fits = true;
    for (size_t i = 0; i < table->column_count && fits; i++) {
        const struct result_column *column = &table->columns[i];
        if (column->type == RESULT_DISTANCE && cells[i].number < 0)
            continue;
        fits = buffer_printf(line, "%s\"%s\": ", before, column->name) &&
               append_json_cell(line, column->type, &cells[i]);
        before = ", ";
    }
    return fits && buffer_append_text(line, "}\n");
}

static bool append_header(struct buffer *line, const struct result_table *table) {
    bool fits = true;
    for (size_t i = 0; i < table->column_count && fits; i++)
        fits = buffer_append_text(line, table->columns[i].name) &&
               buffer_append(line, i + 1 < table->column_count ? "\t" : "\n", 1);
    return fits;
}

/* ---- Records of numpy ------------------------------------------------------------------------ */

/* Format version 1: magic, version, length of the text, text padded to a multiple of 64 bytes. */
static bool append_npy_header(struct buffer *line, const struct result_table *table) {
    static const char *const types[] = {"<u4", "<u4", "<f4", "<i4"};
    enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };
    bool fits = buffer_append(line, "\x93NUMPY\x01\x00\x00\x00", PREFIX_BYTES) &&
                buffer_append_text(line, "{'descr': [");
    for (size_t i = 0; i < table->column_count && fits; i++)
        fits = buffer_printf(line, "('%s', '%s'), ", table->columns[i].name,
                             types[table->columns[i].type]);
    fits = fits &&
           buffer_printf(line, "], 'fortran_order': False, 'shape': (%zu,), }", table->row_count);
    while (fits && (line->size + 1) % ALIGNMENT)
        fits = buffer_append(line, " ", 1);
    fits = fits && buffer_append(line, "\n", 1);
    if (fits) {
        size_t length = line->size - PREFIX_BYTES;
        line->data[8] = (char)(length & 255);
        line->data[9] = (char)(length >> 8);
    }
    return fits;
}

static bool append_record(struct buffer *line, const struct result_table *table,
                          const struct result_cell *cells) {
    bool fits = true;
    for (size_t i = 0; i < table->column_count && fits; i++) {
        union {
            uint32_t whole;
            int32_t distance;
            float real;
        } value;
        switch (table->columns[i].type) {
        case RESULT_REAL:
            value.real = (float)cells[i].number;
            break;
        case RESULT_DISTANCE:
            value.distance = (int32_t)cells[i].number;
            break;
        default:
            value.whole = (uint32_t)cells[i].number;
        }
        fits = buffer_append(line, &value, sizeof value);
    }
    return fits;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool append_row(struct buffer *line, const struct result_table *table,
                       cog_output_format format, const struct result_cell *cells) {
    switch (format) {
    case COG_OUTPUT_JSONL:
        return append_jsonl(line, table, cells);
    case COG_OUTPUT_NPY:
        return append_record(line, table, cells);
    default:
        return append_tsv(line, table, cells);
    }
}

static cog_status write_rows(const struct result_table *table, cog_output_format format,
                             struct output *output, cog_error *error) {
    struct buffer line = {0};
    bool fits = format == COG_OUTPUT_TSV   ? append_header(&line, table)
                : format == COG_OUTPUT_NPY ? append_npy_header(&line, table)
                                           : true;
    cog_status status = output_write(output, line.data, line.size, error);
    for (size_t row = 0; row < table->row_count && fits && status == COG_OK; row++) {
        struct result_cell cells[RESULT_COLUMNS_MAX] = {0};
        table->fill(table->context, row, cells);
        buffer_reset(&line);
        fits = append_row(&line, table, format, cells);
        status = output_write(output, line.data, line.size, error);
        if (output_is_broken(output))
            break;
    }
    if (!fits)
        status = error_memory(error, line.size, "a line of output");
    buffer_free(&line);
    return status;
}

cog_status result_table_write(const struct result_table *table, cog_output_format format,
                              const char *path, cog_error *error) {
    struct output *output = NULL;
    cog_status status = output_open(path, &output, error);
    THEN(status, write_rows(table, format, output, error));
    THEN(status, output_commit(output, error));
    output_close(output);
    return status;
}
