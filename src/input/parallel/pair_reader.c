#include "input/parallel/pair_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io/compression.h"
#include "base/memory.h"
#include "input/documents/text_bytes.h"

void pair_batch_free(struct pair_batch *batch) {
    buffer_free(&batch->text);
    free(batch->items);
    *batch = (struct pair_batch){0};
}

const char *pair_reader_path(const struct pair_reader *reader) {
    return reader->paths[reader->next_path - 1];
}

static void pair_reader_count_bad(struct pair_reader *reader, uint64_t line, const char *why) {
    if (reader->bad_rows++ == 0)
        snprintf(reader->first_bad_row, sizeof reader->first_bad_row, "%.150s:%llu: %s",
                 pair_reader_path(reader), (unsigned long long)line, why);
}

cog_status pair_reader_add(struct pair_reader *reader, struct pair_batch *batch,
                           struct bytes_view from, struct bytes_view to, uint64_t line,
                           cog_error *error) {
    if (from.size == 0 || to.size == 0) {
        pair_reader_count_bad(reader, line, "one side of the pair is empty");
        return COG_OK;
    }
    if (!utf8_is_valid(from.data, from.size) || !utf8_is_valid(to.data, to.size)) {
        pair_reader_count_bad(reader, line, "not valid UTF-8");
        return COG_OK;
    }
    struct pair_span span = {batch->text.size, from.size, batch->text.size + from.size, to.size};
    if (!buffer_append(&batch->text, from.data, from.size) ||
        !buffer_append(&batch->text, to.data, to.size) ||
        !memory_grow((void **)&batch->items, &batch->capacity, batch->count + 1,
                     sizeof *batch->items))
        return error_memory(error, from.size + to.size, "sentence pairs");
    batch->items[batch->count++] = span;
    return COG_OK;
}

/* The header of sentence pairs that were linked. */
static bool is_header(const struct pair_reader *reader, struct bytes_view line) {
    static const char header[] = "from\tto\tsimilarity\t";
    return reader->from.line == 1 && line.size > sizeof header - 1 &&
           view_begins_with(line, header);
}

static cog_status fill_tsv(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                           cog_error *error) {
    cog_status status = COG_OK;
    while (status == COG_OK && batch->text.size < PAIR_BATCH_BYTES) {
        struct bytes_view line;
        status = line_source_next(&reader->from, &line, done, error);
        if (status != COG_OK || *done)
            break;
        if (line.size == 0 || is_header(reader, line))
            continue;
        struct bytes_view from = take_field(&line, '\t');
        if (!line.data)
            pair_reader_count_bad(reader, reader->from.line, "no tab between two sentences");
        else
            status = pair_reader_add(reader, batch, from, take_field(&line, '\t'),
                                     reader->from.line, error);
    }
    return status;
}

/* An empty line stands for a sentence without a counterpart: no pair, and no fault. */
static cog_status fill_text(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                            cog_error *error) {
    cog_status status = COG_OK;
    while (status == COG_OK && batch->text.size < PAIR_BATCH_BYTES) {
        struct bytes_view from, to;
        bool from_ended = false, to_ended = false;
        status = line_source_next(&reader->from, &from, &from_ended, error);
        THEN(status, line_source_next(&reader->to, &to, &to_ended, error));
        if (status != COG_OK)
            return status;
        if (from_ended != to_ended)
            return error_set_at(error, COG_ERR_INPUT, reader->from.line,
                                "%s and %s have different numbers of lines (one ends at line "
                                "%llu): they are not the two sides of one text",
                                reader->paths[reader->next_path - 2], pair_reader_path(reader),
                                (unsigned long long)reader->from.line);
        *done = from_ended;
        if (*done)
            break;
        if (from.size && to.size)
            status = pair_reader_add(reader, batch, from, to, reader->from.line, error);
    }
    return status;
}

/* The extension of a name behind a compression's, without its dot. */
static struct bytes_view extension_of(const char *path) {
    size_t suffix = 0;
    compression_of_name(path, &suffix);
    size_t size = strlen(path) - suffix, begin = size;
    while (begin > 0 && path[begin - 1] != '.' && path[begin - 1] != '/')
        begin--;
    bool has_dot = begin > 0 && path[begin - 1] == '.';
    return has_dot ? view_of(path + begin, size - begin) : view_of("", 0);
}

static enum pair_format format_of(const struct pair_reader *reader, const char *path) {
    if (reader->options.format != PAIRS_AUTO)
        return reader->options.format;
    struct bytes_view extension = extension_of(path);
    if (view_is(extension, "tmx"))
        return PAIRS_TMX;
    if (view_is(extension, "po"))
        return PAIRS_PO;
    if (view_is(extension, "txt") || view_is(extension, reader->options.from_language) ||
        view_is(extension, reader->options.to_language))
        return PAIRS_TEXT;
    return PAIRS_TSV;
}

/* The two plain files of one text: `path` and the next one, in either order if their names end in
 * the codes of the languages. */
