#include "input/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/memory.h"
#include "input/documents/json_parser.h"
#include "input/documents/query_log.h"
#include "input/documents/warc_record.h"
#include "input/documents/wiki_page.h"
#include "input/first_bytes.h"
#include "input/input_files.h"
#include "input/one_form.h"
#include "input/records.h"
#include "input/table_columns.h"

enum {
    DEFAULT_BATCH_BYTES = 1 << 20,
    MAX_BATCH_RECORDS = 1 << 16,
    MAX_OPENING_BYTES = 16 << 20, /* of a dump or an array, which is kept in memory */
};

struct reader {
    struct reader_options options;
    struct input_files inputs;
    size_t current; /* the file being read, or the next one to open */
    bool open;
    bool keeps_pipes, answers_at_once;
    bool wants_one_form;
    size_t first_form; /* the first file with a record, SIZE_MAX before */
    size_t last_form;  /* the last file whose form has been checked */
    struct byte_source source;
    bool at_beginning;      /* nothing of the open file has been looked at */
    enum utf16_order order; /* of the open file, if it is UTF-16: batches get UTF-8 */
    struct buffer wide;     /* UTF-16 that is not converted yet */
    struct record_cutter cutter;
    struct buffer carry; /* the front of a record that the last batch ended in */
    uint64_t record_count;
    struct wiki_page_parser *wiki; /* once there is a dump to judge pages of */
    struct left_out_pages left_out;
    struct query_log *log; /* once there is a query log; kept over passes */
    bool log_is_grouped;
    bool is_raw;       /* this pass gives the rows of logs, not their queries */
    size_t log_next;   /* the record of the log to deliver next */
    uint64_t log_rows; /* of a log in memory, whose rows are the records */
    struct query_log_cursor log_cursor;
    struct document_table *table; /* NULL for files */
};

void reader_options_init(struct reader_options *options) {
    *options =
        (struct reader_options){.text_field = "text", .id_field = "id", .lang_field = "lang"};
}

static bool is_crawl(const struct input_file *file) {
    return file->format == INPUT_WARC || file->format == INPUT_WET;
}

static cog_status check_extra_field(const struct reader *reader, const struct input_file *file,
                                    cog_error *error) {
    if (!reader->options.extra_field || file->format == INPUT_JSONL ||
        format_is_table(file->format))
        return COG_OK;
    return error_about(error, COG_ERR_USAGE, "extra_field",
                       "%s: its records have no field \"%s\"; fields are named in jsonl, csv and "
                       "tsv files",
                       file->path, reader->options.extra_field);
}

cog_status reader_set_extra_field(struct reader *reader, const char *field, cog_error *error) {
    reader->options.extra_field = field;
    if (reader->table)
        return document_table_set_extra(reader->table, field, error);
    if (reader->options.delimiter || reader->options.no_header)
        TRY(table_options_check(&reader->options, &reader->inputs, error));
    for (size_t i = 0; i < reader->inputs.count; i++) {
        struct input_file *file = &reader->inputs.files[i];
        if (format_is_table(file->format))
            file->header_is_complete = false; /* columns are looked up again */
        if (file->format != INPUT_AUTO)
            TRY(check_extra_field(reader, file, error));
    }
    return COG_OK;
}

void reader_set_batch_bytes(struct reader *reader, size_t bytes) {
    reader->options.batch_bytes = bytes ? bytes : DEFAULT_BATCH_BYTES;
}

/* A reader that owns the table, the log, or neither; they are freed if it cannot be made. */
static cog_status reader_create(struct document_table *table, struct query_log *log,
                                struct reader **result, cog_error *error) {
    struct reader *reader;
    cog_status status = TAKEN_ZEROED(reader, 1, "a reader", error);
    if (status != COG_OK) {
        document_table_free(table);
        query_log_free(log);
        return status;
    }
    reader->table = table;
    reader->log = log;
    reader_set_batch_bytes(reader, 0);
    reader->source.descriptor = -1;
    reader->inputs.options = &reader->options;
    *result = reader;
    return COG_OK;
}

