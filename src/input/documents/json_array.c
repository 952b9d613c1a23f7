#include "input/documents/json_array.h"

#include <string.h>

#include "input/documents/text_bytes.h"

static const char WHITE_SPACE[] = " \t\r\n";

/* The state behind the byte `c` between elements; JSON_ARRAY_ELEMENT if an element starts with it.
 */
static enum json_array_state state_behind(enum json_array_state state, char c) {
    switch (state) {
    case JSON_ARRAY_BEFORE:
        return c == '[' ? JSON_ARRAY_FIRST : JSON_ARRAY_BEFORE;
    case JSON_ARRAY_FIRST:
        return c == ']' ? JSON_ARRAY_CLOSED : JSON_ARRAY_ELEMENT;
    case JSON_ARRAY_BEHIND:
        return c == ']' ? JSON_ARRAY_CLOSED : JSON_ARRAY_WANTED;
    case JSON_ARRAY_WANTED:
        return JSON_ARRAY_ELEMENT;
    default:
        return JSON_ARRAY_DAMAGED;
    }
}

size_t json_array_skip(struct json_array_scan *scan, const char *data, size_t size) {
    for (size_t at = 0; at < size; at++) {
        if (is_one_of(data[at], WHITE_SPACE))
            continue;
        scan->state = state_behind(scan->state, data[at]);
        if (scan->state == JSON_ARRAY_ELEMENT || scan->state == JSON_ARRAY_DAMAGED)
            return at;
    }
    return size;
}

/* Where the string around `from` ends, behind its quote; `size` if it does not. A quote behind an
 * odd number of backslashes is part of the string. */
static size_t string_end(const char *data, size_t from, size_t size, bool *in_string) {
    for (const char *quote = data + from;
         (quote = memchr(quote, '"', size - (size_t)(quote - data))); quote++) {
        const char *slash = quote;
        while (slash > data && slash[-1] == '\\')
            slash--;
        if ((quote - slash) % 2 == 0) {
            *in_string = false;
            return (size_t)(quote - data) + 1;
        }
    }
    return size;
}

static size_t without_space_behind(const char *data, size_t size) {
    while (size && is_one_of(data[size - 1], WHITE_SPACE))
        size--;
    return size;
}

bool json_array_element(struct json_array_scan *scan, const char *data, size_t from, size_t size,
                        size_t *element) {
    for (size_t at = from; at < size;) {
        if (scan->in_string) {
            at = string_end(data, at, size, &scan->in_string);
            continue;
        }
        char c = data[at];
        if (scan->depth == 0 && (c == ',' || c == ']')) {
            scan->state = JSON_ARRAY_BEHIND;
            *element = without_space_behind(data, at);
            return true;
        }
        scan->depth += c == '{' || c == '[';
        scan->depth -= scan->depth && (c == '}' || c == ']');
        scan->in_string = c == '"';
        at++;
    }
    return false;
}
