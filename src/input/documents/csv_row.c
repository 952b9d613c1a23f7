#include "input/documents/csv_row.h"

#include "input/documents/text_bytes.h"

size_t csv_scan_row(struct csv_scan *scan, const char *data, size_t from, size_t size) {
    const char *end = data + size;
    for (const char *at = data + from; at < end; at++) {
        if (scan->state == CSV_QUOTED) {
            const char *quote = memchr(at, '"', (size_t)(end - at));
            scan->newlines += count_newlines(at, quote ? quote : end);
            if (!quote)
                return 0;
            at = quote;
            scan->state = CSV_QUOTE_IN_QUOTED;
        } else if (*at == '\n') {
            return (size_t)(at - data) + 1;
        } else if (*at == scan->delimiter) {
            scan->state = CSV_FIELD_START;
        } else if (*at == '"' && scan->state != CSV_PLAIN) {
            if (scan->state == CSV_FIELD_START)
                scan->quote_line = scan->newlines;
            scan->state = CSV_QUOTED;
        } else {
            scan->state = CSV_PLAIN;
        }
    }
    return 0;
}

struct csv_cursor csv_row_fields(struct bytes_view row, struct csv_form form) {
    row = without_line_end(row);
    struct csv_cursor cursor = {.at = row.data, .end = row.data + row.size, .form = form};
    return cursor;
}

/* From the byte behind the opening quote; leaves the cursor on the delimiter or the end. */
static bool quoted_field(struct csv_cursor *cursor, struct buffer *decoded,
                         struct bytes_view *field) {
    const char *start = cursor->at;
    size_t decoded_start = decoded->size;
    for (;;) {
        const char *quote = memchr(cursor->at, '"', (size_t)(cursor->end - cursor->at));
        if (!quote) {
            cursor->problem = "a quoted field does not end";
            return false;
        }
        cursor->at = quote + 1;
        if (cursor->at == cursor->end || *cursor->at != '"')
            break;
        cursor->at++;
        buffer_append(decoded, start, (size_t)(quote + 1 - start));
        start = cursor->at;
    }
    size_t rest = (size_t)(cursor->at - 1 - start);
    *field = view_of(start, rest);
    if (decoded->size != decoded_start) {
        buffer_append(decoded, start, rest);
        *field = view_of(decoded->data + decoded_start, decoded->size - decoded_start);
    }
    if (cursor->at < cursor->end && *cursor->at != cursor->form.delimiter) {
        cursor->problem = "something follows the closing quote of a field";
        return false;
    }
    return true;
}

bool csv_next_field(struct csv_cursor *cursor, struct buffer *decoded, struct bytes_view *field) {
    if (cursor->done)
        return false;
    if (cursor->form.quotes && cursor->at < cursor->end && *cursor->at == '"') {
        cursor->at++;
        if (!quoted_field(cursor, decoded, field))
            return false;
    } else {
        size_t left = (size_t)(cursor->end - cursor->at);
        const char *stop = left ? memchr(cursor->at, cursor->form.delimiter, left) : NULL;
        *field = view_of(cursor->at, stop ? (size_t)(stop - cursor->at) : left);
        cursor->at += field->size;
    }
    cursor->done = cursor->at == cursor->end;
    if (!cursor->done)
        cursor->at++;
    return true;
}
