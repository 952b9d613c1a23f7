#include "signature/signer.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strings.h"
#include "hamming/hamming.h"
#include "signature/patterns.h"

/* Weights become integers of at most 15 bits, so 32-bit sums hold FLUSH_TERMS of them. */
enum { WEIGHT_MAX = 32767, FLUSH_TERMS = 65536, BLOCK_TERMS = 64 };

struct signer {
    struct signature_options options;
    const struct signature_kernels *kernels;
    unsigned words;        /* 64-bit words of a pattern */
    size_t lanes;          /* minhash: values, rounded up to 8 */
    uint64_t *multipliers; /* minhash: lanes each */
    uint64_t *increments;
    int16_t gaussian[GAUSSIAN_STEPS];
};

struct signer_workspace {
    uint64_t *patterns; /* BLOCK_TERMS patterns (topsig: followed by as many minus planes; Gaussian:
                         * STEPPED_TERMS sequences, eight times as long) */
    int32_t *partial;   /* 64 * words sums, flushed into totals before they overflow */
    int64_t *totals;
    uint64_t *minima;
    uint16_t *positions;
    int32_t weights[2 * BLOCK_TERMS];
};

void signature_options_init(struct signature_options *options, enum signature_kind kind) {
    *options = (struct signature_options){.kind = kind, .density = 1.0 / 6};
    options->value_bits = SIGNATURE_VALUE_BITS;
    options->bits = kind == SIGNATURE_SIMHASH ? 64 : kind == SIGNATURE_MINHASH ? 4096 : 1024;
}

cog_status signature_options_check(const struct signature_options *options, cog_error *error) {
    if ((unsigned)options->kind > SIGNATURE_MINHASH)
        return error_set(error, COG_ERR_USAGE,
                         "kind %d of signatures: there is none of that number", (int)options->kind);
    if (options->bits < SIGNATURE_MIN_BITS || options->bits > SIGNATURE_MAX_BITS)
        return error_set(error, COG_ERR_USAGE, "signatures of %u bit%s: choose from %d to %d",
                         options->bits, plural(options->bits, "", "s"), SIGNATURE_MIN_BITS,
                         SIGNATURE_MAX_BITS);
    if (options->kind == SIGNATURE_TOPSIG &&
        !(options->density * options->bits >= 1 && options->density <= 0.5))
        return error_set(error, COG_ERR_USAGE,
                         "a TopSig density of %g at %u bits: choose from 1/bits to 0.5",
                         options->density, options->bits);
    if (options->kind != SIGNATURE_MINHASH)
        return COG_OK;
    if (options->value_bits < 1 || options->value_bits > SIGNATURE_VALUE_BITS)
        return error_set(error, COG_ERR_USAGE, "minhash values of %u bits: choose from 1 to %d",
                         options->value_bits, SIGNATURE_VALUE_BITS);
    if (options->bits % options->value_bits)
        return error_set(error, COG_ERR_USAGE,
                         "%u bits do not hold whole minhash values of %u bits: choose a multiple",
                         options->bits, options->value_bits);
    return COG_OK;
}

static cog_status create_orderings(struct signer *signer, cog_error *error) {
    size_t values = signer->options.bits / signer->options.value_bits;
    signer->lanes = (values + 7) / 8 * 8;
    TAKE(signer->multipliers, signer->lanes, "minhash orderings", error);
    TAKE(signer->increments, signer->lanes, "minhash orderings", error);
    uint64_t key = hash_mix(signer->options.seed ^ 0x6d696e68617368u);
    for (size_t i = 0; i < signer->lanes; i++) {
        signer->multipliers[i] = hash_sequence(key, 2 * i) | 1;
        signer->increments[i] = hash_sequence(key, 2 * i + 1);
    }
    return COG_OK;
}

cog_status signer_create(const struct signature_options *options, struct signer **result,
                         cog_error *error) {
    TRY(signature_options_check(options, error));
    struct signer *signer;
    TAKE_ZEROED(signer, 1, "a signer", error);
    signer->options = *options;
    signer->kernels = signature_kernels_for(cpu_best_level());
    signer->words = (options->bits + 63) / 64;
    if (options->kind == SIGNATURE_RP && options->gaussian)
        gaussian_steps(signer->gaussian);
    cog_status status =
        options->kind == SIGNATURE_MINHASH ? create_orderings(signer, error) : COG_OK;
    return HAND_OUT(status, signer, signer_free, result);
}

void signer_free(struct signer *signer) {
    if (!signer)
        return;
    FREE(signer->multipliers, signer->increments, signer);
}

const struct signature_options *signer_options(const struct signer *signer) {
    return &signer->options;
}

