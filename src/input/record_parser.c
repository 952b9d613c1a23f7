#include "input/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strings.h"
#include "input/base64.h"
#include "input/documents/csv_row.h"
#include "input/documents/json_parser.h"
#include "input/documents/warc_record.h"
#include "input/documents/wiki_page.h"
#include "input/input_files.h"

struct record_parser {
    const struct input_files *inputs;
    struct json_parser *json;
    struct wiki_page_parser *wiki;      /* once there is a page to parse */
    struct payload_decoder *payloads;   /* the same for a record of a crawl */
    struct buffer decoded;              /* texts that differ from their bytes in the record */
    struct buffer id;                   /* ids made of path and place */
    struct buffer added_name;           /* reader_options.added_field as a JSON string, or empty */
    const struct document_table *table; /* NULL for files */
    struct document_row row;
    bool wants_ids;
};

/* One call of reader_parse. */
struct parse {
    struct record_parser *parser;
    const struct input_file *file;
    const struct record *record;
    struct document *document;
    struct bad_record *bad;
    cog_error *error;
};

cog_status record_parser_create(const struct reader *reader, struct record_parser **result,
                                cog_error *error) {
    struct record_parser *parser;
    TAKE_ZEROED(parser, 1, "a record parser", error);
    parser->table = reader_table(reader);
    parser->inputs = reader_inputs(reader);
    if (!parser->table)
        parser->json = json_parser_create();
    const struct reader_options *options = parser->inputs->options; /* NULL: not from files */
    const char *added = options ? options->added_field : NULL;
    bool made = (parser->json || parser->table) &&
                (!added || json_append_string(&parser->added_name, view_of_text(added)));
    cog_status status = made ? COG_OK : error_memory(error, sizeof *parser, "a record parser");
    return HAND_OUT(status, parser, record_parser_free, result);
}

void record_parser_want_ids(struct record_parser *parser) {
    parser->wants_ids = true;
}

void record_parser_free(struct record_parser *parser) {
    if (!parser)
        return;
    json_parser_free(parser->json);
    wiki_page_parser_free(parser->wiki);
    payload_decoder_free(parser->payloads);
    buffer_free(&parser->decoded);
    buffer_free(&parser->id);
    buffer_free(&parser->added_name);
    free(parser);
}