cog_status reader_open(const struct reader_options *options, const char *const *paths, size_t count,
                       struct reader **result, cog_error *error) {
    struct reader *reader = NULL;
    TRY(reader_create(NULL, NULL, &reader, error));
    reader->options = *options;
    reader_set_batch_bytes(reader, options->batch_bytes);
    cog_status status = input_files_list(&reader->options, paths, count, &reader->inputs, error);
    THEN(status, reader_set_extra_field(reader, options->extra_field, error));
    return HAND_OUT(status, reader, reader_close, result);
}

cog_status reader_open_table(struct document_table *table, struct reader **result,
                             cog_error *error) {
    return reader_create(table, NULL, result, error);
}

cog_status reader_open_log(struct query_log *log, uint64_t rows, struct reader **result,
                           cog_error *error) {
    struct reader *reader = NULL;
    TRY(reader_create(NULL, log, &reader, error));
    reader->log_rows = rows;
    cog_status status = query_log_finish(log, error);
    reader->log_is_grouped = status == COG_OK;
    THEN(status, input_files_of_log(query_log_bytes(log), &reader->inputs, error));
    return HAND_OUT(status, reader, reader_close, result);
}

void reader_close(struct reader *reader) {
    if (!reader)
        return;
    document_table_free(reader->table);
    byte_source_free(&reader->source);
    input_files_free(&reader->inputs);
    buffer_free(&reader->carry);
    buffer_free(&reader->wide);
    wiki_page_parser_free(reader->wiki);
    query_log_free(reader->log);
    free(reader);
}

/* What is left of a pipe goes to its scratch file, or it is lost for the next pass. */
static cog_status leave_file(struct reader *reader, cog_error *error) {
    cog_status status = COG_OK;
    if (reader->open && reader->source.spool >= 0)
        status = byte_source_drain(&reader->source, error);
    byte_source_stop(&reader->source);
    reader->open = false;
    return status;
}

void reader_keep_pipes(struct reader *reader) {
    reader->keeps_pipes = true;
}

void reader_answer_at_once(struct reader *reader) {
    reader->answers_at_once = true;
}

cog_status reader_want_one_form(struct reader *reader, cog_error *error) {
    reader->wants_one_form = true;
    reader->first_form = reader->last_form = SIZE_MAX;
    return one_form_look_ahead(&reader->inputs, true, error);
}

cog_status reader_add_field(struct reader *reader, const char *field, cog_error *error) {
    reader->options.added_field = field;
    return one_form_look_ahead(&reader->inputs, false, error);
}

cog_status reader_rewind(struct reader *reader, cog_error *error) {
    for (size_t i = 0; i < reader->inputs.count; i++) {
        const struct input_file *file = &reader->inputs.files[i];
        if (file->is_pipe && file->read_once && file->spool < 0)
            return error_set(error, COG_ERR_USAGE,
                             "%s: a pipe cannot be read twice; save it to a file first",
                             file->path);
    }
    cog_status status = leave_file(reader, error);
    buffer_reset(&reader->carry);
    reader->current = 0;
    reader->record_count = 0;
    reader->log_next = 0;
    reader->log_cursor = (struct query_log_cursor){0};
    reader->is_raw = false;
    if (reader->log && !reader->log_is_grouped) { /* a half-read log would be counted twice */
        query_log_free(reader->log);
        reader->log = NULL;
    }
    reader->left_out = (struct left_out_pages){0};
    atomic_store_explicit(&reader->source.raw_bytes, 0, memory_order_relaxed);
    return status;
}

cog_status reader_stay_raw(struct reader *reader, cog_error *error) {
    reader->is_raw = true;
    return reader->log ? query_log_index(reader->log, error) : COG_OK;
}

static int open_descriptor(struct input_file *file, bool *owned) {
    *owned = false;
    if (file->spool >= 0)
        return lseek(file->spool, 0, SEEK_SET) < 0 ? -1 : file->spool;
    if (strcmp(file->path, "-") == 0) {
        if (!file->is_pipe && lseek(STDIN_FILENO, file->start_offset, SEEK_SET) < 0)
            return -1;
        return STDIN_FILENO;
    }
    *owned = true;
    return open(file->path, O_RDONLY | O_CLOEXEC);
}

