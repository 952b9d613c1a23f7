/* The machine: which instruction set the kernels may use (found once, lowered by COGNATE_CPU for
 * tests), and its clock for reports and benchmarks. */
#pragma once

#include <stdint.h>

#include "cognate.h"

enum cpu_level { CPU_PORTABLE, CPU_POPCNT, CPU_AVX2, CPU_AVX512, CPU_NEON, CPU_LEVEL_COUNT };

/* "portable", "popcnt", "avx2", "avx512", "neon". */
const char *cpu_level_name(enum cpu_level level);

/* Whether this machine can run the level (portable always). */
bool cpu_supports(enum cpu_level level);

/* The best level this machine supports, or the one that COGNATE_CPU names if it is supported. */
enum cpu_level cpu_best_level(void);

/* Monotonic time. */
uint64_t clock_ns(void);
double clock_seconds_since(uint64_t start_ns);
