#include "estimate/radius.h"

#include <math.h>

double bit_flip_probability_cosine(double cosine) {
    double bounded = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
    return acos(bounded) / M_PI;
}

double bit_flip_probability_jaccard(double jaccard) {
    return (1 - jaccard) / 2;
}

/* lgamma() alone writes a global sign. */
static double log_gamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* log of the probability of exactly i differences; p strictly between 0 and 1. */
static double log_binomial(unsigned bits, double p, uint32_t i) {
    return log_gamma(bits + 1.0) - log_gamma(i + 1.0) - log_gamma(bits - i + 1.0) + i * log(p) +
           (bits - i) * log1p(-p);
}

double probability_within(unsigned bits, double p, uint32_t radius) {
    if (p <= 0 || radius >= bits)
        return 1;
    if (p >= 1)
        return 0;
    double sum = 0;
    for (uint32_t i = 0; i <= radius; i++)
        sum += exp(log_binomial(bits, p, i));
    return sum < 1 ? sum : 1;
}

uint32_t radius_for_recall(unsigned bits, double p, double recall) {
    if (p <= 0)
        return 0;
    if (p >= 1 || recall >= 1)
        return bits;
    double sum = 0;
    for (uint32_t radius = 0; radius < bits; radius++) {
        sum += exp(log_binomial(bits, p, radius));
        if (sum >= recall)
            return radius;
    }
    return bits;
}
