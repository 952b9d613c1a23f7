/* JSON records: the tokens of named top-level fields of one object, after the whole of it has been
 * validated. Strings stay where they are unless they hold escapes. The first of equal keys counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Readable bytes that must follow a record; the first of them should be a line end or zero, since
 * it may decide which of several faults is named, the others may be anything. */
enum { JSON_PADDING_BYTES = 64 };

struct json_parser;

struct json_field {
    struct bytes_view name;
    struct bytes_view
        token; /* as it stands, quotes included; size 0 when the object lacks the field */
};

enum json_result { JSON_OK, JSON_INVALID, JSON_OUT_OF_MEMORY };

/* NULL when memory is out. */
struct json_parser *json_parser_create(void);
void json_parser_free(struct json_parser *parser);

/* Fills the tokens (views into data). On JSON_INVALID *problem says why (a constant). */
enum json_result json_parser_find(struct json_parser *parser, const char *data, size_t size,
                                  struct json_field *fields, size_t count, const char **problem);

/* The text of a string token: a view into the token, or appended to `decoded` when it holds
 * escapes. *text stays valid as long as both; reserve the token's size in `decoded` beforehand if
 * earlier texts in it have to stay. */
enum json_result json_string_decode(struct bytes_view token, struct buffer *decoded,
                                    struct bytes_view *text);

/* Whether a token that is no string, object or array is a number, true, false or null. */
bool json_token_is_number(struct bytes_view token);
bool json_token_is_literal(struct bytes_view token);
/* Whether every escape of a string token is legal (no lone surrogates). */
bool json_string_is_valid(struct bytes_view token);

#ifdef __cplusplus
}
#endif
