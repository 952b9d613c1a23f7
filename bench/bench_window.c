/* The sliding window join on signatures of documents (Figures 5, 6 and 8 of paper 000): recall of
 * true pairs against relative cost, measured, by equations 4 and 5, and by the corrected model; the
 * cost at which comparing everything is cheaper; and the rate of detection beside that of the
 * exhaustive join. usage: bench_window DOCUMENTS... (each a file of documents, and a collection) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "hamming/hamming.h"
#include "job/corpus.h"
#include "job/options.h"
#include "job/text_signer.h"
#include "match/cosine_join.h"
#include "match/flat_join.h"
#include "match/window_join.h"
#include "plan/recall_model.h"

enum { BITS = 1000, RADIUS_BITS = 400, SAMPLE_ROWS = 500, RATE_ROWS = 100000 };
#define COSINE 0.3

static void need(cog_status status, const cog_error *error) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "bench_window: %s\n", error->message);
    exit(1);
}

struct study {
    struct corpus corpus;
    struct sparse_matrix vectors;
    struct signatures_view view;
    uint32_t sample[SAMPLE_ROWS];
    size_t sample_count;
    struct match_list truth; /* a counts from 0 in the sample */
    double (*crowds)[WINDOW_PREFIX_MAX + 1];
    double upper_bound; /* share of the true pairs within the radius */
    double flat_rate;   /* pairs a second */
};

/* ---- A collection: vectors, signatures, true pairs of a sample ------------------------------- */

static void read_vectors(struct study *study, const char *path, cog_sign_options *options,
                         struct statistics **statistics) {
    cog_error error;
    cog_input_options input;
    cog_documents *documents;
    cog_report *report;
    struct term_options terms;
    struct weighting weighting;
    cog_input_options_init(&input);
    need(cog_report_create(&report, &error), &error);
    need(cog_documents_open(&input, &path, 1, &documents, &error), &error);
    need(options_terms(&options->terms, &terms, &error), &error);
    need(options_weighting(&options->weights, &weighting, &error), &error);
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    need(corpus_read(&study->corpus, documents, &reading, NULL, report, &error), &error);
    const struct corpus *corpora[1] = {&study->corpus};
    const uint8_t *const selected[1] = {NULL};
    need(corpus_statistics(corpora, 1, 0, statistics, &error), &error);
    need(corpus_vectors(corpora, 1, *statistics, &weighting, 1, selected, 0, &study->vectors,
                        &error),
         &error);
    cog_documents_close(documents);
    cog_report_free(report);
}

static void sign_rows(struct study *study, const cog_sign_options *options,
                      struct statistics *counts) {
    cog_error error;
    struct text_signer signer;
    struct text_signer_scratch scratch;
    cog_statistics statistics = {counts, {0}};
    struct term_list none = {0};
    size_t stride = signature_stride_bytes(BITS), terms;
    uint8_t *data = calloc(study->corpus.rows, stride);
    need(options_record_terms(&options->terms, &statistics.terms, &error), &error);
    need(text_signer_init(&signer, options, &statistics, &error), &error);
    need(text_signer_scratch_init(&scratch, &signer, &error), &error);
    for (size_t row = 0; row < study->corpus.rows; row++) {
        struct bag_view bag = corpus_bag(&study->corpus, row);
        need(text_signer_sign(&signer, &scratch, &none, &bag, data + row * stride, NULL, &terms,
                              &error),
             &error);
    }
    study->view = (struct signatures_view){data, study->corpus.rows, BITS, stride};
    text_signer_scratch_reset(&scratch);
    text_signer_reset(&signer);
    settings_free(&statistics.terms);
}

/* True pairs of the sample, how crowded each of its rows is, and what signatures can reach. */
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
    need(cosine_join_cross(&sample, &study->vectors, &options, &study->truth, &error), &error);
    sparse_matrix_free(&sample);
    study->crowds = calloc(study->sample_count, sizeof *study->crowds);
    uint16_t *distances = malloc(rows * sizeof *distances);
    size_t next = 0, kept = 0;
    for (size_t i = 0; i < study->sample_count; i++) {
        uint32_t histogram[BITS + 1] = {0}, row = study->sample[i];
        hamming_scan(&study->view, signature_row(&study->view, row), 0, rows, distances);
        for (size_t other = 0; other < rows; other++)
            if (other != row)
                histogram[distances[other]]++;
        window_crowd(histogram, BITS, 1, study->crowds[i]);
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
        need(flat_join_self(view, radius_bits, 1, &matches, &comparisons, &error), &error);
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
        need(window_join_self(view, &options, matches, &cost.work, &error), &error);
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
            window_found(setting, study->crowds[match->a], found);
        last = match->a;
        sum.published_low += window_recall_published(setting, study->view.rows, cosine, true);
        sum.published_high += window_recall_published(setting, study->view.rows, cosine, false);
        sum.corrected += window_recall(setting, found, cosine);
    }
    double count = (double)study->truth.count;
    return (struct prediction){sum.published_low / count, sum.published_high / count,
                               sum.corrected / count};
}

