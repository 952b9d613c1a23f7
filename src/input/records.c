#include "input/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "input/documents/csv_row.h"
#include "input/documents/text_bytes.h"
#include "input/documents/warc_record.h"
#include "input/input_files.h"

void record_cutter_start(struct record_cutter *cutter, const struct input_file *file) {
    *cutter = (struct record_cutter){.line = 1};
    switch (file->format) {
    case INPUT_TXT:
        cutter->kind = file->lines ? CUT_LINE : CUT_FILE;
        break;
    case INPUT_JSONL:
        cutter->kind = file->is_array ? CUT_ELEMENT : CUT_LINE;
        break;
    case INPUT_CSV:
        cutter->kind = CUT_CSV;
        cutter->csv.delimiter = file->form.delimiter;
        break;
    case INPUT_WIKIXML:
        cutter->kind = CUT_PAGE;
        break;
    case INPUT_WARC:
    case INPUT_WET:
        cutter->kind = CUT_WARC;
        break;
    default:
        cutter->kind = CUT_LINE;
    }
}

static void found(struct record_cutter *cutter, struct cut *cut, size_t size, uint64_t newlines) {
    *cut = (struct cut){.skip = cut->skip,
                        .size = size,
                        .line = cutter->line,
                        .number = ++cutter->count,
                        .found = true};
    cutter->line += newlines;
    cutter->scanned = 0;
}

static void cut_line(struct record_cutter *cutter, const char *data, size_t size, bool ended,
                     struct cut *cut) {
    const char *newline = size > cutter->scanned
                              ? memchr(data + cutter->scanned, '\n', size - cutter->scanned)
                              : NULL;
    if (newline)
        found(cutter, cut, (size_t)(newline - data) + 1, 1);
    else if (ended && size)
        found(cutter, cut, size, 1);
    else
        cutter->scanned = size;
}

static cog_status cut_csv(struct record_cutter *cutter, const char *data, size_t size, bool ended,
                          const char *file_name, struct cut *cut, cog_error *error) {
    /* A byte order mark stands before the first field, which may be quoted. */
    if (cutter->count == 0 && cutter->scanned == 0) {
        if (size < 3 && !ended)
            return COG_OK;
        cutter->scanned = mark_size(view_of(data, size));
    }
    size_t end = csv_scan_row(&cutter->csv, data, cutter->scanned, size);
    if (!end && ended && cutter->csv.state == CSV_QUOTED) {
        uint64_t line = cutter->line + cutter->csv.quote_line;
        return error_set_at(
            error, COG_ERR_INPUT, line,
            "%s:%llu: a quote opens here and is not closed before the end of the file", file_name,
            (unsigned long long)line);
    }
    if (!end && ended)
        end = size;
    if (end) {
        found(cutter, cut, end, cutter->csv.newlines + 1);
        cutter->csv = (struct csv_scan){.delimiter = cutter->csv.delimiter};
    } else {
        cutter->scanned = size;
    }
    return COG_OK;
}

enum { MAX_PROLOGUE_BYTES = 1 << 16 };

static const char *const OPEN_DUMP = "<mediawiki", *const CLOSE_DUMP = "</mediawiki",
                         *const OPEN_PAGE = "<page", *const CLOSE_PAGE = "</page>";

static bool tag_at(const char *at, const char *end, const char *tag) {
    return view_begins_with(view_of(at, (size_t)(end - at)), tag);
}

/* The next '<' with enough bytes behind it to tell every tag, or with none to come; else NULL. */
static const char *next_tag(const char *at, const char *end, bool ended) {
    const char *tag = at < end ? memchr(at, '<', (size_t)(end - at)) : NULL;
    return tag && (ended || (size_t)(end - tag) > strlen(CLOSE_DUMP)) ? tag : NULL;
}

/* Between pages: everything up to the next page is skipped. Returns where a page starts, or NULL.
 */
static const char *skip_to_page(struct record_cutter *cutter, const char *data, const char *end,
                                bool ended) {
    const char *at = data;
    while ((at = next_tag(at, end, ended))) {
        if (cutter->started && tag_at(at, end, OPEN_PAGE) && at + 5 < end &&
            is_one_of(at[5], "> \t\r\n"))
            return at;
        if (tag_at(at, end, OPEN_DUMP)) {
            cutter->started = true;
            cutter->closed = false;
        }
        cutter->closed |= cutter->started && tag_at(at, end, CLOSE_DUMP);
        at++;
    }
    return NULL;
}

static const char *page_end(const char *data, const char *end, size_t from, bool ended) {
    const char *at = data + from;
    while ((at = next_tag(at, end, ended))) {
        if (tag_at(at, end, CLOSE_PAGE))
            return at + strlen(CLOSE_PAGE);
        at++;
    }
    return NULL;
}

static cog_status damaged_file(const struct record_cutter *cutter, const char *file_name,
                               const char *what, cog_error *error) {
    return error_set_at(error, COG_ERR_INPUT, cutter->line, "%s:%llu: %s", file_name,
                        (unsigned long long)cutter->line, what);
}

