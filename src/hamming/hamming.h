/* Signatures in memory and Hamming distances between them: one pair, one query against consecutive
 * rows, one query against listed rows.
 *
 * A signature is a row of bits, padded with zero bits to whole 64-bit words, so kernels count whole
 * words. Bit 0 is the highest bit of byte 0, as in numpy.packbits, and the first bit of every key.
 * There is one file per instruction set; the table of kernels is chosen once, and every level
 * returns the same integers. Views are borrowed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

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

/* Bits [first, first + width) as an integer; bit `first` is the highest of its `width` bits. width
 * is 1 to 57. Reads up to 8 bytes from the byte of `first`, never beyond stride_bytes. */
static inline uint64_t signature_bits(const uint8_t *signature, size_t stride_bytes, unsigned first,
                                      unsigned width) {
    size_t byte = first / 8;
    size_t available = stride_bytes - byte;
    uint64_t word = 0;
    memcpy(&word, signature + byte, available < 8 ? available : 8);
    word = __builtin_bswap64(word);
    return (word << (first % 8)) >> (64 - width);
}

/* Bit c of word r becomes bit r of word c; the first bit is the highest. */
void transpose_bits(uint64_t words[64]);

/* A distance fits uint16_t and leaves room for a value above every distance. */
enum { HAMMING_MAX_BITS = 4096 };

struct hamming_kernels {
    enum cpu_level level;
    uint32_t (*pair)(const uint8_t *a, const uint8_t *b, size_t words);
    /* distances[i] belongs to the row at rows + i * stride_bytes. */
    void (*scan)(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
                 size_t count, uint16_t *distances);
    /* distances[i] belongs to the row at rows + numbers[i] * stride_bytes; prefetches ahead. */
    void (*gather)(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
                   const uint32_t *numbers, size_t count, uint16_t *distances);
    /* Ascending positions of the distances <= limit; positions holds count entries. */
    size_t (*select)(const uint16_t *distances, size_t count, uint32_t limit, uint32_t *positions);
};

/* The table of cpu_best_level(). */
const struct hamming_kernels *hamming_kernels(void);
/* The table of one level, or NULL if this machine cannot run it. */
const struct hamming_kernels *hamming_kernels_for(enum cpu_level level);

static inline size_t hamming_words(unsigned bits) {
    return signature_stride_bytes(bits) / 8;
}

static inline uint32_t hamming_distance(const uint8_t *a, const uint8_t *b, unsigned bits) {
    return hamming_kernels()->pair(a, b, hamming_words(bits));
}

/* The cosine that a distance between random-hyperplane signatures estimates; the same on every CPU.
 */
double hamming_cosine(double distance, unsigned bits);

/* Distances of query to rows [first, first + count) of the view. */
static inline void hamming_scan(const struct signatures_view *view, const uint8_t *query,
                                size_t first, size_t count, uint16_t *distances) {
    hamming_kernels()->scan(query, signature_row(view, first), view->stride_bytes,
                            hamming_words(view->bits), count, distances);
}

/* Distances of query to the listed rows of the view. */
static inline void hamming_gather(const struct signatures_view *view, const uint8_t *query,
                                  const uint32_t *rows, size_t count, uint16_t *distances) {
    hamming_kernels()->gather(query, view->data, view->stride_bytes, hamming_words(view->bits),
                              rows, count, distances);
}

/* How far the kernels prefetch in a scan. Without it, a scan from memory stays a fifth below the
 * bandwidth of plain reading: the counting instructions fill the window in which the processor
 * would look ahead by itself. */
enum { HAMMING_SCAN_AHEAD_BYTES = 4096, HAMMING_LINE_BYTES = 64 };

static inline void hamming_prefetch(const uint8_t *from, size_t size_bytes) {
    for (size_t byte = 0; byte < size_bytes; byte += HAMMING_LINE_BYTES)
        __builtin_prefetch(from + byte);
}

/* The tables of the instruction sets; hamming.c chooses one. */
extern const struct hamming_kernels hamming_portable;
extern const struct hamming_kernels hamming_popcnt;
extern const struct hamming_kernels hamming_avx2;
extern const struct hamming_kernels hamming_avx512;
extern const struct hamming_kernels hamming_neon;
