/* Near-duplicates among short signatures: PSM and BPHS as published and as tuned, and the exact
 * join, as the tables and figures of Sood and Loguinov (CIKM 2011), with the goals at the end.
 *
 *     bench_short [stored] [queries] [joined] [signatures.npy weights.npy]...
 *
 * Default 60,000,000 10,000,000 60,000,000: about 6 minutes on two cores, 12 GB. Signatures are
 * simulated (short_world.h) with noise as hard as the paper's: about 23 flips of a 26-bit header
 * find 95% of the pairs within 3 bits. The two files are what short_documents.py
 * makes of real documents: one half of the rows is stored, the other asks. */
#include "bench_timing.h"
#include "input/npy.h"
#include "rivals/bphs_published.h"
#include "rivals/psm_published.h"
#include "search/multisort/multisort_join.h"
#include "search/probes/header_probes.h"
#include "short_world.h"

/* Memory of the tables, without the row numbers. */
static double bytes_of_tables(const struct bucket_index *index) {
    double total = 0;
    for (unsigned i = 0; i < index->count; i++)
        total += (double)bucket_table_bytes(&index->tables[i]);
    return total;
}

enum { RADIUS = WORLD_RADIUS, BITS = WORLD_BITS, REPEATS = 3, PLACES = 1 << 13 };
static const double RECALL = 0.95, HARD_NOISE = 0.115, KIND_NOISE = 0.05;

static double process_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Goals ----------------------------------------------------------------------------------- */

struct goal {
    char text[96];
    double wanted, reached;
    bool at_most;
};
static struct goal goals[32];
static size_t goal_count;

static void add_goal(const char *text, double wanted, double reached, bool at_most) {
    struct goal *goal = &goals[goal_count++];
    snprintf(goal->text, sizeof goal->text, "%s", text);
    goal->wanted = wanted;
    goal->reached = reached;
    goal->at_most = at_most;
}

static void print_goals(void) {
    printf("\ngoals (stated for 60 million stored, 10 million queries, on an idle machine)\n");
    for (size_t i = 0; i < goal_count; i++) {
        const struct goal *goal = &goals[i];
        bool met = goal->at_most ? goal->reached <= goal->wanted : goal->reached >= goal->wanted;
        printf("%-66s %s %8.3g: %s %.3g\n", goal->text, goal->at_most ? "<=" : ">=", goal->wanted,
               met ? "met   " : "missed", goal->reached);
    }
}

/* ---- Timed searches -------------------------------------------------------------------------- */

/* The median of some runs. */
struct timed {
    double seconds;     /* wall clock */
    double cpu_seconds; /* of all threads: what one would take on an idle machine */
    struct match_list hits;
};

#define TIMED(result, repeats, call)                                                               \
    do {                                                                                           \
        double timed_wall[REPEATS], timed_cpu[REPEATS];                                            \
        for (int timed_i = 0; timed_i < (repeats); timed_i++) {                                    \
            match_list_free(&(result)->hits);                                                      \
            uint64_t timed_start = clock_ns();                                                     \
            double timed_cpu_start = process_seconds();                                            \
            DO(call);                                                                              \
            timed_wall[timed_i] = clock_seconds_since(timed_start);                                \
            timed_cpu[timed_i] = process_seconds() - timed_cpu_start;                              \
        }                                                                                          \
        (result)->seconds = bench_median(timed_wall, (repeats));                                   \
        (result)->cpu_seconds = bench_median(timed_cpu, (repeats));                                \
    } while (0)

/* What is known of a row when it is printed. */
struct row {
    const char *name;
    double flips, recall, bytes;
    size_t queries;
};

static double rival_ns; /* BPHS as published, T = 4, find-all */

static double print_row(const struct row *row, struct timed *timed) {
    double ns = timed->cpu_seconds / (double)row->queries * 1e9;
    printf("%-46s %6.1f %7.3f %8.0f %9.3f %7.2f", row->name, row->flips, row->recall, ns,
           (double)row->queries / timed->seconds * 1e-6, row->bytes);
    if (rival_ns > 0)
        printf(" %7.1fx", rival_ns / ns);
    printf("\n");
    fflush(stdout);
    match_list_free(&timed->hits);
    return ns;
}

static void print_header(void) {
    printf("%-46s %6s %7s %8s %9s %7s %8s\n", "", "flips", "recall", "CPU ns", "M/s wall", "bytes",
           "to T=4");
}

