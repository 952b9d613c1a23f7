/* Hashing: one 64-bit hash of bytes (XXH3) names terms everywhere, and integer mixing derives from
 * it whatever else is random about a term. Both are the same on every machine and belong to the
 * file format. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t hash_bytes(const void *data, size_t size) {
    return XXH3_64bits(data, size);
}

/* A bijection in which every input bit moves every output bit (the finaliser of SplitMix64). */
static inline uint64_t hash_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The i-th value of the random sequence that belongs to `key`: SplitMix64 addressed by index. */
static inline uint64_t hash_sequence(uint64_t key, uint64_t i) {
    return hash_mix(key + (i + 1) * 0x9e3779b97f4a7c15u);
}

/* Order matters: hash_pair(a, b) != hash_pair(b, a). */
static inline uint64_t hash_pair(uint64_t a, uint64_t b) {
    return hash_mix(a * 0x9e3779b97f4a7c15u + b);
}
