/* The sliding window join on signatures of documents (Figures 5, 6 and 8 of Ture et al. 2011):
 * recall of true pairs by relative cost, measured, by equations 4 and 5, and by the corrected
 * model; the recall above which comparing everything is cheaper; the rate of detection next to that
 * of the exhaustive join; growth of time and memory, also of hash tables. usage: bench_window
 * [DOCUMENTS[,DOCUMENTS...]]... (each a collection; default: two from the folder of documents in
 * COGNATE_DATA or ../shared/data); about a minute */
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "bench_timing.h"
#include "collection/corpus.h"
#include "collection/options.h"
#include "collection/row_signer.h"
#include "hamming/hamming.h"
#include "join/cosine/cosine_join.h"
#include "papers/window_equations.h"
#include "search/flat/flat_join.h"
#include "search/lsh/lsh_join.h"
#include "search/lsh/lsh_plan.h"
#include "search/window/window_join.h"

enum {
    BITS = 1000,
    RADIUS_BITS = 400,
    SAMPLE_ROWS = 500,
    RATE_ROWS = 100000,
    RATE_REPEATS = 5,
    DOUBLINGS = 5
};
#define COSINE 0.3

static void need(cog_status status, const cog_error *error) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "bench_window: %s\n", error->message);
    exit(1);
}

static void print_goal(const char *what, bool met, double reached) {
    printf("  goal: %s: %s (%.3f)\n", what, met ? "met" : "MISSED", reached);
}

struct study {
    struct corpus corpus;
    struct sparse_matrix vectors;
    struct signatures_view view;
    uint32_t sample[SAMPLE_ROWS];
    size_t sample_count;
    struct match_list truth; /* a counts from 0 in the sample */
    double (*sharing)[WINDOW_PREFIX_MAX + 1];
    double upper_bound; /* share of the true pairs within the radius */
    double flat_rate;   /* pairs per second */
};

/* ---- A collection: vectors, signatures, true pairs of a sample ------------------------------- */

enum { PATHS_MAX = 8 };

static size_t split_paths(char *list, const char *paths[PATHS_MAX]) {
    size_t count = 0;
    for (char *path = strtok(list, ","); path && count < PATHS_MAX; path = strtok(NULL, ","))
        paths[count++] = path;
    return count;
}

static void read_vectors(struct study *study, const char *list, cog_sign_options *options,
                         struct statistics **statistics) {
    const char *paths[PATHS_MAX];
    char *copy = strdup(list);
    size_t path_count = split_paths(copy, paths);
    cog_error error;
    cog_input_options input;
    cog_documents *documents;
    cog_report *report;
    struct term_options terms;
    struct weighting weighting;
    cog_input_options_init(&input);
    need(cog_report_create(&report, &error), &error);
    need(cog_documents_open(&input, paths, path_count, &documents, &error), &error);
    need(options_terms(&options->terms, &terms, &error), &error);
    need(options_weighting(&options->weights, &weighting, &error), &error);
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    need(corpus_read(&study->corpus, documents, &reading, NULL, report, &error), &error);
    const struct corpus *corpora[1] = {&study->corpus};
    const uint8_t *const selected[1] = {NULL};
    need(corpus_statistics(corpora, 1, 0, statistics, &error), &error);
    need(corpus_vectors(corpora, 1, *statistics, &weighting, selected, 0, &study->vectors, &error),
         &error);
    cog_documents_close(documents);
    cog_report_free(report);
    free(copy);
}

static void sign_rows(struct study *study, const cog_sign_options *options,
                      const struct statistics *counts) {
    cog_error error;
    struct signable_rows rows = {.corpus = &study->corpus, .count = study->corpus.rows};
    need(corpus_sign(&rows, options, counts, 1, &study->view, NULL, 0, &error), &error);
}

/* True pairs of the sample, how many rows share prefixes with each, and what signatures can reach.
 */
