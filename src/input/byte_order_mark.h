/* The byte order mark that some editors put before UTF-8: not part of the text. */
#pragma once

#include <string.h>

#include "base/buffer.h"

/* Bytes of the mark at the beginning; 0 where there is none. */
static inline size_t mark_size(struct bytes_view bytes) {
    return bytes.size >= 3 && memcmp(bytes.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static inline struct bytes_view without_mark(struct bytes_view bytes) {
    size_t mark = mark_size(bytes);
    return view_of(bytes.data + mark, bytes.size - mark);
}
