/* Slice lists against the exhaustive scan, in one run on one core: the paper's Table 1 (expansion
 * i, admission j, milliseconds a query, CDR@10 at k = 30) on synthetic signatures, then wider
 * choices, weights, certain answers, and the time and size of building.
 *
 * The signatures come from directions: each of the centres is a vector of normal numbers; a
 * document leans away from its centre by an angle of 0.02 to 0.40 pi (uniform), so that 2 to 40% of
 * its bits differ from the centre's; bits are signs, and the numbers behind them are the weights.
 * Queries are stored documents.
 *
 * usage: bench_slices [rows] [queries] [file]   with a file, the lists are read from a mapped
 * segment */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "evaluate/neighbour_measures.h"
#include "hamming/hamming.h"
#include "index/flat.h"
#include "index/segment.h"

enum { BITS = 1024, CENTRES = 10000, K = 30, CDR_DEPTH = 10, MAX_QUERIES = 1000 };

struct world {
    size_t rows, queries;
    float *centres;
    struct signatures_view signatures;
    uint8_t *data;
    struct neighbour *truth; /* K for each query */
    float *weights;          /* BITS for each query */
    double scan_ms;
};

/* Nearly normal, variance 1: the sum of four uniform numbers. */
static float normal_number(struct random *random) {
    uint64_t x = random_next(random);
    int sum =
        (int)(x & 0xffff) + (int)(x >> 16 & 0xffff) + (int)(x >> 32 & 0xffff) + (int)(x >> 48);
    return (float)(sum - 131070) * (1.7320508f / 65536);
}

static void make_numbers(const struct world *world, size_t row, float *numbers) {
    struct random random = random_seeded(row + 1);
    double angle = M_PI * (0.02 + 0.38 * random_unit(&random));
    const float *centre = world->centres + random_below(&random, CENTRES) * BITS;
    float along = (float)cos(angle), across = (float)sin(angle);
    for (int bit = 0; bit < BITS; bit++)
        numbers[bit] = along * centre[bit] + across * normal_number(&random);
}

static cog_status make_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    (void)error;
    const struct world *world = context;
    float numbers[BITS];
    for (size_t row = begin; row < end; row++) {
        uint8_t *signature = world->data + row * (BITS / 8);
        make_numbers(world, row, numbers);
        for (int bit = 0; bit < BITS; bit++)
            signature[bit / 8] |= (uint8_t)((numbers[bit] > 0) << (7 - bit % 8));
    }
    return COG_OK;
}

static size_t query_row(const struct world *world, size_t query) {
    return hash_sequence(77, query) % world->rows;
}

static void make_world(struct world *world) {
    struct random random = random_seeded(99);
    world->centres = memory_array((size_t)CENTRES * BITS, sizeof(float));
    for (size_t i = 0; i < (size_t)CENTRES * BITS; i++)
        world->centres[i] = normal_number(&random);
    world->data = memory_large(world->rows * (BITS / 8));
    world->signatures = (struct signatures_view){world->data, world->rows, BITS, BITS / 8};
    parallel_for(threads_resolve(0), world->rows, 1000, make_rows, world, NULL);
    world->weights = memory_array(world->queries * BITS, sizeof(float));
    for (size_t query = 0; query < world->queries; query++)
        make_numbers(world, query_row(world, query), world->weights + query * BITS);
}

