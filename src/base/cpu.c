#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const level_names[CPU_LEVEL_COUNT] = {"portable", "popcnt", "avx2", "avx512",
                                                         "neon"};

const char *cpu_level_name(enum cpu_level level) {
    return level_names[level];
}

bool cpu_supports(enum cpu_level level) {
    if (level == CPU_PORTABLE)
        return true;
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool popcnt = __builtin_cpu_supports("popcnt");
    bool avx2 = popcnt && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("bmi2");
    if (level == CPU_POPCNT)
        return popcnt;
    if (level == CPU_AVX2)
        return avx2;
    if (level == CPU_AVX512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vpopcntdq") &&
               __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vbmi2");
#elif defined(__aarch64__)
    if (level == CPU_NEON)
        return true;
#endif
    return false;
}

static enum cpu_level find_best_level(void) {
    const char *wanted = getenv("COGNATE_CPU");
    enum cpu_level best = CPU_PORTABLE;
    for (int level = CPU_PORTABLE; level < CPU_LEVEL_COUNT; level++) {
        if (!cpu_supports((enum cpu_level)level))
            continue;
        best = (enum cpu_level)level;
        if (wanted && strcmp(wanted, level_names[level]) == 0)
            break;
    }
    return best;
}

enum cpu_level cpu_best_level(void) {
    static int known = -1; /* atomic; every thread finds the same */
    int level = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (level < 0) {
        level = find_best_level();
        __atomic_store_n(&known, level, __ATOMIC_RELAXED);
    }
    return (enum cpu_level)level;
}

uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double clock_seconds_since(uint64_t start_ns) {
    return (double)(clock_ns() - start_ns) * 1e-9;
}
