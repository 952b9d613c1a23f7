#include "base/escape.h"

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