static double recall_of(const struct short_world *world, const struct timed *timed,
                        size_t queries) {
    size_t pairs = short_world_pairs(world, queries);
    return pairs ? (double)timed->hits.count / (double)pairs : 1;
}

static struct psm_queries psm_queries_of(const struct short_world *world, size_t count) {
    struct psm_queries queries = {world->queries, world->margins, &world->volatility, false};
    if (queries.signatures.rows > count)
        queries.signatures.rows = count;
    return queries;
}

static size_t at_most(size_t count, size_t most) {
    return count < most ? count : most;
}

/* ---- BPHS ------------------------------------------------------------------------------------ */

/* Find-all and find-first of some queries; returns ns per query of find-all. */
static double bench_bphs_published(const struct short_world *world, unsigned blocks,
                                   unsigned chosen, size_t query_count, double *build_cpu) {
    struct bphs_published index;
    struct signatures_view queries = world->queries;
    queries.rows = at_most(queries.rows, query_count);
    double start = process_seconds(), find_all_ns = 0;
    DO(bphs_published_build(&index, &world->stored, blocks, chosen, RADIUS, 0, error));
    *build_cpu = process_seconds() - start;
    unsigned tables = index.layout.choice_count;
    for (int first = 0; first <= 1; first++) {
        struct timed timed = {0};
        struct short_search search = {.radius_bits = RADIUS, .first_only = first, .threads = 1};
        char name[64];
        TIMED(&timed, 1, bphs_published_search(&index, &queries, &search, &timed.hits, error));
        snprintf(name, sizeof name, "BPHS published, T=%u, find-%s", tables,
                 first ? "first" : "all");
        struct row row = {name, 0, recall_of(world, &timed, queries.rows),
                          (double)bphs_published_bytes(&index) / (double)world->stored.rows,
                          queries.rows};
        double ns = print_row(&row, &timed);
        find_all_ns = first ? find_all_ns : ns;
    }
    bphs_published_free(&index);
    return find_all_ns;
}

static const char *const kinds[] = {"find-all", "find-first", "find-all, 2 threads",
                                    "find-all, batch", "find-all, batch, 2 threads"};
enum { ALL, FIRST, ALL_2, BATCH, BATCH_2, KINDS };

struct bphs_figures {
    double ns[KINDS], rate[KINDS];
    double bytes, build_seconds, query_seconds_2; /* for all stored, on two threads */
};

static struct bphs_figures bench_bphs_tuned(const struct short_world *world) {
    struct bphs_figures figures = {0};
    struct bphs_index index;
    size_t count = world->queries.rows;
    uint64_t start = clock_ns();
    DO(bphs_build(&index, &world->stored, 5, 2, RADIUS, 2, error));
    figures.build_seconds = clock_seconds_since(start);
    figures.bytes = bytes_of_tables(&index.stored) / (double)world->stored.rows;
    printf("(BPHS tuned built in %.1f s on 2 threads)\n", figures.build_seconds);
    for (int kind = 0; kind < KINDS; kind++) {
        struct short_search search = {.radius_bits = RADIUS,
                                      .first_only = kind == FIRST,
                                      .batch = kind >= BATCH,
                                      .threads = kind == ALL_2 || kind == BATCH_2 ? 2 : 1};
        struct timed timed = {0};
        char name[64];
        TIMED(&timed, REPEATS, bphs_search(&index, &world->queries, &search, &timed.hits, error));
        snprintf(name, sizeof name, "BPHS tuned, T=10, %s", kinds[kind]);
        struct row row = {name, 0, recall_of(world, &timed, count), figures.bytes, count};
        figures.rate[kind] = (double)count / timed.seconds * 1e-6;
        figures.ns[kind] = print_row(&row, &timed);
    }
    figures.query_seconds_2 = (double)world->stored.rows / figures.rate[BATCH_2] * 1e-6;
    bphs_free(&index);
    return figures;
}

/* ---- PSM ------------------------------------------------------------------------------------- */

static void penalties_of(const struct short_world *world, size_t query, unsigned header_bits,
                         uint32_t *penalties) {
    for (unsigned b = 0; b < header_bits; b++)
        penalties[b] = volatility_penalty(&world->volatility, world->margins[query * BITS + b]);
}

