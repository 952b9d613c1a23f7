/* CPU detection and the clock. The instruction set that the kernels may use is detected once; tests
 * lower it with COGNATE_CPU. The clock serves reports and benchmarks. */
#pragma once

#include <stdint.h>

#include "cognate.h"

enum cpu_level { CPU_PORTABLE, CPU_POPCNT, CPU_AVX2, CPU_AVX512, CPU_NEON, CPU_LEVEL_COUNT };

/* "portable", "popcnt", "avx2", "avx512", "neon". */
const char *cpu_level_name(enum cpu_level level);

/* Whether this machine can run the level (portable always). */
bool cpu_supports(enum cpu_level level);

/* The best level this machine supports, or the level that COGNATE_CPU names if it is supported.
 * Detected at the first call; later calls cost one load. */
enum cpu_level cpu_best_level(void);

/* Initialises an array with the kernels of every level, indexed by cpu_best_level(). A level
 * without kernels of its own repeats the entry of a lower level. */
#if defined(__x86_64__)
#define CPU_TABLE(portable, popcnt, avx2, avx512, neon)                                            \
    {                                                                                              \
        [CPU_PORTABLE] = (portable), [CPU_POPCNT] = (popcnt), [CPU_AVX2] = (avx2),                 \
        [CPU_AVX512] = (avx512)                                                                    \
    }
#elif defined(__aarch64__)
#define CPU_TABLE(portable, popcnt, avx2, avx512, neon)                                            \
    { [CPU_PORTABLE] = (portable), [CPU_NEON] = (neon) }
#else
#define CPU_TABLE(portable, popcnt, avx2, avx512, neon)                                            \
    { [CPU_PORTABLE] = (portable) }
#endif

/* Monotonic time. */
uint64_t clock_ns(void);
double clock_seconds_since(uint64_t start_ns);