cog_status signer_workspace_create(const struct signer *signer, struct signer_workspace **result,
                                   cog_error *error) {
    const char *what = "a signer's workspace";
    struct signer_workspace *workspace;
    TAKE_ZEROED(workspace, 1, what, error);
    size_t words = signer->words;
    cog_status status = TAKEN(workspace->patterns, 2 * BLOCK_TERMS * words, what, error);
    THEN(status, TAKEN(workspace->partial, 64 * words, what, error));
    THEN(status, TAKEN(workspace->totals, 64 * words, what, error));
    THEN(status, TAKEN(workspace->minima, signer->lanes, what, error));
    THEN(status, TAKEN(workspace->positions, signer->options.bits, what, error));
    return HAND_OUT(status, workspace, signer_workspace_free, result);
}

void signer_workspace_free(struct signer_workspace *workspace) {
    if (!workspace)
        return;
    FREE(workspace->patterns, workspace->partial, workspace->totals, workspace->minima,
         workspace->positions, workspace);
}

/* The integer weights of a document are its weights over `unit`. */
static double weight_unit(const struct weighted_terms *terms) {
    if (!terms->weights)
        return 1;
    float largest = 0;
    for (size_t i = 0; i < terms->count; i++)
        largest = terms->weights[i] > largest ? terms->weights[i] : largest;
    return largest > 0 ? (double)largest / WEIGHT_MAX : 1;
}

static void flush_partial(struct signer_workspace *workspace, size_t sums) {
    for (size_t j = 0; j < sums; j++)
        workspace->totals[j] += workspace->partial[j];
    memset(workspace->partial, 0, sums * sizeof *workspace->partial);
}

/* Fills the patterns of a block of terms; returns their number (TopSig: two per term, the second
 * subtracted). */
static size_t fill_patterns(const struct signer *signer, struct signer_workspace *workspace,
                            const uint64_t *hashes, size_t count) {
    const struct signature_options *options = &signer->options;
    unsigned words = signer->words;
    uint64_t *patterns = workspace->patterns;
    switch (options->kind) {
    case SIGNATURE_TOPSIG: {
        unsigned ones = (unsigned)(options->density * options->bits);
        for (size_t t = 0; t < count; t++) {
            pattern_ternary(hashes[t], options->seed, options->bits, ones, workspace->positions,
                            words, patterns + t * words, patterns + (count + t) * words);
            workspace->weights[count + t] = -workspace->weights[t];
        }
        return 2 * count;
    }
    case SIGNATURE_SIMHASH:
        for (size_t t = 0; t < count; t++)
            pattern_simhash(hashes[t], options->seed, words, patterns + t * words);
        return count;
    default: {
        uint64_t keys[BLOCK_TERMS];
        for (size_t t = 0; t < count; t++)
            keys[t] = pattern_key(hashes[t], options->seed);
        signer->kernels->signs(patterns, words, keys, count);
        return count;
    }
    }
}

/* One Gaussian value per bit: byte b of the term's sequence picks its step. */
static void add_gaussian(const struct signer *signer, struct signer_workspace *workspace,
                         const uint64_t *hashes, size_t count) {
    uint64_t keys[STEPPED_TERMS];
    for (size_t begin = 0; begin < count; begin += STEPPED_TERMS) {
        size_t terms = count - begin < STEPPED_TERMS ? count - begin : STEPPED_TERMS;
        for (size_t t = 0; t < terms; t++)
            keys[t] = pattern_key(hashes[begin + t], signer->options.seed);
        signer->kernels->signs(workspace->patterns, 8 * signer->words, keys, terms);
        signer->kernels->add_steps(workspace->totals, signer->gaussian, signer->words,
                                   workspace->patterns, workspace->weights + begin, terms);
    }
}

/* Leaves in workspace->totals the sums in units of `unit` (times 1024 for Gaussian values). */
static void sum_terms(const struct signer *signer, struct signer_workspace *workspace,
                      const struct weighted_terms *terms, double unit) {
    size_t sums = 64 * (size_t)signer->words, unflushed = 0;
    bool gaussian = signer->options.kind == SIGNATURE_RP && signer->options.gaussian;
    bool signs = signer->options.kind != SIGNATURE_TOPSIG && !gaussian;
    int64_t total_weight = 0;
    memset(workspace->partial, 0, sums * sizeof *workspace->partial);
    memset(workspace->totals, 0, sums * sizeof *workspace->totals);
    for (size_t begin = 0; begin < terms->count; begin += BLOCK_TERMS) {
        size_t count = terms->count - begin < BLOCK_TERMS ? terms->count - begin : BLOCK_TERMS;
        for (size_t t = 0; t < count; t++) {
            double weight = terms->weights ? (double)terms->weights[begin + t] / unit + 0.5 : 1;
            workspace->weights[t] = (int32_t)weight;
            total_weight += workspace->weights[t];
        }
        if (gaussian) {
            add_gaussian(signer, workspace, terms->hashes + begin, count);
            continue;
        }
        size_t patterns = fill_patterns(signer, workspace, terms->hashes + begin, count);
        signer->kernels->accumulate(workspace->partial, signer->words, workspace->patterns,
                                    workspace->weights, patterns);
        unflushed += count;
        if (unflushed > FLUSH_TERMS - BLOCK_TERMS) {
            flush_partial(workspace, sums);
            unflushed = 0;
        }
    }
    flush_partial(workspace, sums);
    /* A sign is +1 if the pattern has the bit and -1 otherwise, so the sum is twice the weight of
     * set bits minus the total weight. */
    if (signs)
        for (size_t j = 0; j < sums; j++)
            workspace->totals[j] = 2 * workspace->totals[j] - total_weight;
}

