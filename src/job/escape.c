#include "job/escape.h"

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
