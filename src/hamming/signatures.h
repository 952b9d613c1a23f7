/* Signatures in memory: rows of bits, each row padded with zero bits to whole 64-bit words. Bit 0
 * of a signature is the highest bit of byte 0, as numpy.packbits has it, and the first bit of every
 * key. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed; data is aligned to 8 bytes or more, and row r starts at data + r * stride_bytes. */
struct signatures_view {
    const uint8_t *data;
    size_t rows;
    unsigned bits;
    size_t stride_bytes; /* multiple of 8, at least bits / 8 */
};

static inline size_t signature_stride_bytes(unsigned bits) {
    return (size_t)(bits + 63) / 64 * 8;
}

static inline const uint8_t *signature_row(const struct signatures_view *view, size_t row) {
    return view->data + row * view->stride_bytes;
}

/* Rows from `first` on, at most `rows` of them. */
static inline struct signatures_view signatures_part(const struct signatures_view *view,
                                                     size_t first, size_t rows) {
    struct signatures_view part = *view;
    part.data = signature_row(view, first);
    part.rows = view->rows - first < rows ? view->rows - first : rows;
    return part;
}

static inline unsigned signature_bit(const uint8_t *signature, unsigned bit) {
    return (signature[bit / 8] >> (7 - bit % 8)) & 1u;
}

/* Bits [first, first + width) as an integer whose highest of `width` bits is bit `first`;
 * width 1..57. Reads up to 8 bytes from the byte of `first`, never beyond stride_bytes. */
static inline uint64_t signature_bits(const uint8_t *signature, size_t stride_bytes, unsigned first,
                                      unsigned width) {
    size_t byte = first / 8;
    size_t available = stride_bytes - byte;
    uint64_t word = 0;
    memcpy(&word, signature + byte, available < 8 ? available : 8);
    word = __builtin_bswap64(word);
    return (word << (first % 8)) >> (64 - width);
}
