/* Volatility: the probability that a bit differs in a similar document, estimated from its margin
 * (the paper's weight W). A small margin means a volatile bit. probes.h turns probabilities into
 * penalties and penalties into sets of flips. There are three models, each with the same results on
 * every CPU:
 *
 * Learned (psm): p = P(Y > |W|), where Y is the difference between the margins of similar documents
 * (section 4 of Sood and Loguinov). Y is learned from a sample and kept as quantiles of |Y|, which
 * is all that a file holds. Costs a table look-up per bit.
 *
 * Cosine (lsh): the two rows have a given cosine, and margins are normally distributed. Costs a
 * polynomial per bit; nothing to learn.
 *
 * Mean (slices): a bit whose margin has mean size has log-odds 1 against differing, and log-odds
 * grow with the margin. Costs a multiplication per bit; close to the cosine model for the far
 * neighbours that slices are for. */
#pragma once

#include "search/probes/probes.h"

/* ---- Learned --------------------------------------------------------------------------------- */

enum { VOLATILITY_QUANTILES = 257, VOLATILITY_CELLS = 4096 };

struct volatility {
    double quantiles[VOLATILITY_QUANTILES]; /* of |Y|, rising: the smallest, ..., the largest */
    double tail; /* P(|Y| > the largest quantile): as one more sample would have it */
    float scale; /* cells per unit of |W| */
    uint32_t penalties[VOLATILITY_CELLS]; /* by |W|; see probes.h */
};

/* Learns from sampled differences Y; order and signs do not matter. Fails without a finite
 * sample. */
cog_status volatility_learn(struct volatility *volatility, const float *differences, size_t count,
                            cog_error *error);
/* Learns from margins (rows x bits), as in the paper: from the differences in every bit of `pairs`
 * random pairs of rows. The seed determines the sample. */
cog_status volatility_learn_random_pairs(struct volatility *volatility, const float *margins,
                                         size_t rows, unsigned bits, size_t pairs, uint64_t seed,
                                         cog_error *error);
/* From stored quantiles and tail; rejects quantiles that are not ascending and finite. */
cog_status volatility_restore(struct volatility *volatility, const double *quantiles, double tail,
                              cog_error *error);

/* P(Y > |margin|), at most one half. */
double volatility_probability(const struct volatility *volatility, double margin);

/* The factor that scales the mean size of a row's margins to 1, so that documents of all lengths
 * are comparable. 0 if all margins are 0. */
float volatility_unit(const float *margins, unsigned bits);

/* The penalty of flipping a bit with this margin, by table. */
static inline uint32_t volatility_penalty(const struct volatility *volatility, float margin) {
    float cell = __builtin_fabsf(margin) * volatility->scale;
    return volatility
        ->penalties[cell < VOLATILITY_CELLS - 1 ? (unsigned)cell : VOLATILITY_CELLS - 1];
}

/* The bits of a key by penalty, without bits above the bound. */
void volatility_bits(const struct volatility *volatility, const float *margins, unsigned key_bits,
                     uint32_t bound, struct probe_bits *bits);

/* ---- Cosine ---------------------------------------------------------------------------------- */

/* The probability that a normal deviate is above x >= 0, to within 1.5e-7 (Abramowitz and Stegun,
 * 26.2.19). x is the bit's margin in standard deviations times cosine / sqrt(1 - cosine^2): the
 * margin of the other row is cosine times this margin plus an independent part. */
static inline double volatility_at_cosine(double x) {
    static const double terms[] = {0.0000053830, 0.0000488906, 0.0000380036,
                                   0.0032776263, 0.0211410061, 0.0498673470};
    double power = 0;
    for (int i = 0; i < 6; i++)
        power = (power + terms[i]) * x;
    power += 1;
    for (int i = 0; i < 4; i++)
        power *= power;
    return 0.5 / power;
}

/* ---- Mean ------------------------------------------------------------------------------------ */

/* The penalty per unit of margin: 1 / the mean size of the row's margins, so that a bound means the
 * same for every query. 0 if all margins are 0. */
static inline double volatility_mean_scale(const float *margins, unsigned bits) {
    double sum = 0;
    for (unsigned i = 0; i < bits; i++)
        sum += margins[i] < 0 ? -(double)margins[i] : (double)margins[i];
    return sum > 0 ? bits * (double)PROBE_PENALTY_ONE / sum : 0;
}

static inline uint32_t volatility_mean_penalty(float margin, double scale) {
    double penalty = (margin < 0 ? -(double)margin : (double)margin) * scale;
    return penalty < PROBE_PENALTY_MAX ? (uint32_t)penalty : PROBE_PENALTY_MAX;
}