static void sign_sums(const struct signer *signer, struct signer_workspace *workspace,
                      const struct weighted_terms *terms, uint8_t *signature, float *sums) {
    double unit = weight_unit(terms);
    sum_terms(signer, workspace, terms, unit);
    memset(signature, 0, signature_stride_bytes(signer->options.bits));
    for (unsigned j = 0; j < signer->options.bits; j++)
        signature[j / 8] |= (uint8_t)((workspace->totals[j] >= 0) << (7 - j % 8));
    if (!sums)
        return;
    double scale =
        signer->options.kind == SIGNATURE_RP && signer->options.gaussian ? unit / 1024 : unit;
    for (unsigned j = 0; j < signer->options.bits; j++)
        sums[j] = (float)((double)workspace->totals[j] * scale);
}

/* Packs the low value_bits of each minimum, highest bit first. */
static void sign_minima(const struct signer *signer, struct signer_workspace *workspace,
                        const struct weighted_terms *terms, uint8_t *signature, float *sums) {
    const struct signature_options *options = &signer->options;
    for (size_t i = 0; i < signer->lanes; i++)
        workspace->minima[i] = UINT32_MAX;
    signer->kernels->minimise(workspace->minima, signer->multipliers, signer->increments,
                              signer->lanes, terms->hashes, terms->count);
    memset(signature, 0, signature_stride_bytes(options->bits));
    for (unsigned j = 0; j < options->bits; j++) {
        unsigned value = j / options->value_bits, bit = j % options->value_bits;
        uint64_t set = (workspace->minima[value] >> (options->value_bits - 1 - bit)) & 1;
        signature[j / 8] |= (uint8_t)(set << (7 - j % 8));
    }
    if (sums)
        memset(sums, 0, options->bits * sizeof *sums);
}

void signer_sign(const struct signer *signer, struct signer_workspace *workspace,
                 const struct weighted_terms *terms, uint8_t *signature, float *sums) {
    if (signer->options.kind == SIGNATURE_MINHASH)
        sign_minima(signer, workspace, terms, signature, sums);
    else
        sign_sums(signer, workspace, terms, signature, sums);
}

/* Values of b bits agree by chance with probability 2^-b; the excess over that is the estimate. */
static double estimate_jaccard(const struct signature_options *options, const uint8_t *a,
                               const uint8_t *b) {
    unsigned values = options->bits / options->value_bits, equal = 0;
    size_t stride = signature_stride_bytes(options->bits);
    for (unsigned i = 0; i < values; i++) {
        unsigned first = i * options->value_bits;
        equal += signature_bits(a, stride, first, options->value_bits) ==
                 signature_bits(b, stride, first, options->value_bits);
    }
    double chance = 1.0 / (double)(1ull << options->value_bits);
    double estimate = ((double)equal / values - chance) / (1 - chance);
    return estimate > 0 ? estimate : 0;
}

double signature_estimate(const struct signature_options *options, const uint8_t *a,
                          const uint8_t *b) {
    if (options->kind == SIGNATURE_MINHASH)
        return estimate_jaccard(options, a, b);
    return hamming_cosine(hamming_distance(a, b, options->bits), options->bits);
}

static void accumulate(int32_t *sums, unsigned words, const uint64_t *patterns,
                       const int32_t *weights, size_t count) {
    for (size_t t = 0; t < count; t++)
        for (unsigned i = 0; i < words; i++) {
            uint64_t pattern = patterns[t * words + i];
            for (unsigned b = 0; b < 64; b++)
                sums[64 * i + b] += weights[t] & -(int32_t)((pattern >> b) & 1);
        }
}

const struct signature_kernels signature_kernels_portable = {fill_signs, accumulate,
                                                             add_steps_plainly, minimise_lanes};

static const struct signature_kernels *const levels[CPU_LEVEL_COUNT] =
    CPU_TABLE(&signature_kernels_portable, &signature_kernels_portable, &signature_kernels_avx2,
              &signature_kernels_avx512, &signature_kernels_portable);

const struct signature_kernels *signature_kernels_for(enum cpu_level level) {
    return cpu_supports(level) ? levels[level] : NULL;
}
