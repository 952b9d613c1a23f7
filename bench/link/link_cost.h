/* The cost of finding all pairs across languages at a cosine (Ture et al. 2011, section 6): recall
 * against comparisons and time, for all cosines, all signatures, and the methods that leave pairs
 * out. Part of bench_link. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "estimate/radius.h"
#include "jobs/link/link_space.h"
#include "jobs/pairs/pair_join.h"
#include "join/cosine/cosine_join.h"
#include "join/cosine/cosine_tiles.h"
#include "link_bench.h"
#include "papers/window_equations.h"
#include "search/flat/flat_join.h"
#include "search/hits/query_batch.h"
#include "search/lsh/lsh_join.h"
#include "search/lsh/lsh_plan.h"
#include "search/slices/slices.h"
#include "search/window/window_join.h"

/* The paper's signatures. */
enum { COST_BITS = 1000 };

/* Seconds of all processors: other programs on the machine do not lengthen them much. */
static double cost_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds of all processors, and by the clock on the wall. */
struct cost_time {
    double cpu, wall;
};

static struct cost_time cost_now(void) {
    return (struct cost_time){cost_seconds(), (double)clock_ns() * 1e-9};
}

static struct cost_time cost_since(struct cost_time start) {
    struct cost_time now = cost_now();
    return (struct cost_time){now.cpu - start.cpu, now.wall - start.wall};
}

struct cost_study {
    const struct link_space *space;
    double threshold;
    double all_pairs;
    struct match_list truth; /* pairs at the cosine */
    struct match_list
        nearby;           /* pairs within the radius that estimates the cosine: signatures alone */
    uint32_t radius_bits; /* T */
    struct signatures_view views[2];
    float *sums[2];      /* margins */
    double flat_seconds; /* of all processors */
    struct cost_time sign_time;
};

/* Times are the least of this number of runs, the least disturbed one. */
enum { COST_RUNS = 3 };

static struct cost_time cost_least(struct cost_time a, struct cost_time b) {
    return a.wall < b.wall ? a : b;
}