static cog_status start_file(struct reader *reader, struct input_file *file, int descriptor,
                             bool owned, int spool, cog_error *error) {
    file->read_once = true;
    if (!file->header_is_complete)
        buffer_reset(&file->header);
    reader->source.has_digest = reader->keeps_pipes;
    cog_status status =
        byte_source_start(&reader->source, descriptor, owned, file->path, spool, error);
    reader->open = reader->at_beginning = status == COG_OK;
    reader->order = UTF16_NONE;
    buffer_reset(&reader->wide);
    if (reader->open)
        record_cutter_start(&reader->cutter, file);
    return status;
}

/* Opens file number `current`; *skipped when it has to be passed over. */
static cog_status open_file(struct reader *reader, bool *skipped, cog_error *error) {
    struct input_file *file = &reader->inputs.files[reader->current];
    const bool is_spooled = file->spool >= 0;
    bool owned;
    *skipped = file->skipped ||
               (file->format == INPUT_QUERYLOG && reader->log_is_grouped && !reader->is_raw);
    if (*skipped)
        return COG_OK;
    int descriptor = open_descriptor(file, &owned);
    if (descriptor < 0 && file->optional && !file->read_once) {
        *skipped = file->skipped = true;
        return input_files_skip(&reader->inputs, file->path, strerror(errno), error);
    }
    if (descriptor < 0)
        return error_system(error, "open", file->path);
    cog_status status = COG_OK;
    if (file->is_pipe && !is_spooled && reader->keeps_pipes)
        status = scratch_file_open(&file->spool, error);
    if (status != COG_OK && owned)
        close(descriptor);
    THEN(status, start_file(reader, file, descriptor, owned, is_spooled ? -1 : file->spool, error));
    return status;
}

/* Converts what has been read of a UTF-16 file, but for half a character at its end. */
static cog_status convert_wide(struct reader *reader, struct record_batch *batch,
                               cog_error *error) {
    struct buffer *wide = &reader->wide;
    if (!buffer_reserve(&batch->bytes, 2 * wide->size + JSON_PADDING_BYTES))
        return error_memory(error, 2 * wide->size, "a batch of records");
    size_t taken = utf16_convert(buffer_view(wide), reader->order, &batch->bytes);
    memmove(wide->data, wide->data + taken, wide->size - taken);
    wide->size -= taken;
    return COG_OK;
}

static cog_status read_some(struct reader *reader, struct record_batch *batch, size_t wanted,
                            bool *ended, cog_error *error) {
    struct buffer *target = reader->order ? &reader->wide : &batch->bytes;
    if (!buffer_reserve(target, wanted + JSON_PADDING_BYTES))
        return error_memory(error, target->size + wanted, "a batch of records");
    size_t got = 0;
    TRY(byte_source_read(&reader->source, target->data + target->size, wanted, &got, error));
    target->size += got;
    *ended = got == 0;
    return reader->order ? convert_wide(reader, batch, error) : COG_OK;
}

static struct bytes_view uncut_bytes(const struct record_batch *batch, size_t start) {
    return view_of(batch->bytes.data + start, batch->bytes.size - start);
}

/* An object per line, or an array of them. Reads no further than needed: lines may come one at a
 * time, from a program that waits for answers. */
static cog_status look_for_array(struct reader *reader, struct record_batch *batch, size_t start,
                                 bool *ended, cog_error *error) {
    struct input_file *file = &reader->inputs.files[reader->current];
    while (!*ended && first_bytes_of(uncut_bytes(batch, start)).size == 0 &&
           uncut_bytes(batch, start).size < FIRST_BYTES)
        TRY(read_some(reader, batch, FIRST_BYTES, ended, error));
    struct bytes_view bytes = first_bytes_of(uncut_bytes(batch, start));
    file->is_array = bytes.size && *bytes.data == '[';
    record_cutter_start(&reader->cutter, file);
    return COG_OK;
}

