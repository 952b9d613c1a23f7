/* Slice lists against the exhaustive scan, in one run on one core.
 *
 * usage: bench_slices table [FOLDER]          the paper's Table 1 (expansion i, admission j,
 *                                             milliseconds a query, CDR@10, at k = 30), narrower
 *                                             slices, weights, certain answers, building, file size
 *        bench_slices growth [MILLIONS]       time and size from 1M rows on, doubling
 *        bench_slices curve FOLDER            time and recall@10 of many settings, for
 * compare_neighbours.py bench_slices write FOLDER [ROWS]     generated signatures as files
 *
 * FOLDER has numpy files as bench/passages.py makes them; without one, signatures are generated
 * (slices_world.h describes how). */
#include <unistd.h>

#include "base/clock.h"
#include "evaluate/neighbour_measures.h"
#include "index/segment.h"
#include "slices_world.h"

enum { DEPTH = 10, TABLE_QUERIES = 200, CURVE_QUERIES = 400, GROWTH_QUERIES = 100, ROWS = 1000000 };

/* ---- One setting ----------------------------------------------------------------------------- */

struct result {
    double median_ms, mean_ms, cdr, recall, exact;
    struct slices_answer sum;
    double queries;
};

/* Queries begin to end - 1; weights are used where the request has probes. */
static struct result measure(struct slices_searcher *searcher, const struct queries *queries,
                             size_t begin, size_t end, struct slices_request request) {
    double times[WORLD_MAX_QUERIES];
    struct result result = {.queries = (double)(end - begin)};
    cog_error error = {0};
    request.k = request.k ? request.k : WORLD_K;
    for (size_t query = begin; query < end; query++) {
        const uint8_t *signature = signature_row(&queries->signatures, query);
        const struct neighbour *truth = queries->truth + query * WORLD_K;
        struct slices_answer answer;
        request.weights = request.probes ? queries->weights + query * WORLD_BITS : NULL;
        uint64_t start = bench_cpu_ns();
        world_require(slices_search(searcher, signature, &request, &answer, &error), &error);
        times[query - begin] = bench_cpu_seconds_since(start) * 1e3;
        result.mean_ms += times[query - begin] / result.queries;
        result.cdr += cumulative_distance_ratio(truth, WORLD_K, answer.hits, answer.count, DEPTH,
                                                WORLD_BITS) /
                      result.queries;
        result.recall +=
            neighbour_recall(truth, WORLD_K, answer.hits, answer.count, DEPTH) / result.queries;
        result.exact += answer.exact / result.queries;
        result.sum.lists += answer.lists;
        result.sum.postings += answer.postings;
        result.sum.candidates += answer.candidates;
        result.sum.verified += answer.verified;
    }
    result.median_ms = bench_median(times, (int)(end - begin));
    return result;
}

static struct result measure_line(struct slices_searcher *searcher, const struct queries *queries,
                                  const char *name, struct slices_request request) {
    struct result result = measure(searcher, queries, 0, queries->signatures.rows, request);
    double n = result.queries;
    printf("%-26s %7.3f %6.1fx  %.4f  %.3f %6.2f %8.0f %9.0f %8.0f %8.0f\n", name, result.median_ms,
           queries->scan_ms / result.median_ms, result.cdr, result.recall, result.exact,
           (double)result.sum.lists / n, (double)result.sum.postings / n,
           (double)result.sum.candidates / n, (double)result.sum.verified / n);
    fflush(stdout);
    return result;
}

static void print_head(void) {
    printf("%-26s %7s %7s  %6s  %5s %6s %8s %9s %8s %8s\n", "", "ms", "faster", "CDR@10", "R@10",
           "exact", "lists", "postings", "cands", "verified");
}

static void print_goal(const char *what, double wanted, double reached) {
    printf("goal: %s %g or more: %s (%.4g)\n", what, wanted, reached >= wanted ? "met" : "missed",
           reached);
}

static void build_lists(const struct world *world, unsigned width, struct slice_lists *lists,
                        struct slices_searcher **searcher) {
    cog_error error = {0};
    uint64_t start = clock_ns();
    world_require(slice_lists_build(lists, &world->rows, width, 0, &error), &error);
    double seconds = clock_seconds_since(start);
    printf("\n%u-bit slices (%u): built in %.2f s on %u threads, %.2f M rows a second\n",
           slice_width(&lists->view.layout, 0), lists->view.layout.count, seconds,
           threads_resolve(0), (double)world->rows.rows * 1e-6 / seconds);
    world_require(slices_searcher_create(&lists->view, &world->rows, searcher, &error), &error);
}

