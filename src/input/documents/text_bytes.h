/* Bytes of the input as text: UTF-8 validity, byte order marks, UTF-16, line ends. Stateless; views
 * are borrowed from the caller. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What became of bytes that were parsed. PARSE_BAD: they are not what they should be. */
enum parse_result { PARSE_OK, PARSE_BAD, PARSE_OUT_OF_MEMORY };

/* Reads many bytes per cycle. */
bool utf8_is_valid(const char *data, size_t size);

/* The byte order of UTF-16 text that starts with '<', with or without a byte order mark. */
enum utf16_order { UTF16_NONE, UTF16_LITTLE, UTF16_BIG };
enum utf16_order utf16_order_of_markup(struct bytes_view bytes);
/* Appends UTF-16 as UTF-8 without byte order marks. Returns the bytes consumed: all, or all but an
 * incomplete character at the end. `out` needs room for twice the size. Lone surrogates become
 * U+FFFD. */
size_t utf16_convert(struct bytes_view bytes, enum utf16_order order, struct buffer *out);

uint64_t count_newlines(const char *data, const char *end);
struct bytes_view without_line_end(struct bytes_view line);

/* Whether the byte is in the set; zero is in no set. */
static inline bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}

/* Of ASCII. */
static inline bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
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