static void find_truth(struct study *study) {
    cog_error error;
    struct random random = random_seeded(3);
    size_t rows = study->view.rows, within = 0;
    for (size_t row = 0; row < rows && study->sample_count < SAMPLE_ROWS; row++)
        if (random_below(&random, rows - row) < SAMPLE_ROWS - study->sample_count)
            study->sample[study->sample_count++] = (uint32_t)row;
    struct sparse_matrix sample = {0};
    struct join_options options = {.threshold = COSINE};
    if (!sparse_matrix_select(&study->vectors, study->sample, study->sample_count, &sample))
        exit(1);
    need(cosine_join(&sample, &study->vectors, &options, &study->truth, &error), &error);
    sparse_matrix_free(&sample);
    study->sharing = calloc(study->sample_count, sizeof *study->sharing);
    uint16_t *distances = malloc(rows * sizeof *distances);
    size_t next = 0, kept = 0;
    for (size_t i = 0; i < study->sample_count; i++) {
        uint32_t histogram[BITS + 1] = {0}, row = study->sample[i];
        hamming_scan(&study->view, signature_row(&study->view, row), 0, rows, distances);
        for (size_t other = 0; other < rows; other++)
            if (other != row)
                histogram[distances[other]]++;
        window_rows_sharing(histogram, BITS, 1, study->sharing[i]);
        for (; next < study->truth.count && study->truth.items[next].a == i; next++) {
            struct match match = study->truth.items[next];
            if (match.b == row)
                continue;
            within += distances[match.b] <= RADIUS_BITS;
            study->truth.items[kept++] = match;
        }
    }
    study->truth.count = kept;
    study->upper_bound = (double)within / (double)kept;
    free(distances);
}

/* ---- Measured and modelled ------------------------------------------------------------------- */

static int by_pair(const void *x, const void *y) {
    const struct match *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return (p->b > q->b) - (p->b < q->b);
}

static double measured_recall(const struct study *study, const struct match_list *found) {
    size_t hits = 0;
    for (size_t i = 0; i < study->truth.count; i++) {
        uint32_t a = study->sample[study->truth.items[i].a], b = study->truth.items[i].b;
        struct match wanted = {.a = a < b ? a : b, .b = a < b ? b : a};
        hits += bsearch(&wanted, found->items, found->count, sizeof wanted, by_pair) != NULL;
    }
    return (double)hits / (double)study->truth.count;
}

/* Time of this thread's work, which other programs on the machine do not lengthen much. */
static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Pairs a second of one thread, the best of three runs. */
static double flat_rate(const struct signatures_view *view, uint32_t radius_bits) {
    cog_error error;
    struct match_list matches = {0};
    double best = 0;
    for (int repeat = 0; repeat < 3; repeat++) {
        uint64_t comparisons;
        double start = cpu_seconds();
        need(flat_join(view, NULL, radius_bits, 1, &matches, &comparisons, &error), &error);
        double rate = (double)comparisons / (cpu_seconds() - start);
        best = rate > best ? rate : best;
    }
    match_list_free(&matches);
    return best;
}

/* The same for a window join, parted into ordering and detection by their shares of the time. */
struct window_cost {
    double detect_rate, order_seconds, detect_seconds;
    struct window_work work;
};

static struct window_cost window_run(const struct signatures_view *view,
                                     struct window_options options, int repeats,
                                     struct match_list *matches) {
    cog_error error;
    struct window_cost best = {0};
    options.threads = 1;
    for (int repeat = 0; repeat < repeats; repeat++) {
        struct window_cost cost = {0};
        double start = cpu_seconds();
        need(window_join(view, NULL, &options, matches, &cost.work, &error), &error);
        double seconds = cpu_seconds() - start, detect_share;
        detect_share =
            (double)cost.work.detect_ns / (double)(cost.work.detect_ns + cost.work.order_ns);
        cost.detect_seconds = seconds * detect_share;
        cost.order_seconds = seconds - cost.detect_seconds;
        cost.detect_rate = (double)cost.work.comparisons / cost.detect_seconds;
        if (cost.detect_rate > best.detect_rate)
            best = cost;
    }
    return best;
}