/* In which place of VOSH's order the header's difference of true pairs stands, as a histogram. */
static size_t place_pairs(const struct short_world *world, unsigned header_bits, size_t *found_at) {
    struct probe_heap heap = {0};
    size_t sampled = 0;
    memset(found_at, 0, PLACES * sizeof *found_at);
    for (size_t q = 0; q < world->queries.rows && sampled < 20000; q++) {
        if (short_world_distance(world, q) > RADIUS)
            continue;
        uint64_t difference =
            __builtin_bswap64(world->query_words[q] ^ world->stored_words[world->origins[q]]);
        uint32_t penalties[PROBE_BITS_MAX];
        penalties_of(world, q, header_bits, penalties);
        struct probe_bits bits;
        probe_bits_init(&bits, penalties, header_bits, PROBE_BOUND_NONE);
        DO(probe_heap_start(&heap, &bits, RADIUS, error));
        struct probe probe = {0};
        size_t place = 0;
        for (bool end = false;
             probe.mask != difference >> (64 - header_bits) && !end && place + 1 < PLACES; place++)
            DO(probe_heap_next(&heap, &probe, &end, error));
        found_at[place]++;
        sampled++;
    }
    probe_heap_free(&heap);
    return sampled;
}

/* The number of flips at which the published form has the wanted recall. */
static size_t flips_for_recall(const struct short_world *world, unsigned header_bits) {
    static size_t found_at[PLACES];
    size_t sampled = place_pairs(world, header_bits, found_at), held = 0, place = 0;
    for (; place < PLACES; place++)
        if ((double)(held += found_at[place]) >= RECALL * (double)sampled)
            break;
    return place;
}

/* Returns ns per query of find-all. */
static double bench_psm_published(const struct short_world *world, unsigned header_bits,
                                  size_t query_count) {
    struct psm_published index;
    struct psm_queries queries = psm_queries_of(world, query_count);
    size_t flips = flips_for_recall(world, header_bits);
    double find_all_ns = 0;
    DO(psm_published_build(&index, &world->stored, header_bits, 0, error));
    double bytes = (double)psm_published_bytes(&index) / (double)world->stored.rows;
    for (int first = 0; first <= 1; first++) {
        struct timed timed = {0};
        struct psm_published_search search = {RADIUS, flips, first, 1};
        char name[64];
        TIMED(&timed, 1, psm_published_search(&index, &queries, &search, &timed.hits, error));
        snprintf(name, sizeof name, "PSM published, t=%u (T'=%.2f), find-%s", header_bits,
                 bytes / 8, first ? "first" : "all");
        struct row row = {name, (double)flips, recall_of(world, &timed, queries.signatures.rows),
                          bytes, queries.signatures.rows};
        double ns = print_row(&row, &timed);
        find_all_ns = first ? find_all_ns : ns;
    }
    psm_published_free(&index);
    return find_all_ns;
}

/* The bound at which a find-all search of some queries has the wanted recall, by bisection. */
static uint32_t bound_for_recall(const struct short_world *world, const struct psm_index *index) {
    struct psm_queries queries = psm_queries_of(world, 100000);
    double wanted = RECALL * (double)short_world_pairs(world, queries.signatures.rows);
    uint32_t low = 0, high = 16 * PROBE_PENALTY_ONE;
    while (high - low > PROBE_PENALTY_ONE / 64) {
        struct short_search search = {.radius_bits = RADIUS,
                                      .penalty_bound = low + (high - low) / 2};
        struct match_list hits = {0};
        DO(psm_search(index, &queries, &search, &hits, error));
        if ((double)hits.count >= wanted)
            high = search.penalty_bound;
        else
            low = search.penalty_bound;
        match_list_free(&hits);
    }
    return high;
}

/* How many probes a query has below a bound, on average. */
static double average_probes(const struct psm_queries *queries, unsigned header_bits,
                             uint32_t bound) {
    size_t sample = at_most(queries->signatures.rows, 20000), total = 0;
    for (size_t q = 0; q < sample; q++) {
        struct probe_bits bits;
        psm_query_bits(queries, q, header_bits, bound, &bits);
        total += probes_within(&bits, RADIUS, bound, NULL, NULL, SIZE_MAX);
    }
    return (double)total / (double)sample;
}

struct psm_figures {
    double ns[KINDS], rate[KINDS];
    double bytes, probes;
    uint32_t bound;
};