/* ---- Table ----------------------------------------------------------------------------------- */

static void measure_paper(struct slices_searcher *searcher, const struct queries *queries) {
    char name[64];
    double cdr_32 = 0, cdr_44 = 0;
    print_head();
    for (unsigned i = 0; i <= 4; i++)
        for (unsigned j = 0; j <= i; j++) {
            snprintf(name, sizeof name, "i = %u, j = %u", i, j);
            struct result result = measure_line(searcher, queries, name,
                                                (struct slices_request){.expand = i, .admit = j});
            if (i == 3 && j == 2)
                cdr_32 = result.cdr;
            if (i == 4 && j == 4)
                cdr_44 = result.cdr;
        }
    print_goal("CDR@10 at i = 3, j = 2", 0.98, cdr_32);
    print_goal("CDR@10 at i = 4, j = 4", 0.995, cdr_44);
}

/* The fastest of the settings that reach a CDR@10 of 0.985. */
struct fastest {
    double factor;
    char name[64];
};

static void try_setting(struct slices_searcher *searcher, const struct queries *queries,
                        struct slices_request request, struct fastest *fastest) {
    char name[64];
    int size = request.probes
                   ? snprintf(name, sizeof name, "weights, %zu lists", request.probes)
                   : snprintf(name, sizeof name, "i = %u, j = %u", request.expand, request.admit);
    if (request.verify)
        snprintf(name + size, sizeof name - (size_t)size, ", verify %zu", request.verify);
    struct result result = measure_line(searcher, queries, name, request);
    double factor = queries->scan_ms / result.median_ms;
    if (result.cdr >= 0.985 && factor > fastest->factor) {
        fastest->factor = factor;
        memcpy(fastest->name, name, sizeof name);
    }
}

static void measure_fast(const struct world *world, const struct queries *queries) {
    static const unsigned widths[] = {12, 14, 16};
    static const size_t probes[] = {100, 200, 400, 800, 1500, 3000};
    struct fastest plain = {0}, weighted = {0};
    for (size_t w = 0; w < 3; w++) {
        struct slice_lists lists;
        struct slices_searcher *searcher = NULL;
        build_lists(world, widths[w], &lists, &searcher);
        print_head();
        for (unsigned i = 0; i <= 2; i++)
            for (size_t verify = 0; verify <= 4000; verify += 2000)
                try_setting(searcher, queries,
                            (struct slices_request){.expand = i, .admit = i, .verify = verify},
                            &plain);
        for (size_t p = 0; p < 6; p++)
            try_setting(searcher, queries, (struct slices_request){.probes = probes[p]}, &weighted);
        slices_searcher_free(searcher);
        slice_lists_free(&lists);
    }
    print_goal("times faster than the scan at CDR@10 of 0.985", 15, plain.factor);
    print_goal("times faster with known weights", 30, weighted.factor);
    printf("by: %s; %s\n", plain.name, weighted.name);
}

/* Writes a segment with row numbers as ids and searches its map. */
static void measure_file(const struct world *world, const struct queries *queries,
                         const struct slices_view *slices) {
    char path[] = "bench_slices.XXXXXX";
    int file = mkstemp(path);
    struct buffer ids = {0};
    size_t rows = world->rows.rows;
    uint64_t *offsets = memory_zeroed_array(rows + 1, sizeof *offsets);
    for (size_t row = 0; row < rows; row++) {
        if (file < 0 || !offsets || !buffer_printf(&ids, "%zu", row))
            exit(1);
        offsets[row + 1] = ids.size;
    }
    close(file);
    struct segment_parts parts = {.rows = rows,
                                  .id_offsets = offsets,
                                  .id_bytes = ids.data,
                                  .signatures = world->rows,
                                  .slices = slices};
    struct segment segment;
    struct slices_searcher *searcher = NULL;
    cog_error error = {0};
    world_require(segment_write(path, &parts, &error), &error);
    world_require(segment_open(path, &segment, &error), &error);
    world_require(slices_searcher_create(&segment.slices, &segment.signatures, &searcher, &error),
                  &error);
    size_t sum = rows * (WORLD_BITS / 8) + slices->layout.count * rows * 4 +
                 slice_layout_offsets(&slices->layout) * 4 + (rows + 1) * 8 + ids.size;
    printf("segment file: %.1f MB, %.4f of its parts (goal: 1.02 at most); searched in the map:\n",
           (double)segment.container.size_bytes * 1e-6,
           (double)segment.container.size_bytes / (double)sum);
    print_head();
    for (unsigned i = 1; i <= 2; i++)
        measure_line(searcher, queries, i == 1 ? "map, i = j = 1" : "map, i = j = 2",
                     (struct slices_request){.expand = i, .admit = i});
    slices_searcher_free(searcher);
    segment_close(&segment);
    unlink(path);
    free(offsets);
    buffer_free(&ids);
}

