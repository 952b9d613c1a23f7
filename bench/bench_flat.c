/* Exhaustive search and join next to rivals in the same run: faiss's IndexBinaryFlat (through
 * bench/search/peer_faiss.py), the bandwidth of plain reading, and a double loop with POPCNT.
 *
 * Runs with one thread are measured in processor time, runs with two by the clock.
 *
 * bench_flat [folder for data shared with the peer] run from the root of the tree */
#include <stdio.h>
#include <sys/stat.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "bench_timing.h"
#include "hamming/hamming_tile.h"
#include "search/flat/flat.h"
#include "search/flat/flat_join.h"

enum {
    BITS = 1024,
    ROW_BYTES = BITS / 8,
    SEARCH_ROWS = 1000000,
    SEARCH_QUERIES = 256,
    FEW_QUERIES_ROWS = 300000, /* 38 MB */
    STREAM_ROWS = 4000000,     /* 512 MB: more than any cache */
    JOIN_ROWS = 24000,
    NEIGHBOURS = 10,
    REPEATS = 5,
    ROUND_QUERIES = 64,
};

static void fail(const char *what) {
    fprintf(stderr, "bench_flat: %s failed\n", what);
    exit(1);
}

static uint64_t start_ns(unsigned threads) {
    return threads == 1 ? bench_cpu_ns() : clock_ns();
}

static double seconds_since(unsigned threads, uint64_t start) {
    return threads == 1 ? bench_cpu_seconds_since(start) : clock_seconds_since(start);
}

static void print_row(const char *what, double ours, double rival, const char *unit, double ratio) {
    printf("%-62s | %9.3f | %9.3f %-8s | %6.2f\n", what, ours, rival, unit, ratio);
}

/* Random rows; row r % period == 1 is row r - 1 with `flips` random flips, a planted near pair;
 * none for a period of 1. */
static struct signatures_view make_rows(uint64_t seed, size_t rows, size_t period, int flips) {
    uint64_t *data = memory_large(rows * ROW_BYTES);
    if (!data)
        fail("memory");
    struct random random = random_seeded(seed);
    const size_t words = ROW_BYTES / 8;
    for (size_t row = 0; row < rows; row++) {
        uint64_t *to = data + row * words;
        for (size_t w = 0; w < words; w++)
            to[w] = row % period == 1 ? to[w - words] : random_next(&random);
        for (int i = 0; i < flips && row % period == 1; i++) {
            uint64_t bit = random_below(&random, BITS);
            to[bit / 64] ^= UINT64_C(1) << (bit % 64);
        }
    }
    return (struct signatures_view){(const uint8_t *)data, rows, BITS, ROW_BYTES};
}

static void free_rows(struct signatures_view *view) {
    memory_large_free((void *)view->data, view->rows * ROW_BYTES);
}

/* ---- Batches and faiss ----------------------------------------------------------------------- */

static void write_rows(const char *folder, const char *name, const struct signatures_view *view) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(view->data, ROW_BYTES, view->rows, file) != view->rows || fclose(file))
        fail(path);
}

/* Queries of one batch, and what they take by us and by the peer. */
struct batch {
    size_t queries;
    double ours_seconds, peer_seconds;
    unsigned long long ours_sum, peer_sum; /* of the distances found */
};

static bool run_peer(const char *folder, struct batch *batches, size_t count) {
    char command[4300];
    int length = snprintf(command, sizeof command, "python3 bench/search/peer_faiss.py %s %d %d",
                          folder, ROW_BYTES, NEIGHBOURS);
    for (size_t i = 0; i < count; i++)
        length +=
            snprintf(command + length, sizeof command - (size_t)length, " %zu", batches[i].queries);
    FILE *pipe = popen(command, "r");
    bool read = pipe;
    for (size_t i = 0; i < count && read; i++)
        read = fscanf(pipe, "%lf %llu", &batches[i].peer_seconds, &batches[i].peer_sum) == 2;
    return pipe && pclose(pipe) == 0 && read;
}

