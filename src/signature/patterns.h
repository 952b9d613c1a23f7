/* The random vector of a term, derived from its hash: sign patterns for random projection and
 * simhash, ternary planes for TopSig, Gaussian values for rp on request. Part of the file format:
 * must never change. */
#pragma once

#include "base/hash.h"

/* Random projection: word i of the term's signs is value i of the sequence of hash and seed. */
static inline uint64_t pattern_key(uint64_t hash, uint64_t seed) {
    return hash ^ hash_mix(seed + 0x9e3779b97f4a7c15u);
}

/* Simhash: the first word is the term's hash itself (with seed 0); the others are derived from it.
 */
static inline void pattern_simhash(uint64_t hash, uint64_t seed, unsigned words,
                                   uint64_t *pattern) {
    uint64_t key = seed ? hash_pair(hash, seed) : hash;
    pattern[0] = key;
    for (unsigned i = 1; i < words; i++)
        pattern[i] = hash_sequence(key, i);
}

/* TopSig: `ones` distinct positions below `bits` are set in `plus`, and the same number of others
 * in `minus`, by the first 2 * ones steps of a Fisher-Yates shuffle. `positions` is scratch of
 * `bits` entries that holds 0 .. bits - 1 in any order. Both planes have `words` words. */
void pattern_ternary(uint64_t hash, uint64_t seed, unsigned bits, unsigned ones,
                     uint16_t *positions, unsigned words, uint64_t *plus, uint64_t *minus);

/* 256 equally likely values of the normal distribution, in units of 1/1024. */
enum { GAUSSIAN_STEPS = 256 };
void gaussian_steps(int16_t steps[GAUSSIAN_STEPS]);
