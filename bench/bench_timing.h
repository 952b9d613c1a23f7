/* What the benchmarks share: medians, and the processor time of the calling thread, which a busy
 * machine disturbs less than the wall clock (comparisons with one thread use it). */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t bench_cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline double bench_cpu_seconds_since(uint64_t start_ns) {
    return (double)(bench_cpu_ns() - start_ns) * 1e-9;
}

/* Of all threads of the process. */
static inline double bench_process_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline int bench_by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Sorts the values. */
static inline double bench_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, bench_by_value);
    return values[count / 2];
}