/* Few queries take so little that more rounds are needed: the peer has as many. */
static void time_topk(const struct signatures_view *rows, const uint8_t *queries,
                      struct batch *batch) {
    const struct signatures_view view = {queries, batch->queries, BITS, ROW_BYTES};
    double seconds[ROUND_QUERIES];
    int rounds = ROUND_QUERIES / (int)batch->queries;
    if (rounds < REPEATS)
        rounds = REPEATS;
    for (int r = 0; r < rounds; r++) {
        struct hit_lists results = {0};
        uint64_t start = bench_cpu_ns();
        if (flat_search_topk(rows, &view, NEIGHBOURS, 1, &results, NULL) != COG_OK)
            fail("flat_search_topk");
        seconds[r] = bench_cpu_seconds_since(start);
        batch->ours_sum = 0;
        for (size_t i = 0; i < results.offsets[view.rows]; i++)
            batch->ours_sum += results.items[i].distance;
        hit_lists_free(&results);
    }
    batch->ours_seconds = bench_median(seconds, rounds);
}

static void print_batch(const struct batch *batch, size_t row_count) {
    char what[80];
    double queries = (double)batch->queries;
    snprintf(what, sizeof what, "top-%d of %.1fM x %d, %zu %s; faiss flat", NEIGHBOURS,
             (double)row_count * 1e-6, BITS, batch->queries,
             batch->queries == 1 ? "query" : "queries");
    if (batch->peer_seconds > 0 && batch->ours_sum != batch->peer_sum)
        printf("DIFFERENT RESULTS: sums of distances %llu and %llu\n", batch->ours_sum,
               batch->peer_sum);
    print_row(what, batch->ours_seconds / queries * 1e3, batch->peer_seconds / queries * 1e3,
              "ms/query", batch->peer_seconds / batch->ours_seconds);
}

/* The sizes of the batches rise. */
static void bench_batches(const char *folder, size_t row_count, struct batch *batches,
                          size_t count) {
    size_t most = batches[count - 1].queries;
    struct signatures_view rows = make_rows(1, row_count, 10, 200);
    struct signatures_view queries = make_rows(2, most, 1, 0);
    for (size_t i = 0; i < count; i++)
        time_topk(&rows, queries.data, &batches[i]);
    mkdir(folder, 0777);
    write_rows(folder, "rows.bin", &rows);
    write_rows(folder, "queries.bin", &queries);
    if (!run_peer(folder, batches, count))
        printf("faiss is not to be had here\n");
    for (size_t i = 0; i < count; i++)
        print_batch(&batches[i], row_count);
    free_rows(&rows);
    free_rows(&queries);
}

/* ---- One query and plain reading ------------------------------------------------------------ */

#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t
sum_words(const uint64_t *words, size_t count) {
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += words[i];
    return sum;
}

static uint64_t sink;

static cog_status read_piece(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    (void)worker;
    (void)error;
    const struct signatures_view *rows = context;
    uint64_t sum = sum_words((const uint64_t *)(const void *)signature_row(rows, begin),
                             (end - begin) * ROW_BYTES / 8);
    __atomic_fetch_add(&sink, sum, __ATOMIC_RELAXED);
    return COG_OK;
}

/* Alternating, so that both see the same neighbours on the machine. */
static void bench_one_query(struct signatures_view *rows, unsigned threads, const char *what) {
    struct signatures_view query = make_rows(3, 1, 2, 0);
    double reading[REPEATS], searching[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
        uint64_t start = start_ns(threads);
        parallel_for(threads, rows->rows, rows->rows / (threads * 16) + 1, read_piece, rows, NULL);
        reading[r] = seconds_since(threads, start);
        struct hit_lists results = {0};
        start = start_ns(threads);
        if (flat_search_topk(rows, &query, NEIGHBOURS, threads, &results, NULL) != COG_OK)
            fail("flat_search_topk");
        searching[r] = seconds_since(threads, start);
        hit_lists_free(&results);
    }
    double bytes = (double)rows->rows * ROW_BYTES * 1e-9;
    double ours = bytes / bench_median(searching, REPEATS),
           limit = bytes / bench_median(reading, REPEATS);
    print_row(what, ours, limit, "GB/s", ours / limit);
    free_rows(&query);
}

/* ---- Joins and a double loop ----------------------------------------------------------------- */

