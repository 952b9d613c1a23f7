/* Simulated short signatures for benchmarks: a stored signature is the signs of Laplace margins,
 * and a query is a stored one whose margins were perturbed. Everything is drawn from row numbers,
 * so that stored margins need no memory, and by quantile tables, so that 60 million rows take
 * seconds.
 *
 * Two stored signatures are random to each other, so a query's only neighbour is its origin, if
 * that is within the radius (an exact search of all queries shows it). */
#pragma once

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming.h"
#include "search/probes/volatility.h"

enum { WORLD_BITS = 64, WORLD_RADIUS = 3, WORLD_LEARNED = 2000, WORLD_QUANTILE_BITS = 16 };

#define DO(call)                                                                                   \
    do {                                                                                           \
        cog_error do_error = {0};                                                                  \
        cog_error *error = &do_error;                                                              \
        if ((call) != COG_OK) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, error->message);                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct short_world {
    uint64_t *stored_words, *query_words;
    float *margins; /* of the queries */
    uint32_t *origins;
    struct signatures_view stored, queries;
    struct volatility volatility;
    double noise;
};

/* Quantiles of the exponential distribution: sizes of Laplace margins. */
static float world_sizes[1 << WORLD_QUANTILE_BITS];

static void world_fill_sizes(void) {
    for (unsigned i = 0; i < 1u << WORLD_QUANTILE_BITS; i++)
        world_sizes[i] = (float)-log1p(-((double)i + 0.5) / (double)(1u << WORLD_QUANTILE_BITS));
}

static uint64_t world_stored_key(uint64_t row) {
    return hash_sequence(1, row);
}

/* The sign bits of a key with sizes drawn from its row. */
static void world_stored_margins(uint64_t row, float *margins) {
    struct random random = random_seeded(row);
    uint64_t key = world_stored_key(row), bits = 0;
    for (unsigned i = 0; i < WORLD_BITS; i++, bits >>= WORLD_QUANTILE_BITS) {
        if (i % 4 == 0)
            bits = random_next(&random);
        float size = world_sizes[bits & 0xffff];
        margins[i] = key >> (WORLD_BITS - 1 - i) & 1 ? size : -size;
    }
}

/* A document's similarity to its origin varies: the scale of its noise is drawn first. */
static uint64_t world_perturb(struct random *random, float *margins, double noise) {
    uint64_t key = 0, bits = 0, signs = random_next(random);
    float scale = (float)(noise * (0.25 + 1.5 * random_unit(random)));
    for (unsigned i = 0; i < WORLD_BITS; i++, bits >>= WORLD_QUANTILE_BITS) {
        if (i % 4 == 0)
            bits = random_next(random);
        float change = scale * world_sizes[bits & 0xffff];
        margins[i] += signs >> i & 1 ? change : -change;
        key |= (uint64_t)(margins[i] >= 0) << (WORLD_BITS - 1 - i);
    }
    return key;
}

static cog_status world_fill_stored(void *context, unsigned worker, size_t begin, size_t end,
                                    cog_error *error) {
    (void)worker;
    (void)error;
    struct short_world *world = context;
    for (size_t row = begin; row < end; row++)
        world->stored_words[row] = __builtin_bswap64(world_stored_key(row));
    return COG_OK;
}

static cog_status world_fill_queries(void *context, unsigned worker, size_t begin, size_t end,
                                     cog_error *error) {
    (void)worker;
    (void)error;
    struct short_world *world = context;
    for (size_t q = begin; q < end; q++) {
        struct random random = random_seeded(~(uint64_t)q);
        world->origins[q] = (uint32_t)random_below(&random, world->stored.rows);
        float *margins = world->margins + q * WORLD_BITS;
        world_stored_margins(world->origins[q], margins);
        world->query_words[q] = __builtin_bswap64(world_perturb(&random, margins, world->noise));
    }
    return COG_OK;
}

/* The differences of margins between the first queries and their origins. */
static void world_learn(struct short_world *world) {
    static float differences[WORLD_LEARNED * WORLD_BITS];
    size_t learned = world->queries.rows < WORLD_LEARNED ? world->queries.rows : WORLD_LEARNED;
    for (size_t q = 0; q < learned; q++) {
        float *of_query = differences + q * WORLD_BITS;
        world_stored_margins(world->origins[q], of_query);
        for (unsigned i = 0; i < WORLD_BITS; i++)
            of_query[i] -= world->margins[q * WORLD_BITS + i];
    }
    DO(volatility_learn(&world->volatility, differences, learned * WORLD_BITS, error));
}

static struct short_world short_world_make(size_t stored, size_t queries, double noise) {
    world_fill_sizes();
    struct short_world world = {.stored_words = memory_large(stored * 8),
                                .query_words = memory_large(queries * 8),
                                .margins = memory_large(queries * WORLD_BITS * sizeof(float)),
                                .origins = memory_large(queries * sizeof(uint32_t)),
                                .noise = noise};
    world.stored = (struct signatures_view){(uint8_t *)world.stored_words, stored, WORLD_BITS, 8};
    world.queries = (struct signatures_view){(uint8_t *)world.query_words, queries, WORLD_BITS, 8};
    parallel_for(0, stored, 1 << 16, world_fill_stored, &world, NULL);
    parallel_for(0, queries, 1 << 12, world_fill_queries, &world, NULL);
    world_learn(&world);
    return world;
}

static void short_world_free(struct short_world *world) {
    memory_large_free(world->stored_words, world->stored.rows * 8);
    memory_large_free(world->query_words, world->queries.rows * 8);
    memory_large_free(world->margins, world->queries.rows * WORLD_BITS * sizeof(float));
    memory_large_free(world->origins, world->queries.rows * sizeof(uint32_t));
}

/* How far a query is from its origin. */
static unsigned short_world_distance(const struct short_world *world, size_t query) {
    return (unsigned)__builtin_popcountll(world->query_words[query] ^
                                          world->stored_words[world->origins[query]]);
}

/* The queries among the first `count` that have a neighbour. */
static size_t short_world_pairs(const struct short_world *world, size_t count) {
    size_t pairs = 0;
    for (size_t q = 0; q < count; q++)
        pairs += short_world_distance(world, q) <= WORLD_RADIUS;
    return pairs;
}
