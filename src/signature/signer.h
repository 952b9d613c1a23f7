/* From weighted terms to bits: random projection, simhash, TopSig and minhash behind one interface.
 *
 * No table of vocabulary x bits exists: all randomness of a term comes from its hash. The sums
 * (margins) are integers, so bits and margins are the same on every CPU and for any number of
 * threads. A bit is 1 if its sum is zero or more. */
#pragma once

#include "base/cpu.h"
#include "base/error.h"
#include "base/hash.h"

enum signature_kind {
    SIGNATURE_RP,      /* random signs, or Gaussian values (Ture et al. 2011, section 4.2) */
    SIGNATURE_SIMHASH, /* the bits of the term's hash as signs (Sood and Loguinov 2011) */
    SIGNATURE_TOPSIG,  /* sparse ternary vectors (Geva and De Vries 2011; Chappell et al. 2015) */
    SIGNATURE_MINHASH, /* smallest values of random orderings, packed to value_bits each */
};

enum { SIGNATURE_MIN_BITS = 8, SIGNATURE_MAX_BITS = 4096, SIGNATURE_VALUE_BITS = 32 };

struct signature_options {
    enum signature_kind kind;
    unsigned bits;
    uint64_t seed;
    bool gaussian;       /* rp: Gaussian values in place of signs */
    double density;      /* topsig: share of a term's positions that are +1; the same share is -1 */
    unsigned value_bits; /* minhash: bits kept of each value; bits / value_bits values */
};

/* The kind's default width and settings: rp and topsig 1024, simhash 64, minhash 128 values of 32
 * bits. */
void signature_options_init(struct signature_options *options, enum signature_kind kind);
cog_status signature_options_check(const struct signature_options *options, cog_error *error);

/* Immutable, shared by threads. */
struct signer;
cog_status signer_create(const struct signature_options *options, struct signer **signer,
                         cog_error *error);
void signer_free(struct signer *signer);
const struct signature_options *signer_options(const struct signer *signer);

/* Scratch memory; one per thread. */
struct signer_workspace;
cog_status signer_workspace_create(const struct signer *signer, struct signer_workspace **workspace,
                                   cog_error *error);
void signer_workspace_free(struct signer_workspace *workspace);

/* Terms by hash, with weights of zero or more. If `weights` is NULL, each weight is 1 and a term
 * may be listed once per occurrence. */
struct weighted_terms {
    const uint64_t *hashes;
    const float *weights;
    size_t count;
};

/* Writes signature_stride_bytes(bits) bytes, padding bits zero. `sums`, if not NULL, receives the
 * `bits` margins in units of the weights (zeros for minhash, which has none). */
void signer_sign(const struct signer *signer, struct signer_workspace *workspace,
                 const struct weighted_terms *terms, uint8_t *signature, float *sums);

/* The similarity that two signatures estimate: cosine for sums, Jaccard for minhash. */
double signature_estimate(const struct signature_options *options, const uint8_t *a,
                          const uint8_t *b);

/* The inner loops of signing: one implementation per instruction set, all with the same results. */

enum { STEPPED_TERMS = 16 };

struct signature_kernels {
    /* patterns[t * words + i] = hash_sequence(keys[t], i): the signs of `count` terms. */
    void (*signs)(uint64_t *patterns, unsigned words, const uint64_t *keys, size_t count);
    /* For each of `count` patterns of `words` 64-bit words: sums[64 i + b] += weights[t] if bit b
     * (from the lowest) of word i of pattern t is set. The sums must not overflow 32 bits. */
    void (*accumulate)(int32_t *sums, unsigned words, const uint64_t *patterns,
                       const int32_t *weights, size_t count);
    /* totals[j] += weights[t] * steps[byte j of sequence t], for each of `count` sequences of 64 *
     * words bytes, eight per word from the lowest. count is at most STEPPED_TERMS, weights have 15
     * bits, and steps are odd-symmetric (steps[255 - i] = -steps[i]) and below 4096. */
    void (*add_steps)(int64_t *totals, const int16_t *steps, unsigned words,
                      const uint64_t *sequences, const int32_t *weights, size_t count);
    /* minima[k] = min(minima[k], (hash * multipliers[k] + increments[k]) >> 32) over all hashes;
     * lanes is a multiple of 8. */
    void (*minimise)(uint64_t *minima, const uint64_t *multipliers, const uint64_t *increments,
                     size_t lanes, const uint64_t *hashes, size_t count);
};

/* The kernels of a level; NULL if this machine cannot run it. */
const struct signature_kernels *signature_kernels_for(enum cpu_level level);

extern const struct signature_kernels signature_kernels_portable;
extern const struct signature_kernels signature_kernels_avx2;
extern const struct signature_kernels signature_kernels_avx512;

/* Written once, compiled for each instruction set: the compiler vectorises them. */

static inline void fill_signs(uint64_t *restrict patterns, unsigned words,
                              const uint64_t *restrict keys, size_t count) {
    for (size_t t = 0; t < count; t++)
        for (unsigned i = 0; i < words; i++)
            patterns[t * words + i] = hash_sequence(keys[t], i);
}

static inline void add_steps_plainly(int64_t *restrict totals, const int16_t *restrict steps,
                                     unsigned words, const uint64_t *restrict sequences,
                                     const int32_t *restrict weights, size_t count) {
    for (size_t t = 0; t < count; t++)
        for (size_t i = 0; i < 8 * (size_t)words; i++) {
            uint64_t bytes = sequences[8 * words * t + i];
            for (int b = 0; b < 8; b++)
                totals[8 * i + (size_t)b] += weights[t] * steps[bytes >> 8 * b & 255];
        }
}

static inline void minimise_lanes(uint64_t *restrict minima, const uint64_t *restrict multipliers,
                                  const uint64_t *restrict increments, size_t lanes,
                                  const uint64_t *restrict hashes, size_t count) {
    for (size_t k = 0; k < lanes; k += 8) {
        uint64_t best[8];
        for (int i = 0; i < 8; i++)
            best[i] = minima[k + i];
        for (size_t t = 0; t < count; t++)
            for (int i = 0; i < 8; i++) {
                uint64_t value = (hashes[t] * multipliers[k + i] + increments[k + i]) >> 32;
                best[i] = value < best[i] ? value : best[i];
            }
        for (int i = 0; i < 8; i++)
            minima[k + i] = best[i];
    }
}