static int cost_by_rows(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

/* The share of `wanted` that `found` (sorted) has. */
static double cost_share(const struct match_list *found, const struct match_list *wanted) {
    size_t hits = 0;
    for (size_t i = 0; i < wanted->count; i++)
        hits += found->count && bsearch(&wanted->items[i], found->items, found->count,
                                        sizeof *found->items, cost_by_rows) != NULL;
    return wanted->count ? (double)hits / (double)wanted->count : 1;
}

/* One line of the curves: what signatures alone find counts as 1 in the paper's figure 8. */
static void cost_line(const struct cost_study *study, const char *name, double comparisons,
                      const struct match_list *found, double seconds) {
    double upper = cost_share(&study->nearby, &study->truth);
    double recall = cost_share(found, &study->truth);
    printf("  %-34s %8.4f %10.4f %10.4f %9.2f %8.2f\n", name, comparisons / study->all_pairs,
           cost_share(found, &study->nearby), recall / upper, seconds,
           seconds / study->flat_seconds);
}

static void cost_header(const char *title) {
    printf("%s\n  %-34s %8s %10s %10s %9s %8s\n", title, "", "cost", "of near", "of bound", "cpu s",
           "to flat");
}

/* ---- Brute force ----------------------------------------------------------------------------- */

struct cost_counting {
    struct cosine_tiles tiles;
    double threshold;
    uint64_t counts[COG_MAX_THREADS];
};

static cog_status cost_count_tiles(void *context, unsigned worker, size_t begin, size_t end,
                                   cog_error *error) {
    (void)error;
    struct cost_counting *counting = context;
    for (size_t query = begin; query < end; query++) {
        struct cosine_tile tile = cosine_tile(&counting->tiles, worker, query);
        uint64_t count = 0;
        for (size_t r = 0; r < tile.row_count; r++)
            count += (double)tile.values[r] >= counting->threshold;
        counting->counts[worker] += count;
    }
    return COG_OK;
}

/* Every product, the longer rows as the collection, which is the quicker way round. */
static struct cost_time cost_all_cosines(const struct cost_study *study, unsigned threads) {
    cog_error error = {0};
    struct cost_counting counting = {.threshold = study->threshold};
    const struct sparse_matrix *vectors = study->space->vectors;
    bool swap = vectors[0].offsets[vectors[0].rows] / (vectors[0].rows + 1) >
                vectors[1].offsets[vectors[1].rows] / (vectors[1].rows + 1);
    struct cosine_tiles *tiles = &counting.tiles;
    tiles->queries = cosine_rows_all(&vectors[swap]);
    tiles->collection = cosine_rows_all(&vectors[!swap]);
    tiles->threads = threads;
    struct cost_time start = cost_now();
    cog_status status = cosine_tiles_create(tiles, &error);
    while (cosine_tiles_next(tiles, &status, &error))
        status = parallel_for(tiles->threads, tiles->query_count, COSINE_TILE_GRAIN,
                              cost_count_tiles, &counting, &error);
    cosine_tiles_free(tiles);
    need(status, &error);
    return cost_since(start);
}

static void cost_find_truth(struct cost_study *study) {
    cog_error error = {0};
    struct join_options options = {.threshold = study->threshold};
    need(cosine_join(&study->space->vectors[0], &study->space->vectors[1], &options, &study->truth,
                     &error),
         &error);
}

static void cost_sign(struct cost_study *study) {
    struct signature_options options;
    cog_error error = {0};
    signature_options_init(&options, SIGNATURE_RP);
    options.bits = COST_BITS;
    struct cost_time start = cost_now();
    for (int side = 0; side < 2; side++) {
        const struct sparse_matrix *matrix = &study->space->vectors[side];
        struct signable_rows rows = {.matrix = matrix, .count = matrix->rows};
        study->sums[side] = memory_array(matrix->rows * COST_BITS, sizeof(float));
        need(vector_sign(&rows, &options, threads_resolve(0), &study->views[side],
                         study->sums[side], COST_BITS, &error),
             &error);
    }
    study->sign_time = cost_since(start);
}

/* All pairs of signatures within a radius. */
static double cost_flat(const struct cost_study *study, uint32_t radius_bits,
                        struct match_list *found) {
    cog_error error = {0};
    uint64_t comparisons;
    double start = cost_seconds();
    need(flat_join(&study->views[0], &study->views[1], radius_bits, threads_resolve(0), found,
                   &comparisons, &error),
         &error);
    return cost_seconds() - start;
}

/* ---- What the command does --------------------------------------------------------------------
 */

/* Pairs by a method of `cognate pairs` from the vectors on: planning, signing, the join, true
 * cosines, and the recall that it measures. */
struct cost_run {
    struct cost_time time; /* the least of COST_RUNS */
    double recall;
    double met;      /* of all pairs: in lists, or by signatures */
    double verified; /* of all pairs: cosines computed */
};

static struct cost_run cost_by_method(const struct cost_study *study, cog_method method,
                                      double recall, unsigned threads) {
    struct cost_run result = {.time = {HUGE_VAL, HUGE_VAL}};
    cog_run_options run = {.threads = threads};
    cog_pairs_options options;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.threshold = study->threshold;
    options.method = method;
    options.recall = recall;
    options.sign.signature.bits = COST_BITS;
    for (int i = 0; i < COST_RUNS; i++) {
        struct pair_task task = {0};
        struct match_list found = {0};
        cog_report *report = NULL;
        cog_error error = {0};
        need(cog_report_create(&report, &error), &error);
        need(pair_join_init(&task, &options, 2, &run, report, &error), &error);
        task.projected = true;
        for (int side = 0; side < 2; side++) {
            task.vectors[side] = study->space->vectors[side];
            task.corpora[side].rows = task.vectors[side].rows;
        }
        struct cost_time start = cost_now();
        need(pair_join_run(&task, &found, &error), &error);
        result.time = cost_least(result.time, cost_since(start));
        bool flat = method == COG_METHOD_FLAT;
        result.recall = cost_share(&found, &study->truth);
        result.met =
            cog_report_number(report, flat ? "comparisons" : "candidates") / study->all_pairs;
        result.verified =
            cog_report_number(report, flat ? "candidates" : "comparisons") / study->all_pairs;
        memset(task.vectors, 0, sizeof task.vectors);
        pair_task_free(&task);
        match_list_free(&found);
        cog_report_free(report);
    }
    return result;
}

static void cost_print_run(const char *name, const struct cost_run *run, struct cost_time rival) {
    printf("  %-28s recall %.4f, pairs met %.4f, cosines %.6f, seconds %.2f (cpu %.2f), to all "
           "cosines %.2f (cpu %.2f)\n",
           name, run->recall, run->met, run->verified, run->time.wall, run->time.cpu,
           run->time.wall / rival.wall, run->time.cpu / rival.cpu);
}

/* On this number of threads: auto, which is the method lists at this size, next to the others that
 * list true pairs. Times have the plan and the measured recall in them. */
static void cost_print_methods(struct cost_study *study, unsigned threads) {
    struct cost_time cosines = cost_all_cosines(study, threads);
    for (int i = 1; i < COST_RUNS; i++)
        cosines = cost_least(cosines, cost_all_cosines(study, threads));
    printf("%u thread%s: all cosines %.2f s (cpu %.2f)\n", threads, threads == 1 ? "" : "s",
           cosines.wall, cosines.cpu);
    struct cost_run lists = cost_by_method(study, COG_METHOD_LISTS, 0.95, threads);
    struct cost_run exact = cost_by_method(study, COG_METHOD_EXACT, 0.95, threads);
    struct cost_run flat = cost_by_method(study, COG_METHOD_FLAT, 0.95, threads);
    struct cost_run equal = cost_by_method(study, COG_METHOD_LISTS, flat.recall, threads);
    cost_print_run("lists, which auto takes", &lists, cosines);
    cost_print_run("exact", &exact, cosines);
    cost_print_run("flat, true cosines after", &flat, cosines);
    cost_print_run("lists for flat's recall", &equal, cosines);
    printf("  auto: recall %s; comparisons %s; time to all cosines %s; to all signatures with true "
           "cosines %s\n",
           goal_text(lists.recall, 0.95, true), goal_text(lists.met, 0.4, false),
           goal_text(lists.time.wall / cosines.wall, 1, false),
           goal_text(lists.time.wall / flat.time.wall, 1, false));
    printf("  auto, asked for the recall that all signatures reach: recall %s; time to theirs %s\n",
           goal_text(equal.recall, flat.recall, true),
           goal_text(equal.time.wall / flat.time.wall, 1, false));
}

static void cost_print_brute(struct cost_study *study) {
    cost_find_truth(study);
    cost_sign(study);
    while (study->radius_bits < COST_BITS &&
           cos(M_PI * (study->radius_bits + 1) / COST_BITS) >= study->threshold)
        study->radius_bits++;
    study->flat_seconds = cost_flat(study, study->radius_bits, &study->nearby);
    printf("  true pairs %zu of %.0f; pairs within %u of %d bits %zu\n", study->truth.count,
           study->all_pairs, study->radius_bits, COST_BITS, study->nearby.count);
    printf("  signatures alone, against true cosines: recall %.4f, precision %.4f (paper: 0.76, "
           "0.59)\n",
           cost_share(&study->nearby, &study->truth), cost_share(&study->truth, &study->nearby));
    printf("  their time, signing not counted: cpu %.2f s; signing %.2f s\n", study->flat_seconds,
           study->sign_time.cpu);
    cost_print_methods(study, 1);
    if (threads_resolve(0) > 1)
        cost_print_methods(study, threads_resolve(0));
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* The least cost at which a method reaches 0.95 of what signatures alone find: of the pairs that
 * they list, and of their recall of true pairs, which is how the paper's figure 8 counts. 2: never.
 */
struct cost_best {
    double of_near, of_bound;
    char near_name[64], bound_name[64];
};

static void cost_consider(const struct cost_study *study, struct cost_best *best, const char *name,
                          double comparisons, const struct match_list *found) {
    double cost = comparisons / study->all_pairs;
    if (cost_share(found, &study->nearby) >= 0.95 && cost < best->of_near) {
        best->of_near = cost;
        snprintf(best->near_name, sizeof best->near_name, "%s", name);
    }
    if (cost_share(found, &study->truth) >= 0.95 * cost_share(&study->nearby, &study->truth) &&
        cost < best->of_bound) {
        best->of_bound = cost;
        snprintf(best->bound_name, sizeof best->bound_name, "%s", name);
    }
}

/* Figure 6: Q for some B, with the recall that the model expects. */
static void cost_print_windows(const struct cost_study *study, struct cost_best *best) {
    static const size_t windows[] = {3, 10, 30, 100, 1000};
    static const unsigned shares[] = {10, 20, 40, 70}; /* percent of brute force */
    cog_error error = {0};
    size_t rows = study->views[0].rows + study->views[1].rows;
    cost_header("windows (Q tables, window B; cost is the share of all comparisons)");
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
            double wanted = study->all_pairs * shares[s] / 100;
            struct window_options options = {
                .tables = (unsigned)fmax(1, floor(wanted / ((double)windows[w] * (double)rows))),
                .window = windows[w],
                .radius_bits = study->radius_bits};
            struct match_list found = {0};
            struct window_work work = {0};
            double start = cost_seconds();
            need(window_join(&study->views[0], &study->views[1], &options, &found, &work, &error),
                 &error);
            double seconds = cost_seconds() - start;
            struct window_setting setting = {COST_BITS, options.tables, options.window,
                                             study->radius_bits};
            char name[64];
            snprintf(name, sizeof name, "Q=%u B=%zu (model %.2f to %.2f)", options.tables,
                     options.window,
                     window_recall_published(&setting, rows, study->threshold, true),
                     window_recall_published(&setting, rows, study->threshold, false));
            cost_line(study, name, (double)work.comparisons, &found, seconds);
            cost_consider(study, best, name, (double)work.comparisons, &found);
            match_list_free(&found);
        }
}

/* ---- Hash tables ----------------------------------------------------------------------------- */

static void cost_print_tables(const struct cost_study *study, struct cost_best *best) {
    static const struct lsh_options settings[] = {
        {.key_bits = 16, .tables = 300, .flips = 4, .flip_mode = LSH_FLIP_DISTANCE},
        {.key_bits = 12, .tables = 300, .flips = 4, .flip_mode = LSH_FLIP_DISTANCE},
        {.key_bits = 10, .tables = 400, .flips = 3, .flip_mode = LSH_FLIP_DISTANCE},
        {.key_bits = 14, .tables = 1900, .flips = 7, .flip_mode = LSH_FLIP_ACROSS},
        {.key_bits = 12, .tables = 120, .flips = 5, .flip_mode = LSH_FLIP_ACROSS},
        {.key_bits = 12, .tables = 300, .flips = 5, .flip_mode = LSH_FLIP_ACROSS},
        {.key_bits = 12, .tables = 650, .flips = 5, .flip_mode = LSH_FLIP_ACROSS},
    };
    cog_error error = {0};
    struct method_rows sides[2];
    for (int side = 0; side < 2; side++)
        sides[side] = (struct method_rows){.signatures = &study->views[side],
                                           .margins = study->sums[side],
                                           .margins_per_row = COST_BITS};
    cost_header("hash tables (K bits, L tables, F flips a table, by distance or in one order "
                "across tables)");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct match_list found = {0};
        struct lsh_work work = {0};
        double start = cost_seconds();
        need(lsh_join(&sides[0], &sides[1], &settings[i], study->radius_bits, threads_resolve(0),
                      &found, &work, &error),
             &error);
        double seconds = cost_seconds() - start;
        char name[64];
        snprintf(name, sizeof name, "K=%u L=%u F=%u%s", settings[i].key_bits, settings[i].tables,
                 settings[i].flips, settings[i].flip_mode == LSH_FLIP_ACROSS ? " across" : "");
        cost_line(study, name, (double)work.comparisons, &found, seconds);
        cost_consider(study, best, name, (double)work.comparisons, &found);
        match_list_free(&found);
    }
}

