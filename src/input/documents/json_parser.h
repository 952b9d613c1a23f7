/* JSON records: finds the tokens of named fields of one object, after validating all of it. Strings
 * are not copied unless they contain escapes. Of equal keys the first counts.
 *
 * A name is a key of the object, or a path into it: "meta.id" is the key "id" of the object under
 * "meta", "parts.0" the first element of the array under "parts". A key that itself contains the
 * dots takes precedence over a path. */
#pragma once

#include "input/documents/text_bytes.h"

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

/* NULL when memory ran out. */
struct json_parser *json_parser_create(void);
void json_parser_free(struct json_parser *parser);

/* Fills the tokens (views into `data`) of up to JSON_MAX_FIELDS fields. On PARSE_BAD, *problem
 * is set to the reason (a constant). */
enum parse_result json_parser_find(struct json_parser *parser, const char *data, size_t size,
                                   struct json_field *fields, size_t count, const char **problem);

/* The text of a string token: a view into the token, or appended to `decoded` if it has escapes.
 * *text is valid as long as both. If earlier texts in `decoded` have to stay valid, reserve the
 * token's size beforehand. */
enum parse_result json_string_decode(struct bytes_view token, struct buffer *decoded,
                                     struct bytes_view *text);

/* Whether a token that is not a string, object or array is a number (not true, false or null). */
bool json_token_is_number(struct bytes_view token);

/* Whether a JSON object, or something inside it, has a field of this name, which is given as a JSON
 * string. */
bool json_has_name(struct bytes_view object, struct bytes_view name);

#ifdef __cplusplus
}
#endif