/* The first bytes of a pipe tell its format; those of a dump, whether it is UTF-16; those of JSON,
 * whether it is an array. */
static cog_status look_at_beginning(struct reader *reader, struct record_batch *batch, size_t start,
                                    bool *ended, cog_error *error) {
    struct input_file *file = &reader->inputs.files[reader->current];
    reader->at_beginning = false;
    while (!*ended && first_bytes_may_be_parquet(uncut_bytes(batch, start)))
        TRY(read_some(reader, batch, FIRST_BYTES, ended, error));
    TRY(first_bytes_check(file, uncut_bytes(batch, start), error));
    if (file->format == INPUT_JSONL)
        return look_for_array(reader, batch, start, ended, error);
    if (file->format != INPUT_AUTO && file->format != INPUT_WIKIXML)
        return COG_OK;
    while (!*ended && first_bytes_may_change(uncut_bytes(batch, start), reader->answers_at_once))
        TRY(read_some(reader, batch, FIRST_BYTES, ended, error));
    struct bytes_view bytes = uncut_bytes(batch, start);
    reader->order = utf16_order_of_markup(bytes);
    if (reader->order) {
        if (!buffer_append(&reader->wide, bytes.data, bytes.size))
            return error_memory(error, bytes.size, "a batch of records");
        batch->bytes.size = start;
        TRY(convert_wide(reader, batch, error));
    }
    if (file->format != INPUT_AUTO)
        return COG_OK;
    first_bytes_guess(file, uncut_bytes(batch, start));
    file->is_guessed = true;
    record_cutter_start(&reader->cutter, file);
    return check_extra_field(reader, file, error);
}

static bool is_blank(struct bytes_view line, bool first) {
    for (size_t i = first ? mark_size(line) : 0; i < line.size; i++)
        if (!is_one_of(line.data[i], "\n\r \t"))
            return false;
    return true;
}

/* A row of a table: the header, a record, or nothing. */
static cog_status judge_row(struct reader *reader, struct input_file *file, struct bytes_view row,
                            bool first, bool *keep, cog_error *error) {
    bool is_header = first && !reader->options.no_header;
    *keep = !is_header && without_line_end(first ? without_mark(row) : row).size > 0;
    return (is_header || *keep) && !file->header_is_complete
               ? table_first_row_take(&reader->options, file, row, error)
               : COG_OK;
}

static cog_status judge_page(struct reader *reader, struct bytes_view page, bool *keep,
                             cog_error *error) {
    const struct input_file *file = &reader->inputs.files[reader->current];
    enum wiki_verdict verdict = WIKI_ARTICLE;
    if (!reader->wiki && !(reader->wiki = wiki_page_parser_create()))
        return error_memory(error, page.size, "a wiki page");
    if (wiki_page_judge(reader->wiki, page, buffer_view(&file->namespaces), &verdict) ==
        PARSE_OUT_OF_MEMORY)
        return error_memory(error, page.size, "a wiki page");
    reader->left_out.redirects += verdict == WIKI_REDIRECT;
    reader->left_out.stubs += verdict == WIKI_STUB;
    reader->left_out.other_namespaces += verdict == WIKI_OTHER_NAMESPACE;
    *keep = verdict == WIKI_ARTICLE;
    return COG_OK;
}

/* A row of a query log goes into the log, and into the batch if the pass is raw. Names of columns
 * are the file's header if they stand first, else rows that stay. */
static cog_status take_query_row(struct reader *reader, struct input_file *file,
                                 struct bytes_view line, uint64_t number, bool first, bool *keep,
                                 cog_error *error) {
    if (!reader->log && !(reader->log = query_log_create()))
        return error_memory(error, line.size, "a query log");
    const struct bytes_view row = first ? without_mark(line) : line;
    const bool is_header = query_is_header(row);
    if (without_line_end(row).size == 0)
        return COG_OK;
    if (first && is_header && !file->header_is_complete) {
        if (!buffer_append(&file->header, line.data, line.size))
            return error_memory(error, line.size, "the first row of a query log");
        file->header_is_complete = true;
    }
    if (file->query_columns == QUERY_COLUMNS_UNKNOWN)
        file->query_columns = query_columns_of(row);
    *keep = reader->is_raw && !(first && is_header);
    return is_header || reader->is_raw ? COG_OK
                                       : query_log_add(reader->log, row, file->query_columns,
                                                       (uint32_t)reader->current, number, error);
}