/* ---- Slices ---------------------------------------------------------------------------------- */

static void cost_print_slices(const struct cost_study *study, struct cost_best *best) {
    static const struct {
        unsigned expand;
        size_t verify;
    } settings[] = {{0, 300}, {0, 1000}, {1, 300}, {1, 1000}, {1, 3000}, {1, 5000}, {1, 8000}};
    cog_error error = {0};
    struct slice_lists lists = {0};
    size_t queries = study->views[0].rows;
    cost_header("slices (i bits expanded, true distances V a query)");
    need(slice_lists_build(&lists, &study->views[1], 0, threads_resolve(0), &error), &error);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct match_list found = {0};
        struct slices_request request = {.k = settings[i].verify,
                                         .expand = settings[i].expand,
                                         .admit = settings[i].expand,
                                         .verify = settings[i].verify};
        struct slices_batch own = {&lists.view, &study->views[1], request};
        struct method_search asked = {.rows = {.signatures = &study->views[1]},
                                      .queries = {.signatures = &study->views[0]}};
        struct hit_lists hits = {0};
        double start = cost_seconds();
        need(query_batch_run(&slices_searching, &own, &asked, &hits, &error), &error);
        double seconds = cost_seconds() - start, comparisons = (double)asked.compared_out;
        for (size_t j = 0; j < hits.offsets[queries]; j++)
            if (hits.items[j].distance <= study->radius_bits)
                need(match_list_add(&found,
                                    (struct match){.a = hits.items[j].a, .b = hits.items[j].b},
                                    &error),
                     &error);
        match_list_sort(&found);
        hit_lists_free(&hits);
        char name[64];
        snprintf(name, sizeof name, "i=j=%u V=%zu", settings[i].expand, settings[i].verify);
        cost_line(study, name, comparisons, &found, seconds);
        cost_consider(study, best, name, comparisons, &found);
        match_list_free(&found);
    }
    slice_lists_free(&lists);
}

