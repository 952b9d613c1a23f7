/* One row of a csv (RFC 4180) or tsv file: where it ends, and its fields. The delimiter may be
 * another character than comma or tab; in tsv, quotes have no meaning. */
#pragma once

#include <stdint.h>

#include "base/memory.h"

struct csv_form {
    char delimiter; /* between fields: an ASCII character, not a quote or line end */
    bool quotes;    /* a field may be quoted, with delimiters and line ends inside */
};
static const struct csv_form TABS = {'\t', false};

/* The scan for the end of a row; keeps its state between the pieces in which the row arrives. */
enum csv_state { CSV_FIELD_START, CSV_PLAIN, CSV_QUOTED, CSV_QUOTE_IN_QUOTED };
struct csv_scan {
    char delimiter;
    enum csv_state state;
    uint64_t newlines;   /* seen inside the row so far */
    uint64_t quote_line; /* newlines before the open quote */
};
/* Scans data[from..size). Returns the row's size with its newline, or 0 if the row does not end
 * there. */
size_t csv_scan_row(struct csv_scan *scan, const char *data, size_t from, size_t size);

struct csv_cursor {
    const char *at, *end;
    struct csv_form form;
    bool done;
    const char *problem; /* set when a field is malformed (a constant) */
};
/* The fields of a row; its line end is dropped. */
struct csv_cursor csv_row_fields(struct bytes_view row, struct csv_form form);
/* The next field. A quoted field with quotes inside is appended to `decoded`, in which the caller
 * has reserved the row's size. False after the last field and on a problem. */
bool csv_next_field(struct csv_cursor *cursor, struct buffer *decoded, struct bytes_view *field);
