/* The kernel tables of the instruction sets; hamming.c chooses among them. */
#pragma once

#include "hamming/hamming.h"

extern const struct hamming_kernels hamming_portable;
#if defined(__x86_64__)
extern const struct hamming_kernels hamming_popcnt;
extern const struct hamming_kernels hamming_avx2;
extern const struct hamming_kernels hamming_avx512;
#elif defined(__aarch64__)
extern const struct hamming_kernels hamming_neon;
#endif
