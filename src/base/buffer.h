/* Buffers: a growing array of bytes, owned, and a view of bytes that belong to something else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Borrowed: valid as long as its source. Not zero-terminated. */
struct bytes_view {
    const char *data;
    size_t size;
};

/* Zero-initialise; buffer_free releases. */
struct buffer {
    char *data;
    size_t size;
    size_t capacity;
};

/* Makes room for `extra` more bytes; false if memory is out, and then the buffer is unchanged. */
bool buffer_reserve(struct buffer *buffer, size_t extra);
bool buffer_append(struct buffer *buffer, const void *data, size_t size);
bool buffer_append_text(struct buffer *buffer, const char *text);
bool buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Keeps the memory, forgets the bytes. */
void buffer_reset(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

static inline struct bytes_view view_of(const char *data, size_t size) {
    struct bytes_view view = {data, size};
    return view;
}

static inline bool view_equals(struct bytes_view a, struct bytes_view b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

#ifdef __cplusplus
}
#endif
