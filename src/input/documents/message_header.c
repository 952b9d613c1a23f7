#include "input/documents/message_header.h"

#include <stdlib.h>
#include <strings.h>

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static struct bytes_view trimmed(const char *begin, const char *end) {
    while (begin < end && is_blank(*begin))
        begin++;
    while (begin < end && is_blank(end[-1]))
        end--;
    return view_of(begin, (size_t)(end - begin));
}

size_t message_header_size(const char *data, size_t from, size_t size) {
    const char *at = data + (from > 3 ? from - 3 : 0), *end = data + size;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        if (at < end && *at == '\n')
            return (size_t)(at - data) + 1;
        if (at + 1 < end && at[0] == '\r' && at[1] == '\n')
            return (size_t)(at - data) + 2;
    }
    return 0;
}

struct bytes_view message_field(struct bytes_view header, const char *name) {
    const char *at = header.data, *end = at + header.size;
    size_t size = strlen(name);
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if ((size_t)(stop - at) > size && at[size] == ':' && strncasecmp(at, name, size) == 0)
            return trimmed(at + size + 1, stop);
        at = newline ? newline + 1 : end;
    }
    return view_of("", 0);
}

bool message_number(struct bytes_view value, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < value.size; i++) {
        unsigned digit = (unsigned)(unsigned char)value.data[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, digit, number))
            return false;
    }
    return value.size > 0;
}

bool message_value_is(struct bytes_view value, const char *word) {
    size_t size = strlen(word);
    return value.size >= size && strncasecmp(value.data, word, size) == 0 &&
           (value.size == size || is_blank(value.data[size]) || value.data[size] == ';' ||
            value.data[size] == ',');
}

struct bytes_view message_parameter(struct bytes_view value, const char *name) {
    const char *at = value.data, *end = at + value.size;
    size_t size = strlen(name);
    while (at < end && (at = memchr(at, ';', (size_t)(end - at)))) {
        at++;
        while (at < end && is_blank(*at))
            at++;
        if ((size_t)(end - at) <= size || at[size] != '=' || strncasecmp(at, name, size) != 0)
            continue;
        at += size + 1;
        const char *stop = memchr(at, ';', (size_t)(end - at));
        struct bytes_view found = trimmed(at, stop ? stop : end);
        bool quoted = found.size > 1 && *found.data == '"' && found.data[found.size - 1] == '"';
        return quoted ? view_of(found.data + 1, found.size - 2) : found;
    }
    return view_of("", 0);
}
