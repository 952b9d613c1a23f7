/* What the benchmarks of slice lists search: signatures with queries, the margins of the queries'
 * bits, and the exhaustive answer; generated, or from numpy files.
 *
 * Generated signatures come from directions: each of the centres is a vector of normal numbers; a
 * document lies at an angle of 0.02 to 0.40 pi (uniform) from its centre, so that 2 to 40% of its
 * bits differ from the centre's. Bits are signs of the vector's numbers, which are the margins.
 * Documents 0 to rows - 1 are stored. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "bench_timing.h"
#include "hamming/hamming.h"
#include "input/npy.h"
#include "search/flat/flat.h"

enum { WORLD_BITS = 1024, WORLD_CENTRES = 10000, WORLD_K = 30, WORLD_MAX_QUERIES = 1000 };

struct queries {
    struct signatures_view signatures;
    const float *weights;    /* WORLD_BITS for each query */
    struct neighbour *truth; /* WORLD_K for each query */
    double scan_ms;          /* exhaustive, one query at a time */
    double tile_ms;          /* exhaustive, all queries at once */
};

struct world {
    const char *name;
    float *centres;
    struct signatures_view rows;
    struct queries held_out, stored; /* queries that are no rows, and queries that are */
};

static inline void world_require(cog_status status, const cog_error *error) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* Large pages for rows, as an index in memory has them. */
static inline void *world_memory(size_t size_bytes, bool large) {
    void *memory = large ? memory_large(size_bytes) : memory_array(size_bytes, 1);
    if (!memory) {
        fprintf(stderr, "no %zu bytes of memory\n", size_bytes);
        exit(1);
    }
    return memory;
}

/* ---- Generated signatures -------------------------------------------------------------------- */

/* Nearly normal, variance 1: the sum of four uniform numbers. */
static inline float normal_number(struct random *random) {
    uint64_t x = random_next(random);
    int sum =
        (int)(x & 0xffff) + (int)(x >> 16 & 0xffff) + (int)(x >> 32 & 0xffff) + (int)(x >> 48);
    return (float)(sum - 131070) * (1.7320508f / 65536);
}

static inline void make_numbers(const struct world *world, size_t document, float *numbers) {
    struct random random = random_seeded(document + 1);
    double angle = M_PI * (0.02 + 0.38 * random_unit(&random));
    const float *centre = world->centres + random_below(&random, WORLD_CENTRES) * WORLD_BITS;
    float along = (float)cos(angle), across = (float)sin(angle);
    for (int bit = 0; bit < WORLD_BITS; bit++)
        numbers[bit] = along * centre[bit] + across * normal_number(&random);
}

static inline void make_signature(const float *numbers, uint8_t *signature) {
    memset(signature, 0, WORLD_BITS / 8);
    for (int bit = 0; bit < WORLD_BITS; bit++)
        signature[bit / 8] |= (uint8_t)((numbers[bit] > 0) << (7 - bit % 8));
}

static inline cog_status make_rows(void *context, unsigned worker, size_t begin, size_t end,
                                   cog_error *error) {
    (void)worker;
    (void)error;
    const struct world *world = context;
    float numbers[WORLD_BITS];
    for (size_t row = begin; row < end; row++) {
        make_numbers(world, row, numbers);
        make_signature(numbers, (uint8_t *)signature_row(&world->rows, row));
    }
    return COG_OK;
}

static inline void make_queries(const struct world *world, struct queries *queries, size_t count,
                                bool stored) {
    uint8_t *data = world_memory(count * (WORLD_BITS / 8), false);
    float *weights = world_memory(count * WORLD_BITS * sizeof *weights, false);
    for (size_t query = 0; query < count; query++) {
        size_t rows = world->rows.rows;
        size_t document = stored ? hash_sequence(77, query) % rows : (1ull << 40) + query;
        make_numbers(world, document, weights + query * WORLD_BITS);
        make_signature(weights + query * WORLD_BITS, data + query * (WORLD_BITS / 8));
    }
    queries->signatures = (struct signatures_view){data, count, WORLD_BITS, WORLD_BITS / 8};
    queries->weights = weights;
}

static inline void world_generate(struct world *world, size_t rows, size_t queries) {
    struct random random = random_seeded(99);
    uint8_t *data = world_memory(rows * (WORLD_BITS / 8), true);
    world->name = "generated signatures";
    world->centres = world_memory((size_t)WORLD_CENTRES * WORLD_BITS * sizeof(float), false);
    for (size_t i = 0; i < (size_t)WORLD_CENTRES * WORLD_BITS; i++)
        world->centres[i] = normal_number(&random);
    world->rows = (struct signatures_view){data, rows, WORLD_BITS, WORLD_BITS / 8};
    parallel_for(threads_resolve(0), rows, 1000, make_rows, world, NULL);
    make_queries(world, &world->held_out, queries, false);
    make_queries(world, &world->stored, queries, true);
}

/* ---- Signatures of files --------------------------------------------------------------------- */

