#include "input/record_cutter.h"

#include <string.h>

void record_cutter_start(struct record_cutter *cutter, enum input_format format, bool lines) {
    *cutter = (struct record_cutter){.line = 1};
    switch (format) {
    case INPUT_TXT:
        cutter->kind = lines ? CUT_LINE : CUT_FILE;
        break;
    case INPUT_CSV:
        cutter->kind = CUT_CSV;
        break;
    case INPUT_WIKIXML:
        cutter->kind = CUT_PAGE;
        break;
    default:
        cutter->kind = CUT_LINE;
    }
}

static void found(struct record_cutter *cutter, struct cut *cut, size_t size, uint64_t newlines) {
    *cut = (struct cut){.size = size, .line = cutter->line, .found = true};
    cutter->line += newlines;
    cutter->scanned = 0;
    cutter->any = true;
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
    if (!cutter->any && cutter->scanned == 0) {
        if (size < 3 && !ended)
            return COG_OK;
        if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
            cutter->scanned = 3;
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
        cutter->csv = (struct csv_scan){0};
    } else {
        cutter->scanned = size;
    }
    return COG_OK;
}

cog_status record_cutter_next(struct record_cutter *cutter, const char *data, size_t size,
                              bool ended, const char *file_name, struct cut *cut,
                              cog_error *error) {
    *cut = (struct cut){0};
    switch (cutter->kind) {
    case CUT_FILE:
        if (ended && !cutter->any)
            found(cutter, cut, size, 0);
        return COG_OK;
    case CUT_LINE:
        cut_line(cutter, data, size, ended, cut);
        return COG_OK;
    case CUT_CSV:
        return cut_csv(cutter, data, size, ended, file_name, cut, error);
    case CUT_PAGE:
        break;
    }
    return COG_OK;
}
