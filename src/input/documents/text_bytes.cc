#include "input/documents/text_bytes.h"

#include <simdjson.h>

#include "base/strings.h"

bool utf8_is_valid(const char *data, size_t size) {
    return size == 0 || simdjson::validate_utf8(data, size);
}

utf16_order utf16_order_of_markup(struct bytes_view bytes) {
    size_t mark = bytes.size >= 4 && (memcmp(bytes.data, "\xff\xfe", 2) == 0 ||
                                      memcmp(bytes.data, "\xfe\xff", 2) == 0)
                      ? 2
                      : 0;
    if (bytes.size < mark + 2)
        return UTF16_NONE;
    const char *first = bytes.data + mark;
    return first[0] == '<' && !first[1]   ? UTF16_LITTLE
           : !first[0] && first[1] == '<' ? UTF16_BIG
                                          : UTF16_NONE;
}

size_t utf16_convert(struct bytes_view bytes, enum utf16_order order, struct buffer *out) {
    const unsigned char *data = reinterpret_cast<const unsigned char *>(bytes.data);
    int high = order == UTF16_BIG ? 0 : 1;
    auto unit = [&](size_t at) { return uint32_t(data[at + high] << 8 | data[at + 1 - high]); };
    size_t at = 0;
    while (at + 2 <= bytes.size) {
        uint32_t c = unit(at);
        if (c >= 0xd800 && c < 0xdc00) {
            if (at + 4 > bytes.size)
                break;
            uint32_t low = unit(at + 2);
            bool pair = low >= 0xdc00 && low < 0xe000;
            c = pair ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
            at += pair ? 4 : 2;
        } else {
            c = c >= 0xdc00 && c < 0xe000 ? 0xfffd : c;
            at += 2;
        }
        if (c != 0xfeff)
            out->size += utf8_encode(c, out->data + out->size);
    }
    return at;
}

uint64_t count_newlines(const char *data, const char *end) {
    uint64_t count = 0;
    while (data < end &&
           (data = static_cast<const char *>(memchr(data, '\n', size_t(end - data))))) {
        count++;
        data++;
    }
    return count;
}

struct bytes_view without_line_end(struct bytes_view line) {
    if (line.size && line.data[line.size - 1] == '\n') {
        line.size--;
        if (line.size && line.data[line.size - 1] == '\r')
            line.size--;
    }
    return line;
}
