#include "jobs/result_table.h"

#include <math.h>

#include "base/strings.h"

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Like "%.6f" or "%.0f" at a tenth of the time. A float times a million is exact as a double, so
 * rounding it is correct rounding. */
static bool append_number(struct buffer *line, double number, bool is_real) {
    enum { MILLION = 1000000, DECIMALS = 6 };
    const double scaled = is_real ? number * MILLION : number;
    char digits[2 * NUMBER_DIGITS_MOST];
    if (!(number >= 0) || signbit(number) || scaled > 1e15 ||
        (is_real && (double)(float)number != number))
        return buffer_printf(line, is_real ? "%.6f" : "%.0f", number);
    const uint64_t whole = (uint64_t)nearbyint(scaled);
    if (!is_real)
        return buffer_append(line, digits, number_digits(whole, digits));
    size_t size = number_digits(whole / MILLION, digits);
    number_digits(whole % MILLION + MILLION, digits + size); /* seven digits */
    digits[size] = '.';
    return buffer_append(line, digits, size + 1 + DECIMALS);
}

static bool append_tsv_cell(struct buffer *line, enum result_type type,
                            const struct result_cell *cell) {
    if (type == RESULT_ID && cell->text.data)
        return escape_append(line, cell->text);
    if (type == RESULT_DISTANCE && cell->number < 0)
        return buffer_append(line, "-", 1);
    return append_number(line, cell->number, type == RESULT_REAL);
}

static bool append_tsv(struct buffer *line, const struct result_table *table,
                       const struct result_cell *cells) {
    bool fits = true;
    for (size_t i = 0; i < table->column_count && fits; i++)
        fits = append_tsv_cell(line, table->columns[i].type, &cells[i]) &&
               buffer_append(line, i + 1 < table->column_count ? "\t" : "\n", 1);
    return fits;
}

/* Ids are always strings, even row numbers, so that a column has one type. */
static bool append_json_cell(struct buffer *line, enum result_type type,
                             const struct result_cell *cell) {
    if (type == RESULT_ID && cell->text.data)
        return json_append_string(line, cell->text);
    const char *quote = type == RESULT_ID ? "\"" : "";
    return buffer_append_text(line, quote) &&
           append_number(line, cell->number, type == RESULT_REAL) &&
           buffer_append_text(line, quote);
}

static bool append_jsonl(struct buffer *line, const struct result_table *table,
                         const struct result_cell *cells) {
    const char *before = "{\"";
    bool fits = true;
    for (size_t i = 0; i < table->column_count && fits; i++) {
        const struct result_column *column = &table->columns[i];
        if (column->type == RESULT_DISTANCE && cells[i].number < 0)
            continue;
        fits = buffer_append_text(line, before) && buffer_append_text(line, column->name) &&
               buffer_append_text(line, "\": ") && append_json_cell(line, column->type, &cells[i]);
        before = ", \"";
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
static bool append_npy_header(struct buffer *line, const struct result_table *table,
                              size_t row_count) {
    static const char *const types[] = {"<u4", "<u4", "<f4", "<i4"};
    enum { PREFIX_BYTES = 10, ALIGNMENT = 64 };
    bool fits = buffer_append(line, "\x93NUMPY\x01\x00\x00\x00", PREFIX_BYTES) &&
                buffer_append_text(line, "{'descr': [");
    for (size_t i = 0; i < table->column_count && fits; i++)
        fits = buffer_printf(line, "('%s', '%s'), ", table->columns[i].name,
                             types[table->columns[i].type]);
    fits = fits && buffer_printf(line, "], 'fortran_order': False, 'shape': (%zu,), }", row_count);
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

static cog_status write_line(struct result_table *table, bool fits, cog_error *error) {
    return fits ? output_write(table->output, table->line.data, table->line.size, error)
                : error_memory(error, table->line.size, "a line of output");
}

cog_status result_table_open(struct result_table *table, const struct result_column *columns,
                             size_t column_count, size_t row_count, cog_output_format format,
                             const char *path, cog_error *error) {
    table->columns = columns;
    table->column_count = column_count;
    table->format = format;
    TRY(output_open(path, &table->output, error));
    bool fits = format == COG_OUTPUT_TSV   ? append_header(&table->line, table)
                : format == COG_OUTPUT_NPY ? append_npy_header(&table->line, table, row_count)
                                           : true;
    return write_line(table, fits, error);
}

cog_status result_table_add(struct result_table *table, const struct result_cell *cells,
                            cog_error *error) {
    if (output_is_broken(table->output))
        return COG_OK;
    buffer_reset(&table->line);
    bool fits = table->format == COG_OUTPUT_JSONL ? append_jsonl(&table->line, table, cells)
                : table->format == COG_OUTPUT_NPY ? append_record(&table->line, table, cells)
                                                  : append_tsv(&table->line, table, cells);
    return write_line(table, fits, error);
}

cog_status result_table_close(struct result_table *table, cog_status status, cog_error *error) {
    THEN(status, output_commit(table->output, error));
    output_close(table->output);
    buffer_free(&table->line);
    return status;
}
