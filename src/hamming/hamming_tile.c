#include "hamming/hamming_tile.h"

#include <pthread.h>

#include "hamming/hamming_tile_levels.h"

static const struct hamming_tile *const tiles[CPU_LEVEL_COUNT] = {
    [CPU_PORTABLE] = &hamming_tile_portable,
#if defined(__x86_64__)
    [CPU_POPCNT] = &hamming_tile_popcnt,
    [CPU_AVX2] = &hamming_tile_avx2,
    [CPU_AVX512] = &hamming_tile_avx512,
#elif defined(__aarch64__)
    [CPU_NEON] = &hamming_tile_neon,
#endif
};

/* The matrix unit goes with the AVX-512 level: whoever lowers the level does without it. */
static const struct hamming_tile *matrix_tile(void) {
#if defined(__x86_64__)
    if (cpu_supports(CPU_AVX512) && hamming_tile_amx_available())
        return &hamming_tile_amx;
#endif
    return NULL;
}

static const struct hamming_tile *chosen;
static pthread_once_t choose_once = PTHREAD_ONCE_INIT;

static void choose(void) {
    enum cpu_level level = cpu_best_level();
    chosen = level == CPU_AVX512 ? matrix_tile() : NULL;
    if (!chosen)
        chosen = tiles[level];
}

const struct hamming_tile *hamming_tile(void) {
    pthread_once(&choose_once, choose);
    return chosen;
}

const struct hamming_tile *hamming_tile_for(size_t queries_a_row) {
    const struct hamming_tile *tile = hamming_tile();
    for (int level = cpu_best_level(); queries_a_row < tile->least_queries_a_row; level--)
        tile = tiles[level];
    return tile;
}

size_t hamming_tile_methods(const struct hamming_tile *methods[HAMMING_TILE_METHODS]) {
    size_t count = 0;
    for (int level = 0; level < CPU_LEVEL_COUNT; level++)
        if (cpu_supports((enum cpu_level)level))
            methods[count++] = tiles[level];
    if (matrix_tile())
        methods[count++] = matrix_tile();
    return count;
}
