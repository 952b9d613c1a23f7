/* The Hamming radius within which signatures of similar documents lie. */
#pragma once

#include <stdint.h>

/* Probability that a bit differs: angle / pi for random projection (Ture et al. 2011, equation 3),
 * and (1 - Jaccard) / 2 for one-bit minhash values. */
double bit_flip_probability_cosine(double cosine);
double bit_flip_probability_jaccard(double jaccard);

/* The smallest radius that contains a pair with probability `recall` or more, if its bits differ
 * with probability p: the quantile of the binomial distribution (Ture et al. 2011, equation 5,
 * solved for T). */
uint32_t radius_for_recall(unsigned bits, double p, double recall);

/* Binomial probability of at most `radius` differences in `bits` trials. */
double probability_within(unsigned bits, double p, uint32_t radius);
