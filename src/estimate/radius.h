/* How far apart, in bits, the signatures of two documents of a given similarity may lie. */
#pragma once

#include <stdint.h>

/* Probability that a bit differs: the angle over pi for random projection (Ture et al. 2011,
 * equation 3), and half of 1 - Jaccard for minhash values of one bit. */
double bit_flip_probability_cosine(double cosine);
double bit_flip_probability_jaccard(double jaccard);

/* The smallest radius within which a pair whose bits differ with probability p lies with
 * probability `recall` or more: the quantile of the binomial distribution (Ture et al. 2011,
 * equation 5, solved for T). */
uint32_t radius_for_recall(unsigned bits, double p, double recall);

/* Binomial probability of `bits` trials giving at most `radius` differences. */
double probability_within(unsigned bits, double p, uint32_t radius);
