/* Hashing and random numbers.
 *
 * Terms are identified by one 64-bit hash of their bytes (XXH3). All other randomness of a term is
 * derived from this hash by integer mixing. Both are the same on every machine and part of the file
 * format. Random numbers (xoshiro256**) are reproducible for a given seed and serve sampling,
 * permutations and tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t hash_bytes(const void *data, size_t size) {
    return XXH3_64bits(data, size);
}

/* A bijection in which every input bit affects every output bit (the finaliser of SplitMix64). */
static inline uint64_t hash_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Value i of the random sequence of `key`: SplitMix64 addressed by index. */
static inline uint64_t hash_sequence(uint64_t key, uint64_t i) {
    return hash_mix(key + (i + 1) * 0x9e3779b97f4a7c15u);
}

/* Order matters: hash_pair(a, b) != hash_pair(b, a). */
static inline uint64_t hash_pair(uint64_t a, uint64_t b) {
    return hash_mix(a * 0x9e3779b97f4a7c15u + b);
}

/* ---- Random numbers -------------------------------------------------------------------------- */

struct random {
    uint64_t state[4];
};

struct random random_seeded(uint64_t seed);

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