/* Processor time: other programs on the machine do not count. */
static double processor_ms(clockid_t whose) {
    struct timespec now;
    clock_gettime(whose, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double thread_ms(void) {
    return processor_ms(CLOCK_THREAD_CPUTIME_ID);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

static void find_truth(struct world *world) {
    double times[MAX_QUERIES];
    world->truth = memory_array(world->queries * K, sizeof *world->truth);
    for (size_t query = 0; query < world->queries; query++) {
        struct signatures_view one = world->signatures;
        struct flat_results results = {0};
        one.data = signature_row(&one, query_row(world, query));
        one.rows = 1;
        double start = thread_ms();
        if (flat_search_topk(&world->signatures, &one, K, 1, &results, NULL) != COG_OK)
            exit(1);
        times[query] = thread_ms() - start;
        memcpy(world->truth + query * K, results.items, K * sizeof *world->truth);
        flat_results_free(&results);
    }
    world->scan_ms = median(times, world->queries);
    printf("exhaustive scan, one query at a time (%s): %.3f ms\n",
           cpu_level_name(hamming_kernels()->level), world->scan_ms);
}

static void measure(const struct world *world, struct slices_searcher *searcher, const char *name,
                    struct slices_request request) {
    double times[MAX_QUERIES], cdr = 0, recall = 0, exact = 0;
    struct slices_answer sum = {0};
    bool weighted = request.probes > 0;
    request.k = K;
    for (size_t query = 0; query < world->queries; query++) {
        const uint8_t *signature = signature_row(&world->signatures, query_row(world, query));
        const struct neighbour *truth = world->truth + query * K;
        struct slices_answer answer;
        request.weights = weighted ? world->weights + query * BITS : NULL;
        double start = thread_ms();
        if (slices_search(searcher, signature, &request, &answer, NULL) != COG_OK)
            exit(1);
        times[query] = thread_ms() - start;
        cdr += cumulative_distance_ratio(truth, K, answer.hits, answer.count, CDR_DEPTH, BITS);
        recall += neighbour_recall(truth, K, answer.hits, answer.count, CDR_DEPTH);
        exact += answer.exact;
        sum.lists += answer.lists;
        sum.postings += answer.postings;
        sum.candidates += answer.candidates;
        sum.verified += answer.verified;
    }
    double n = (double)world->queries, typical = median(times, world->queries);
    printf("%-24s %7.3f %6.1fx  %.4f  %.3f %6.2f %8.0f %9.0f %8.0f %8.0f\n", name, typical,
           world->scan_ms / typical, cdr / n, recall / n, exact / n, (double)sum.lists / n,
           (double)sum.postings / n, (double)sum.candidates / n, (double)sum.verified / n);
}

static void print_head(void) {
    printf("%-24s %7s %7s  %6s  %5s %6s %8s %9s %8s %8s\n", "", "ms", "faster", "CDR@10", "R@10",
           "exact", "lists", "postings", "cands", "verified");
}

static void measure_table(const struct world *world, struct slices_searcher *searcher) {
    char name[64];
    for (unsigned i = 0; i <= 4; i++)
        for (unsigned j = 0; j <= i; j++) {
            snprintf(name, sizeof name, "i = %u, j = %u", i, j);
            measure(world, searcher, name, (struct slices_request){.expand = i, .admit = j});
        }
}

static void measure_weights(const struct world *world, struct slices_searcher *searcher,
                            size_t first, size_t last, size_t step) {
    char name[64];
    for (size_t probes = first; probes <= last; probes += step) {
        snprintf(name, sizeof name, "weights, %zu lists", probes);
        measure(world, searcher, name, (struct slices_request){.probes = probes});
    }
}

static void build_lists(const struct world *world, unsigned width, struct slice_lists *lists,
                        struct slices_searcher **searcher) {
    uint64_t start = clock_ns();
    double processor = processor_ms(CLOCK_PROCESS_CPUTIME_ID);
    if (slice_lists_build(lists, &world->signatures, width, 0, NULL) != COG_OK)
        exit(1);
    processor = (processor_ms(CLOCK_PROCESS_CPUTIME_ID) - processor) * 1e-3;
    printf("\n%u-bit slices (%u): built in %.2f s on %u threads, %.2f s of processor time, %.2f M "
           "rows a processor second\n",
           width, lists->view.layout.count, clock_seconds_since(start), threads_resolve(0),
           processor, (double)world->rows * 1e-6 / processor);
    if (slices_searcher_create(&lists->view, &world->signatures, searcher, NULL) != COG_OK)
        exit(1);
    print_head();
}

/* Writes a segment with row numbers as ids and searches its map. */
static void measure_file(const struct world *world, const struct slices_view *slices,
                         const char *path) {
    struct buffer ids = {0};
    uint64_t *offsets = memory_zeroed_array(world->rows + 1, sizeof *offsets);
    for (size_t row = 0; row < world->rows; row++) {
        if (!offsets || !buffer_printf(&ids, "%zu", row))
            exit(1);
        offsets[row + 1] = ids.size;
    }
    struct segment_parts parts = {.rows = world->rows,
                                  .id_offsets = offsets,
                                  .id_bytes = ids.data,
                                  .signatures = world->signatures,
                                  .slices = slices};
    struct segment segment;
    struct slices_searcher *searcher = NULL;
    cog_error error = {0};
    uint64_t start = clock_ns();
    if (segment_write(path, &parts, &error) != COG_OK ||
        segment_open(path, &segment, &error) != COG_OK ||
        slices_searcher_create(&segment.slices, &segment.signatures, &searcher, &error) != COG_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    size_t sum = world->rows * (BITS / 8) + slices->layout.count * world->rows * 4 +
                 slice_layout_offsets(&slices->layout) * 4 + (world->rows + 1) * 8 + ids.size;
    printf("segment file: %.1f MB written in %.2f s, %.4f of its parts; searched in the map:\n",
           (double)segment.container.size_bytes * 1e-6, clock_seconds_since(start),
           (double)segment.container.size_bytes / (double)sum);
    for (unsigned i = 1; i <= 2; i++)
        measure(world, searcher, i == 1 ? "map, i = j = 1" : "map, i = j = 2",
                (struct slices_request){.expand = i, .admit = i});
    slices_searcher_free(searcher);
    segment_close(&segment);
    free(offsets);
    buffer_free(&ids);
}

int main(int argc, char **argv) {
    struct world world = {.rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000,
                          .queries = argc > 2 ? strtoull(argv[2], NULL, 10) : 200};
    if (world.rows < K || world.queries < 1 || world.queries > MAX_QUERIES)
        return 2;
    make_world(&world);
    printf("%zu signatures of %d bits around %d centres, %zu queries, k = %d\n", world.rows, BITS,
           CENTRES, world.queries, K);
    find_truth(&world);
    struct slice_lists lists;
    struct slices_searcher *searcher = NULL;
    build_lists(&world, 16, &lists, &searcher);
    measure_table(&world, searcher);
    measure_weights(&world, searcher, 1000, 2500, 500);
    measure(&world, searcher, "certain", (struct slices_request){.certain = true});
    slices_searcher_free(searcher);
    if (argc > 3)
        measure_file(&world, &lists.view, argv[3]);
    slice_lists_free(&lists);
    build_lists(&world, 14, &lists, &searcher);
    measure(&world, searcher, "i = j = 1", (struct slices_request){.expand = 1, .admit = 1});
    measure(&world, searcher, "i = j = 1, verify 2000",
            (struct slices_request){.expand = 1, .admit = 1, .verify = 2000});
    measure_weights(&world, searcher, 400, 600, 100);
    slices_searcher_free(searcher);
    slice_lists_free(&lists);
    free(world.centres);
    free(world.weights);
    free(world.truth);
    memory_large_free(world.data, world.rows * (BITS / 8));
    return 0;
}