struct prediction {
    double published_low, published_high, corrected;
};

static struct prediction predict(const struct study *study, const struct window_setting *setting) {
    struct prediction sum = {0};
    double found[RADIUS_BITS + 1];
    uint32_t last = UINT32_MAX;
    for (size_t i = 0; i < study->truth.count; i++) {
        const struct match *match = &study->truth.items[i];
        double cosine = (double)match->similarity;
        if (match->a != last)
            window_found(setting, study->sharing[match->a], found);
        last = match->a;
        sum.published_low += window_recall_published(setting, study->view.rows, cosine, true);
        sum.published_high += window_recall_published(setting, study->view.rows, cosine, false);
        sum.corrected += window_recall(setting, found, cosine);
    }
    double count = (double)study->truth.count;
    return (struct prediction){sum.published_low / count, sum.published_high / count,
                               sum.corrected / count};
}

/* A setting as it was measured. */
struct point {
    double pairs, recall, detect_seconds, model_error;
    double cost; /* relative to comparing everything: in comparisons, as the paper counts it */
    double time; /* the same in seconds */
};

static struct point study_setting(const struct study *study, unsigned tables, size_t window) {
    struct window_options options = {
        .tables = tables, .window = window, .radius_bits = RADIUS_BITS, .seed = 1};
    struct window_setting setting = {BITS, tables, window, RADIUS_BITS};
    struct match_list found = {0};
    struct window_cost run = window_run(&study->view, options, 1, &found);
    double recall = measured_recall(study, &found), rows = (double)study->view.rows;
    struct prediction prediction = predict(study, &setting);
    /* Ordering counts as the comparisons that its time would have paid for. */
    double cost = ((double)run.work.comparisons + run.order_seconds * study->flat_rate) /
                  (rows * (rows - 1) / 2);
    printf("  %5u %6zu %7.1f%% %8.3f %8.3f   %.3f - %.3f   %8.3f %+7.3f %9.0f\n", tables, window,
           100 * cost, recall, recall / study->upper_bound, prediction.published_low,
           prediction.published_high, prediction.corrected, prediction.corrected - recall,
           (run.order_seconds + run.detect_seconds) * 1e3);
    match_list_free(&found);
    return (struct point){.pairs = (double)run.work.comparisons,
                          .recall = recall,
                          .detect_seconds = run.detect_seconds,
                          .model_error = fabs(prediction.corrected - recall),
                          .cost = cost,
                          .time = (run.order_seconds + run.detect_seconds) * study->flat_rate /
                                  (rows * (rows - 1) / 2)};
}

/* Figure 5: seconds of detection as a line over the number of comparisons; the share of their
 * variance that it explains. */
static double line_fit(const struct point *points, size_t count) {
    double n = (double)count, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < count; i++) {
        x += points[i].pairs;
        y += points[i].detect_seconds;
        xx += points[i].pairs * points[i].pairs;
        xy += points[i].pairs * points[i].detect_seconds;
        yy += points[i].detect_seconds * points[i].detect_seconds;
    }
    double covariance = n * xy - x * y;
    return covariance * covariance / ((n * xx - x * x) * (n * yy - y * y));
}

/* Figure 8: the recall that costs as much as comparing everything, on the line between the best
 * setting below that cost and the cheapest better one above. */
static double crossing_recall(const struct point *points, size_t count) {
    struct point below = {0}, above = {.cost = INFINITY};
    for (size_t i = 0; i < count; i++)
        if (points[i].cost <= 1 && points[i].recall > below.recall)
            below = points[i];
    for (size_t i = 0; i < count; i++)
        if (points[i].cost > 1 && points[i].recall > below.recall && points[i].cost < above.cost)
            above = points[i];
    double share = isinf(above.cost) ? 0 : (1 - below.cost) / (above.cost - below.cost);
    return below.recall + share * (above.recall - below.recall);
}