static cog_status open_texts(struct pair_reader *reader, const char *path, cog_error *error) {
    if (reader->next_path == reader->path_count)
        return error_set(error, COG_ERR_USAGE,
                         "%s: a plain text file needs its other language as the next argument",
                         path);
    const char *next = reader->paths[reader->next_path++];
    const bool is_exchanged = view_is(extension_of(path), reader->options.to_language) &&
                              view_is(extension_of(next), reader->options.from_language);
    TRY(line_source_open(&reader->from, is_exchanged ? next : path, error));
    return line_source_open(&reader->to, is_exchanged ? path : next, error);
}

static cog_status open_next(struct pair_reader *reader, cog_error *error) {
    const char *path = reader->paths[reader->next_path++];
    reader->format = format_of(reader, path);
    reader->is_open = true;
    if (reader->format == PAIRS_TMX)
        return tmx_parser_open(reader, error);
    if (reader->format == PAIRS_PO)
        return po_parser_open(reader, error);
    return reader->format == PAIRS_TEXT ? open_texts(reader, path, error)
                                        : line_source_open(&reader->from, path, error);
}

static uint64_t bytes_of_current(const struct pair_reader *reader) {
    return reader->from.bytes.raw_bytes + reader->to.bytes.raw_bytes + reader->bytes.raw_bytes;
}

static void close_current(struct pair_reader *reader) {
    reader->closed_bytes += bytes_of_current(reader);
    line_source_close(&reader->from);
    line_source_close(&reader->to);
    byte_source_free(&reader->bytes);
    reader->bytes.raw_bytes = 0;
    tmx_parser_close(reader->tmx);
    po_parser_close(reader->po);
    reader->tmx = NULL;
    reader->po = NULL;
    reader->is_open = false;
}

static uint64_t bytes_of_files(const char *const *paths, size_t count) {
    uint64_t total = 0;
    struct stat info;
    for (size_t i = 0; i < count; i++) {
        if (stat(paths[i], &info) != 0 || !S_ISREG(info.st_mode))
            return 0;
        total += (uint64_t)info.st_size;
    }
    return total;
}

cog_status pair_reader_open(const struct pair_reader_options *options, const char *const *paths,
                            size_t count, struct pair_reader **result, cog_error *error) {
    if (count == 0)
        return error_set(error, COG_ERR_USAGE, "no parallel text; give a TSV file of pairs");
    struct pair_reader *reader;
    TAKE_ZEROED(reader, 1, "reading pairs", error);
    reader->options = *options;
    reader->total_bytes = bytes_of_files(paths, count);
    reader->bytes = (struct byte_source){.descriptor = -1, .spool = -1};
    cog_status status = TAKEN_ZEROED(reader->paths, count, "reading pairs", error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        if (!(reader->paths[reader->path_count++] = strdup(paths[i])))
            status = error_memory(error, strlen(paths[i]), "a path");
    return HAND_OUT(status, reader, pair_reader_close, result);
}

void pair_reader_close(struct pair_reader *reader) {
    if (!reader)
        return;
    close_current(reader);
    for (size_t i = 0; i < reader->path_count; i++)
        free(reader->paths[i]);
    FREE(reader->paths, reader);
}

static cog_status fill_from_file(struct pair_reader *reader, struct pair_batch *batch, bool *done,
                                 cog_error *error) {
    switch (reader->format) {
    case PAIRS_TEXT:
        return fill_text(reader, batch, done, error);
    case PAIRS_TMX:
        return tmx_parser_fill(reader, batch, done, error);
    case PAIRS_PO:
        return po_parser_fill(reader, batch, done, error);
    default:
        return fill_tsv(reader, batch, done, error);
    }
}

cog_status pair_reader_fill(struct pair_reader *reader, struct pair_batch *batch, bool *end,
                            cog_error *error) {
    buffer_reset(&batch->text);
    batch->count = 0;
    *end = false;
    while (batch->text.size < PAIR_BATCH_BYTES) {
        cog_status status = COG_OK;
        bool done = false;
        if (!reader->is_open && reader->next_path == reader->path_count)
            break;
        if (!reader->is_open)
            status = open_next(reader, error);
        THEN(status, fill_from_file(reader, batch, &done, error));
        if (status != COG_OK || done)
            close_current(reader);
        if (status != COG_OK)
            return status;
    }
    *end = batch->count == 0;
    __atomic_store_n(&reader->read_bytes, reader->closed_bytes + bytes_of_current(reader),
                     __ATOMIC_RELAXED);
    return COG_OK;
}

uint64_t pair_reader_total_bytes(const struct pair_reader *reader) {
    return reader->total_bytes;
}

uint64_t pair_reader_read_bytes(const struct pair_reader *reader) {
    return __atomic_load_n(&reader->read_bytes, __ATOMIC_RELAXED);
}

uint64_t pair_reader_bad_rows(const struct pair_reader *reader) {
    return reader->bad_rows;
}

const char *pair_reader_first_bad_row(const struct pair_reader *reader) {
    return reader->first_bad_row;
}