/* What a cut piece is: a record for the batch (*keep), or something that ends here. */
static cog_status judge(struct reader *reader, struct bytes_view piece, uint64_t line, bool first,
                        bool *keep, cog_error *error) {
    struct input_file *file = &reader->inputs.files[reader->current];
    *keep = false;
    switch (file->format) {
    case INPUT_CSV:
    case INPUT_TSV:
        return judge_row(reader, file, piece, first, keep, error);
    case INPUT_WIKIXML:
        return judge_page(reader, piece, keep, error);
    case INPUT_QUERYLOG:
        return take_query_row(reader, file, piece, line, first, keep, error);
    case INPUT_JSONL:
    case INPUT_LETT:
        *keep = file->is_array || piece.data[0] == '{' || !is_blank(piece, first);
        return COG_OK;
    default:
        *keep = true;
        return COG_OK;
    }
}

/* Whether a record is part of its file, but no document. */
static bool is_passed_over(const struct input_file *file, struct bytes_view record) {
    return (is_crawl(file) && !warc_is_document(record)) ||
           (file->format == INPUT_QUERYLOG && query_is_header(record));
}

static cog_status append_record(struct reader *reader, struct record_batch *batch, size_t offset,
                                const struct cut *cut, cog_error *error) {
    GROW(batch->records, batch->capacity, batch->count + 1, "a batch of records", error);
    bool passed_over = is_passed_over(&reader->inputs.files[reader->current],
                                      view_of(batch->bytes.data + offset, cut->size));
    batch->records[batch->count++] = (struct record){
        offset, cut->size, cut->line, cut->number, (uint32_t)reader->current, passed_over};
    batch->passed_over += passed_over;
    reader->record_count++;
    return COG_OK;
}

/* Elements are written apart as the first one stands apart from its bracket. */
static cog_status note_separator(struct input_file *file, cog_error *error) {
    const char *bracket = memrchr(file->header.data, '[', file->header.size);
    size_t behind = (size_t)(file->header.data + file->header.size - bracket) - 1;
    return buffer_append(&file->separator, ",", 1) &&
                   buffer_append(&file->separator, bracket + 1, behind)
               ? COG_OK
               : error_memory(error, behind, "the opening of an array");
}

/* The opening of a dump or an array is kept, so that a selection of its records can be written as
 * such a file again. */
static cog_status keep_prologue(struct reader *reader, const char *data, const struct cut *cut,
                                bool first, cog_error *error) {
    struct input_file *file = &reader->inputs.files[reader->current];
    bool is_dump = file->format == INPUT_WIKIXML;
    if (!first || !(is_dump || file->is_array) || file->header_is_complete)
        return COG_OK;
    if (file->header.size + cut->skip > MAX_OPENING_BYTES)
        return error_set(error, COG_ERR_INPUT,
                         "%s: no record within the first %d MiB; fetch the file again", file->path,
                         MAX_OPENING_BYTES >> 20);
    if (!buffer_append(&file->header, data, cut->skip))
        return error_memory(error, cut->skip, "the opening of a file");
    if (!cut->found)
        return COG_OK;
    file->header_is_complete = true;
    if (!is_dump)
        return note_separator(file, error);
    if (reader->order)
        wiki_drop_declaration(&file->header); /* it names UTF-16 */
    return wiki_namespaces_read(buffer_view(&file->header), &file->namespaces)
               ? COG_OK
               : error_memory(error, file->header.size, "the namespaces of a dump");
}

/* Whether the open file may share an output with the files before it; known from its first record,
 * in a query log from its first row. */