static void study_grid(const struct study *study) {
    static const unsigned tables[] = {10, 30, 60, 100, 300};
    static const size_t windows[] = {20, 60, 200, 500};
    struct point points[sizeof tables / sizeof *tables * sizeof windows / sizeof *windows];
    size_t count = 0;
    double model_error = 0;
    printf("      Q      B     cost   recall relative   equations 4, 5    model   error"
           "        ms\n");
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++) {
            points[count] = study_setting(study, tables[t], windows[w]);
            model_error = fmax(model_error, points[count++].model_error);
        }
    double crossing = crossing_recall(points, count);
    printf("  crossing point: above recall %.3f (%.3f of what signatures reach) brute force is "
           "cheaper; the paper, with 4.9 million rows: 0.995 of it\n",
           crossing, crossing / study->upper_bound);
    for (size_t i = 0; i < count; i++)
        points[i].cost = points[i].time;
    crossing = crossing_recall(points, count);
    printf("  in seconds: above recall %.3f (%.3f)\n", crossing, crossing / study->upper_bound);
    double worst_fit = 1;
    for (size_t t = 0; t < count; t += sizeof windows / sizeof *windows)
        worst_fit = fmin(worst_fit, line_fit(points + t, sizeof windows / sizeof *windows));
    printf("  detection time of each Q over B is a line with R^2 of %.4f or more (the paper: "
           "0.999)\n",
           worst_fit);
    print_goal("the corrected model is within 0.05 over the grid", model_error <= 0.05,
               model_error);
}

static void study_collection(const char *paths) {
    struct study study = {0};
    struct statistics *statistics;
    cog_sign_options options;
    cog_sign_options_init(&options, COG_SIGNATURE_RP);
    options.signature.bits = BITS;
    options.signature.gaussian = true;
    read_vectors(&study, paths, &options, &statistics);
    sign_rows(&study, &options, statistics);
    find_truth(&study);
    study.flat_rate = flat_rate(&study.view, RADIUS_BITS);
    printf("%s:\n  %zu documents, %zu true pairs of %zu sampled rows at cosine %.1f, %.3f of them "
           "within %d of %d bits; exhaustive join %.0f M pairs/s\n",
           paths, study.view.rows, study.truth.count, study.sample_count, COSINE, study.upper_bound,
           RADIUS_BITS, BITS, study.flat_rate * 1e-6);
    study_grid(&study);
    corpus_free(&study.corpus);
    sparse_matrix_free(&study.vectors);
    statistics_free(statistics);
    match_list_free(&study.truth);
    free(study.sharing);
    free((void *)study.view.data);
}

static void study_data_folder(void) {
    const char *data = getenv("COGNATE_DATA");
    char first[4096], both[8300];
    data = data ? data : "../shared/data";
    snprintf(first, sizeof first, "%s/xling_de_en/mdn/en.jsonl.zst", data);
    snprintf(both, sizeof both,
             "%s/xling_de_en/dev/en.jsonl.zst,%s/xling_de_en/distractors/"
             "en.jsonl.zst",
             data, data);
    if (access(first, R_OK) != 0) {
        printf("no folder of documents: the figures on real collections are left out\n");
        return;
    }
    study_collection(first);
    study_collection(both);
}

/* ---- Rate and growth on random bits ---------------------------------------------------------- */

static struct signatures_view random_rows(size_t rows, unsigned bits) {
    size_t stride = signature_stride_bytes(bits), words = stride / 8;
    uint64_t *data = calloc(rows, stride);
    struct random random = random_seeded(9);
    for (size_t i = 0; i < rows * words; i++)
        data[i] = i % words == words - 1 && bits % 64 ? 0 : random_next(&random);
    return (struct signatures_view){(const uint8_t *)data, rows, bits, stride};
}

