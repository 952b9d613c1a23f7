/* Single queries of an open index by a searcher, next to cog_index_search_signatures, which
 * prepares everything for each call. One thread, processor time per query, median of rounds.
 *
 * bench_searcher INDEX QUERIES.npy METHOD RADIUS RADIUS 0: the 10 nearest
 *
 * python_search.py runs it on the index that it measures. */
#include <cognate.h>
#include <stdio.h>
#include <string.h>

#include "bench_timing.h"

enum { ROUNDS = 5, MOST_CALLS = 2000 };

static cog_error error;

static void require(cog_status status) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "bench_searcher: %s\n", error.message);
    exit(1);
}

/* The rows of the queries' file, one after the other. */
static uint8_t *read_rows(const char *path, size_t *rows, unsigned *bits) {
    cog_signatures *signatures = NULL;
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    require(cog_signatures_open(path, &signatures, &error));
    *rows = cog_signatures_rows(signatures);
    *bits = cog_signatures_bits(signatures);
    require(cog_signatures_to_arrow(signatures, &stream, &error));
    if (stream.get_next(&stream, &array) != 0)
        exit(1);
    size_t bytes = *rows * (*bits / 8);
    uint8_t *data = malloc(bytes);
    if (!data)
        exit(1);
    memcpy(data, array.children[0]->buffers[1], bytes);
    array.release(&array);
    stream.release(&stream);
    cog_signatures_free(signatures);
    return data;
}

static double time_searcher(const cog_index *index, const cog_search_options *options,
                            const uint8_t *queries, size_t count, size_t bytes) {
    cog_searcher *searcher = NULL;
    double seconds[ROUNDS];
    require(cog_searcher_create(index, options, &searcher, &error));
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = bench_cpu_ns();
        for (size_t i = 0; i < count; i++) {
            const cog_hits *hits;
            require(
                cog_searcher_find_signature(searcher, queries + i * bytes, NULL, &hits, &error));
        }
        seconds[round] = bench_cpu_seconds_since(start);
    }
    cog_searcher_free(searcher);
    return bench_median(seconds, ROUNDS) / (double)count * 1e6;
}

static double time_calls(const cog_index *index, const cog_search_options *options,
                         const uint8_t *queries, size_t count, unsigned bits) {
    double seconds[ROUNDS];
    const cog_run_options run = {.threads = 1};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = bench_cpu_ns();
        for (size_t i = 0; i < count; i++) {
            cog_signatures *query = NULL;
            cog_hits *hits = NULL;
            require(cog_signatures_from_memory(queries + i * (bits / 8), 1, bits, &query, &error));
            require(cog_index_search_signatures(index, query, NULL, options, &run, &hits, NULL,
                                                &error));
            cog_hits_free(hits);
            cog_signatures_free(query);
        }
        seconds[round] = bench_cpu_seconds_since(start);
    }
    return bench_median(seconds, ROUNDS) / (double)count * 1e6;
}

int main(int argc, char **argv) {
    cog_index *index = NULL;
    cog_search_options options;
    size_t rows;
    unsigned bits;
    cog_search_options_init(&options);
    if (argc != 5 || !cog_method_named(argv[3], &options.method)) {
        fprintf(stderr, "usage: bench_searcher INDEX QUERIES.npy METHOD RADIUS\n");
        return 2;
    }
    unsigned radius = (unsigned)strtoul(argv[4], NULL, 10);
    if (radius) {
        options.k = 0;
        options.radius_bits = radius;
    }
    options.recall_sample = 0;
    uint8_t *queries = read_rows(argv[2], &rows, &bits);
    require(cog_index_open(argv[1], &index, &error));
    double searcher = time_searcher(index, &options, queries, rows, bits / 8);
    size_t calls = rows < MOST_CALLS ? rows : MOST_CALLS;
    printf("searcher %.3f us, call %.3f us\n", searcher,
           time_calls(index, &options, queries, calls, bits));
    cog_index_close(index);
    free(queries);
    return 0;
}