static cog_status check_form(struct reader *reader, cog_error *error) {
    if (!reader->wants_one_form || reader->last_form == reader->current)
        return COG_OK;
    reader->last_form = reader->current;
    if (reader->first_form == SIZE_MAX)
        reader->first_form = reader->current;
    return one_form_check(&reader->inputs.files[reader->current],
                          &reader->inputs.files[reader->first_form], error);
}

/* Cuts what can be cut from *start on, and leaves *start behind it. */
static cog_status cut_records(struct reader *reader, struct record_batch *batch, size_t *start,
                              bool ended, cog_error *error) {
    const char *name = reader->inputs.files[reader->current].path;
    const bool is_query_log = reader->inputs.files[reader->current].format == INPUT_QUERYLOG;
    for (;;) {
        struct cut cut;
        bool first = reader->cutter.count == 0, keep;
        const char *data = batch->bytes.data + *start;
        cog_status status = record_cutter_next(&reader->cutter, data, batch->bytes.size - *start,
                                               ended, name, &cut, error);
        THEN(status, keep_prologue(reader, data, &cut, first, error));
        if (status != COG_OK)
            return status;
        *start += cut.skip;
        if (!cut.found)
            return COG_OK;
        status = judge(reader, view_of(data + cut.skip, cut.size), cut.line, first, &keep, error);
        if (keep || is_query_log)
            THEN(status, check_form(reader, error));
        if (keep)
            THEN(status, append_record(reader, batch, *start, &cut, error));
        if (status != COG_OK)
            return status;
        *start += cut.size;
    }
}

/* Bytes in front of `start` that no record of this batch uses make room. */
static void compact(struct record_batch *batch, size_t *start) {
    if (batch->count || *start == 0)
        return;
    memmove(batch->bytes.data, batch->bytes.data + *start, batch->bytes.size - *start);
    batch->bytes.size -= *start;
    *start = 0;
}

/* Jobs that read twice take the same record numbers for the same records in both passes. */
static cog_status check_unchanged(struct reader *reader, cog_error *error) {
    struct input_file *file = &reader->inputs.files[reader->current];
    if (!reader->source.has_digest)
        return COG_OK;
    uint64_t digest = XXH64_digest(&reader->source.digest);
    if (file->has_digest && file->digest != digest)
        return error_set(error, COG_ERR_INPUT,
                         "%s: changed while the job read it a second time; run the job again when "
                         "nothing writes to the file",
                         file->path);
    file->has_digest = true;
    file->digest = digest;
    return COG_OK;
}

/* One read from the current file, and the records it completes. */
static cog_status advance(struct reader *reader, struct record_batch *batch, size_t *start,
                          cog_error *error) {
    size_t target = reader->options.batch_bytes, size = batch->bytes.size;
    bool ended = false;
    cog_status status =
        read_some(reader, batch, target > size ? target - size : target, &ended, error);
    if (status == COG_OK && reader->at_beginning)
        status = look_at_beginning(reader, batch, *start, &ended, error);
    THEN(status, cut_records(reader, batch, start, ended, error));
    if (status != COG_OK || !ended)
        return status;
    /* Nothing may depend on the file that comes next: a parser may peek at the byte behind a
     * record. */
    batch->bytes.data[batch->bytes.size++] = 0;
    *start = batch->bytes.size;
    TRY(check_unchanged(reader, error));
    reader->current++;
    return leave_file(reader, error);
}

static bool batch_is_full(const struct reader *reader, const struct record_batch *batch) {
    return batch->count &&
           (reader->answers_at_once || batch->bytes.size >= reader->options.batch_bytes ||
            batch->count >= MAX_BATCH_RECORDS);
}

static cog_status fill_from_files(struct reader *reader, struct record_batch *batch, size_t *start,
                                  cog_error *error) {
    while (!batch_is_full(reader, batch)) {
        if (!reader->open) {
            if (reader->current == reader->inputs.count)
                return COG_OK;
            bool skipped;
            TRY(open_file(reader, &skipped, error));
            if (skipped) {
                reader->current++;
                continue;
            }
        }
        TRY(advance(reader, batch, start, error));
        compact(batch, start);
    }
    return COG_OK;
}

