#include "input/base64.h"

#include <stdint.h>

/* 0 to 63 for letters of the alphabet, 64 for everything else. */
static unsigned letter_value(unsigned char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26u;
    if (c >= '0' && c <= '9')
        return c - '0' + 52u;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

static void fill_table(uint8_t table[256]) {
    for (unsigned c = 0; c < 256; c++)
        table[c] = (uint8_t)letter_value((unsigned char)c);
}

/* The last two or three letters; false when their spare bits are not zero or a letter is foreign.
 */
static bool decode_tail(const uint8_t table[256], const unsigned char *in, size_t letters,
                        unsigned char *out) {
    unsigned a = table[in[0]], b = table[in[1]], c = letters == 3 ? table[in[2]] : 0;
    if (((a | b | c) & 64) || (letters == 2 ? b & 15 : c & 3))
        return false;
    out[0] = (unsigned char)(a << 2 | b >> 4);
    if (letters == 3)
        out[1] = (unsigned char)(b << 4 | c >> 2);
    return true;
}

enum parse_result base64_decode(struct bytes_view encoded, struct buffer *buffer) {
    uint8_t table[256];
    fill_table(table);
    size_t size = encoded.size;
    if (size % 4 == 0)
        for (int i = 0; i < 2 && size && encoded.data[size - 1] == '='; i++)
            size--;
    size_t tail = size % 4, decoded = size / 4 * 3 + (tail ? tail - 1 : 0);
    if (tail == 1)
        return PARSE_BAD;
    if (!buffer_reserve(buffer, decoded + 1))
        return PARSE_OUT_OF_MEMORY;
    const unsigned char *in = (const unsigned char *)encoded.data;
    unsigned char *out = (unsigned char *)buffer->data + buffer->size;
    unsigned foreign = 0;
    for (size_t i = 0; i + 4 <= size; i += 4, out += 3) {
        unsigned a = table[in[i]], b = table[in[i + 1]], c = table[in[i + 2]], d = table[in[i + 3]];
        foreign |= a | b | c | d;
        out[0] = (unsigned char)(a << 2 | b >> 4);
        out[1] = (unsigned char)(b << 4 | c >> 2);
        out[2] = (unsigned char)(c << 6 | d);
    }
    if ((foreign & 64) || (tail && !decode_tail(table, in + size - tail, tail, out)))
        return PARSE_BAD;
    buffer->size += decoded;
    return PARSE_OK;
}
