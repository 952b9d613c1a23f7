/* One row of a csv (RFC 4180) or tsv file: where it ends, and its fields. In tsv quotes mean
 * nothing. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

/* Where the header names the fields that matter; CSV_NO_COLUMN when it does not. */
#define CSV_NO_COLUMN SIZE_MAX
struct csv_columns {
    size_t count;
    size_t text, id, lang, extra;
};

/* The scan for the end of a row, kept over the pieces in which the row arrives. */
enum csv_state { CSV_FIELD_START, CSV_PLAIN, CSV_QUOTED, CSV_QUOTE_IN_QUOTED };
struct csv_scan {
    enum csv_state state;
    uint64_t newlines;   /* seen inside the row so far */
    uint64_t quote_line; /* newlines before the quote that is open */
};
/* Looks at data[from..size); returns the row's size with its newline, or 0 when it does not end
 * there. */
size_t csv_scan_row(struct csv_scan *scan, const char *data, size_t from, size_t size);

struct csv_cursor {
    const char *at, *end;
    char delimiter;
    bool done;
    const char *problem; /* set when a field is malformed (a constant) */
};
/* Of a row, whose line end is left out here. */
struct csv_cursor csv_row_fields(struct bytes_view row, char delimiter);
/* The next field; a quoted one with quotes inside is appended to `decoded`, in which the caller has
 * reserved the row's size. False behind the last field and on a problem. */
bool csv_next_field(struct csv_cursor *cursor, struct buffer *decoded, struct bytes_view *field);
