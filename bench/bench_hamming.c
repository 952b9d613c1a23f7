/* The distance kernels by themselves: each level's scan in cache, each tile method in full and with
 * early abandon, next to a plain POPCNT double loop in the same run. */
#include <stdio.h>

#include "base/hash.h"
#include "base/memory.h"
#include "bench_timing.h"
#include "hamming/hamming_tile.h"

enum { ROWS = 2048, QUERIES = 512, REPEATS = 7 };

struct data {
    unsigned bits;
    size_t stride_bytes, words;
    uint8_t *rows, *queries;
    uint64_t checksum;
};

static struct data make_data(unsigned bits) {
    struct data data = {
        .bits = bits, .stride_bytes = signature_stride_bytes(bits), .words = hamming_words(bits)};
    data.rows = memory_large(ROWS * data.stride_bytes);
    data.queries = memory_large(QUERIES * data.stride_bytes);
    struct random random = random_seeded(bits);
    for (size_t i = 0; i < ROWS * data.stride_bytes; i++)
        data.rows[i] = (uint8_t)random_next(&random);
    for (size_t i = 0; i < QUERIES * data.stride_bytes; i++)
        data.queries[i] = (uint8_t)random_next(&random);
    return data;
}

static double time_scan(const struct hamming_kernels *kernels, struct data *data) {
    double seconds[REPEATS];
    static uint16_t distances[ROWS];
    for (int r = 0; r < REPEATS; r++) {
        uint64_t start = bench_cpu_ns();
        for (size_t q = 0; q < QUERIES; q++) {
            kernels->scan(data->queries + q * data->stride_bytes, data->rows, data->stride_bytes,
                          data->words, ROWS, distances);
            data->checksum += distances[q];
        }
        seconds[r] = bench_cpu_seconds_since(start);
    }
    return bench_median(seconds, REPEATS);
}

static cog_status count_hits(void *context, const struct tile_hits *found, cog_error *error) {
    (void)error;
    *(uint64_t *)context += found->count;
    return COG_OK;
}

/* Preparing both sides is part of the time, as in a batch of 512 queries. */
static double time_tile(const struct hamming_tile *tile, struct data *data, uint16_t limit) {
    double seconds[REPEATS];
    cog_error error;
    struct tile_queries queries;
    struct tile_scratch scratch;
    const unsigned bits = (unsigned)data->words * 64;
    const struct signatures_view query_view = {data->queries, QUERIES, bits, data->stride_bytes};
    const struct signatures_view row_view = {data->rows, ROWS, bits, data->stride_bytes};
    uint16_t limits[QUERIES];
    for (int i = 0; i < QUERIES; i++)
        limits[i] = limit;
    if (tile_queries_create(&queries, tile, bits, QUERIES, &error) != COG_OK ||
        tile_scratch_create(&scratch, tile, bits, &error) != COG_OK)
        exit(1);
    for (int r = 0; r < REPEATS; r++) {
        uint64_t start = bench_cpu_ns();
        tile_queries_load(&queries, &query_view, 0, QUERIES);
        if (tile_scan(&queries, &scratch, &row_view, 0, ROWS, limits, count_hits, &data->checksum,
                      &error) != COG_OK)
            exit(1);
        seconds[r] = bench_cpu_seconds_since(start);
    }
    tile_queries_free(&queries);
    tile_scratch_free(&scratch);
    return bench_median(seconds, REPEATS);
}

static void run_width(unsigned bits) {
    struct data data = make_data(bits);
    const double pairs = (double)ROWS * QUERIES;
    const struct hamming_kernels *rival =
        hamming_kernels_for(cpu_supports(CPU_POPCNT) ? CPU_POPCNT : CPU_PORTABLE);
    double rival_seconds = time_scan(rival, &data);
    printf("\n%u bits, M pairs/s; ratio to the %s scan\n", bits, cpu_level_name(rival->level));
    for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
        const struct hamming_kernels *kernels = hamming_kernels_for((enum cpu_level)level);
        if (!kernels)
            continue;
        double seconds = time_scan(kernels, &data);
        printf("scan %-8s                 %8.0f  %5.2f\n", cpu_level_name(kernels->level),
               pairs / seconds * 1e-6, rival_seconds / seconds);
    }
    const struct hamming_tile *methods[HAMMING_TILE_METHODS];
    size_t count = hamming_tile_methods(methods);
    const unsigned limits[] = {bits * 43 / 100, bits * 300 / 1024, bits / 10};
    for (size_t m = 0; m < count; m++)
        for (size_t i = 0; i < 3; i++) {
            double seconds = time_tile(methods[m], &data, (uint16_t)limits[i]);
            printf("tile %-8s within %4u bits %8.0f  %5.2f\n", methods[m]->name, limits[i],
                   pairs / seconds * 1e-6, rival_seconds / seconds);
        }
    printf("(%llu)\n", (unsigned long long)data.checksum);
    memory_large_free(data.rows, ROWS * data.stride_bytes);
    memory_large_free(data.queries, QUERIES * data.stride_bytes);
}

int main(void) {
    static const unsigned widths[] = {64, 128, 256, 512, 1000, 1024, 2048};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        run_width(widths[i]);
    return 0;
}