static void cost_print_best(const char *method, const struct cost_best *best) {
    printf("%s, share of the comparisons for 0.95 of what signatures alone find\n", method);
    if (best->of_near > 1)
        printf("  of the pairs that they list: not reached\n");
    else
        printf("  of the pairs that they list: %s (%s)\n", goal_text(best->of_near, 0.4, false),
               best->near_name);
    if (best->of_bound > 1)
        printf("  of their recall of true pairs (figure 8): not reached\n");
    else
        printf("  of their recall of true pairs (figure 8): %s (%s)\n",
               goal_text(best->of_bound, 0.4, false), best->bound_name);
}

/* All pairs of the space's two collections at a cosine. */
static void link_cost_print(const struct link_space *space, double threshold) {
    struct cost_study study = {.space = space,
                               .threshold = threshold,
                               .all_pairs =
                                   (double)space->vectors[0].rows * (double)space->vectors[1].rows};
    struct cost_best windows = {2, 2, "", ""}, tables = windows, slices = windows;
    printf("pairs across languages at cosine %.1f, %zu x %zu documents\n", threshold,
           space->vectors[0].rows, space->vectors[1].rows);
    cost_print_brute(&study);
    printf("curves: cost is comparisons to brute force's, 'of near' recall of what signatures "
           "alone find, 'of bound' recall\nof true pairs to that of signatures alone, time to "
           "that of all signatures\n");
    cost_print_windows(&study, &windows);
    cost_print_slices(&study, &slices);
    cost_print_tables(&study, &tables);
    cost_print_best("windows", &windows);
    cost_print_best("slices", &slices);
    cost_print_best("hash tables", &tables);
    match_list_free(&study.truth);
    match_list_free(&study.nearby);
    for (int side = 0; side < 2; side++) {
        free((void *)study.views[side].data);
        free(study.sums[side]);
    }
}