/* Where looking may go on when the bytes end: behind what cannot be the front of a tag. */
static size_t searched_bytes(size_t size) {
    size_t longest = strlen(CLOSE_DUMP) + 1;
    return size > longest ? size - longest : 0;
}

static void skip_bytes(struct record_cutter *cutter, const char *data, size_t size,
                       struct cut *cut) {
    cutter->line += count_newlines(data, data + size);
    cutter->skipped_bytes += size;
    cut->skip = size;
}

/* Skips what stands before the next page; cutter->in_page if there is one. */
static cog_status enter_page(struct record_cutter *cutter, const char *data, size_t size,
                             bool ended, const char *file_name, struct cut *cut, cog_error *error) {
    const char *page = skip_to_page(cutter, data, data + size, ended);
    size_t skip = page ? (size_t)(page - data) : ended ? size : searched_bytes(size);
    skip_bytes(cutter, data, skip, cut);
    cutter->in_page = page != NULL;
    if (!cutter->started && (ended || cutter->skipped_bytes > MAX_PROLOGUE_BYTES))
        return damaged_file(cutter, file_name,
                            "not a MediaWiki dump: no <mediawiki> element in UTF-8", error);
    if (!page && ended && !cutter->closed)
        return damaged_file(cutter, file_name,
                            "the dump stops without </mediawiki> (truncated); fetch it again",
                            error);
    return COG_OK;
}

static cog_status cut_page(struct record_cutter *cutter, const char *data, size_t size, bool ended,
                           const char *file_name, struct cut *cut, cog_error *error) {
    if (!cutter->in_page)
        TRY(enter_page(cutter, data, size, ended, file_name, cut, error));
    if (!cutter->in_page)
        return COG_OK;
    data += cut->skip;
    size -= cut->skip;
    const char *stop = page_end(data, data + size, cutter->scanned, ended);
    if (stop) {
        found(cutter, cut, (size_t)(stop - data), count_newlines(data, stop));
        cutter->in_page = false;
    } else if (ended) {
        return damaged_file(cutter, file_name,
                            "the dump stops inside this page (truncated); fetch it again", error);
    } else {
        cutter->scanned = searched_bytes(size);
    }
    return COG_OK;
}

static cog_status cut_element(struct record_cutter *cutter, const char *data, size_t size,
                              bool ended, const char *file_name, struct cut *cut,
                              cog_error *error) {
    size_t element;
    if (cutter->array.state != JSON_ARRAY_ELEMENT) {
        cut->skip = json_array_skip(&cutter->array, data, size);
        cutter->line += count_newlines(data, data + cut->skip);
    }
    if (cutter->array.state == JSON_ARRAY_DAMAGED)
        return damaged_file(cutter, file_name, "something follows the JSON array", error);
    bool inside = cutter->array.state == JSON_ARRAY_ELEMENT;
    data += cut->skip;
    size -= cut->skip;
    if (inside && json_array_element(&cutter->array, data, cutter->scanned, size, &element)) {
        found(cutter, cut, element, count_newlines(data, data + element));
        return COG_OK;
    }
    if (ended && cutter->array.state != JSON_ARRAY_CLOSED)
        return damaged_file(cutter, file_name,
                            inside ? "the file stops inside the array element that starts here "
                                     "(truncated, or its brackets or quotes are not closed)"
                                   : "the file stops before the end of its JSON array (truncated)",
                            error);
    cutter->scanned = inside ? size : 0;
    return COG_OK;
}

static cog_status cut_warc(struct record_cutter *cutter, const char *data, size_t size, bool ended,
                           const char *file_name, struct cut *cut, cog_error *error) {
    size_t record;
    const char *problem = warc_scan_record(&cutter->warc, data, size, ended, &record);
    if (problem)
        return damaged_file(cutter, file_name, problem, error);
    if (record)
        found(cutter, cut, record, count_newlines(data, data + record));
    return COG_OK;
}

cog_status record_cutter_next(struct record_cutter *cutter, const char *data, size_t size,
                              bool ended, const char *file_name, struct cut *cut,
                              cog_error *error) {
    *cut = (struct cut){0};
    switch (cutter->kind) {
    case CUT_FILE:
        if (ended && cutter->count == 0)
            found(cutter, cut, size, 0);
        return COG_OK;
    case CUT_LINE:
        cut_line(cutter, data, size, ended, cut);
        return COG_OK;
    case CUT_CSV:
        return cut_csv(cutter, data, size, ended, file_name, cut, error);
    case CUT_PAGE:
        return cut_page(cutter, data, size, ended, file_name, cut, error);
    case CUT_ELEMENT:
        return cut_element(cutter, data, size, ended, file_name, cut, error);
    case CUT_WARC:
        return cut_warc(cutter, data, size, ended, file_name, cut, error);
    }
    return COG_OK;
}