static struct psm_figures bench_psm_tuned(const struct short_world *world,
                                          const struct psm_index *index, const char *what,
                                          int kind_count) {
    size_t count = world->queries.rows;
    struct psm_queries queries = psm_queries_of(world, count);
    struct psm_figures figures = {.bytes =
                                      bytes_of_tables(&index->stored) / (double)world->stored.rows,
                                  .bound = bound_for_recall(world, index)};
    figures.probes = average_probes(&queries, index->stored.tables[0].header_bits, figures.bound);
    for (int kind = 0; kind < kind_count; kind++) {
        struct short_search search = {.radius_bits = RADIUS,
                                      .penalty_bound = figures.bound,
                                      .first_only = kind == FIRST,
                                      .batch = kind >= BATCH,
                                      .threads = kind == ALL_2 || kind == BATCH_2 ? 2 : 1};
        struct timed timed = {0};
        char name[64];
        TIMED(&timed, REPEATS, psm_search(index, &queries, &search, &timed.hits, error));
        snprintf(name, sizeof name, "PSM tuned%s, t=%u (T'=%.2f), %s", what,
                 index->stored.tables[0].header_bits, figures.bytes / 8, kinds[kind]);
        struct row row = {name, figures.probes - 1, recall_of(world, &timed, count), figures.bytes,
                          count};
        figures.rate[kind] = (double)count / timed.seconds * 1e-6;
        figures.ns[kind] = print_row(&row, &timed);
    }
    return figures;
}

/* What the copy of the enumeration in AVX-512 saves: ns per query to list its buckets. */
static void bench_header_probes(const struct short_world *world, unsigned header_bits,
                                uint32_t bound) {
    static uint32_t buckets[PSM_PROBES_MAX + HEADER_PROBES_SLACK];
    size_t count = at_most(world->queries.rows, 100000), total = 0;
    struct header_probes probes =
        header_probes_of(&world->volatility, header_bits, RADIUS, 0, bound);
    header_probes_fill *const fills[] = {header_probes_portable, probes.fill};
    static const char *const names[] = {"portable", "this CPU's best"};
    for (int level = 0; level < 2; level++) {
        double seconds[REPEATS];
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            uint64_t start = clock_ns();
            for (size_t q = 0; q < count; q++)
                total +=
                    fills[level](&probes, world->margins + q * BITS, 0, buckets, PSM_PROBES_MAX);
            seconds[repeat] = clock_seconds_since(start);
        }
        printf("header probes, t=%u, %s: %.0f ns per query\n", header_bits, names[level],
               bench_median(seconds, REPEATS) / (double)count * 1e9);
    }
    if (total == 0)
        printf("(no probes)\n");
}

/* The same search in tables of other sizes: buckets of one line and more, headers up to one bit
 * longer. */
static void bench_psm_sizes(const struct short_world *world) {
    static const unsigned percents[] = {106, 120, 145, 170, 200, 230};
    printf("\nPSM tuned: what more memory brings (T' as Table 2 has it)\n");
    print_header();
    struct short_world some = *world;
    some.queries.rows = at_most(world->queries.rows, 1000000);
    for (int i = 0; i < 6; i++) {
        struct bucket_limits limits = {4, BUCKET_HEADER_BITS_MAX, percents[i]};
        struct psm_index index;
        DO(psm_build(&index, &world->stored, limits, 2, error));
        bench_psm_tuned(&some, &index, "", FIRST + 1);
        psm_free(&index);
    }
}

/* ---- Batches: Figure 9 ----------------------------------------------------------------------- */

/* The stored signatures pass by in four chunks, whose tables are built as they come. */
static void bench_chunks(const struct short_world *world, size_t stored, size_t asked,
                         uint32_t bound) {
    for (int first = 0; first <= 1; first++) {
        struct signatures_view view = world->stored;
        view.rows = at_most(stored, view.rows);
        struct psm_chunks chunks = {&view, (view.rows + 3) / 4, BUCKET_LIMITS_DEFAULT, 0};
        struct psm_queries queries = psm_queries_of(world, asked);
        struct short_search search = {
            .radius_bits = RADIUS, .penalty_bound = bound, .first_only = first, .threads = 2};
        struct timed timed = {0};
        TIMED(&timed, 1, psm_search_chunks(&chunks, &queries, &search, &timed.hits, error));
        printf("%-46s %11zu %10zu %10.3f\n",
               first ? "PSM, tables of 4 chunks built, find-first"
                     : "PSM, tables of 4 chunks built, find-all",
               view.rows, queries.signatures.rows,
               (double)queries.signatures.rows / timed.seconds * 1e-6);
        match_list_free(&timed.hits);
    }
}

