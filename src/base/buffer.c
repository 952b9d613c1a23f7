#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"

bool buffer_reserve(struct buffer *buffer, size_t extra) {
    if (extra > SIZE_MAX - buffer->size)
        return false;
    return memory_grow((void **)&buffer->data, &buffer->capacity, buffer->size + extra, 1);
}

bool buffer_append(struct buffer *buffer, const void *data, size_t size) {
    if (!buffer_reserve(buffer, size))
        return false;
    if (size)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

bool buffer_append_text(struct buffer *buffer, const char *text) {
    return buffer_append(buffer, text, strlen(text));
}

static bool append_formatted(struct buffer *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    bool fits = length >= 0 && buffer_reserve(buffer, (size_t)length + 1);
    if (fits) {
        vsnprintf(buffer->data + buffer->size, (size_t)length + 1, format, again);
        buffer->size += (size_t)length;
    }
    va_end(again);
    return fits;
}

bool buffer_printf(struct buffer *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    locale_t previous = uselocale(number_locale());
    bool fits = append_formatted(buffer, format, arguments);
    uselocale(previous);
    va_end(arguments);
    return fits;
}

void buffer_reset(struct buffer *buffer) {
    buffer->size = 0;
}

void buffer_free(struct buffer *buffer) {
    free(buffer->data);
    buffer->data = NULL;
    buffer->size = buffer->capacity = 0;
}
