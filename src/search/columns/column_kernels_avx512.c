#if defined(__x86_64__)
#define COLUMN_KERNELS column_kernels_avx512
#include "search/columns/column_kernels_loop.h"
#endif