/* The cost of a comparison, and the cost of a row in addition to its comparisons, by the line
 * through the windows of the paper (its Figure 5). */
struct rate_line {
    double n, x, y, xx, xy;
};

static void rate_line_add(struct rate_line *line, double window, double rate) {
    double seconds = window / rate; /* of a row */
    line->n++;
    line->x += window;
    line->y += seconds;
    line->xx += window * window;
    line->xy += window * seconds;
}

static void rate_line_print(const struct rate_line *line, double kernel_rate) {
    double slope =
        (line->n * line->xy - line->x * line->y) / (line->n * line->xx - line->x * line->x);
    double rest = (line->y - slope * line->x) / line->n;
    printf("  each comparison takes %.2f ns, at %.2f of the tile kernel's rate; each row costs as "
           "much as %.0f of them\n",
           slope * 1e9, 1 / slope / kernel_rate, rest / slope);
}

struct rate_setting {
    size_t window;
    unsigned tables;
    bool in_paper; /* Figure 6 has 200, 500 and 1000, the text 2000 */
};

/* Median rates in pairs per second: of the window, and of the tile kernel's join. */
struct rates {
    double window, kernel, ratio, order_seconds;
};

static struct rates measure_rates(const struct signatures_view *view,
                                  const struct rate_setting *setting, struct match_list *matches) {
    const struct window_options options = {.tables = setting->tables,
                                           .window = setting->window,
                                           .radius_bits = RADIUS_BITS,
                                           .seed = 1};
    struct signatures_view part = *view;
    double ratios[RATE_REPEATS], windows[RATE_REPEATS], kernels[RATE_REPEATS], order_seconds = 0;
    part.rows = 20000;
    for (int repeat = 0; repeat < RATE_REPEATS; repeat++) {
        struct window_cost run = window_run(view, options, 1, matches);
        windows[repeat] = run.detect_rate;
        kernels[repeat] = flat_rate(&part, RADIUS_BITS);
        ratios[repeat] = windows[repeat] / kernels[repeat];
        order_seconds += run.order_seconds / RATE_REPEATS;
    }
    return (struct rates){bench_median(windows, RATE_REPEATS), bench_median(kernels, RATE_REPEATS),
                          bench_median(ratios, RATE_REPEATS), order_seconds};
}

static void study_rates(void) {
    static const struct rate_setting settings[] = {
        {50, 8, false}, {100, 8, false}, {200, 8, true},  {350, 6, false},
        {500, 4, true}, {1000, 4, true}, {2000, 2, true}, {5000, 1, false}};
    struct signatures_view view = random_rows(RATE_ROWS, BITS);
    struct match_list matches = {0};
    struct rate_line line = {0};
    struct rates rates = {0};
    printf("detection, %zu rows of %d random bits, T = %d, one thread; the paper: 36 M pairs/s (28 "
           "ns per pair)\n",
           view.rows, BITS, RADIUS_BITS);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        rates = measure_rates(&view, &settings[i], &matches);
        if (settings[i].in_paper)
            rate_line_add(&line, (double)settings[i].window, rates.window);
        printf(
            "  B = %5zu: %6.0f M pairs/s, the tile kernel's join %6.0f; order %.1f ns per row and "
            "table\n",
            settings[i].window, rates.window * 1e-6, rates.kernel * 1e-6,
            rates.order_seconds * 1e9 / (double)view.rows / settings[i].tables);
        print_goal(settings[i].in_paper ? "0.8 of the tile kernel's rate, a window of the paper"
                                        : "0.8 of the tile kernel's rate",
                   rates.ratio >= 0.8, rates.ratio);
    }
    rate_line_print(&line, rates.kernel);
    match_list_free(&matches);
    free((void *)view.data);
}

/* What a run added to the memory of this process at its height. */
static double status_bytes(const char *name) {
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name), NULL);
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

static void forget_peak(void) {
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5", file);
    fclose(file);
}

