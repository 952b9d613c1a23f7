#include <string.h>

#include "search/slices/slices_scores.h"

typedef uint8_t byte_vector __attribute__((vector_size(16)));

static inline byte_vector load_vector(const uint8_t *bytes) {
    byte_vector vector;
    memcpy(&vector, bytes, sizeof vector);
    return vector;
}

static inline bool is_any_set(byte_vector vector) {
    uint64_t halves[2];
    memcpy(halves, &vector, sizeof halves);
    return halves[0] | halves[1];
}

/* A bit for each of 64 bytes that is nonzero in the highest bit. */
static inline uint64_t highest_bits(const byte_vector *vectors) {
    uint64_t words[SCORE_BLOCK / 8], bits = 0;
    memcpy(words, vectors, sizeof words);
    for (int i = 0; i < SCORE_BLOCK / 8; i++)
        bits |= ((words[i] & 0x8080808080808080u) >> 7) * 0x0102040810204080u >> 56 << (8 * i);
    return bits;
}

size_t score_collect_portable(const uint8_t *values, size_t rows, unsigned threshold,
                              uint32_t *candidates) {
    const byte_vector least = (byte_vector){0} + (uint8_t)threshold;
    size_t found = 0;
    for (size_t row = 0; row < rows; row += SCORE_BLOCK) {
        byte_vector reached[SCORE_BLOCK / sizeof(byte_vector)], any = {0};
        for (size_t i = 0; i < SCORE_BLOCK / sizeof any; i++)
            any |= reached[i] = (byte_vector)(load_vector(values + row + i * sizeof any) >= least);
        if (!is_any_set(any))
            continue;
        for (uint64_t rest = highest_bits(reached); rest; rest &= rest - 1)
            candidates[found++] = (uint32_t)(row + (size_t)__builtin_ctzll(rest));
    }
    return found;
}

score_collect *score_collect_for(enum cpu_level level) {
    static score_collect *const levels[CPU_LEVEL_COUNT] =
        CPU_TABLE(score_collect_portable, score_collect_portable, score_collect_avx2,
                  score_collect_avx512, score_collect_portable);
    return levels[level];
}
