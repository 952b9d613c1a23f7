#include "input/parallel/table_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/numbers.h"
#include "input/documents/text_bytes.h"

enum { FIELDS_MAX = 4 };

/* Fields by tabs where there is one, else by spaces. */
static unsigned cut_fields(struct bytes_view line, struct bytes_view fields[FIELDS_MAX]) {
    char delimiter = memchr(line.data, '\t', line.size) ? '\t' : ' ';
    unsigned count = 0;
    while (line.data && count < FIELDS_MAX) {
        struct bytes_view field = take_field(&line, delimiter);
        if (field.size)
            fields[count++] = field;
    }
    return count;
}

static bool is_empty_word(struct bytes_view word) {
    static const char *const names[] = {"NULL", "<eps>", "<NULL>", "null_word"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (view_is(word, names[i]))
            return true;
    return false;
}

/* ---- Berkeley -------------------------------------------------------------------------------- */

/* "word TAB entropy 1.2 TAB nTrans 3 ..." opens a word; "  translation: 0.5" belongs to it. */
static bool is_berkeley_head(struct bytes_view line) {
    return line.size && memmem(line.data, line.size, "\tentropy", 8);
}

static cog_status take_berkeley_head(struct table_reader *reader, struct bytes_view line,
                                     cog_error *error) {
    struct bytes_view head = take_field(&line, '\t');
    buffer_reset(&reader->head);
    return buffer_append(&reader->head, head.data, head.size)
               ? COG_OK
               : error_memory(error, head.size, "a word of a table");
}

static bool take_berkeley(struct table_reader *reader, struct bytes_view line,
                          struct table_row *row) {
    const char *colon = memrchr(line.data, ':', line.size);
    if (!colon || !reader->head.size)
        return false;
    const char *begin = line.data;
    while (begin < colon && (*begin == ' ' || *begin == '\t'))
        begin++;
    const char *number = colon + 1, *end = line.data + line.size;
    while (number < end && *number == ' ')
        number++;
    row->words[0] = buffer_view(&reader->head);
    row->words[1] = view_of(begin, (size_t)(colon - begin));
    return row->words[1].size &&
           number_parse(view_of(number, (size_t)(end - number)), &row->probability);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static bool name_of(const struct word_table *names, struct bytes_view number,
                    struct bytes_view *word) {
    uint32_t found = word_table_find(names, hash_bytes(number.data, number.size));
    bool is_null = number.size == 1 && number.data[0] == '0';
    if (is_null)
        *word = view_of("NULL", 4);
    else if (found != WORD_NONE)
        *word = word_table_string(names, found);
    return is_null || found != WORD_NONE;
}

static bool take_columns(struct table_reader *reader, struct bytes_view line,
                         struct table_row *row) {
    struct bytes_view fields[FIELDS_MAX];
    unsigned count = line.size ? cut_fields(line, fields) : 0;
    if (count < 2)
        return false;
    row->words[0] = fields[0];
    row->words[1] = fields[1];
    row->probability = 1;
    bool needs_number = reader->format != TABLE_TSV && reader->format != TABLE_BITEXTOR;
    if (count < 3)
        return !needs_number;
    if (!number_parse(fields[2], &row->probability))
        return false;
    reader->has_probabilities = true;
    if (reader->format == TABLE_FAST_ALIGN)
        row->probability = portable_exp(row->probability);
    if (reader->names[0].count)
        return name_of(&reader->names[0], fields[0], &row->words[0]) &&
               name_of(&reader->names[1], fields[1], &row->words[1]);
    return true;
}

cog_status table_reader_next(struct table_reader *reader, struct table_row *row, bool *end,
                             cog_error *error) {
    for (;;) {
        struct bytes_view line;
        TRY(line_source_next(&reader->lines, &line, end, error));
        if (*end)
            return COG_OK;
        bool is_valid = line.size && utf8_is_valid(line.data, line.size);
        if (reader->format == TABLE_BERKELEY && is_berkeley_head(line)) {
            if (is_valid)
                TRY(take_berkeley_head(reader, line, error));
            continue;
        }
        bool is_row =
            is_valid && (reader->format == TABLE_BERKELEY ? take_berkeley(reader, line, row)
                                                          : take_columns(reader, line, row));
        bool is_empty = is_row && (is_empty_word(row->words[0]) || is_empty_word(row->words[1]));
        if (is_row && !(row->probability >= 0 && isfinite(row->probability)))
            is_row = false;
        reader->bad_rows += !is_row && line.size;
        if (is_row && !is_empty) {
            reader->rows++;
            reader->has_probabilities |= reader->format == TABLE_BERKELEY;
            return COG_OK;
        }
    }
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool is_code(struct bytes_view field) {
    if (field.size != 2 && field.size != 3)
        return false;
    for (size_t i = 0; i < field.size; i++)
        if (field.data[i] < 'a' || field.data[i] > 'z')
            return false;
    return true;
}

static void keep_header(struct table_reader *reader, const struct bytes_view fields[2]) {
    for (int i = 0; i < 2; i++) {
        memcpy(reader->header[i], fields[i].data, fields[i].size);
        reader->header[i][fields[i].size] = '\0';
    }
}

/* What the first line tells. */
static enum table_format guess(struct bytes_view line) {
    struct bytes_view fields[FIELDS_MAX];
    double number;
    if (line.size == 0)
        return TABLE_TSV;
    if (is_berkeley_head(line))
        return TABLE_BERKELEY;
    unsigned count = cut_fields(line, fields);
    if (count == 2 && is_code(fields[0]) && is_code(fields[1]))
        return TABLE_BITEXTOR;
    if (count == 3 && number_parse(fields[2], &number) && number <= 0)
        return TABLE_FAST_ALIGN;
    return TABLE_TSV;
}

/* GIZA's vocabulary: number, word, count. Words are found by their numbers. */
static cog_status read_names(struct word_table *names, const char *path, cog_error *error) {
    struct line_source lines = {0};
    cog_status status = line_source_open(&lines, path, error);
    bool end = false;
    while (status == COG_OK) {
        struct bytes_view line, fields[FIELDS_MAX];
        uint32_t number;
        status = line_source_next(&lines, &line, &end, error);
        if (status != COG_OK || end)
            break;
        if (line.size == 0 || cut_fields(line, fields) < 2)
            continue;
        status = word_table_add(names, hash_bytes(fields[0].data, fields[0].size), fields[1], 1,
                                &number, error);
    }
    line_source_close(&lines);
    return status;
}

cog_status table_reader_open(struct table_reader *reader, const char *path,
                             enum table_format format, const char *const *vocabularies,
                             cog_error *error) {
    struct bytes_view line = {0};
    bool end = false;
    *reader = (struct table_reader){.format = format, .path = path};
    cog_status status = line_source_open(&reader->lines, path, error);
    for (int i = 0; vocabularies && i < 2 && status == COG_OK; i++)
        status = read_names(&reader->names[i], vocabularies[i], error);
    if (status == COG_OK && (format == TABLE_AUTO || format == TABLE_BITEXTOR)) {
        status = line_source_next(&reader->lines, &line, &end, error);
        if (status != COG_OK || end)
            return status;
        struct bytes_view fields[FIELDS_MAX];
        if (format == TABLE_AUTO)
            reader->format = guess(line);
        if (reader->format == TABLE_BITEXTOR && line.size && cut_fields(line, fields) == 2 &&
            is_code(fields[0]) && is_code(fields[1])) {
            keep_header(reader, fields);
            return COG_OK;
        }
        line_source_put_back(&reader->lines);
    }
    return status;
}

void table_reader_close(struct table_reader *reader) {
    line_source_close(&reader->lines);
    buffer_free(&reader->head);
    word_table_free(&reader->names[0]);
    word_table_free(&reader->names[1]);
}