static void measure_queries(struct world *world, struct queries *queries, const char *what) {
    struct slice_lists lists;
    struct slices_searcher *searcher = NULL;
    world_find_truth(world, queries);
    printf("\n== %s, %zu rows of %d bits, %zu %s, k = %d ==\n", world->name, world->rows.rows,
           WORLD_BITS, queries->signatures.rows, what, WORLD_K);
    printf("exhaustive (%s): %.3f ms for one query, %.3f ms a query in tiles of all\n",
           cpu_level_name(hamming_kernels()->level), queries->scan_ms, queries->tile_ms);
    double distances[3] = {0};
    for (size_t query = 0; query < queries->signatures.rows; query++)
        for (int i = 0; i < 3; i++)
            distances[i] += queries->truth[query * WORLD_K + (size_t[]){0, 9, 29}[i]].distance /
                            (double)queries->signatures.rows;
    printf("mean distance of the 1st, 10th, 30th neighbour: %.0f, %.0f, %.0f bits\n", distances[0],
           distances[1], distances[2]);
    build_lists(world, 16, &lists, &searcher);
    measure_paper(searcher, queries);
    measure_line(searcher, queries, "certain", (struct slices_request){.certain = true});
    slices_searcher_free(searcher);
    if (queries == &world->stored)
        measure_file(world, queries, &lists.view);
    slice_lists_free(&lists);
    measure_fast(world, queries);
}

static int table(const char *folder) {
    struct world world = {0};
    if (folder)
        world_load(&world, folder, TABLE_QUERIES);
    else
        world_generate(&world, ROWS, TABLE_QUERIES);
    measure_queries(&world, &world.stored, "queries that are rows");
    measure_queries(&world, &world.held_out, "queries that are no rows");
    world_free(&world);
    return 0;
}

/* ---- Curve ----------------------------------------------------------------------------------- */

static void print_point(struct slices_searcher *searcher, const struct queries *queries,
                        struct slices_request request) {
    size_t half = queries->signatures.rows / 2;
    request.k = DEPTH;
    struct result first = measure(searcher, queries, 0, half, request);
    struct result second = measure(searcher, queries, half, 2 * half, request);
    if (request.probes)
        printf("%zu lists", request.probes);
    else
        printf("i = j = %u", request.expand);
    printf(", verify %zu\t%.4f\t%.4f\t%.4f\t%.4f\n", request.verify, first.mean_ms, first.recall,
           second.mean_ms, second.recall);
    fflush(stdout);
}

static void print_index(const struct world *world, const struct slices_view *view, const char *name,
                        double build_seconds) {
    double postings = (double)view->layout.count * (double)view->rows;
    double bytes = (postings + (double)slice_layout_offsets(&view->layout)) * 4;
    printf("index\t%s, %u bits\t%.2f\t%.1f\n", name, slice_width(&view->layout, 0), build_seconds,
           WORLD_BITS / 8 + bytes / (double)world->rows.rows);
}

/* Lists without and with weights of one width. */
static void print_width(const struct world *world, unsigned width) {
    static const size_t verify[] = {250, 1000, 4000, 16000};
    static const size_t probes[] = {200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200};
    struct slice_lists lists;
    struct slices_searcher *searcher = NULL;
    cog_error error = {0};
    double start = bench_process_seconds();
    world_require(slice_lists_build(&lists, &world->rows, width, 0, &error), &error);
    double seconds = bench_process_seconds() - start;
    world_require(slices_searcher_create(&lists.view, &world->rows, &searcher, &error), &error);
    print_index(world, &lists.view, "slices", seconds);
    for (unsigned i = 0; i <= 4; i++)
        for (size_t v = 0; v < 4; v++)
            print_point(searcher, &world->held_out,
                        (struct slices_request){.expand = i, .admit = i, .verify = verify[v]});
    print_index(world, &lists.view, "slices and weights", seconds);
    for (size_t p = 0; p < 9; p++)
        for (size_t v = 0; v < 4; v++)
            print_point(searcher, &world->held_out,
                        (struct slices_request){.probes = probes[p], .verify = verify[v]});
    slices_searcher_free(searcher);
    slice_lists_free(&lists);
}

