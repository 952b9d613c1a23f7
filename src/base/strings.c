#include "base/strings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unicode/uloc.h>

bool number_of_digits(struct bytes_view digits, uint64_t *number) {
    enum { DIGITS_MOST = 18 };
    *number = 0;
    if (digits.size == 0 || digits.size > DIGITS_MOST || (digits.size > 1 && digits.data[0] == '0'))
        return false;
    for (size_t i = 0; i < digits.size; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9')
            return false;
        *number = *number * 10 + (uint64_t)(digits.data[i] - '0');
    }
    return true;
}

/* What stands for a byte, of at most ESCAPE_BYTES; returns its size, 0 if the byte stays. */
enum { ESCAPE_BYTES = 6 };
typedef size_t escape_byte(char c, char escaped[ESCAPE_BYTES + 1]);

static inline bool append_escaped(struct buffer *buffer, struct bytes_view text,
                                  escape_byte *escape) {
    size_t plain = 0;
    for (size_t i = 0; i < text.size; i++) {
        char escaped[ESCAPE_BYTES + 1];
        size_t size = escape(text.data[i], escaped);
        if (!size)
            continue;
        if (!buffer_append(buffer, text.data + plain, i - plain) ||
            !buffer_append(buffer, escaped, size))
            return false;
        plain = i + 1;
    }
    return buffer_append(buffer, text.data + plain, text.size - plain);
}

static const char tsv_letters[] = "tnr\\", tsv_bytes[] = "\t\n\r\\";

static size_t escape_for_tsv(char c, char escaped[ESCAPE_BYTES + 1]) {
    if ((unsigned char)c > '\r' && c != '\\')
        return 0;
    const char *byte = c ? strchr(tsv_bytes, c) : NULL;
    if (!byte)
        return 0;
    escaped[0] = '\\';
    escaped[1] = tsv_letters[byte - tsv_bytes];
    return 2;
}

bool escape_append(struct buffer *buffer, struct bytes_view text) {
    return append_escaped(buffer, text, escape_for_tsv);
}

bool unescape_into(struct buffer *buffer, struct bytes_view escaped) {
    buffer_reset(buffer);
    if (!buffer_reserve(buffer, escaped.size + 1))
        return false;
    for (size_t i = 0; i < escaped.size; i++) {
        const char *letter = escaped.data[i] == '\\' && i + 1 < escaped.size && escaped.data[i + 1]
                                 ? strchr(tsv_letters, escaped.data[i + 1])
                                 : NULL;
        buffer->data[buffer->size++] = letter ? tsv_bytes[letter - tsv_letters] : escaped.data[i];
        i += letter != NULL;
    }
    return true;
}

static size_t escape_for_json(char c, char escaped[ESCAPE_BYTES + 1]) {
    if ((unsigned char)c < 0x20)
        return (size_t)snprintf(escaped, ESCAPE_BYTES + 1, "\\u%04x", (unsigned)c);
    if (c != '"' && c != '\\')
        return 0;
    escaped[0] = '\\';
    escaped[1] = c;
    return 2;
}

bool json_append_string(struct buffer *buffer, struct bytes_view text) {
    return buffer_append(buffer, "\"", 1) && append_escaped(buffer, text, escape_for_json) &&
           buffer_append(buffer, "\"", 1);
}

void language_canonical(struct bytes_view code, char canonical[LANGUAGE_CODE_BYTES]) {
    /* Norwegian is written in two forms that share stemmer and stop words; the rest are
     * bibliographic codes, which ICU does not know. */
    static const char *const synonyms[][2] = {
        {"nb", "no"},  {"nn", "no"},  {"nob", "no"}, {"nno", "no"}, {"ger", "de"}, {"fre", "fr"},
        {"dut", "nl"}, {"rum", "ro"}, {"gre", "el"}, {"baq", "eu"}, {"arm", "hy"},
    };
    char part[LANGUAGE_CODE_BYTES] = "";
    size_t size = 0;
    canonical[0] = 0;
    while (size < code.size && isalpha((unsigned char)code.data[size]))
        size++;
    if (size < 2 || size > 3 || (size < code.size && !strchr("-_", code.data[size])))
        return;
    for (size_t i = 0; i < size; i++)
        part[i] = (char)tolower((unsigned char)code.data[i]);
    UErrorCode status = U_ZERO_ERROR;
    uloc_getLanguage(part, canonical, LANGUAGE_CODE_BYTES, &status);
    if (U_FAILURE(status))
        strcpy(canonical, part);
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(canonical, synonyms[i][0]) == 0)
            strcpy(canonical, synonyms[i][1]);
}
