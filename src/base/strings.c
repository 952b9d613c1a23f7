#include "base/strings.h"

#include <ctype.h>
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

static const char *escape_of(char c) {
    switch (c) {
    case '\t':
        return "\\t";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\\':
        return "\\\\";
    default:
        return NULL;
    }
}

bool escape_append(struct buffer *buffer, struct bytes_view text) {
    size_t plain = 0;
    for (size_t i = 0; i < text.size; i++) {
        const char *escaped = escape_of(text.data[i]);
        if (!escaped)
            continue;
        if (!buffer_append(buffer, text.data + plain, i - plain) ||
            !buffer_append(buffer, escaped, 2))
            return false;
        plain = i + 1;
    }
    return buffer_append(buffer, text.data + plain, text.size - plain);
}

bool unescape_into(struct buffer *buffer, struct bytes_view escaped) {
    static const char letters[] = "tnr\\", meanings[] = "\t\n\r\\";
    buffer_reset(buffer);
    if (!buffer_reserve(buffer, escaped.size + 1))
        return false;
    for (size_t i = 0; i < escaped.size; i++) {
        const char *letter = escaped.data[i] == '\\' && i + 1 < escaped.size && escaped.data[i + 1]
                                 ? strchr(letters, escaped.data[i + 1])
                                 : NULL;
        buffer->data[buffer->size++] = letter ? meanings[letter - letters] : escaped.data[i];
        i += letter != NULL;
    }
    return true;
}

bool json_append_string(struct buffer *buffer, struct bytes_view text) {
    if (!buffer_append(buffer, "\"", 1))
        return false;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        bool fits = c == '"' || c == '\\' ? buffer_printf(buffer, "\\%c", c)
                    : c < 0x20            ? buffer_printf(buffer, "\\u%04x", c)
                                          : buffer_append(buffer, text.data + i, 1);
        if (!fits)
            return false;
    }
    return buffer_append(buffer, "\"", 1);
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
