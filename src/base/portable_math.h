/* Mathematics whose last bit is the same on every CPU: the C library picks FMA variants of log at
 * run time, and weights behind signatures may not depend on that. Plain double operations only. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Natural logarithm of a positive, finite, normal x, relative error below 1e-14: x = m * 2^e with m
 * in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172, whose series
 * falls by s^2 < 0.03 a term: 12 terms leave less than 1e-18. */
static inline double portable_log(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1022;
    bits = (bits & 0x000fffffffffffffu) | 0x3fe0000000000000u;
    double m;
    memcpy(&m, &bits, sizeof m); /* in [1/2, 1) */
    const int doubled = m < 0.70710678118654752440;
    m += doubled ? m : 0;
    exponent -= doubled;
    double s = (m - 1) / (m + 1);
    double square = s * s;
    double sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * 0.69314718055994530942 + 2 * s * sum;
}
