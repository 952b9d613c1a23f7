#if defined(__x86_64__)
#define COLUMN_KERNELS column_kernels_avx2
#include "search/columns/column_kernels_loop.h"
#endif
