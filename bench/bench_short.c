/* Near-duplicates among short signatures: PSM and BPHS as published and as tuned, and the exact
 * join.
 *
 *     bench_short [stored] [queries] [joined]      default 10,000,000 1,000,000 10,000,000
 *
 * Signatures are signs of Laplace weights. A query is a stored signature whose weights were
 * perturbed, by a noise so strong that about 23 flips of a 26-bit header find 95% of the pairs
 * within 3 bits, as on the web pages of Sood and Loguinov; queries beyond 3 bits stay among the
 * queries, without a match. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "index/bphs_published.h"
#include "index/psm_published.h"
#include "match/multisort_join.h"

enum { BITS = 64, RADIUS = 3, REPEATS = 3 };

static const double RECALL = 0.95;

struct world {
    uint64_t *stored_words, *query_words;
    float *weights; /* of the queries */
    uint32_t *origins;
    struct signatures_view stored, queries;
    struct volatility volatility;
    struct short_hits truth; /* all hits within the radius */
};

static void fail(const char *what, const cog_error *error) {
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

#define DO(call)                                                                                   \
    do {                                                                                           \
        cog_error do_error = {0};                                                                  \
        cog_error *error = &do_error;                                                              \
        if ((call) != COG_OK)                                                                      \
            fail(#call, error);                                                                    \
    } while (0)

static double laplace(struct random *random) {
    double u = random_unit(random);
    return u < 0.5 ? log(2 * u + 1e-12) : -log(2 - 2 * u + 1e-12);
}

/* The weights of a stored row are drawn from its number: they need no memory. */
static uint64_t make_weights(uint64_t row, float *weights) {
    struct random random = random_seeded(row * 2 + 1);
    uint64_t word = 0;
    for (unsigned i = 0; i < BITS; i++) {
        weights[i] = (float)laplace(&random);
        word |= (uint64_t)(weights[i] >= 0) << (BITS - 1 - i);
    }
    return word;
}

/* A document's similarity to its origin varies: the scale of its noise is drawn first. */
static uint64_t perturb(struct random *random, float *weights, double noise) {
    uint64_t word = 0;
    double scale = noise * (0.25 + 1.5 * random_unit(random));
    for (unsigned i = 0; i < BITS; i++) {
        weights[i] += (float)(scale * laplace(random));
        word |= (uint64_t)(weights[i] >= 0) << (BITS - 1 - i);
    }
    return word;
}

static struct world make_world(size_t stored, size_t queries, double noise) {
    struct world world = {.stored_words = memory_large(stored * 8),
                          .query_words = memory_large(queries * 8),
                          .weights = memory_large(queries * BITS * sizeof(float)),
                          .origins = memory_array(queries, sizeof(uint32_t))};
    struct random random = random_seeded(99);
    float weights[BITS];
    for (size_t row = 0; row < stored; row++)
        world.stored_words[row] = __builtin_bswap64(make_weights(row, weights));
    enum { LEARNED = 2000 };
    static float differences[LEARNED * BITS];
    for (size_t q = 0; q < queries; q++) {
        float *own = world.weights + q * BITS;
        world.origins[q] = (uint32_t)random_below(&random, stored);
        make_weights(world.origins[q], weights);
        memcpy(own, weights, sizeof weights);
        world.query_words[q] = __builtin_bswap64(perturb(&random, own, noise));
        for (unsigned i = 0; q < LEARNED && i < BITS; i++)
            differences[q * BITS + i] = own[i] - weights[i];
    }
    size_t learned = queries < LEARNED ? queries : LEARNED;
    DO(volatility_learn(&world.volatility, differences, learned * BITS, error));
    world.stored = (struct signatures_view){(uint8_t *)world.stored_words, stored, BITS, 8};
    world.queries = (struct signatures_view){(uint8_t *)world.query_words, queries, BITS, 8};
    return world;
}

static struct psm_queries psm_queries_of(const struct world *world, size_t count) {
    struct psm_queries queries = {world->queries, world->weights, &world->volatility};
    if (queries.signatures.rows > count)
        queries.signatures.rows = count;
    return queries;
}

static size_t truth_among(const struct world *world, size_t queries) {
    size_t count = 0;
    while (count < world->truth.count && world->truth.items[count].query < queries)
        count++;
    return count;
}

static size_t queries_with_truth(const struct world *world, size_t queries) {
    size_t count = 0;
    for (size_t i = 0; i < truth_among(world, queries); i++)
        count += i == 0 || world->truth.items[i].query != world->truth.items[i - 1].query;
    return count;
}

/* Recall of a find-all or a find-first search of the first `queries` queries. */
static double recall_of(const struct world *world, const struct short_hits *hits, size_t queries,
                        bool first_only) {
    size_t all = first_only ? queries_with_truth(world, queries) : truth_among(world, queries);
    return all ? (double)hits->count / (double)all : 1;
}

static int by_double(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* A timed search: the median of REPEATS. */
struct timed {
    double seconds;     /* wall clock */
    double cpu_seconds; /* of all threads: what it would take on an idle machine */
    struct short_hits hits;
};

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#define TIMED(result, repeats, call)                                                               \
    do {                                                                                           \
        double timed_wall[REPEATS], timed_cpu[REPEATS];                                            \
        for (int timed_i = 0; timed_i < (repeats); timed_i++) {                                    \
            short_hits_free(&(result)->hits);                                                      \
            uint64_t timed_start = clock_ns();                                                     \
            double timed_cpu_start = cpu_seconds();                                                \
            DO(call);                                                                              \
            timed_wall[timed_i] = clock_seconds_since(timed_start);                                \
            timed_cpu[timed_i] = cpu_seconds() - timed_cpu_start;                                  \
        }                                                                                          \
        qsort(timed_wall, (repeats), sizeof *timed_wall, by_double);                               \
        qsort(timed_cpu, (repeats), sizeof *timed_cpu, by_double);                                 \
        (result)->seconds = timed_wall[(repeats) / 2];                                             \
        (result)->cpu_seconds = timed_cpu[(repeats) / 2];                                          \
    } while (0)

static void print_row(const char *name, size_t probes, double recall, const struct timed *timed,
                      size_t queries, double bytes, double rival_ns) {
    double ns = timed->cpu_seconds / (double)queries * 1e9;
    printf("%-44s %6zu %7.3f %9.0f %9.3f %8.2f", name, probes, recall, ns,
           (double)queries / timed->seconds * 1e-6, bytes);
    if (rival_ns > 0)
        printf(" %7.1fx", rival_ns / ns);
    printf("\n");
    fflush(stdout);
}

/* BPHS as published; returns ns a query of find-all. */
static double bench_bphs_published(const struct world *world, unsigned blocks, unsigned chosen,
                                   size_t query_count) {
    struct bphs_published index;
    struct signatures_view queries = world->queries;
    queries.rows = query_count;
    DO(bphs_published_build(&index, &world->stored, blocks, chosen, RADIUS, 0, error));
    double bytes = (double)bphs_published_bytes(&index) / (double)world->stored.rows;
    double find_all_ns = 0;
    for (int first_only = 0; first_only <= 1; first_only++) {
        struct timed timed = {0};
        struct bphs_search search = {RADIUS, first_only, 1};
        char name[64];
        TIMED(&timed, 1, bphs_published_search(&index, &queries, &search, &timed.hits, error));
        snprintf(name, sizeof name, "BPHS published, T=%u, find-%s", index.layout.choice_count,
                 first_only ? "first" : "all");
        print_row(name, index.layout.choice_count,
                  recall_of(world, &timed.hits, query_count, first_only), &timed, query_count,
                  bytes, 0);
        if (!first_only)
            find_all_ns = timed.cpu_seconds / (double)query_count * 1e9;
        short_hits_free(&timed.hits);
    }
    bphs_published_free(&index);
    return find_all_ns;
}

static void bench_bphs_tuned(struct world *world, unsigned blocks, unsigned chosen,
                             double rival_ns) {
    struct bphs_index index;
    size_t count = world->queries.rows;
    DO(bphs_build(&index, &world->stored, blocks, chosen, RADIUS, 0, error));
    double bytes = (double)bphs_bytes(&index) / (double)world->stored.rows;
    size_t probes = index.mask_counts[0] * index.layout.choice_count;
    for (int kind = 0; kind < 3; kind++) {
        struct timed timed = {0};
        struct bphs_search search = {RADIUS, kind == 1, kind == 2 ? 2 : 1};
        static const char *const kinds[] = {"find-all", "find-first", "find-all, 2 threads"};
        char name[64];
        TIMED(&timed, REPEATS, bphs_search(&index, &world->queries, &search, &timed.hits, error));
        if (world->truth.count == 0) {
            world->truth = timed.hits;
            short_hits_sort(&world->truth, 0);
            timed.hits = (struct short_hits){0};
            printf("(%zu hits, %zu of %zu queries have one)\n", world->truth.count,
                   queries_with_truth(world, count), count);
        }
        snprintf(name, sizeof name, "BPHS tuned, T=%u, %s", index.layout.choice_count, kinds[kind]);
        const struct short_hits *hits = timed.hits.count ? &timed.hits : &world->truth;
        print_row(name, probes, recall_of(world, hits, count, kind == 1), &timed, count, bytes,
                  rival_ns);
        short_hits_free(&timed.hits);
    }
    bphs_free(&index);
}

/* The number of flips at which the published form has the wanted recall: of the true pairs, in
 * which place of VOSH's order the header's difference stands. */
static size_t flips_for_recall(const struct world *world, unsigned header_bits, double recall,
                               bool first_only) {
    enum { PLACES = 1 << 13 };
    static size_t found_at[PLACES];
    memset(found_at, 0, sizeof found_at);
    struct probe_heap heap = {0};
    size_t sampled = 0, best = PLACES;
    for (size_t i = 0; i < world->truth.count && sampled < 20000; i++) {
        const struct short_hit *hit = &world->truth.items[i];
        uint32_t penalties[PROBE_BITS_MAX];
        for (unsigned b = 0; b < header_bits; b++)
            penalties[b] = volatility_penalty(&world->volatility,
                                              world->weights[(size_t)hit->query * BITS + b]);
        uint64_t wanted = short_key_prefix(short_key_of_row(&world->queries, hit->query) ^
                                               short_key_of_row(&world->stored, hit->row),
                                           header_bits);
        struct probe_bits bits;
        probe_bits_init(&bits, penalties, header_bits, PROBE_BOUND_NONE);
        DO(probe_heap_start(&heap, &bits, RADIUS, error));
        struct probe probe = {0};
        size_t place = 0;
        for (bool end = false; probe.mask != wanted && !end && place + 1 < PLACES; place++)
            DO(probe_heap_next(&heap, &probe, &end, error));
        best = place < best ? place : best;
        bool last = i + 1 == world->truth.count || hit[1].query != hit->query;
        if (!first_only || last) {
            found_at[first_only ? best : place]++;
            sampled++;
        }
        best = last ? PLACES : best;
    }
    probe_heap_free(&heap);
    size_t held = 0, place = 0;
    for (; place < PLACES; place++)
        if ((double)(held += found_at[place]) >= recall * (double)sampled)
            break;
    return place;
}

static void bench_psm_published(const struct world *world, unsigned header_bits, size_t query_count,
                                double rival_ns) {
    struct psm_published index;
    struct psm_queries queries = psm_queries_of(world, query_count);
    DO(psm_published_build(&index, &world->stored, header_bits, 0, error));
    double bytes = (double)psm_published_bytes(&index) / (double)world->stored.rows;
    for (int first_only = 0; first_only <= 1; first_only++) {
        struct timed timed = {0};
        size_t flips = flips_for_recall(world, header_bits, RECALL, first_only);
        struct psm_published_search search = {RADIUS, flips, first_only, 1};
        char name[64];
        TIMED(&timed, REPEATS, psm_published_search(&index, &queries, &search, &timed.hits, error));
        snprintf(name, sizeof name, "PSM published, t=%u (T'=%.2f), find-%s", header_bits,
                 bytes / 8, first_only ? "first" : "all");
        print_row(name, flips, recall_of(world, &timed.hits, query_count, first_only), &timed,
                  query_count, bytes, rival_ns);
        short_hits_free(&timed.hits);
    }
    psm_published_free(&index);
}

/* The bound at which a find-all search of some queries has the wanted recall, by bisection. */
static uint32_t bound_for_recall(const struct world *world, const struct psm_index *index) {
    struct psm_queries queries = psm_queries_of(world, 100000);
    uint32_t low = 0, high = 16 * PROBE_PENALTY_ONE;
    while (high - low > PROBE_PENALTY_ONE / 64) {
        struct psm_search search = {RADIUS, low + (high - low) / 2, false, 0};
        struct short_hits hits = {0};
        DO(psm_search(index, &queries, &search, &hits, error));
        if (recall_of(world, &hits, queries.signatures.rows, false) >= RECALL)
            high = search.penalty_bound;
        else
            low = search.penalty_bound;
        short_hits_free(&hits);
    }
    return high;
}

/* How many flips a query has below a bound, on average. */
static double average_flips(const struct world *world, unsigned header_bits, uint32_t bound) {
    size_t sample = world->queries.rows < 10000 ? world->queries.rows : 10000, total = 0;
    for (size_t q = 0; q < sample; q++) {
        uint32_t penalties[PROBE_BITS_MAX];
        for (unsigned b = 0; b < header_bits; b++)
            penalties[b] = volatility_penalty(&world->volatility, world->weights[q * BITS + b]);
        struct probe_bits bits;
        probe_bits_init(&bits, penalties, header_bits, bound);
        total += probes_within(&bits, RADIUS, bound, NULL, SIZE_MAX) - 1;
    }
    return (double)total / (double)sample;
}

static void bench_psm_tuned(const struct world *world, double rival_ns) {
    struct psm_index index;
    size_t count = world->queries.rows;
    struct psm_queries queries = psm_queries_of(world, count);
    uint64_t start = clock_ns();
    DO(psm_build(&index, &world->stored, 2, error));
    printf("(PSM tuned built in %.2f s on 2 threads)\n", clock_seconds_since(start));
    double bytes = (double)line_table_bytes(&index.table) / (double)world->stored.rows;
    uint32_t bound = bound_for_recall(world, &index), expected_bound;
    DO(psm_bound_for_recall(&queries, index.table.header_bits, RADIUS, RECALL, 1000,
                            &expected_bound, error));
    size_t flips = (size_t)(average_flips(world, index.table.header_bits, bound) + 0.5);
    for (int kind = 0; kind < 4; kind++) {
        static const char *const kinds[] = {"find-all", "find-first", "find-all, 2 threads",
                                            "find-all, bound by model"};
        struct psm_search search = {RADIUS, kind == 3 ? expected_bound : bound, kind == 1,
                                    kind == 2 ? 2 : 1};
        if (kind == 3)
            flips = (size_t)(average_flips(world, index.table.header_bits, expected_bound) + 0.5);
        struct timed timed = {0};
        char name[64];
        TIMED(&timed, REPEATS, psm_search(&index, &queries, &search, &timed.hits, error));
        snprintf(name, sizeof name, "PSM tuned, t=%u (T'=%.2f), %s", index.table.header_bits,
                 bytes / 8, kinds[kind]);
        print_row(name, flips, recall_of(world, &timed.hits, count, kind == 1), &timed, count,
                  bytes, rival_ns);
        short_hits_free(&timed.hits);
    }
    psm_free(&index);
}

struct memory_source {
    struct signatures_view view;
    size_t next;
};

static cog_status read_memory(void *context, uint8_t *data, size_t rows_max, size_t *rows,
                              cog_error *error) {
    (void)error;
    struct memory_source *source = context;
    size_t left = source->view.rows - source->next;
    *rows = left < rows_max ? left : rows_max;
    memcpy(data, signature_row(&source->view, source->next), *rows * 8);
    source->next += *rows;
    return COG_OK;
}

/* The stored signatures pass by in four chunks. */
static void bench_batch(const struct world *world) {
    size_t count = world->queries.rows;
    struct psm_queries queries = psm_queries_of(world, count);
    struct psm_index index;
    DO(psm_build(&index, &world->stored, 0, error));
    uint32_t bound = bound_for_recall(world, &index);
    psm_free(&index);
    for (int first_only = 0; first_only <= 1; first_only++) {
        struct memory_source state = {world->stored, 0};
        struct psm_source source = {read_memory, &state, (world->stored.rows + 3) / 4};
        struct psm_search search = {RADIUS, bound, first_only, 2};
        struct timed timed = {0};
        TIMED(&timed, 1, psm_search_batch(&source, &queries, &search, &timed.hits, error));
        print_row(first_only ? "PSM batch, 4 chunks, 2 threads, find-first"
                             : "PSM batch, 4 chunks, 2 threads, find-all",
                  0, recall_of(world, &timed.hits, count, first_only), &timed, count, 0, 0);
        short_hits_free(&timed.hits);
    }
    size_t some = world->stored.rows / 10;
    struct signatures_view stored = world->stored;
    stored.rows = some;
    struct timed timed = {0};
    TIMED(
        &timed, 1,
        bphs_published_search_batch(&stored, &world->queries, 4, 1, RADIUS, 2, &timed.hits, error));
    timed.seconds *= 10;
    timed.cpu_seconds *= 10;
    print_row("BPHS batch published, T=4, 2 threads (x10)", 4, 1, &timed, count, 0, 0);
    short_hits_free(&timed.hits);
}

/* Figure 3: attempts to find pairs at exactly h bits, over all bits, against random order. */
static void bench_order(void) {
    enum { PAIRS = 5000 };
    static const double recalls[] = {0.5, 0.8, 1};
    static const double subsets[] = {0, 64, 2016, 41664};
    static size_t places[RADIUS + 1][PAIRS];
    size_t counts[RADIUS + 1] = {0};
    struct world world = make_world(200000, 200000, 0.115);
    struct probe_heap heap = {0};
    for (size_t q = 0; q < world.queries.rows; q++) {
        short_key difference =
            short_key_of_row(&world.queries, q) ^ short_key_of_row(&world.stored, world.origins[q]);
        unsigned h = short_key_distance(difference, 0);
        if (h < 1 || h > RADIUS || counts[h] == PAIRS)
            continue;
        uint32_t penalties[BITS];
        for (unsigned b = 0; b < BITS; b++)
            penalties[b] = volatility_penalty(&world.volatility, world.weights[q * BITS + b]);
        struct probe_bits bits;
        probe_bits_init(&bits, penalties, BITS, PROBE_BOUND_NONE);
        DO(probe_heap_start(&heap, &bits, h, error));
        size_t place = 0;
        struct probe probe = {0};
        for (bool end = false; probe.mask != (uint64_t)(difference >> 64) && !end;) {
            DO(probe_heap_next(&heap, &probe, &end, error));
            place += probe.flips == h;
        }
        places[h][counts[h]++] = place;
    }
    printf("\nattempts to find a pair at exactly h bits, all 64 bits (Figure 3)\n");
    printf("%3s %8s %8s %10s %10s %8s\n", "h", "pairs", "recall", "VOSH", "random", "ratio");
    for (unsigned h = 1; h <= RADIUS; h++) {
        for (int r = 0; r < 3; r++) {
            static double sorted[PAIRS];
            for (size_t i = 0; i < counts[h]; i++)
                sorted[i] = (double)places[h][i];
            qsort(sorted, counts[h], sizeof *sorted, by_double);
            size_t at = (size_t)(recalls[r] * (double)counts[h] + 0.999999);
            double vosh = counts[h] ? sorted[(at ? at : 1) - 1] : 0;
            printf("%3u %8zu %8.2f %10.0f %10.0f %7.1fx\n", h, counts[h], recalls[r], vosh,
                   recalls[r] * subsets[h], recalls[r] * subsets[h] / (vosh ? vosh : 1));
        }
    }
    probe_heap_free(&heap);
}

static cog_status count_matches(void *context, unsigned worker, const struct match *matches,
                                size_t count, cog_error *error) {
    (void)matches;
    (void)error;
    ((size_t *)context)[worker * 16] += count;
    return COG_OK;
}

static void bench_join(size_t rows) {
    uint64_t *words = memory_large(rows * 8);
    struct random random = random_seeded(5);
    for (size_t row = 0; row < rows; row++) {
        words[row] = random_next(&random);
        if (row > 0 && random_below(&random, 10) == 0) {
            words[row] = words[random_below(&random, row)];
            for (uint64_t flips = random_below(&random, 6); flips > 0; flips--)
                words[row] ^= (uint64_t)1 << random_below(&random, 64);
        }
    }
    struct signatures_view view = {(const uint8_t *)words, rows, BITS, 8};
    printf("\nexact self-join of %zu within %d bits\n", rows, RADIUS);
    static const struct multisort_options all[] = {
        {RADIUS, 1, 0, 0}, {RADIUS, 2, 0, 0}, {RADIUS, 2, 5, 0}, {RADIUS, 2, 6, 0}};
    for (int o = 0; o < 4; o++) {
        double seconds[REPEATS], cpu[REPEATS];
        size_t counts[2 * 16];
        for (int i = 0; i < REPEATS; i++) {
            memset(counts, 0, sizeof counts);
            uint64_t start = clock_ns();
            double cpu_start = cpu_seconds();
            DO(multisort_join_stream(&view, NULL, &all[o], count_matches, counts, error));
            seconds[i] = clock_seconds_since(start);
            cpu[i] = cpu_seconds() - cpu_start;
        }
        qsort(cpu, REPEATS, sizeof *cpu, by_double);
        qsort(seconds, REPEATS, sizeof *seconds, by_double);
        printf("%u threads, %s%u blocks: %.2f s (best %.2f, CPU %.2f), %zu pairs\n", all[o].threads,
               all[o].blocks ? "" : "chosen ", all[o].blocks, seconds[REPEATS / 2], seconds[0],
               cpu[REPEATS / 2], counts[0] + counts[16]);
    }
    memory_large_free(words, rows * 8);
}

static size_t argument(int count, char **values, int i, size_t otherwise) {
    return i < count ? (size_t)strtoull(values[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
    size_t stored = argument(argc, argv, 1, 10000000), queries = argument(argc, argv, 2, 1000000);
    size_t joined = argument(argc, argv, 3, 10000000);
    static const double NOISE = 0.115;
    if (joined > 0)
        bench_join(joined);
    if (stored == 0)
        return 0;
    static struct world world;
    world = make_world(stored, queries, NOISE);
    printf("\n%zu stored, %zu queries, radius %d\n", stored, queries, RADIUS);
    printf("%-44s %6s %7s %9s %9s %8s %8s\n", "", "flips", "recall", "CPU ns", "M/s wall", "bytes",
           "to T=4");
    bench_bphs_tuned(&world, 5, 2, 0);
    bench_bphs_tuned(&world, 2, 1, 0);
    printf("flips for %.0f%% at t=26: %zu find-all, %zu find-first\n", RECALL * 100,
           flips_for_recall(&world, 26, RECALL, false), flips_for_recall(&world, 26, RECALL, true));
    size_t few = queries < 50000 ? queries : 50000;
    double rival_ns = bench_bphs_published(&world, 4, 1, few);
    bench_bphs_published(&world, 5, 2, few);
    unsigned log_rows = 63 - (unsigned)__builtin_clzll(stored);
    for (unsigned less = 0; less <= 4; less++)
        bench_psm_published(&world, log_rows - less, queries < 300000 ? queries : 300000, rival_ns);
    bench_psm_tuned(&world, rival_ns);
    bench_batch(&world);
    bench_order();
    printf("peak memory %.2f GB\n", (double)memory_peak_bytes() * 1e-9);
    return 0;
}
