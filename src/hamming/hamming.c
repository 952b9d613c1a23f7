#include "hamming/hamming.h"

#include <pthread.h>

#include "base/numbers.h"

static const struct hamming_kernels *const levels[CPU_LEVEL_COUNT] = {
    [CPU_PORTABLE] = &hamming_portable,
#if defined(__x86_64__)
    [CPU_POPCNT] = &hamming_popcnt,
    [CPU_AVX2] = &hamming_avx2,
    [CPU_AVX512] = &hamming_avx512,
#elif defined(__aarch64__)
    [CPU_NEON] = &hamming_neon,
#endif
};

static const struct hamming_kernels *chosen;
static pthread_once_t choose_once = PTHREAD_ONCE_INIT;

static void choose(void) {
    chosen = levels[cpu_best_level()];
}

const struct hamming_kernels *hamming_kernels(void) {
    pthread_once(&choose_once, choose);
    return chosen;
}

const struct hamming_kernels *hamming_kernels_for(enum cpu_level level) {
    return cpu_supports(level) ? levels[level] : NULL;
}

double hamming_cosine(double distance, unsigned bits) {
    return portable_cos_pi(distance / bits);
}
