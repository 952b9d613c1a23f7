#include "signature/signature_kernels.h"

static void accumulate(int32_t *sums, unsigned words, const uint64_t *patterns,
                       const int32_t *weights, size_t count) {
    for (size_t t = 0; t < count; t++)
        for (unsigned i = 0; i < words; i++) {
            uint64_t pattern = patterns[t * words + i];
            for (unsigned b = 0; b < 64; b++)
                sums[64 * i + b] += weights[t] & -(int32_t)((pattern >> b) & 1);
        }
}

static void signs(uint64_t *patterns, unsigned words, const uint64_t *keys, size_t count) {
    fill_signs(patterns, words, keys, count);
}

static void add_steps(int64_t *totals, const int16_t *steps, unsigned words,
                      const uint64_t *sequences, const int32_t *weights, size_t count) {
    add_steps_plainly(totals, steps, words, sequences, weights, count);
}

static void minimise(uint64_t *minima, const uint64_t *multipliers, const uint64_t *increments,
                     size_t lanes, const uint64_t *hashes, size_t count) {
    minimise_lanes(minima, multipliers, increments, lanes, hashes, count);
}

const struct signature_kernels signature_kernels_portable = {signs, accumulate, add_steps,
                                                             minimise};

static const struct signature_kernels *const levels[CPU_LEVEL_COUNT] =
    CPU_TABLE(&signature_kernels_portable, &signature_kernels_portable, &signature_kernels_avx2,
              &signature_kernels_avx512, &signature_kernels_portable);

const struct signature_kernels *signature_kernels_for(enum cpu_level level) {
    return cpu_supports(level) ? levels[level] : NULL;
}