/* Tables hold the queries, and a hundredth of the stored signatures runs through them. */
static double bench_bphs_batch(const struct short_world *world, size_t stored, size_t asked) {
    struct bphs_published tables;
    struct signatures_view queries = world->queries, sample = world->stored;
    queries.rows = at_most(asked, queries.rows);
    stored = at_most(stored, world->stored.rows);
    sample.rows = stored / 100 + 1;
    uint64_t start = clock_ns();
    DO(bphs_published_build(&tables, &queries, 4, 1, RADIUS, 2, error));
    double build_seconds = clock_seconds_since(start);
    struct short_search search = {.radius_bits = RADIUS, .threads = 2};
    struct timed timed = {0};
    TIMED(&timed, 1, bphs_published_search(&tables, &sample, &search, &timed.hits, error));
    double seconds = build_seconds + timed.seconds * (double)stored / (double)sample.rows;
    double rate = (double)queries.rows / seconds * 1e-6;
    printf("%-46s %11zu %10zu %10.3f\n", "BPHS published, T=4 (1% of the stored timed)", stored,
           queries.rows, rate);
    match_list_free(&timed.hits);
    bphs_published_free(&tables);
    return rate;
}

static void bench_batches(const struct short_world *world, const struct psm_index *index,
                          uint32_t bound) {
    size_t stored = world->stored.rows, most = world->queries.rows;
    printf("\nbatches on 2 threads (Figure 9)\n%-46s %11s %10s %10s\n", "", "stored", "queries",
           "M/s wall");
    for (size_t asked = most / 100; asked <= most; asked *= 10) {
        struct psm_queries queries = psm_queries_of(world, asked);
        struct short_search search = {
            .radius_bits = RADIUS, .penalty_bound = bound, .batch = true, .threads = 2};
        struct timed timed = {0};
        TIMED(&timed, REPEATS, psm_search(index, &queries, &search, &timed.hits, error));
        printf("%-46s %11zu %10zu %10.3f\n", "PSM, an index", stored, asked,
               (double)asked / timed.seconds * 1e-6);
        match_list_free(&timed.hits);
    }
    for (size_t asked = most / 10; asked <= most; asked *= 10)
        bench_bphs_batch(world, stored, asked);
    bench_chunks(world, stored / 4, most / 10, bound);
    bench_chunks(world, stored, most / 10, bound);
    bench_chunks(world, stored, most, bound);
}

/* ---- Growth: Figures 7 and 8 ----------------------------------------------------------------- */

static void bench_growth(size_t stored) {
    printf("\ngrowth: ns per query, find-all, one thread (Figure 7)\n");
    for (size_t rows = stored / 64; rows < stored; rows *= 4) {
        struct short_world world = short_world_make(rows, 200000, HARD_NOISE);
        struct psm_index index;
        double build_cpu;
        unsigned log_rows = 63 - (unsigned)__builtin_clzll(rows);
        printf("%zu stored\n", rows);
        bench_bphs_published(&world, 4, 1, 50000, &build_cpu);
        bench_bphs_published(&world, 5, 2, 50000, &build_cpu);
        bench_psm_published(&world, log_rows + 1, 200000);
        DO(psm_build(&index, &world.stored, BUCKET_LIMITS_DEFAULT, 2, error));
        bench_psm_tuned(&world, &index, "", 2);
        psm_free(&index);
        short_world_free(&world);
    }
}

static void bench_recall_decay(const struct short_world *world) {
    static size_t found_at[PLACES];
    static const size_t flips[] = {5, 10, 20, 40};
    printf("\nrecall with k flips as the header grows (Figure 8)\n%6s", "t");
    for (int f = 0; f < 4; f++)
        printf("   k = %2zu", flips[f]);
    printf("   k for 95%%\n");
    for (unsigned t = 18; t <= 27; t++) {
        size_t sampled = place_pairs(world, t, found_at), held = 0, place = 0;
        printf("%6u", t);
        for (int f = 0; f < 4; f++) {
            for (; place <= flips[f]; place++)
                held += found_at[place];
            printf(" %8.3f", (double)held / (double)sampled);
        }
        printf(" %11zu\n", flips_for_recall(world, t));
    }
}

/* ---- Order: Figure 3 ------------------------------------------------------------------------- */