/* Record number `index` of the log, or a row that is passed over. */
static cog_status append_from_log(struct reader *reader, struct record_batch *batch, size_t index,
                                  size_t *start, cog_error *error) {
    GROW(batch->records, batch->capacity, batch->count + 1, "a batch of records", error);
    struct record *record = &batch->records[batch->count];
    if (index == SIZE_MAX) {
        *record = (struct record){.passed_over = true};
        batch->passed_over++;
    } else if (!query_log_append(reader->log, index, &batch->bytes, record)) {
        return error_memory(error, batch->bytes.size, "a batch of records");
    }
    reader->record_count++;
    batch->count++;
    *start = batch->bytes.size;
    return COG_OK;
}

/* The next record of the log, SIZE_MAX for a row that is passed over; false after the last. */
static bool next_in_log(struct reader *reader, size_t *index) {
    const bool is_in_memory = reader->log_rows > 0;
    if (is_in_memory ? reader->record_count == reader->log_rows
                     : reader->log_next == query_log_count(reader->log))
        return false;
    *index = is_in_memory
                 ? query_log_record_at(reader->log, reader->record_count, &reader->log_cursor)
                 : reader->log_next++;
    return true;
}

/* Behind all files: the queries of the logs among them. */
static cog_status fill_from_log(struct reader *reader, struct record_batch *batch, size_t *start,
                                cog_error *error) {
    if (!reader->log || reader->is_raw || reader->current < reader->inputs.count)
        return COG_OK;
    if (!reader->log_is_grouped)
        TRY(query_log_finish(reader->log, error));
    reader->log_is_grouped = true;
    size_t index;
    while (!batch_is_full(reader, batch) && next_in_log(reader, &index))
        TRY(append_from_log(reader, batch, index, start, error));
    return COG_OK;
}

/* Rows for about a batch of text; the parser finds them by their numbers. */
static void fill_from_table(struct reader *reader, struct record_batch *batch) {
    enum { ROW_BYTES = 64 };
    size_t rows = document_table_rows(reader->table), bytes = 0, text_bytes = 0;
    while (reader->record_count < rows && bytes < reader->options.batch_bytes &&
           batch->count < MAX_BATCH_RECORDS) {
        struct document_row row;
        document_table_get(reader->table, (size_t)reader->record_count++, &row);
        text_bytes += row.text.size;
        bytes += row.text.size + ROW_BYTES;
        batch->count++;
    }
    atomic_fetch_add_explicit(&reader->source.raw_bytes, text_bytes, memory_order_relaxed);
}

cog_status reader_fill(struct reader *reader, struct record_batch *batch, bool *end,
                       cog_error *error) {
    size_t start = 0;
    *end = false;
    batch->count = batch->passed_over = 0;
    batch->first_record = reader->record_count;
    if (reader->table) {
        fill_from_table(reader, batch);
        *end = batch->count == 0;
        return COG_OK;
    }
    buffer_reset(&batch->bytes);
    if (!buffer_append(&batch->bytes, reader->carry.data, reader->carry.size))
        return error_memory(error, reader->carry.size, "a batch of records");
    buffer_reset(&reader->carry);
    cog_status status = fill_from_files(reader, batch, &start, error);
    THEN(status, fill_from_log(reader, batch, &start, error));
    if (status != COG_OK)
        return status;
    if (!buffer_reserve(&batch->bytes, JSON_PADDING_BYTES) ||
        !buffer_append(&reader->carry, batch->bytes.data + start, batch->bytes.size - start))
        return error_memory(error, batch->bytes.size, "a batch of records");
    batch->bytes.size = start;
    memset(batch->bytes.data + start, 0, JSON_PADDING_BYTES);
    *end = batch->count == 0;
    return COG_OK;
}

