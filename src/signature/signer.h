/* From weighted terms to bits: random projection, simhash, TopSig and minhash behind one interface.
 *
 * Nothing of size vocabulary x bits exists: whatever is random about a term comes from hashing it.
 * The sums behind the bits are integers, so bits and weights are the same on every CPU and for
 * every number of threads. A bit is 1 where its sum is zero or more. */
#pragma once

#include "base/error.h"

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
    double density;      /* topsig: share of a term's positions that are +1, and as many are -1 */
    unsigned value_bits; /* minhash: bits kept of each value; bits / value_bits values */
};

/* The kind's usual width and settings: rp and topsig 1024, simhash 64, minhash 128 values of 32
 * bits. */
void signature_options_init(struct signature_options *options, enum signature_kind kind);
cog_status signature_options_check(const struct signature_options *options, cog_error *error);

/* Immutable, shared by threads. */
struct signer;
cog_status signer_create(const struct signature_options *options, struct signer **signer,
                         cog_error *error);
void signer_free(struct signer *signer);
const struct signature_options *signer_options(const struct signer *signer);

/* Scratch memory; one a thread. */
struct signer_workspace;
cog_status signer_workspace_create(const struct signer *signer, struct signer_workspace **workspace,
                                   cog_error *error);
void signer_workspace_free(struct signer_workspace *workspace);

/* Terms by their hashes with weights of zero or more; weights NULL means 1 each, and then a term
 * may be listed as often as it occurs. */
struct weighted_terms {
    const uint64_t *hashes;
    const float *weights;
    size_t count;
};

/* Writes signature_stride_bytes(bits) bytes, padding bits zero; sums, where not NULL, receives the
 * `bits` sums behind the bits in units of the weights (minhash has none: zeroes). */
void signer_sign(const struct signer *signer, struct signer_workspace *workspace,
                 const struct weighted_terms *terms, uint8_t *signature, float *sums);

/* The similarity that two signatures estimate: cosine for sums, Jaccard for minhash. */
double signature_estimate(const struct signature_options *options, const uint8_t *a,
                          const uint8_t *b);
