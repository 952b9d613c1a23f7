/* Strings: UTF-8 code points, numbers in decimal, escaped text for TSV and JSON, plural endings for
 * messages, and language codes in one spelling. Functions borrow their inputs; nothing here keeps
 * state. */
#pragma once

#include "base/memory.h"

#include <stdint.h>

/* ---- Code points ----------------------------------------------------------------------------- */

/* Decodes the code point at text[0 .. left), left > 0, and returns its size in bytes (1 to 4). A
 * sequence cut short by the end of the text decodes as U+FFFD of size 1; nothing is read beyond the
 * end. */
static inline size_t utf8_decode(const char *text, size_t left, uint32_t *code_point) {
    const unsigned char *byte = (const unsigned char *)text;
    uint32_t lead = byte[0];
    if (lead < 0x80) {
        *code_point = lead;
        return 1;
    }
    if (lead < 0xe0 && left >= 2) {
        *code_point = (lead & 0x1f) << 6 | (byte[1] & 0x3f);
        return 2;
    }
    if (lead >= 0xe0 && lead < 0xf0 && left >= 3) {
        *code_point = (lead & 0x0f) << 12 | (uint32_t)(byte[1] & 0x3f) << 6 | (byte[2] & 0x3f);
        return 3;
    }
    if (lead >= 0xf0 && left >= 4) {
        *code_point = (lead & 0x07) << 18 | (uint32_t)(byte[1] & 0x3f) << 12 |
                      (uint32_t)(byte[2] & 0x3f) << 6 | (byte[3] & 0x3f);
        return 4;
    }
    *code_point = 0xfffd;
    return 1;
}

/* Writes a number in decimal, without a terminating zero, and returns the number of digits. */
enum { NUMBER_DIGITS_MOST = 20 };
static inline size_t number_digits(uint64_t number, char digits[NUMBER_DIGITS_MOST]) {
    char reversed[NUMBER_DIGITS_MOST];
    size_t count = 0;
    do
        reversed[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    for (size_t i = 0; i < count; i++)
        digits[i] = reversed[count - 1 - i];
    return count;
}
/* Parses the output of number_digits, up to 18 digits. False for any other text. */
bool number_of_digits(struct bytes_view digits, uint64_t *number);

/* Writes the code point (not a surrogate) and returns its size in bytes. */
static inline size_t utf8_encode(uint32_t code_point, char *out) {
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}

/* Whether the byte begins a code point. */
static inline int utf8_is_start(char byte) {
    return ((unsigned char)byte & 0xc0) != 0x80;
}

/* The size of the longest prefix of at most `most` bytes that ends on a character boundary; at
 * least 1 unless the text is empty. */
static inline size_t utf8_cut(struct bytes_view text, size_t most) {
    size_t size = text.size < most ? text.size : most;
    while (size < text.size && size > 1 && !utf8_is_start(text.data[size]))
        size--;
    return size;
}

/* ---- Escaped text ---------------------------------------------------------------------------- */

/* Appends text for a TSV field: tab, newline, carriage return and backslash become two characters
 * each. This and the next two functions return false if memory ran out. */
bool escape_append(struct buffer *buffer, struct bytes_view text);
/* Undoes escape_append; any other backslash stands for itself. Replaces the content of the buffer.
 */
bool unescape_into(struct buffer *buffer, struct bytes_view escaped);
/* Appends a JSON string with its quotes. The text must be valid UTF-8. */
bool json_append_string(struct buffer *buffer, struct bytes_view text);

/* ---- Messages and language codes ------------------------------------------------------------- */

/* For messages that count things: "1 document has", "2 documents have". */
static inline const char *plural(uint64_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}

enum { LANGUAGE_CODE_BYTES = 8 };

/* Writes the code in lower case, without region or script, with two letters if ISO 639-1 has them
 * ("de-AT" and "deu" become "de", "nb" becomes "no"); an empty string if `code` is not a code. */
void language_canonical(struct bytes_view code, char canonical[LANGUAGE_CODE_BYTES]);