void reader_take_raw(const struct reader *reader, const struct record_batch *batch, size_t index,
                     struct document *document) {
    const struct record *record = &batch->records[index];
    const struct input_file *file = &reader->inputs.files[record->file];
    *document = (struct document){.raw = view_of(batch->bytes.data + record->offset, record->size),
                                  .file = record->file,
                                  .line = record->line,
                                  .record = batch->first_record + index,
                                  .passed_over = record->passed_over};
    if (reader_file_is_document(reader, record->file))
        document->id = view_of_text(file->name);
    if (file->format == INPUT_QUERYLOG)
        document->record = query_log_record_of(
            reader->log, record->line == 1 ? without_mark(document->raw) : document->raw,
            file->query_columns);
}

void record_batch_free(struct record_batch *batch) {
    buffer_free(&batch->bytes);
    free(batch->records);
    *batch = (struct record_batch){0};
}

const struct input_files *reader_inputs(const struct reader *reader) {
    return &reader->inputs;
}

const struct document_table *reader_table(const struct reader *reader) {
    return reader->table;
}

const char *reader_file_name(const struct reader *reader, uint32_t file) {
    return reader->table ? "document" : reader->inputs.files[file].path;
}

enum input_format reader_file_format(const struct reader *reader, uint32_t file) {
    return reader->inputs.files[file].format;
}

bool reader_file_is_document(const struct reader *reader, uint32_t file) {
    return reader->inputs.files[file].format == INPUT_TXT && !reader->inputs.files[file].lines;
}

uint32_t reader_file_count(const struct reader *reader) {
    return (uint32_t)reader->inputs.count;
}

struct record_frame reader_file_frame(const struct reader *reader, uint32_t number) {
    const struct input_file *file = &reader->inputs.files[number];
    struct record_frame frame = {.header = buffer_view(&file->header),
                                 .separator = view_of_text("\n"),
                                 .is_array = file->is_array};
    if (is_crawl(file))
        frame.separator = view_of_text("\r\n\r\n");
    if (file->format == INPUT_WIKIXML)
        frame.footer = view_of_text("</mediawiki>\n");
    if (!file->is_array)
        return frame;
    frame.separator = buffer_view(&file->separator);
    bool by_lines =
        frame.separator.size && memchr(frame.separator.data, '\n', frame.separator.size);
    frame.footer = view_of_text(by_lines ? "\n]\n" : "]\n");
    if (!file->header_is_complete) /* no elements */
        frame.header = view_of_text("[");
    return frame;
}

uint64_t reader_total_bytes(const struct reader *reader) {
    return reader->table ? document_table_text_bytes(reader->table) : reader->inputs.total_bytes;
}

uint64_t reader_text_bytes(const struct reader *reader) {
    return reader->table ? document_table_text_bytes(reader->table) : reader->inputs.text_bytes;
}

bool reader_has_pipe(const struct reader *reader) {
    for (size_t i = 0; i < reader->inputs.count; i++)
        if (reader->inputs.files[i].is_pipe)
            return true;
    return false;
}

uint64_t reader_read_bytes(const struct reader *reader) {
    return atomic_load_explicit(&reader->source.raw_bytes, memory_order_relaxed);
}

struct left_out_pages reader_left_out_pages(const struct reader *reader) {
    return reader->left_out;
}

size_t reader_skipped_file_count(const struct reader *reader) {
    return reader->inputs.skipped_count;
}

const char *reader_skipped_file_message(const struct reader *reader, size_t index) {
    return reader->inputs.skipped[index];
}

static void hash_text(XXH3_state_t *state, const char *text) {
    XXH3_64bits_update(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

uint64_t reader_identity(const struct reader *reader) {
    const struct reader_options *options = &reader->options;
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    hash_text(&state, options->text_field);
    hash_text(&state, options->id_field);
    hash_text(&state, options->lang_field);
    for (size_t i = 0; i < reader->inputs.count; i++) {
        const struct input_file *file = &reader->inputs.files[i];
        struct stat facts = {0};
        if (stat(file->path, &facts) != 0)
            facts.st_size = -1;
        const int64_t numbers[] = {facts.st_size,     facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec,
                                   file->format,      file->lines,          file->form.delimiter,
                                   options->no_header};
        hash_text(&state, file->name);
        XXH3_64bits_update(&state, numbers, sizeof numbers);
    }
    return XXH3_64bits_digest(&state);
}
