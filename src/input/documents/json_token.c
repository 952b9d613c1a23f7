#include <string.h>

#include "base/strings.h"
#include "input/documents/json_parser.h"

static size_t digit_run(const char *data, size_t at, size_t size) {
    size_t start = at;
    while (at < size && data[at] >= '0' && data[at] <= '9')
        at++;
    return at - start;
}

bool json_token_is_number(struct bytes_view token) {
    const char *data = token.data;
    size_t at = token.size && data[0] == '-' ? 1 : 0;
    size_t digits = digit_run(data, at, token.size);
    if (digits == 0 || (digits > 1 && data[at] == '0'))
        return false;
    at += digits;
    if (at < token.size && data[at] == '.') {
        digits = digit_run(data, ++at, token.size);
        if (digits == 0)
            return false;
        at += digits;
    }
    if (at < token.size && (data[at] == 'e' || data[at] == 'E')) {
        at++;
        if (at < token.size && (data[at] == '+' || data[at] == '-'))
            at++;
        digits = digit_run(data, at, token.size);
        if (digits == 0)
            return false;
        at += digits;
    }
    return at == token.size;
}

bool json_token_is_literal(struct bytes_view token) {
    static const char *const literals[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        if (token.size == strlen(literals[i]) && memcmp(token.data, literals[i], token.size) == 0)
            return true;
    return false;
}

/* Four hexadecimal digits, or -1. */
static int hex_unit(const char *data) {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = data[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* \uXXXX at `at` (behind the backslash); a high surrogate needs its low one. Returns the bytes
 * consumed from `at`, or 0 when the escape is not legal. */
static size_t decode_unicode(const char *at, const char *end, char *out, size_t *written) {
    if (end - at < 5)
        return 0;
    int unit = hex_unit(at + 1);
    if (unit < 0 || (unit >= 0xdc00 && unit < 0xe000))
        return 0;
    if (unit < 0xd800 || unit >= 0xe000) {
        *written = utf8_encode((unsigned)unit, out);
        return 5;
    }
    if (end - at < 11 || at[5] != '\\' || at[6] != 'u')
        return 0;
    int low = hex_unit(at + 7);
    if (low < 0xdc00 || low >= 0xe000)
        return 0;
    *written =
        utf8_encode(0x10000 + (((unsigned)unit - 0xd800) << 10) + ((unsigned)low - 0xdc00), out);
    return 11;
}

/* The escape at `at` (behind the backslash) to `out` (4 bytes). Returns the bytes consumed, 0 if
 * illegal. */
static size_t decode_escape(const char *at, const char *end, char *out, size_t *written) {
    if (at == end)
        return 0;
    *written = 1;
    switch (*at) {
    case '"':
    case '\\':
    case '/':
        *out = *at;
        return 1;
    case 'b':
        *out = '\b';
        return 1;
    case 'f':
        *out = '\f';
        return 1;
    case 'n':
        *out = '\n';
        return 1;
    case 'r':
        *out = '\r';
        return 1;
    case 't':
        *out = '\t';
        return 1;
    case 'u':
        return decode_unicode(at, end, out, written);
    default:
        return 0;
    }
}

static bool is_quoted(struct bytes_view token) {
    return token.size >= 2 && token.data[0] == '"' && token.data[token.size - 1] == '"';
}

/* Decodes [at, end), which starts with a backslash, to `out`; NULL when an escape is illegal. No
 * escape is shorter than what it stands for, so `out` needs no more bytes than come in. */
static char *decode_run(const char *at, const char *end, char *out) {
    while (at < end) {
        size_t written = 0;
        size_t used = decode_escape(at + 1, end, out, &written);
        if (used == 0)
            return NULL;
        at += 1 + used;
        out += written;
        const char *next = memchr(at, '\\', (size_t)(end - at));
        size_t plain = (size_t)((next ? next : end) - at);
        memcpy(out, at, plain);
        at += plain;
        out += plain;
    }
    return out;
}

enum json_result json_string_decode(struct bytes_view token, struct buffer *decoded,
                                    struct bytes_view *text) {
    if (!is_quoted(token))
        return JSON_INVALID;
    const char *start = token.data + 1, *end = token.data + token.size - 1;
    const char *escape = memchr(start, '\\', (size_t)(end - start));
    *text = view_of(start, (size_t)(end - start));
    if (!escape)
        return JSON_OK;
    if (!buffer_reserve(decoded, token.size))
        return JSON_OUT_OF_MEMORY;
    char *out = decoded->data + decoded->size;
    memcpy(out, start, (size_t)(escape - start));
    const char *stop = decode_run(escape, end, out + (escape - start));
    if (!stop)
        return JSON_INVALID;
    *text = view_of(out, (size_t)(stop - out));
    decoded->size += text->size;
    return JSON_OK;
}

bool json_string_is_valid(struct bytes_view token) {
    if (!is_quoted(token))
        return false;
    const char *at = token.data + 1, *end = token.data + token.size - 1;
    while ((at = memchr(at, '\\', (size_t)(end - at)))) {
        char out[4];
        size_t written;
        size_t used = decode_escape(at + 1, end, out, &written);
        if (used == 0)
            return false;
        at += 1 + used;
    }
    return true;
}