static double time_double_loop(const struct signatures_view *rows, uint32_t radius_bits,
                               uint64_t *matches) {
    const struct hamming_kernels *popcnt =
        hamming_kernels_for(cpu_supports(CPU_POPCNT) ? CPU_POPCNT : CPU_PORTABLE);
    uint64_t start = bench_cpu_ns();
    *matches = 0;
    for (size_t i = 0; i < rows->rows; i++)
        for (size_t j = i + 1; j < rows->rows; j++)
            *matches += popcnt->pair(signature_row(rows, i), signature_row(rows, j),
                                     ROW_BYTES / 8) <= radius_bits;
    return bench_cpu_seconds_since(start);
}

/* The same in cache-sized runs through the scan kernel: a stronger rival than a call for each pair.
 */
static double time_scan_loop(const struct signatures_view *rows, uint32_t radius_bits,
                             uint64_t *matches) {
    const struct hamming_kernels *popcnt =
        hamming_kernels_for(cpu_supports(CPU_POPCNT) ? CPU_POPCNT : CPU_PORTABLE);
    static uint16_t distances[JOIN_ROWS];
    static uint32_t positions[JOIN_ROWS + 16];
    uint64_t start = bench_cpu_ns();
    *matches = 0;
    for (size_t i = 0; i + 1 < rows->rows; i++) {
        size_t count = rows->rows - i - 1;
        popcnt->scan(signature_row(rows, i), signature_row(rows, i + 1), ROW_BYTES, ROW_BYTES / 8,
                     count, distances);
        *matches += popcnt->select(distances, count, radius_bits, positions);
    }
    return bench_cpu_seconds_since(start);
}

static void bench_join(struct signatures_view *rows, uint32_t radius_bits, const char *what) {
    double ours[3], loop[3], scan[3];
    uint64_t expected, same;
    for (int r = 0; r < 3; r++) {
        struct match_list matches = {0};
        uint64_t start = bench_cpu_ns();
        if (flat_join(rows, NULL, radius_bits, 1, &matches, NULL, NULL) != COG_OK)
            fail("flat_join_self");
        ours[r] = bench_cpu_seconds_since(start);
        loop[r] = time_double_loop(rows, radius_bits, &expected);
        scan[r] = time_scan_loop(rows, radius_bits, &same);
        if (matches.count != expected || same != expected)
            printf("DIFFERENT RESULTS: %zu and %llu matches\n", matches.count,
                   (unsigned long long)expected);
        match_list_free(&matches);
    }
    double pairs = (double)rows->rows * (double)(rows->rows - 1) / 2 * 1e-6;
    double a = bench_median(ours, 3), b = bench_median(loop, 3), c = bench_median(scan, 3);
    char line[80];
    snprintf(line, sizeof line, "%s; POPCNT double loop", what);
    print_row(line, pairs / a, pairs / b, "M/s", b / a);
    snprintf(line, sizeof line, "%s; POPCNT scans", what);
    print_row(line, pairs / a, pairs / c, "M/s", c / a);
}

int main(int argc, char **argv) {
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fprintf(stderr, "usage: bench_flat [FOLDER for what faiss reads; build/bench-data]\n");
        return 2;
    }
    printf("kernels: %s, tile: %s\n", cpu_level_name(hamming_kernels()->level),
           hamming_tile()->name);
    printf("%-62s | %9s | %18s | %6s\n", "what", "ours", "rival", "ratio");
    struct signatures_view rows = make_rows(4, JOIN_ROWS, 100, 150);
    bench_join(&rows, 430, "join within 430 of 1024 (no early abandon)");
    bench_join(&rows, 300, "join within 300 of 1024");
    free_rows(&rows);
    const char *folder = argc > 1 ? argv[1] : "build/bench-data";
    bench_batches(folder, SEARCH_ROWS, &(struct batch){.queries = SEARCH_QUERIES}, 1);
    struct batch few[] = {{.queries = 1}, {.queries = 4}, {.queries = 16}};
    bench_batches(folder, FEW_QUERIES_ROWS, few, sizeof few / sizeof *few);
    rows = make_rows(5, STREAM_ROWS, 10, 200);
    bench_one_query(&rows, 1, "one query, 512 MB, one thread; plain reading");
    bench_one_query(&rows, 2, "one query, 512 MB, two threads; plain reading");
    struct signatures_view part = {rows.data, SEARCH_ROWS, BITS, ROW_BYTES};
    bench_one_query(&part, 1, "one query, 128 MB, one thread; plain reading");
    bench_one_query(&part, 2, "one query, 128 MB, two threads; plain reading");
    free_rows(&rows);
    return 0;
}