static inline struct signatures_view load_signatures(const char *folder, const char *name,
                                                     bool large) {
    char path[4096];
    cog_error error = {0};
    struct npy_signatures file = {0};
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    world_require(npy_signatures_open(path, &file, &error), &error);
    struct signatures_view view = file.view;
    uint8_t *data = world_memory(view.rows * view.stride_bytes, large);
    memcpy(data, view.data, view.rows * view.stride_bytes);
    view.data = data;
    npy_signatures_close(&file);
    if (view.bits != WORLD_BITS) {
        fprintf(stderr, "%s: %u bits instead of %d\n", path, view.bits, WORLD_BITS);
        exit(1);
    }
    return view;
}

static inline void load_queries(const char *folder, const char *name, struct queries *queries) {
    char path[4096];
    cog_error error = {0};
    struct npy_array file = {0};
    queries->signatures = load_signatures(folder, name, false);
    snprintf(path, sizeof path, "%s/%s_weights.npy", folder, name);
    world_require(npy_open(path, NPY_FLOAT32, &file, &error), &error);
    size_t size_bytes = queries->signatures.rows * WORLD_BITS * sizeof(float);
    float *weights = world_memory(size_bytes, false);
    memcpy(weights, file.data, size_bytes);
    queries->weights = weights;
    npy_close(&file);
    if (queries->signatures.rows > WORLD_MAX_QUERIES)
        queries->signatures.rows = WORLD_MAX_QUERIES;
}

static inline void world_load(struct world *world, const char *folder, size_t most_queries) {
    world->name = folder;
    world->rows = load_signatures(folder, "rows", true);
    load_queries(folder, "queries", &world->held_out);
    load_queries(folder, "stored", &world->stored);
    if (world->held_out.signatures.rows > most_queries)
        world->held_out.signatures.rows = most_queries;
    if (world->stored.signatures.rows > most_queries)
        world->stored.signatures.rows = most_queries;
}

static inline void save_array(const char *folder, const char *name, enum npy_type type,
                              size_t columns, const void *data, size_t rows) {
    char path[4096];
    cog_error error = {0};
    struct npy_writer *writer = NULL;
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    world_require(npy_writer_open(path, type, columns, &writer, &error), &error);
    world_require(npy_writer_append(writer, data, rows, &error), &error);
    world_require(npy_writer_commit(writer, &error), &error);
    npy_writer_close(writer);
}

/* The files that world_load reads. */
static inline void world_save(const struct world *world, const char *folder) {
    const struct queries *held_out = &world->held_out, *stored = &world->stored;
    save_array(folder, "rows", NPY_UINT8, WORLD_BITS / 8, world->rows.data, world->rows.rows);
    save_array(folder, "queries", NPY_UINT8, WORLD_BITS / 8, held_out->signatures.data,
               held_out->signatures.rows);
    save_array(folder, "queries_weights", NPY_FLOAT32, WORLD_BITS, held_out->weights,
               held_out->signatures.rows);
    save_array(folder, "stored", NPY_UINT8, WORLD_BITS / 8, stored->signatures.data,
               stored->signatures.rows);
    save_array(folder, "stored_weights", NPY_FLOAT32, WORLD_BITS, stored->weights,
               stored->signatures.rows);
}

/* ---- The exhaustive answer ------------------------------------------------------------------- */

/* Truth by tiles, all queries at once; the time of single queries by scanning, median of some. */
static inline void world_find_truth(const struct world *world, struct queries *queries) {
    enum { SCANNED = 50 };
    double times[SCANNED];
    cog_error error = {0};
    struct hit_lists results = {0};
    size_t count = queries->signatures.rows;
    uint64_t start = bench_cpu_ns();
    world_require(
        flat_search_topk(&world->rows, &queries->signatures, WORLD_K, 1, &results, &error), &error);
    queries->tile_ms = bench_cpu_seconds_since(start) * 1e3 / (double)count;
    queries->truth = malloc(count * WORLD_K * sizeof *queries->truth);
    for (size_t i = 0; i < count * WORLD_K; i++)
        queries->truth[i] = (struct neighbour){results.items[i].b, results.items[i].distance};
    hit_lists_free(&results);
    for (size_t query = 0; query < SCANNED; query++) {
        struct signatures_view one = queries->signatures;
        results = (struct hit_lists){0};
        one.data = signature_row(&one, query % count);
        one.rows = 1;
        start = bench_cpu_ns();
        world_require(flat_search_topk(&world->rows, &one, WORLD_K, 1, &results, &error), &error);
        times[query] = bench_cpu_seconds_since(start) * 1e3;
        hit_lists_free(&results);
    }
    queries->scan_ms = bench_median(times, SCANNED);
}

static inline void queries_free(struct queries *queries) {
    free((void *)queries->signatures.data);
    free((void *)queries->weights);
    free(queries->truth);
}

static inline void world_free(struct world *world) {
    memory_large_free((void *)world->rows.data, world->rows.rows * (WORLD_BITS / 8));
    free(world->centres);
    queries_free(&world->held_out);
    queries_free(&world->stored);
}
