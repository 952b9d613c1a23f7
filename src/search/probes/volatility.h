/* How likely a bit of a signature is to differ in a similar document, from the weight W behind the
 * bit: p(W) = P(Y > |W|), where Y is the difference that weights of similar documents show (section
 * 4 of Sood and Loguinov). The distribution of Y is learned from a sample and kept as quantiles of
 * |Y|, which is all that a file needs to hold. */
#pragma once

#include "search/probes/probes.h"

enum { VOLATILITY_QUANTILES = 257, VOLATILITY_CELLS = 4096 };

struct volatility {
    double quantiles[VOLATILITY_QUANTILES]; /* of |Y|: the least, ..., the greatest; rising */
    double tail; /* P(|Y| > the greatest quantile), what one sample more would have shown */
    float scale; /* cells for a unit of |W| */
    uint32_t penalties[VOLATILITY_CELLS]; /* log-odds by |W|, in fixed point as probes.h has it */
};

/* Learns from sampled differences Y; their order and signs do not matter. Fails without a finite
 * sample. */
cog_status volatility_learn(struct volatility *volatility, const float *differences, size_t count,
                            cog_error *error);
/* Learns from weights (rows x bits): differences of `pairs` random pairs of rows, as the paper
 * does, in every bit. The seed fixes the sample. */
cog_status volatility_learn_random_pairs(struct volatility *volatility, const float *weights,
                                         size_t rows, unsigned bits, size_t pairs, uint64_t seed,
                                         cog_error *error);
/* From quantiles and tail that were stored; refuses what is not rising and finite. */
cog_status volatility_restore(struct volatility *volatility, const double *quantiles, double tail,
                              cog_error *error);

/* P(Y > |weight|), at most one half. */
double volatility_probability(const struct volatility *volatility, double weight);

/* What makes the mean size of a row's weights 1: documents of all lengths then have differences
 * that can be compared. 0 where all weights are 0. */
float volatility_unit(const float *weights, unsigned bits);

/* The penalty of flipping a bit with this weight, by table. */
static inline uint32_t volatility_penalty(const struct volatility *volatility, float weight) {
    float cell = __builtin_fabsf(weight) * volatility->scale;
    return volatility
        ->penalties[cell < VOLATILITY_CELLS - 1 ? (unsigned)cell : VOLATILITY_CELLS - 1];
}

/* The bits of a key by penalty, without those above the bound. */
void volatility_bits(const struct volatility *volatility, const float *margins, unsigned key_bits,
                     uint32_t bound, struct probe_bits *bits);
