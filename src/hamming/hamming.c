#include "hamming/hamming.h"

#include "base/numbers.h"

static const struct hamming_kernels *const levels[CPU_LEVEL_COUNT] =
    CPU_TABLE(&hamming_portable, &hamming_popcnt, &hamming_avx2, &hamming_avx512, &hamming_neon);

const struct hamming_kernels *hamming_kernels(void) {
    return levels[cpu_best_level()];
}

const struct hamming_kernels *hamming_kernels_for(enum cpu_level level) {
    return cpu_supports(level) ? levels[level] : NULL;
}

double hamming_cosine(double distance, unsigned bits) {
    return portable_cos_pi(distance / bits);
}

/* Halves are exchanged, then quarters, and so on. */
void transpose_bits(uint64_t words[64]) {
    uint64_t mask = 0x00000000ffffffffu;
    for (unsigned step = 32; step > 0; step /= 2, mask ^= mask << step)
        for (unsigned i = 0; i < 64; i = ((i | step) + 1) & ~step) {
            uint64_t change = (words[i] ^ words[i | step] >> step) & mask;
            words[i] ^= change;
            words[i | step] ^= change << step;
        }
}