/* Attempts to find pairs at exactly h bits, over all bits, against random order. */
static void bench_order(void) {
    enum { PAIRS = 5000 };
    static const double recalls[] = {0.5, 0.8, 1}, subsets[] = {0, 64, 2016, 41664};
    static double places[RADIUS + 1][PAIRS];
    size_t counts[RADIUS + 1] = {0};
    struct short_world world = short_world_make(200000, 200000, HARD_NOISE);
    struct probe_heap heap = {0};
    for (size_t q = 0; q < world.queries.rows; q++) {
        uint64_t difference =
            __builtin_bswap64(world.query_words[q] ^ world.stored_words[world.origins[q]]);
        unsigned h = short_world_distance(&world, q);
        if (h < 1 || h > RADIUS || counts[h] == PAIRS)
            continue;
        uint32_t penalties[BITS];
        penalties_of(&world, q, BITS, penalties);
        struct probe_bits bits;
        probe_bits_init(&bits, penalties, BITS, PROBE_BOUND_NONE);
        DO(probe_heap_start(&heap, &bits, h, error));
        size_t place = 0;
        struct probe probe = {0};
        for (bool end = false; probe.mask != difference && !end;) {
            DO(probe_heap_next(&heap, &probe, &end, error));
            place += probe.flips == h;
        }
        places[h][counts[h]++] = (double)place;
    }
    printf("\nattempts to find a pair at exactly h bits, all 64 bits (Figure 3)\n");
    printf("%3s %8s %8s %10s %10s %8s\n", "h", "pairs", "recall", "VOSH", "random", "ratio");
    for (unsigned h = 1; h <= RADIUS; h++) {
        bench_median(places[h], (int)counts[h]); /* sorts */
        for (int r = 0; r < 3 && counts[h] > 0; r++) {
            double vosh = places[h][(size_t)(recalls[r] * (double)(counts[h] - 1))];
            printf("%3u %8zu %8.2f %10.0f %10.0f %7.1fx\n", h, counts[h], recalls[r], vosh,
                   recalls[r] * subsets[h], recalls[r] * subsets[h] / vosh);
        }
    }
    probe_heap_free(&heap);
    short_world_free(&world);
}

/* ---- Join ------------------------------------------------------------------------------------ */

/* Counts pairs and keeps none. */
static cog_status count_matches(void *context, struct match *matches, size_t *count,
                                cog_error *error) {
    (void)matches;
    (void)error;
    __atomic_fetch_add((size_t *)context, *count, __ATOMIC_RELAXED);
    *count = 0;
    return COG_OK;
}

static double time_join(const struct signatures_view *view, unsigned threads, size_t memory_bytes) {
    struct multisort_options options = {RADIUS, threads, 0, memory_bytes};
    double seconds[REPEATS];
    size_t found = 0;
    const struct match_sieve counting = {count_matches, &found};
    int repeats = view->rows > 20000000 ? 1 : REPEATS;
    for (int i = 0; i < repeats; i++) {
        struct match_list matches = {.sieve = &counting};
        found = 0;
        uint64_t start = clock_ns();
        DO(multisort_join(view, NULL, &options, &matches, error));
        seconds[i] = clock_seconds_since(start);
        match_list_free(&matches);
    }
    double median = bench_median(seconds, repeats);
    printf("%11zu rows, %u threads, %4zu MB: %6.2f s, %zu pairs (peak %.2f GB)\n", view->rows,
           threads, memory_bytes >> 20, median, found, (double)memory_peak_bytes() * 1e-9);
    fflush(stdout);
    return median;
}

/* A tenth of the rows are others with up to five bits flipped. Returns the seconds of all rows in 4
 * GB on two threads. */
static double bench_join(size_t rows) {
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
    struct signatures_view all = {(const uint8_t *)words, rows, BITS, 8}, some = all;
    some.rows = at_most(rows, 10000000);
    printf("exact self-join within %d bits (memory 0: no limit)\n", RADIUS);
    time_join(&some, 1, 0);
    add_goal("self-join of 10 million on two threads, s", 1.5, time_join(&some, 2, 0), true);
    time_join(&some, 2, (size_t)256 << 20);
    double seconds = time_join(&all, 2, (size_t)4 << 30);
    memory_large_free(words, rows * 8);
    return seconds;
}

/* ---- Real documents -------------------------------------------------------------------------- */

/* Odd rows ask even ones. */
/* Every other row of the files is stored, the others ask. */
struct real_rows {
    struct npy_signatures signatures;
    struct signatures_view stored, asked;
    float *stored_weights, *asked_weights;
};