__attribute__((format(printf, 2, 3))) static cog_status bad(struct parse *parse, const char *format,
                                                            ...) {
    struct bad_record *record = parse->bad;
    record->file = parse->record->file;
    record->line = parse->record->line;
    int length =
        snprintf(record->message, sizeof record->message, "%.300s%c%llu: ", parse->file->path,
                 parse->file->is_memory ? ' ' : ':', (unsigned long long)record->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(record->message + length, sizeof record->message - (size_t)length, format, arguments);
    va_end(arguments);
    return COG_ERR_INPUT;
}

static cog_status out_of_memory(struct parse *parse) {
    return error_memory(parse->error, parse->record->size, "a document");
}

/* What follows from the parsing of a part; `problem` is told of one that is bad. */
static cog_status judge(struct parse *parse, enum parse_result result, const char *what,
                        const char *problem) {
    if (result == PARSE_OUT_OF_MEMORY)
        return out_of_memory(parse);
    return result == PARSE_OK ? COG_OK : bad(parse, "%s: %s", what, problem);
}

static cog_status not_utf8(struct parse *parse) {
    const char *data = parse->document->raw.data;
    size_t size = parse->document->raw.size;
    bool utf16 = parse->record->line == 1 && size >= 2 &&
                 (memcmp(data, "\xff\xfe", 2) == 0 || memcmp(data, "\xfe\xff", 2) == 0);
    return bad(parse, "not valid UTF-8%s", utf16 ? "; it is UTF-16, convert the file" : "");
}

/* Behind the byte order mark, which only the first record of a file may have. */
static struct bytes_view text_of_record(const struct parse *parse) {
    return parse->record->line == 1 ? without_mark(parse->document->raw) : parse->document->raw;
}

/* Path and line, or path and number: elements of an array may share a line. */
static cog_status id_of_place(struct parse *parse) {
    struct buffer *id = &parse->parser->id;
    uint64_t place = parse->file->is_array ? parse->record->number : parse->record->line;
    char digits[NUMBER_DIGITS_MOST];
    if (parse->parser->wants_ids && strcmp(parse->file->name, "-") == 0)
        return bad(parse, "no id, and its place in standard input does not say which document it "
                          "replaces: give it one");
    buffer_reset(id);
    if (!buffer_append_text(id, parse->file->name) || !buffer_append(id, ":", 1) ||
        !buffer_append(id, digits, number_digits(place, digits)))
        return out_of_memory(parse);
    parse->document->id = buffer_view(id);
    return COG_OK;
}

static bool is_utf8(const struct document *document) {
    return utf8_is_valid(document->text.data, document->text.size) &&
           utf8_is_valid(document->id.data, document->id.size) &&
           utf8_is_valid(document->lang.data, document->lang.size);
}

/* Of a document whose parser looked at no characters. */
static cog_status check_document(struct parse *parse) {
    if (!is_utf8(parse->document))
        return not_utf8(parse);
    return parse->document->id.size ? COG_OK : id_of_place(parse);
}

static cog_status parse_text(struct parse *parse) {
    struct document *document = parse->document;
    document->text = text_of_record(parse);
    if (parse->file->lines)
        document->text = without_line_end(document->text);
    if (!utf8_is_valid(document->text.data, document->text.size))
        return not_utf8(parse);
    if (parse->file->lines)
        return id_of_place(parse);
    document->id = view_of_text(parse->file->name);
    return COG_OK;
}

static cog_status decode_string(struct parse *parse, struct bytes_view token,
                                struct bytes_view *text) {
    return judge(parse, json_string_decode(token, &parse->parser->decoded, text), "not valid JSON",
                 "a string holds an illegal escape or half a surrogate pair");
}

static bool is_absent(struct bytes_view token) {
    return token.size == 0 || view_is(token, "null");
}

/* A field that may be missing or null; numbers count as their own spelling where they are allowed.
 */
static cog_status optional_field(struct parse *parse, const struct json_field *field, bool number,
                                 struct bytes_view *text) {
    struct bytes_view token = field->token;
    *text = view_of(token.data, 0);
    if (is_absent(token))
        return COG_OK;
    if (token.data[0] == '"')
        return decode_string(parse, token, text);
    if (number && json_token_is_number(token)) {
        *text = token;
        return COG_OK;
    }
    return bad(parse, "field \"%.100s\" is not a string%s", field->name.data,
               number ? " or a number" : "");
}

/* A value of the extra field: objects and arrays are none. */
static cog_status extra_field(struct parse *parse, const struct json_field *field,
                              struct bytes_view *text) {
    struct bytes_view token = field->token;
    if (is_absent(token) || is_one_of(token.data[0], "{["))
        return COG_OK;
    if (token.data[0] == '"')
        return decode_string(parse, token, text);
    *text = token;
    return COG_OK;
}

static cog_status json_fields(struct parse *parse, struct json_field fields[DOCUMENT_FIELDS]) {
    struct bytes_view line = without_line_end(text_of_record(parse));
    size_t count = parse->parser->inputs->options->extra_field ? DOCUMENT_FIELDS : FIELD_EXTRA;
    const char *problem;
    enum parse_result result =
        json_parser_find(parse->parser->json, line.data, line.size, fields, count, &problem);
    return result == PARSE_BAD && !utf8_is_valid(line.data, line.size)
               ? not_utf8(parse)
               : judge(parse, result, "not valid JSON", problem);
}

static struct bytes_view name_view(const char *name) {
    return view_of_text(name ? name : "");
}

/* Not a bad record, which would be skipped: an error of the job. */
static cog_status check_added_field(const struct parse *parse) {
    const struct buffer *name = &parse->parser->added_name;
    if (name->size == 0 || !json_has_name(parse->document->raw, buffer_view(name)))
        return COG_OK;
    return error_about(parse->error, COG_ERR_USAGE, "added_field",
                       "%s:%llu: has a field %.*s already: choose another name", parse->file->path,
                       (unsigned long long)parse->record->line, (int)name->size, name->data);
}

static cog_status parse_json(struct parse *parse) {
    const struct reader_options *options = parse->parser->inputs->options;
    struct document *document = parse->document;
    struct json_field fields[DOCUMENT_FIELDS] = {0};
    for (int f = 0; f < DOCUMENT_FIELDS; f++)
        fields[f].name = name_view(field_name(options, (enum document_field)f));
    TRY(json_fields(parse, fields));
    TRY(check_added_field(parse));
    buffer_reset(&parse->parser->decoded);
    if (!buffer_reserve(&parse->parser->decoded, parse->record->size))
        return out_of_memory(parse);
    if (is_absent(fields[FIELD_TEXT].token))
        return bad(parse, "no field \"%.100s\"", options->text_field);
    if (fields[FIELD_TEXT].token.data[0] != '"')
        return bad(parse, "field \"%.100s\" is not a string", options->text_field);
    cog_status status = decode_string(parse, fields[FIELD_TEXT].token, &document->text);
    THEN(status, optional_field(parse, &fields[FIELD_ID], true, &document->id));
    THEN(status, optional_field(parse, &fields[FIELD_LANG], false, &document->lang));
    THEN(status, extra_field(parse, &fields[FIELD_EXTRA], &document->extra));
    if (status == COG_OK && document->id.size == 0)
        status = id_of_place(parse);
    return status;
}

static cog_status parse_row(struct parse *parse) {
    const struct csv_columns *columns = &parse->file->columns;
    struct document *document = parse->document;
    struct buffer *decoded = &parse->parser->decoded;
    buffer_reset(decoded);
    if (!buffer_reserve(decoded, parse->record->size))
        return out_of_memory(parse);
    struct bytes_view *const parts[DOCUMENT_FIELDS] = {&document->text, &document->id,
                                                       &document->lang, &document->extra};
    struct csv_cursor cursor = csv_row_fields(text_of_record(parse), parse->file->form);
    struct bytes_view field;
    size_t count = 0;
    for (; csv_next_field(&cursor, decoded, &field); count++) {
        for (int f = 0; f < DOCUMENT_FIELDS; f++)
            if (count == columns->of_field[f])
                *parts[f] = field;
    }
    if (cursor.problem)
        return bad(parse, "%s", cursor.problem);
    if (count != columns->count)
        return bad(parse, "%zu field%s where the %s row has %zu", count, plural(count, "", "s"),
                   parse->parser->inputs->options->no_header ? "first" : "header", columns->count);
    if (!utf8_is_valid(document->raw.data, document->raw.size))
        return not_utf8(parse);
    return document->id.size ? COG_OK : id_of_place(parse);
}

static cog_status parse_page(struct parse *parse) {
    struct record_parser *parser = parse->parser;
    struct document *document = parse->document;
    const char *problem;
    if (!parser->wiki && !(parser->wiki = wiki_page_parser_create()))
        return out_of_memory(parse);
    enum parse_result result =
        wiki_page_parse(parser->wiki, document->raw, buffer_view(&parse->file->namespaces),
                        &document->id, &document->text, &problem);
    return judge(parse, result, "not a well-formed page", problem);
}

enum { LETT_LANG = 0, LETT_URL = 3, LETT_TEXT = 5, LETT_COLUMNS = 6 };

/* Columns of WMT16: lang, mime, encoding, URL, base64 HTML, base64 text (in UTF-8). */
static cog_status parse_lett(struct parse *parse) {
    struct buffer *decoded = &parse->parser->decoded;
    struct bytes_view fields[LETT_COLUMNS];
    struct csv_cursor cursor = csv_row_fields(text_of_record(parse), TABS);
    size_t count = 0;
    while (count < LETT_COLUMNS && csv_next_field(&cursor, decoded, &fields[count]))
        count++;
    if (count < LETT_COLUMNS || !cursor.done)
        return bad(parse, "not the 6 columns lang, mime, encoding, URL, HTML, text");
    buffer_reset(decoded);
    enum parse_result result = base64_decode(fields[LETT_TEXT], decoded);
    if (result == PARSE_BAD)
        return bad(parse, "the text column is not valid base64");
    if (result == PARSE_OUT_OF_MEMORY)
        return out_of_memory(parse);
    parse->document->text = buffer_view(decoded);
    parse->document->lang = fields[LETT_LANG];
    parse->document->id = fields[LETT_URL];
    return check_document(parse);
}

static cog_status parse_warc(struct parse *parse) {
    struct record_parser *parser = parse->parser;
    struct document *document = parse->document;
    const char *problem;
    if (!parser->payloads && !(parser->payloads = payload_decoder_create()))
        return out_of_memory(parse);
    enum parse_result result = warc_parse(parser->payloads, document->raw, &document->id,
                                          &document->lang, &document->text, &problem);
    if (result == PARSE_OUT_OF_MEMORY)
        return out_of_memory(parse);
    if (result == PARSE_BAD)
        return bad(parse, "%.*s: %s", document->id.size < 200 ? (int)document->id.size : 200,
                   document->id.data, problem);
    return check_document(parse);
}

static cog_status parse_query(struct parse *parse) {
    struct document *document = parse->document;
    struct query_record record = query_record_view(document->raw.data, document->raw.size);
    if (record.problem) {
        document->raw = record.text;
        return bad(parse, "%s", record.problem);
    }
    document->raw = view_of(document->raw.data, 0);
    document->id = document->text = record.text;
    document->terms = record.terms;
    document->term_count = record.term_count;
    return COG_OK;
}

/* Why a document cannot have this id, whatever it came from; NULL where it can. */
static const char *document_id_problem(struct bytes_view id) {
    return id.size && memchr(id.data, 0, id.size)
               ? "the id has a NUL character, which no argument and no path can hold"
               : NULL;
}

static cog_status parse_by_format(struct parse *parse) {
    switch (parse->file->format) {
    case INPUT_JSONL:
        return parse_json(parse);
    case INPUT_CSV:
    case INPUT_TSV:
        return parse_row(parse);
    case INPUT_WIKIXML:
        return parse_page(parse);
    case INPUT_LETT:
        return parse_lett(parse);
    case INPUT_QUERYLOG:
        return parse_query(parse);
    case INPUT_WARC:
    case INPUT_WET:
        return parse_warc(parse);
    case INPUT_TXT:
    case INPUT_NPY:
    case INPUT_AUTO:
        break;
    }
    return parse_text(parse);
}

/* A row of a table as a document. */
static cog_status parse_table_row(struct record_parser *parser, uint64_t number,
                                  struct document *document, struct bad_record *bad_record) {
    struct document_row *row = &parser->row;
    document_table_get(parser->table, (size_t)number, row);
    *document = (struct document){.id = row->id,
                                  .lang = row->lang,
                                  .text = row->text,
                                  .extra = row->extra,
                                  .line = number + 1};
    const char *problem = row->problem;
    if (!problem && !is_utf8(document))
        problem = "not valid UTF-8";
    if (!problem)
        problem = document_id_problem(row->id);
    if (!problem)
        return COG_OK;
    bad_record->line = document->line;
    snprintf(bad_record->message, sizeof bad_record->message, "document %llu: %s",
             (unsigned long long)number, problem);
    return COG_ERR_INPUT;
}

cog_status reader_parse(struct record_parser *parser, const struct record_batch *batch,
                        size_t index, struct document *document, struct bad_record *bad_record,
                        cog_error *error) {
    if (parser->table)
        return parse_table_row(parser, batch->first_record + index, document, bad_record);
    const struct record *record = &batch->records[index];
    const struct input_file *file = &parser->inputs->files[record->file];
    *document = (struct document){.raw = view_of(batch->bytes.data + record->offset, record->size),
                                  .file = record->file,
                                  .line = record->line};
    struct parse parse = {parser, file, record, document, bad_record, error};
    cog_status status = parse_by_format(&parse);
    const char *problem = status == COG_OK ? document_id_problem(document->id) : NULL;
    return problem ? bad(&parse, "%s", problem) : status;
}
