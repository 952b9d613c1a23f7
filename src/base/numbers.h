/* Numbers that are the same on every machine: decimal text independent of the locale, little-endian
 * bytes at any address, and mathematical functions independent of the CPU. */
#pragma once

#include <locale.h>
#include <stdint.h>

#include "base/memory.h"

/* ---- As text --------------------------------------------------------------------------------- */

/* The locale "C", for formatting between two calls of uselocale; 0 if memory ran out. */
locale_t number_locale(void);

/* Parses a field that is entirely one number, and not a NaN. */
bool number_parse(struct bytes_view field, double *number);

/* ---- As bytes -------------------------------------------------------------------------------- */

/* Sections of mapped files are used as arrays in place, so the machine must be little-endian. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sections hold little-endian arrays");

static inline void encode_u32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline void encode_u64(uint8_t *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t decode_u32(const uint8_t *bytes) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static inline uint64_t decode_u64(const uint8_t *bytes) {
    return decode_u32(bytes) | (uint64_t)decode_u32(bytes + 4) << 32;
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* For qsort and bsearch, ascending. */
int compare_u32(const void *x, const void *y);
int compare_u64(const void *x, const void *y);
/* Ascending. Fast for few values, such as the terms of a document. */
void sort_u64(uint64_t *values, size_t count);

/* Sort and remove duplicates; return how many are left. */
size_t sort_distinct_u32(uint32_t *values, size_t count);
size_t sort_distinct_u64(uint64_t *values, size_t count);

/* ---- Mathematics ----------------------------------------------------------------------------- */

/* The C library selects FMA variants at run time. These functions use plain double operations, so
 * that everything computed from them (weights, signatures, radii, tables) is identical to the last
 * bit on every CPU. */

/* Natural logarithm of a positive, finite, normal x, with a relative error below 1e-14. */
double portable_log(double x);
/* e to the power of x, with a relative error below 1e-14. */
double portable_exp(double x);
/* Cosine of pi * x for x from 0 to 1, with an absolute error below 1e-15; exact at 0, 1/2 and 1. */
double portable_cos_pi(double x);