static int curve(const char *folder) {
    struct world world = {0};
    world_load(&world, folder, CURVE_QUERIES);
    world_find_truth(&world, &world.held_out);
    printf("exhaustive\t%.3f\t%.3f\n", world.held_out.scan_ms, world.held_out.tile_ms);
    for (unsigned width = 12; width <= 16; width += 2)
        print_width(&world, width);
    world_free(&world);
    return 0;
}

/* ---- Growth ---------------------------------------------------------------------------------- */

/* One size: the width follows from it. The least time of three rounds counts. */
static double measure_size(const struct world *whole, size_t rows) {
    struct world world = *whole;
    struct slice_lists lists;
    struct slices_searcher *searcher = NULL;
    struct result result = {0};
    cog_error error = {0};
    world.rows.rows = rows;
    world.stored.truth = NULL;
    make_queries(&world, &world.stored, GROWTH_QUERIES, true);
    world_find_truth(&world, &world.stored);
    uint64_t start = clock_ns();
    world_require(slice_lists_build(&lists, &world.rows, 0, 0, &error), &error);
    double seconds = clock_seconds_since(start);
    world_require(slices_searcher_create(&lists.view, &world.rows, &searcher, &error), &error);
    const struct slice_layout *layout = &lists.view.layout;
    double bytes = WORLD_BITS / 8 + 4.0 * layout->count +
                   4.0 * (double)slice_layout_offsets(layout) / (double)rows;
    for (int repeat = 0; repeat < 3; repeat++) {
        struct result again = measure(searcher, &world.stored, 0, GROWTH_QUERIES,
                                      (struct slices_request){.expand = 1, .admit = 1});
        if (repeat == 0 || again.median_ms < result.median_ms)
            result = again;
    }
    printf("%9zu %5u %8.2f %9.3f %8.1fx %8.4f %6.3f %8.2f %8.1f\n", rows, slice_width(layout, 0),
           world.stored.scan_ms, result.median_ms, world.stored.scan_ms / result.median_ms,
           result.cdr, result.recall, seconds, bytes);
    fflush(stdout);
    slices_searcher_free(searcher);
    slice_lists_free(&lists);
    queries_free(&world.stored);
    return result.median_ms;
}

/* The largest number of rows in millions. */
static int growth(size_t millions) {
    struct world world = {0};
    double first_ms = 0, last_ms = 0;
    size_t last_rows = ROWS;
    world_generate(&world, millions * ROWS, 1);
    printf("generated signatures of %d bits, width by the size, i = j = 1, k = %d, %d queries that "
           "are rows, one thread\n",
           WORLD_BITS, WORLD_K, GROWTH_QUERIES);
    printf("%9s %5s %8s %9s %9s %8s %6s %8s %8s\n", "rows", "width", "scan ms", "ms", "faster",
           "CDR@10", "R@10", "build s", "bytes");
    for (size_t rows = ROWS; rows <= millions * ROWS; rows *= 2) {
        last_ms = measure_size(&world, rows);
        last_rows = rows;
        first_ms = first_ms > 0 ? first_ms : last_ms;
    }
    double exponent = log(last_ms / first_ms) / log((double)last_rows / ROWS);
    printf("goal: time grows as rows to the power of 0.30 at most: %s (%.3f)\n",
           exponent <= 0.30 ? "met" : "missed", exponent);
    printf("bytes are those of a signature with its lists, without ids; the paper: 354\n");
    world_free(&world);
    return 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "table";
    if (strcmp(mode, "table") == 0)
        return table(argc > 2 ? argv[2] : NULL);
    if (strcmp(mode, "growth") == 0)
        return growth(argc > 2 ? strtoull(argv[2], NULL, 10) : 8);
    if (strcmp(mode, "curve") == 0 && argc > 2)
        return curve(argv[2]);
    if (strcmp(mode, "write") == 0 && argc > 2) {
        struct world world = {0};
        world_generate(&world, argc > 3 ? strtoull(argv[3], NULL, 10) : ROWS, WORLD_MAX_QUERIES);
        world_save(&world, argv[2]);
        world_free(&world);
        return 0;
    }
    fprintf(stderr, "usage: bench_slices table [FOLDER] | growth [MILLIONS] | curve FOLDER | write "
                    "FOLDER [ROWS]\n");
    return 2;
}
