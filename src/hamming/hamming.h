/* Hamming distances between signatures of any width: one pair, one query against a run of rows, one
 * query against listed rows. One file for each instruction set, one table chosen once; every level
 * gives the same integers. Rows are padded with zero bits to whole 64-bit words, so kernels count
 * words, not bits. */
#pragma once

#include "base/cpu.h"
#include "hamming/signatures.h"

/* A distance fits uint16_t, with room for a value that is above every distance. */
enum { HAMMING_MAX_BITS = 4096 };

struct hamming_kernels {
    enum cpu_level level;
    uint32_t (*pair)(const uint8_t *a, const uint8_t *b, size_t words);
    /* distances[i] is that of the row at rows + i * stride_bytes. */
    void (*scan)(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
                 size_t count, uint16_t *distances);
    /* distances[i] is that of the row at rows + numbers[i] * stride_bytes; prefetches ahead. */
    void (*gather)(const uint8_t *query, const uint8_t *rows, size_t stride_bytes, size_t words,
                   const uint32_t *numbers, size_t count, uint16_t *distances);
    /* Ascending positions of the distances <= limit; positions holds count + 16 entries. */
    size_t (*select)(const uint16_t *distances, size_t count, uint32_t limit, uint32_t *positions);
};

/* The table of cpu_best_level(). */
const struct hamming_kernels *hamming_kernels(void);
/* The table of one level, or NULL where this machine cannot run it. */
const struct hamming_kernels *hamming_kernels_for(enum cpu_level level);

static inline size_t hamming_words(unsigned bits) {
    return signature_stride_bytes(bits) / 8;
}

static inline uint32_t hamming_distance(const uint8_t *a, const uint8_t *b, unsigned bits) {
    return hamming_kernels()->pair(a, b, hamming_words(bits));
}

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