static void real_rows_read(struct real_rows *rows, const char *signatures_path,
                           const char *weights_path) {
    struct npy_array weights = {0};
    DO(npy_signatures_open(signatures_path, &rows->signatures, error));
    DO(npy_open(weights_path, NPY_FLOAT32, &weights, error));
    const struct signatures_view *all = &rows->signatures.view;
    const float *values = (const float *)weights.data;
    rows->stored = rows->asked = *all;
    rows->stored.rows = (all->rows + 1) / 2;
    rows->asked.rows = all->rows / 2;
    rows->asked.data += all->stride_bytes;
    rows->stored.stride_bytes = rows->asked.stride_bytes = 2 * all->stride_bytes;
    rows->stored_weights = memory_array(rows->stored.rows, all->bits * sizeof(float));
    rows->asked_weights = memory_array(rows->asked.rows, all->bits * sizeof(float));
    for (size_t row = 0; row < all->rows; row++)
        memcpy((row % 2 ? rows->asked_weights : rows->stored_weights) + row / 2 * all->bits,
               values + row * all->bits, all->bits * sizeof(float));
    npy_close(&weights);
}

static void real_rows_free(struct real_rows *rows) {
    FREE(rows->stored_weights, rows->asked_weights);
    npy_signatures_close(&rows->signatures);
}

/* All pairs within the radius, by a method that finds every one. */
static size_t count_pairs(const struct real_rows *rows, struct timed *timed) {
    struct bphs_index exact;
    struct short_search all = {.radius_bits = RADIUS, .threads = 1};
    DO(bphs_build(&exact, &rows->stored, 5, 2, RADIUS, 2, error));
    TIMED(timed, REPEATS, bphs_search(&exact, &rows->asked, &all, &timed->hits, error));
    bphs_free(&exact);
    return timed->hits.count;
}

static void bench_recall(const struct psm_index *index, const struct psm_learned *learned,
                         const struct real_rows *rows, double recall, size_t pairs,
                         struct timed *timed) {
    const struct psm_queries queries = {rows->asked, rows->asked_weights, &learned->volatility,
                                        true};
    const unsigned header_bits = index->stored.tables[0].header_bits;
    struct short_search search = {.radius_bits = RADIUS, .threads = 1};
    char name[64];
    DO(psm_learned_bound(learned, &queries, header_bits, RADIUS, recall, &search.penalty_bound,
                         error));
    TIMED(timed, REPEATS, psm_search(index, &queries, &search, &timed->hits, error));
    snprintf(name, sizeof name, "PSM tuned, t=%u, recall %.2f wanted", header_bits, recall);
    const double probes = average_probes(&queries, header_bits, search.penalty_bound);
    const struct row row = {name, probes - 1, pairs ? (double)timed->hits.count / (double)pairs : 1,
                            bytes_of_tables(&index->stored) / (double)rows->stored.rows,
                            rows->asked.rows};
    print_row(&row, timed);
}

static void bench_documents(const char *signatures_path, const char *weights_path) {
    static struct psm_learned learned;
    struct real_rows rows = {0};
    struct psm_index index;
    struct timed timed = {0};
    real_rows_read(&rows, signatures_path, weights_path);
    rival_ns = 0;
    DO(psm_build(&index, &rows.stored, BUCKET_LIMITS_DEFAULT, 2, error));
    struct psm_training training = {&index,       &rows.stored,        rows.stored_weights,
                                    &rows.stored, rows.stored_weights, RADIUS};
    DO(psm_learn(&training, 2, &learned, error));
    const size_t pairs = count_pairs(&rows, &timed);
    printf(
        "\nreal documents: %zu stored, %zu queries, %zu pairs within %d bits, learned from %zu\n",
        rows.stored.rows, rows.asked.rows, pairs, RADIUS, learned.pairs);
    print_header();
    print_row(&(struct row){"BPHS tuned, T=10, find-all", 0, 1, 0, rows.asked.rows}, &timed);
    for (double recall = 0.8; recall < 1; recall += recall < 0.895 ? 0.1 : 0.05)
        bench_recall(&index, &learned, &rows, recall, pairs, &timed);
    psm_free(&index);
    real_rows_free(&rows);
}

/* ---- Everything ------------------------------------------------------------------------------ */

static void bench_kinder(size_t stored, size_t queries, const struct psm_index *index) {
    struct short_world world = short_world_make(stored, at_most(queries, 2000000), KIND_NOISE);
    printf("(kinder noise: %zu flips of 26 bits for 95%%)\n", flips_for_recall(&world, 26));
    struct psm_figures kind = bench_psm_tuned(&world, index, ", kind noise", 1);
    add_goal("PSM find-all online with kinder noise, M/s on one core", 3, 1e3 / kind.ns[ALL],
             false);
    short_world_free(&world);
}

