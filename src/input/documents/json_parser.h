/* JSON records: finds the tokens of named fields of one object, after validating all of it. Strings
 * are not copied unless they contain escapes. Of equal keys the first counts.
 *
 * A name is a key of the object, or a path into it: "meta.id" is the key "id" of the object under
 * "meta", "parts.0" the first element of the array under "parts". A key that itself contains the
 * dots takes precedence over a path. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Readable bytes that must follow a record. The first of them should be a line end or zero, since
 * it may decide which of several faults is reported; the others may be anything. */
enum { JSON_PADDING_BYTES = 64 };

struct json_parser;

struct json_field {
    struct bytes_view name;
    struct bytes_view
        token; /* as it stands, quotes included; size 0 when the object lacks the field */
};

enum { JSON_MAX_FIELDS = 4 };

enum json_result { JSON_OK, JSON_INVALID, JSON_OUT_OF_MEMORY };

/* NULL when memory ran out. */
struct json_parser *json_parser_create(void);
void json_parser_free(struct json_parser *parser);

/* Fills the tokens (views into `data`) of up to JSON_MAX_FIELDS fields. On JSON_INVALID, *problem
 * is set to the reason (a constant). */
enum json_result json_parser_find(struct json_parser *parser, const char *data, size_t size,
                                  struct json_field *fields, size_t count, const char **problem);

/* The text of a string token: a view into the token, or appended to `decoded` if it has escapes.
 * *text is valid as long as both. If earlier texts in `decoded` have to stay valid, reserve the
 * token's size beforehand. */
enum json_result json_string_decode(struct bytes_view token, struct buffer *decoded,
                                    struct bytes_view *text);

/* Whether a token that is not a string, object or array is a number (not true, false or null). */
bool json_token_is_number(struct bytes_view token);

#ifdef __cplusplus
}
#endif

/* Bytes of the input as text: UTF-8 validity, byte order marks, UTF-16, line ends. Stateless; views
 * are borrowed from the caller. utf8_is_valid reads many bytes per cycle. */

#ifdef __cplusplus
extern "C" {
#endif

bool utf8_is_valid(const char *data, size_t size);

/* The byte order of UTF-16 text that starts with '<', with or without a byte order mark. */
enum utf16_order { UTF16_NONE, UTF16_LITTLE, UTF16_BIG };
enum utf16_order utf16_order_of_markup(struct bytes_view bytes);
/* Appends UTF-16 as UTF-8 without byte order marks. Returns the bytes consumed: all, or all but an
 * incomplete character at the end. `out` needs room for twice the size. Lone surrogates become
 * U+FFFD. */
size_t utf16_convert(struct bytes_view bytes, enum utf16_order order, struct buffer *out);

/* Whether a JSON object, or something inside it, has a field of this name, which is given as a JSON
 * string. */
bool json_has_name(struct bytes_view object, struct bytes_view name);

uint64_t count_newlines(const char *data, const char *end);
struct bytes_view without_line_end(struct bytes_view line);

/* Whether the byte is in the set; zero is in no set. */
static inline bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}

/* Size of the byte order mark that some editors put before UTF-8 text; it is not part of the text.
 */
static inline size_t mark_size(struct bytes_view bytes) {
    return bytes.size >= 3 && memcmp(bytes.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static inline struct bytes_view without_mark(struct bytes_view bytes) {
    size_t mark = mark_size(bytes);
    return mark ? view_of(bytes.data + mark, bytes.size - mark) : bytes;
}

#ifdef __cplusplus
}
#endif
