#include "base/numbers.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t number_locale(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_locale);
    return c_locale;
}

bool number_parse(struct bytes_view field, double *number) {
    char text[64], *end;
    locale_t locale = number_locale();
    if (field.size == 0 || field.size >= sizeof text)
        return false;
    memcpy(text, field.data, field.size);
    text[field.size] = '\0';
    *number = locale ? strtod_l(text, &end, locale) : strtod(text, &end);
    return end == text + field.size && !isnan(*number);
}

int compare_u32(const void *x, const void *y) {
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return ORDER(a, b);
}

int compare_u64(const void *x, const void *y) {
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return ORDER(a, b);
}

void sort_u64(uint64_t *values, size_t count) {
    enum { FEW = 64 };
    if (count > FEW) {
        qsort(values, count, sizeof *values, compare_u64);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

size_t sort_distinct_u32(uint32_t *values, size_t count) {
    size_t distinct = 0;
    if (count)
        qsort(values, count, sizeof *values, compare_u32);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[distinct - 1])
            values[distinct++] = values[i];
    return distinct;
}

size_t sort_distinct_u64(uint64_t *values, size_t count) {
    size_t distinct = 0;
    if (count)
        qsort(values, count, sizeof *values, compare_u64);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || values[i] != values[distinct - 1])
            values[distinct++] = values[i];
    return distinct;
}

/* x = m * 2^e with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <
 * 0.172. Each term of the series is smaller by s^2 < 0.03: 12 terms leave less than 1e-18. */
double portable_log(double x) {
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

/* x = k log 2 + r with |r| <= (log 2) / 2; log 2 in two parts, the first short enough for k times
 * it to be exact. 14 terms of the series of e^r leave less than 1e-17. */
double portable_exp(double x) {
    if (!(x > -746))
        return isnan(x) ? x : 0;
    if (x > 710)
        return HUGE_VAL;
    int k = (int)floor(x * 1.44269504088896340736 + 0.5);
    double r = (x - k * 0x1.62e42feep-1) - k * 0x1.a39ef35793c76p-33;
    double sum = 1;
    for (int i = 14; i >= 1; i--)
        sum = 1 + sum * r / i;
    return ldexp(sum, k);
}

/* By symmetry the angle is at most pi / 4; there eight more terms of either series leave 1e-18. */
double portable_cos_pi(double x) {
    if (x > 0.5)
        return -portable_cos_pi(1 - x);
    bool as_sine = x > 0.25;
    double angle = (as_sine ? 0.5 - x : x) * 3.14159265358979323846, square = angle * angle;
    double sum = 1;
    for (int i = 16 + as_sine; i >= 2; i -= 2)
        sum = 1 - sum * square / (i * (i - 1));
    return as_sine ? angle * sum : sum;
}