static void add_goals(const struct psm_figures *psm, const struct bphs_figures *bphs,
                      double published_10_ns, double join_seconds, double published_join_seconds) {
    add_goal("PSM find-all against BPHS published T=4, times", 10, rival_ns / psm->ns[ALL], false);
    add_goal("PSM find-all against BPHS published T=10, times", 10, published_10_ns / psm->ns[ALL],
             false);
    add_goal("PSM find-all against tuned BPHS, times", 1, bphs->ns[ALL] / psm->ns[ALL], false);
    add_goal("PSM bytes to those of tuned BPHS", 0.101, psm->bytes / bphs->bytes, true);
    add_goal("PSM bytes to those of plain hashes", 1.15, psm->bytes / 8, true);
    add_goal("PSM find-all online, M/s on one core", 1.5, 1e3 / psm->ns[ALL], false);
    add_goal("PSM find-first online, M/s on one core (paper 1.6)", 1.6, 1e3 / psm->ns[FIRST],
             false);
    add_goal("PSM find-first against find-all, times", 1, psm->ns[ALL] / psm->ns[FIRST], false);
    add_goal("PSM probes, M/s on one core", 40, psm->probes * 1e3 / psm->ns[ALL], false);
    add_goal("PSM batch, M/s wall on two cores", 4, psm->rate[BATCH_2], false);
    add_goal("exact find-all online, M/s on one core", 1.5, 1e3 / bphs->ns[ALL], false);
    add_goal("exact find-all in batches, M/s on one core", 2.5, 1e3 / bphs->ns[BATCH], false);
    add_goal("exact: bytes a hash", 90, bphs->bytes, true);
    if (join_seconds > 0) {
        add_goal("join against building and querying BPHS published T=4, times", 5,
                 published_join_seconds / join_seconds, false);
        add_goal("join against building and querying tuned BPHS, times", 5,
                 (bphs->build_seconds + bphs->query_seconds_2) / join_seconds, false);
    }
}

static void bench_all(size_t stored, size_t queries, double join_seconds) {
    static struct short_world world;
    struct psm_index index;
    size_t few = at_most(queries, 50000);
    double build_cpu, ignored;
    world = short_world_make(stored, queries, HARD_NOISE);
    printf("\n%zu stored, %zu queries, radius %d (Table 2, Figure 5)\n", stored, queries, RADIUS);
    printf("flips of a 26-bit header for 95%%: %zu; %zu queries have a neighbour\n",
           flips_for_recall(&world, 26), short_world_pairs(&world, queries));
    print_header();
    rival_ns = bench_bphs_published(&world, 4, 1, few, &build_cpu);
    double published_10_ns = bench_bphs_published(&world, 5, 2, few, &ignored);
    unsigned log_rows = 63 - (unsigned)__builtin_clzll(stored);
    for (unsigned t = log_rows - 2; t <= log_rows + 2; t++)
        bench_psm_published(&world, t, at_most(queries, 300000));
    struct bphs_figures bphs = bench_bphs_tuned(&world);
    uint64_t start = clock_ns();
    DO(psm_build(&index, &world.stored, BUCKET_LIMITS_DEFAULT, 2, error));
    printf("(PSM tuned built in %.1f s on 2 threads)\n", clock_seconds_since(start));
    struct psm_figures psm = bench_psm_tuned(&world, &index, "", KINDS);
    add_goals(&psm, &bphs, published_10_ns, join_seconds,
              (build_cpu + rival_ns * 1e-9 * (double)stored) / 2);
    bench_header_probes(&world, index.stored.tables[0].header_bits, psm.bound);
    bench_kinder(stored, queries, &index);
    bench_batches(&world, &index, psm.bound);
    psm_free(&index);
    bench_psm_sizes(&world);
    bench_recall_decay(&world);
    short_world_free(&world);
    bench_growth(stored);
}

static size_t argument(int count, char **values, int i, size_t otherwise) {
    return i < count ? (size_t)strtoull(values[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
    size_t stored = argument(argc, argv, 1, 60000000), queries = argument(argc, argv, 2, 10000000);
    size_t joined = argument(argc, argv, 3, 60000000);
    uint64_t start = clock_ns();
    double join_seconds = joined ? bench_join(joined) : 0;
    if (stored > 0)
        bench_all(stored, queries, joined == stored ? join_seconds : 0);
    bench_order();
    for (int i = 4; i + 1 < argc; i += 2)
        bench_documents(argv[i], argv[i + 1]);
    print_goals();
    printf("%.0f s, peak memory %.2f GB\n", clock_seconds_since(start),
           (double)memory_peak_bytes() * 1e-9);
    return 0;
}
