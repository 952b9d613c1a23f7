#include "search/lsh/flip_kernels.h"

void collect_flips(struct flip_keys *keys, const struct flip_sets *first,
                   const struct flip_sets *second, struct lsh_key own, unsigned half_bits,
                   int32_t bound) {
    const unsigned shift = 64 - 2 * half_bits;
    size_t count = keys->count;
    for (size_t x = 0; first->costs[x] + second->costs[0] <= bound && count <= keys->most; x++) {
        const int32_t left = bound - first->costs[x];
        const uint32_t below = flips_below(first->flips[x]);
        const uint64_t key = own.key ^ flip_mask(first->flips[x]) << (half_bits + shift);
        for (size_t y = x == 0; second->costs[y] <= left; y++) { /* the own key is none */
            keys->costs[count] = first->costs[x] + second->costs[y];
            keys->keys[count] = key ^ flip_mask(second->flips[y]) << shift;
            keys->tables[count] = own.table;
            count += second->flips[y] < below;
        }
    }
    keys->count = count;
}

const struct flip_kernels flip_kernels_portable = FLIP_KERNELS(collect_flips);

const struct flip_kernels *flip_kernels_for(enum cpu_level level) {
    static const struct flip_kernels *const levels[CPU_LEVEL_COUNT] =
        CPU_TABLE(&flip_kernels_portable, &flip_kernels_portable, &flip_kernels_avx2,
                  &flip_kernels_avx512, &flip_kernels_portable);
    return cpu_supports(level) ? levels[level] : NULL;
}