/* The most that was found for less than comparing everything. */
struct crossing {
    double recall, cost, model_error;
};

static void study_setting(const struct study *study, unsigned tables, size_t window,
                          struct crossing *crossing) {
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
    if (cost < 1 && recall > crossing->recall) {
        crossing->recall = recall;
        crossing->cost = cost;
    }
    double off = fabs(prediction.corrected - recall);
    crossing->model_error = off > crossing->model_error ? off : crossing->model_error;
    match_list_free(&found);
}

static void study_collection(const char *path) {
    static const unsigned tables[] = {10, 30, 100, 300};
    static const size_t windows[] = {20, 60, 200};
    struct study study = {0};
    struct statistics *statistics;
    cog_sign_options options;
    cog_sign_options_init(&options, COG_SIGNATURE_RP);
    options.signature.bits = BITS;
    options.signature.gaussian = true;
    read_vectors(&study, path, &options, &statistics);
    sign_rows(&study, &options, statistics);
    find_truth(&study);
    study.flat_rate = flat_rate(&study.view, RADIUS_BITS);
    printf("%s: %zu documents, %zu true pairs of %zu sampled rows at cosine %.1f, %.3f of them "
           "within %d of %d bits; exhaustive join %.0f M pairs/s\n",
           path, study.view.rows, study.truth.count, study.sample_count, COSINE, study.upper_bound,
           RADIUS_BITS, BITS, study.flat_rate * 1e-6);
    printf("      Q      B     cost   recall relative   equations 4, 5    model   error"
           "        ms\n");
    struct crossing crossing = {0};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
            study_setting(&study, tables[t], windows[w], &crossing);
    printf(
        "  brute force is cheaper above recall %.3f (%.3f of what signatures reach, at %.0f%% of "
        "its cost); largest error of the model %.3f\n",
        crossing.recall, crossing.recall / study.upper_bound, 100 * crossing.cost,
        crossing.model_error);
    corpus_free(&study.corpus);
    sparse_matrix_free(&study.vectors);
    statistics_free(statistics);
    match_list_free(&study.truth);
    free(study.crowds);
    free((void *)study.view.data);
}

/* ---- Rate and growth on random bits ---------------------------------------------------------- */

static void study_rate(size_t rows, size_t window, unsigned tables) {
    size_t stride = signature_stride_bytes(BITS);
    uint64_t *data = calloc(rows, stride);
    struct random random = random_seeded(9);
    for (size_t i = 0; i < rows * stride / 8; i++)
        data[i] = i % (stride / 8) == stride / 8 - 1 ? 0 : random_next(&random);
    struct signatures_view view = {(const uint8_t *)data, rows, BITS, stride};
    struct signatures_view part = view;
    part.rows = rows < 20000 ? rows : 20000;
    struct window_options options = {
        .tables = tables, .window = window, .radius_bits = RADIUS_BITS, .seed = 1};
    struct match_list matches = {0};
    struct window_cost run = window_run(&view, options, 3, &matches);
    double flat = flat_rate(&part, RADIUS_BITS);
    printf("  %8zu rows, B = %5zu: detection %6.0f M pairs/s, exhaustive %6.0f, ratio %.2f; order "
           "%.1f ns a row and table; %.0f MB beside the input\n",
           rows, window, run.detect_rate * 1e-6, flat * 1e-6, run.detect_rate / flat,
           run.order_seconds * 1e9 / (double)rows / tables,
           (double)window_join_memory_bytes(&view, NULL, &options) / 1e6);
    match_list_free(&matches);
    free(data);
}

int main(int argc, char **argv) {
    printf("random bits, %d of them, T = %d, one thread; the paper: 36 M pairs/s (28 ns a pair)\n",
           BITS, RADIUS_BITS);
    study_rate(RATE_ROWS, 200, 8);
    study_rate(RATE_ROWS, 1000, 4);
    study_rate(RATE_ROWS, 2000, 2);
    for (size_t rows = 12500; rows <= 400000; rows *= 2)
        study_rate(rows, 500, 2);
    if (argc < 2)
        printf("no documents given: the figures on real collections are left out\n");
    for (int i = 1; i < argc; i++)
        study_collection(argv[i]);
    return 0;
}
