/* Random numbers that repeat: xoshiro256** seeded through SplitMix64. For sampling, permutations,
 * tests. */
#pragma once

#include <stdint.h>

#include "base/hash.h"

struct random {
    uint64_t state[4];
};

static inline struct random random_seeded(uint64_t seed) {
    struct random random;
    for (int i = 0; i < 4; i++)
        random.state[i] = hash_sequence(seed, (uint64_t)i);
    return random;
}

static inline uint64_t random_next(struct random *random) {
    uint64_t *s = random->state;
    uint64_t x = s[1] * 5;
    uint64_t result = ((x << 7) | (x >> 57)) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform in [0, bound), bound > 0; the bias is below 2^-32 for bounds under 2^32. */
static inline uint64_t random_below(struct random *random, uint64_t bound) {
    return (uint64_t)(((unsigned __int128)random_next(random) * bound) >> 64);
}

/* Uniform in [0, 1). */
static inline double random_unit(struct random *random) {
    return (double)(random_next(random) >> 11) * 0x1p-53;
}