struct growth {
    double rows, seconds, model_seconds, bytes, model_bytes;
};

/* Time by the model has one unknown, the speed of the machine: taken from the middle of the sizes.
 */
static void print_growth(const char *name, struct growth *sizes) {
    double speed = sizes[DOUBLINGS / 2].seconds / sizes[DOUBLINGS / 2].model_seconds, off = 0;
    double memory_off = 0;
    printf("growth of %s, one thread\n", name);
    for (int i = 0; i <= DOUBLINGS; i++) {
        double model = sizes[i].model_seconds * speed;
        printf("  %8.0f rows: %8.3f s, by the model %8.3f;  %7.1f MB, by the model %7.1f\n",
               sizes[i].rows, sizes[i].seconds, model, sizes[i].bytes / 1e6,
               sizes[i].model_bytes / 1e6);
        if (i)
            off = fmax(off, fabs(log(sizes[i].seconds / model)));
        if (i >= 2) /* smaller ones vanish among pages */
            memory_off = fmax(memory_off, fabs(log(sizes[i].bytes / sizes[i].model_bytes)));
    }
    print_goal("time within a factor of 1.5 of the model", exp(off) <= 1.5, exp(off));
    print_goal("memory within a factor of 1.25 of the model", exp(memory_off) <= 1.25,
               exp(memory_off));
}

static void window_growth(void) {
    enum { TABLES = 4, WINDOW = 500, SMALLEST = 12500 };
    struct growth sizes[DOUBLINGS + 1];
    for (int i = 0; i <= DOUBLINGS; i++) {
        struct signatures_view view = random_rows((size_t)SMALLEST << i, BITS);
        struct window_options options = {.tables = TABLES,
                                         .window = WINDOW,
                                         .radius_bits = RADIUS_BITS,
                                         .seed = 1,
                                         .threads = 1};
        struct match_list matches = {0};
        forget_peak();
        double before = status_bytes("VmRSS:");
        struct window_cost run = window_run(&view, options, 1, &matches);
        sizes[i] = (struct growth){(double)view.rows, run.order_seconds + run.detect_seconds,
                                   (double)view.rows, status_bytes("VmHWM:") - before,
                                   (double)window_join_memory_bytes(&view, NULL, &options)};
        match_list_free(&matches);
        free((void *)view.data);
    }
    print_growth("the window join, Q = 4, B = 500: time in proportion to the rows", sizes);
}

/* A row costs its keys in all tables; a comparison costs about a third of a key. */
static void lsh_growth(void) {
    enum { KEY_BITS = 16, TABLES = 10, LSH_BITS = 128, SMALLEST = 37500 };
    const double comparison_keys = 0.3;
    struct growth sizes[DOUBLINGS + 1];
    for (int i = 0; i <= DOUBLINGS; i++) {
        struct signatures_view view = random_rows((size_t)SMALLEST << i, LSH_BITS);
        struct method_rows rows = {.signatures = &view, .margins = NULL};
        struct lsh_options options = {.key_bits = KEY_BITS, .tables = TABLES};
        struct match_list matches = {0};
        struct lsh_work work;
        cog_error error;
        double count = (double)view.rows, start = cpu_seconds();
        need(lsh_join(&rows, NULL, &options, 20, 1, &matches, &work, &error), &error);
        sizes[i] = (struct growth){
            count, cpu_seconds() - start,
            count * (TABLES + comparison_keys * lsh_comparisons(&options, view.rows) / 2),
            (double)work.table_bytes, TABLES * 4.0 * (count + (1 << KEY_BITS))};
        match_list_free(&matches);
        free((void *)view.data);
    }
    print_growth("hash tables, K = 16, L = 10, self-join: time by keys and comparisons", sizes);
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    study_rates();
    window_growth();
    lsh_growth();
    if (argc < 2)
        study_data_folder();
    for (int i = 1; i < argc; i++)
        study_collection(argv[i]);
    return 0;
}
