#include "search/lsh/flip_kernels.h"

#if defined(__x86_64__)
const struct flip_kernels flip_kernels_avx2 = FLIP_KERNELS(collect_flips);
#endif
