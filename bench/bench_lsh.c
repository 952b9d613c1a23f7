/* The tables of Distributed LSH (AOL columns) on a generated query log, growth with the size of the
 * log, a real log (pages and the pages that link to them) against the model, and what keys and
 * whole joins cost. usage: bench_lsh [tables|growth|costs|LOG]... (default: all, the log from the
 * folder of documents in COGNATE_DATA or ../shared/data); three to five minutes */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "collection/corpus.h"
#include "collection/options.h"
#include "estimate/radius.h"
#include "join/cosine/cosine_join.h"
#include "join/pair_check.h"
#include "papers/query_log_generator.h"
#include "search/lsh/lsh_join.h"
#include "search/lsh/lsh_plan.h"
#include "signature/signer.h"

enum { TEST_QUERIES = 2000, SIGNATURE_BITS = 128, MODEL_SAMPLES = 8000, SEEDS = 8 };
#define THRESHOLD 0.7

/* A log with its signatures, and test queries with their true neighbours. */
struct study {
    struct sparse_matrix all, test;
    struct signatures_view all_bits, test_bits;
    float *all_sums, *test_sums;
    uint32_t *test_rows; /* rising */
    struct match_list truth;
};

static void need(bool done, const char *what) {
    if (done)
        return;
    fprintf(stderr, "bench_lsh: %s\n", what);
    exit(1);
}

/* ---- Signatures ------------------------------------------------------------------------------ */

struct signing {
    const struct signer *signer;
    const struct sparse_matrix *matrix;
    const uint32_t *urls; /* of the columns */
    uint8_t *bits;
    float *sums;
};

static cog_status sign_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    struct signing *signing = context;
    struct signer_workspace *workspace;
    cog_status status = signer_workspace_create(signing->signer, &workspace, error);
    if (status != COG_OK)
        return status;
    uint64_t *hashes = malloc(signing->matrix->column_count * sizeof *hashes);
    need(hashes, "memory is out");
    for (size_t row = begin; row < end; row++) {
        const struct sparse_matrix *matrix = signing->matrix;
        size_t first = matrix->offsets[row], count = matrix->offsets[row + 1] - first;
        for (size_t i = 0; i < count; i++)
            hashes[i] = hash_mix((uint64_t)signing->urls[matrix->columns[first + i]] + 1);
        struct weighted_terms terms = {hashes, matrix->values + first, count};
        signer_sign(signing->signer, workspace, &terms, signing->bits + row * SIGNATURE_BITS / 8,
                    signing->sums + row * SIGNATURE_BITS);
    }
    free(hashes);
    signer_workspace_free(workspace);
    return COG_OK;
}

static void sign_all(struct study *study, const uint32_t *urls, uint64_t seed, bool gaussian) {
    struct signature_options options;
    struct signer *signer;
    size_t rows = study->all.rows;
    signature_options_init(&options, SIGNATURE_RP);
    options.bits = SIGNATURE_BITS;
    options.seed = seed;
    options.gaussian = gaussian;
    need(signer_create(&options, &signer, NULL) == COG_OK, "no signer");
    struct signing signing = {signer, &study->all, urls, malloc(rows * SIGNATURE_BITS / 8),
                              malloc(rows * SIGNATURE_BITS * sizeof(float))};
    need(signing.bits && signing.sums, "memory is out");
    need(parallel_for(0, rows, 1024, sign_rows, &signing, NULL) == COG_OK, "signing failed");
    study->all_bits =
        (struct signatures_view){signing.bits, rows, SIGNATURE_BITS, SIGNATURE_BITS / 8};
    study->all_sums = signing.sums;
    signer_free(signer);
}

/* ---- Test queries ---------------------------------------------------------------------------- */

static void choose_tests(struct study *study, size_t wanted) {
    struct random random = random_seeded(7);
    size_t rows = study->all.rows, count = 0;
    study->test_rows = malloc(wanted * sizeof *study->test_rows);
    for (size_t row = 0; row < rows && count < wanted; row++)
        if (random_below(&random, rows - row) < wanted - count)
            study->test_rows[count++] = (uint32_t)row;
    struct sparse_matrix *test = &study->test;
    const struct sparse_matrix *all = &study->all;
    *test = (struct sparse_matrix){.rows = count, .column_count = all->column_count};
    test->offsets = calloc(count + 1, sizeof *test->offsets);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = study->test_rows[i];
        test->offsets[i + 1] = test->offsets[i] + all->offsets[row + 1] - all->offsets[row];
    }
    test->columns = malloc(test->offsets[count] * sizeof *test->columns);
    test->values = malloc(test->offsets[count] * sizeof *test->values);
    uint8_t *bits = malloc(count * SIGNATURE_BITS / 8);
    study->test_sums = malloc(count * SIGNATURE_BITS * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        uint32_t row = study->test_rows[i];
        size_t from = all->offsets[row], size = all->offsets[row + 1] - from;
        memcpy(test->columns + test->offsets[i], all->columns + from, size * 4);
        memcpy(test->values + test->offsets[i], all->values + from, size * 4);
        memcpy(bits + i * SIGNATURE_BITS / 8, signature_row(&study->all_bits, row),
               SIGNATURE_BITS / 8);
        memcpy(study->test_sums + i * SIGNATURE_BITS, study->all_sums + row * SIGNATURE_BITS,
               SIGNATURE_BITS * sizeof(float));
    }
    study->test_bits = (struct signatures_view){bits, count, SIGNATURE_BITS, SIGNATURE_BITS / 8};
    struct join_options options = {.threshold = THRESHOLD};
    need(cosine_join(test, all, &options, &study->truth, NULL) == COG_OK, "no truth");
}

static void free_study(struct study *study) {
    sparse_matrix_free(&study->all);
    sparse_matrix_free(&study->test);
    free((void *)study->all_bits.data);
    free((void *)study->test_bits.data);
    free(study->all_sums);
    free(study->test_sums);
    free(study->test_rows);
    match_list_free(&study->truth);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

/* Neighbours of the first test queries at the threshold or above; a query is not its own. */
static size_t count_neighbours(const struct study *study, const struct match_list *list,
                               double threshold, size_t queries) {
    size_t count = 0;
    for (size_t i = 0; i < list->count && list->items[i].a < queries; i++)
        count += list->items[i].similarity >= (float)threshold &&
                 study->test_rows[list->items[i].a] != list->items[i].b;
    return count;
}

struct outcome {
    double comparisons; /* candidates of a query, each once, and not the query itself */
    double meetings;    /* the same, each as often as a key shows it */
    double recall[3];   /* at 0.7, 0.8, 0.9 */
    double neighbours;  /* found, of a query */
    double seconds, table_bytes;
};

/* Short keys produce so many candidates that a tenth of the queries must suffice. */
static struct outcome measure(const struct study *study, struct lsh_options options) {
    struct signatures_view test_bits = study->test_bits;
    test_bits.rows =
        options.key_bits <= 8 && study->all.rows > 100000 ? test_bits.rows / 10 : test_bits.rows;
    struct method_rows test = {.signatures = &test_bits, .margins = study->test_sums};
    struct method_rows all = {.signatures = &study->all_bits, .margins = study->all_sums};
    struct pair_check check = {
        .vectors = {&study->test, &study->all}, .threshold = THRESHOLD, .scattered = true};
    const struct match_sieve sieve = {pair_check_keep, &check};
    struct match_list found = {.sieve = &sieve};
    struct lsh_work work;
    struct outcome outcome;
    uint64_t start_ns = clock_ns();
    cog_error error;
    if (lsh_join(&test, &all, &options, SIGNATURE_BITS, 0, &found, &work, &error) != COG_OK)
        need(false, error.message);
    outcome.seconds = clock_seconds_since(start_ns);
    outcome.table_bytes = (double)work.table_bytes;
    outcome.comparisons = (double)work.comparisons / (double)test_bits.rows - 1;
    outcome.meetings = (double)work.entries / (double)test_bits.rows -
                       (double)lsh_keys_max(&options, options.flip_both);
    for (int i = 0; i < 3; i++) {
        double threshold = THRESHOLD + 0.1 * i;
        outcome.recall[i] =
            (double)count_neighbours(study, &found, threshold, test_bits.rows) /
            (double)count_neighbours(study, &study->truth, threshold, test_bits.rows);
    }
    outcome.neighbours =
        (double)count_neighbours(study, &found, THRESHOLD, test_bits.rows) / (double)test_bits.rows;
    match_list_free(&found);
    return outcome;
}

static struct lsh_options plain(unsigned key_bits, unsigned tables) {
    return (struct lsh_options){.key_bits = key_bits, .tables = tables};
}

static void print_goal(const char *what, bool met, double reached) {
    printf("  goal: %s: %s (%.3f)\n", what, met ? "met" : "MISSED", reached);
}

/* ---- The tables of the paper ----------------------------------------------------------------- */

static void print_row(const char *name, struct outcome outcome, double comparisons, double recall) {
    printf("  %-28s %10.1f %6.3f   paper %8.0f %5.2f   counted each time %10.1f   %6.2f s\n", name,
           outcome.comparisons, outcome.recall[0], comparisons, recall, outcome.meetings,
           outcome.seconds);
}

static void table_3_to_5(const struct study *study) {
    static const double recall[] = {0.63, 0.84, 0.98};
    static const struct {
        unsigned key_bits, tables;
        double comparisons, recall;
    } rows[] = {{16, 1, 7, 0.28},    {16, 10, 57, 0.63},   {16, 28, 152, 0.77},
                {16, 55, 297, 0.89}, {8, 10, 11008, 0.90}, {4, 10, 112347, 0.98}};
    struct outcome outcome = measure(study, plain(16, 10));
    printf("Table 3: K = 16, L = 10\n");
    for (int i = 0; i < 3; i++)
        printf("  tau %.1f  recall %.3f   paper %.2f   (%zu true pairs)\n", THRESHOLD + 0.1 * i,
               outcome.recall[i], recall[i],
               count_neighbours(study, &study->truth, THRESHOLD + 0.1 * i, TEST_QUERIES));
    double off = 0;
    for (int i = 0; i < 3; i++)
        off = fmax(off, fabs(outcome.recall[i] - recall[i]));
    print_goal("the calibrated log is within 0.015 of Table 3", off <= 0.015, off);
    printf("Tables 4 and 5: comparisons per query and recall, tau 0.7\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[40];
        snprintf(name, sizeof name, "K = %u, L = %u", rows[i].key_bits, rows[i].tables);
        print_row(name, measure(study, plain(rows[i].key_bits, rows[i].tables)),
                  rows[i].comparisons, rows[i].recall);
    }
}

enum { FLIP_COUNTS = 3, FLIP_MODES = LSH_FLIP_ACROSS + 1 };
typedef struct outcome flip_outcomes[2][FLIP_MODES][FLIP_COUNTS]; /* [both sides][mode][F] */

/* The paper's margin over its Random Flip, at F = 2. A candidate counts once for a query, and a
 * neighbour that is found is one: of two rules with as many keys the better one compares more. */
static void judge_flips(const char *name, const struct outcome *flips, const struct outcome *random,
                        bool both) {
    static const double recall[2] = {0.75, 0.86}, margin[2] = {0.09, 0.13};
    double above = flips->recall[0] - random->recall[0];
    char goal[100];
    snprintf(goal, sizeof goal, "%s, recall %.2f or more", name, recall[both]);
    print_goal(goal, flips->recall[0] >= recall[both], flips->recall[0]);
    snprintf(goal, sizeof goal, "%.0f points or more above Random Flip %c", 100 * margin[both],
             both ? 'B' : 'Q');
    print_goal(goal, above >= margin[both], above);
    print_goal("at no more comparisons, as a ratio", flips->comparisons <= random->comparisons,
               flips->comparisons / random->comparisons);
    printf("  the same without the neighbours found: %.3f; comparisons for each of them: %.1f "
           "against %.1f\n",
           (flips->comparisons - flips->neighbours) / (random->comparisons - random->neighbours),
           flips->comparisons / flips->neighbours, random->comparisons / random->neighbours);
}

static struct lsh_options flipped(unsigned tables, unsigned flips, enum lsh_flip_mode mode,
                                  bool both) {
    return (struct lsh_options){
        .key_bits = 16, .tables = tables, .flips = flips, .flip_mode = mode, .flip_both = both};
}

static void table_8_and_9(const struct study *study) {
    static const unsigned flips[FLIP_COUNTS] = {1, 2, 5};
    static const double paper[2][2][FLIP_COUNTS][2] = {
        {{{108, 0.65}, {159, 0.66}, {311, 0.70}}, {{106, 0.72}, {155, 0.75}, {303, 0.79}}},
        {{{204, 0.71}, {433, 0.73}, {1557, 0.86}}, {{192, 0.80}, {405, 0.86}, {1475, 0.93}}}};
    static const char *const modes[] = {"", "Random Flip", "Distance Flip", "Flips across tables"};
    flip_outcomes outcomes;
    char name[40];
    printf(
        "Tables 8 and 9: K = 16, L = 10, tau 0.7 (flips across tables: not in the paper, next to "
        "its Distance Flip)\n");
    for (int both = 0; both < 2; both++)
        for (int mode = LSH_FLIP_RANDOM; mode <= LSH_FLIP_ACROSS; mode++)
            for (int f = 0; f < FLIP_COUNTS; f++) {
                const double *row = paper[both][mode == LSH_FLIP_RANDOM ? 0 : 1][f];
                snprintf(name, sizeof name, "%s %c, F = %u", modes[mode], both ? 'B' : 'Q',
                         flips[f]);
                outcomes[both][mode][f] =
                    measure(study, flipped(10, flips[f], (enum lsh_flip_mode)mode, both));
                print_row(name, outcomes[both][mode][f], row[0], row[1]);
            }
    struct outcome fewer = measure(study, flipped(9, 2, LSH_FLIP_ACROSS, false));
    print_row("across Q, F = 2, L = 9", fewer, paper[0][1][1][0], paper[0][1][1][1]);
    for (int both = 0; both < 2; both++) {
        const struct outcome *random = &outcomes[both][LSH_FLIP_RANDOM][1];
        judge_flips(both ? "Distance Flip B, F = 2" : "Distance Flip Q, F = 2",
                    &outcomes[both][LSH_FLIP_DISTANCE][1], random, both);
        judge_flips(both ? "flips across tables B, F = 2" : "across Q, F = 2, one table less",
                    both ? &outcomes[both][LSH_FLIP_ACROSS][1] : &fewer, random, both);
    }
}

static struct study generated_study(size_t queries) {
    struct study study = {0};
    struct query_log_shape shape;
    struct query_log_generator *generator;
    uint32_t *urls;
    query_log_shape_init(&shape);
    shape.urls = (uint32_t)((double)shape.urls * (double)queries / (double)shape.queries);
    shape.queries = queries;
    need(query_log_generator_create(&shape, &generator, NULL) == COG_OK, "no log");
    need(query_log_matrix(generator, &study.all, &urls, NULL) == COG_OK, "no matrix");
    query_log_generator_free(generator);
    sign_all(&study, urls, 0, false);
    free(urls);
    choose_tests(&study, TEST_QUERIES);
    printf("GENERATED log (no real searches): %zu queries, %u URLs, %.1f URLs a query, %zu test "
           "queries with %zu "
           "neighbours at 0.7\n",
           study.all.rows, study.all.column_count,
           (double)study.all.offsets[study.all.rows] / (double)study.all.rows, study.test.rows,
           count_neighbours(&study, &study.truth, THRESHOLD, TEST_QUERIES));
    return study;
}

/* ---- Growth, instead of Tables 6, 7 and 10 --------------------------------------------------- */

static void print_growth(const struct study *study, const char *name, struct lsh_options options) {
    struct outcome outcome = measure(study, options);
    printf(
        "  %8zu queries  %-24s %8.0f comparisons (unrelated rows alone: %.0f)  recall %.3f  %6.2f s"
        "  %4.0f MB\n",
        study->all.rows, name, outcome.comparisons, lsh_comparisons(&options, study->all.rows),
        outcome.recall[0], outcome.seconds, outcome.table_bytes / 1e6);
}

static void growth(void) {
    printf("Growth: L = 10, tau 0.7; K follows the size in the second row of each\n");
    for (size_t queries = 75000; queries <= 1200000; queries *= 2) {
        struct study study = generated_study(queries);
        unsigned key_bits = 12 + 2 * (unsigned)(log2((double)queries / 75000) / 2 + 1);
        char name[40];
        snprintf(name, sizeof name, "K = %u", key_bits);
        print_growth(&study, "K = 16", plain(16, 10));
        print_growth(&study, name, plain(key_bits, 10));
        for (int both = 0; both < 2; both++)
            print_growth(&study, both ? "K = 16, Distance Flip B, 2" : "K = 16, Distance Flip Q, 2",
                         flipped(10, 2, LSH_FLIP_DISTANCE, both));
        free_study(&study);
    }
}

/* ---- A real log against the model ------------------------------------------------------------ */

/* Queries with more than five URLs; columns are the URLs. */
static void read_log(const char *path, struct sparse_matrix *matrix) {
    cog_error error;
    cog_input_options input;
    cog_documents *documents;
    cog_report *report;
    cog_term_options given;
    struct term_options terms;
    struct weighting weighting;
    struct statistics *statistics;
    struct corpus corpus = {0};
    struct sparse_matrix all = {0};
    cog_input_options_init(&input);
    cog_term_options_init(&given);
    input.format = COG_FORMAT_QUERYLOG;
    weighting_init(&weighting, WEIGHTING_TF);
    const struct corpus *corpora[1] = {&corpus};
    const uint8_t *const selected[1] = {NULL};
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    if (cog_report_create(&report, &error) != COG_OK ||
        cog_documents_open(&input, &path, 1, &documents, &error) != COG_OK ||
        options_terms(&given, &terms, &error) != COG_OK ||
        corpus_read(&corpus, documents, &reading, NULL, report, &error) != COG_OK ||
        corpus_statistics(corpora, 1, 0, &statistics, &error) != COG_OK ||
        corpus_vectors(corpora, 1, statistics, &weighting, selected, 0, &all, &error) != COG_OK)
        need(false, error.message);
    enum { LEAST_URLS = 6 };
    uint32_t *rows = malloc(all.rows * sizeof *rows);
    size_t count = 0;
    for (size_t row = 0; row < all.rows; row++)
        if (all.offsets[row + 1] - all.offsets[row] >= LEAST_URLS)
            rows[count++] = (uint32_t)row;
    need(sparse_matrix_select(&all, rows, count, matrix), "memory is out");
    free(rows);
    sparse_matrix_free(&all);
    statistics_free(statistics);
    corpus_free(&corpus);
    cog_documents_close(documents);
    cog_report_free(report);
}

/* Recall as the model has it for the cosines of the true pairs. */
static double modelled(const struct study *study, const struct lsh_options *options) {
    double *cosines = malloc(study->truth.count * sizeof *cosines), recall = 0;
    size_t count = 0;
    for (size_t i = 0; i < study->truth.count; i++)
        if (study->test_rows[study->truth.items[i].a] != study->truth.items[i].b)
            cosines[count++] = (double)study->truth.items[i].similarity;
    struct lsh_targets targets = {.cosines = cosines, .count = count};
    need(lsh_recall_simulated(options, LSH_JOIN_CROSS, &targets, MODEL_SAMPLES, 0, &recall, NULL) ==
             COG_OK,
         "no model");
    free(cosines);
    return recall;
}

/* A study of a real log whose bits come from this seed. */
static struct study real_study(const char *path, uint64_t seed, bool gaussian) {
    struct study study = {0};
    read_log(path, &study.all);
    uint32_t *columns = malloc(study.all.column_count * sizeof *columns);
    for (uint32_t column = 0; column < study.all.column_count; column++)
        columns[column] = column;
    sign_all(&study, columns, seed, gaussian);
    free(columns);
    choose_tests(&study, study.all.rows);
    return study;
}

/* What the paper found on a real log: its Distance Flip compares a little less than Random Flip. A
 * few equal clicks often add up to zero with random signs, zero counts as positive, and so the side
 * that such a bit is flipped to has fewer rows; Gaussian values have no such sums. */
static void flips_on_real_log(const char *path) {
    static const char *const modes[] = {"", "Random Flip", "Distance Flip", "across"};
    printf("%s, K = 10, L = 10, F = 2: comparisons per query and recall, mean of %d seeds\n", path,
           SEEDS);
    for (int gaussian = 0; gaussian < 2; gaussian++) {
        double comparisons[2][LSH_FLIP_ACROSS + 1] = {{0}};
        double recall[2][LSH_FLIP_ACROSS + 1] = {{0}};
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct study study = real_study(path, seed, gaussian);
            for (int both = 0; both < 2; both++)
                for (int mode = LSH_FLIP_RANDOM; mode <= LSH_FLIP_ACROSS; mode++) {
                    struct lsh_options options = flipped(10, 2, (enum lsh_flip_mode)mode, both);
                    options.key_bits = 10;
                    struct outcome outcome = measure(&study, options);
                    comparisons[both][mode] += outcome.comparisons / SEEDS;
                    recall[both][mode] += outcome.recall[0] / SEEDS;
                }
            free_study(&study);
        }
        for (int both = 0; both < 2; both++)
            for (int mode = LSH_FLIP_RANDOM; mode <= LSH_FLIP_ACROSS; mode++)
                printf("  %-8s %13s %c %8.1f (%.3f of random) %6.3f\n",
                       gaussian ? "Gaussian" : "signs", modes[mode], both ? 'B' : 'Q',
                       comparisons[both][mode],
                       comparisons[both][mode] / comparisons[both][LSH_FLIP_RANDOM],
                       recall[both][mode]);
        for (int both = 0; both < 2 && !gaussian; both++)
            print_goal(both ? "Distance Flip B with signs, as published: no more comparisons"
                            : "Distance Flip Q with signs, as published: no more comparisons",
                       comparisons[both][LSH_FLIP_DISTANCE] <= comparisons[both][LSH_FLIP_RANDOM],
                       comparisons[both][LSH_FLIP_DISTANCE] / comparisons[both][LSH_FLIP_RANDOM]);
    }
}

/* All rows share the few hyperplanes of a seed, so recall varies with it: the mean is compared. */
static void against_model(const char *path) {
    enum { SETTINGS = 8 };
    const struct lsh_options settings[SETTINGS] = {
        plain(16, 1),
        plain(16, 10),
        plain(16, 28),
        plain(8, 10),
        flipped(10, 2, LSH_FLIP_DISTANCE, false),
        flipped(10, 2, LSH_FLIP_DISTANCE, true),
        flipped(10, 2, LSH_FLIP_ACROSS, false),
        flipped(10, 2, LSH_FLIP_ACROSS, true),
    };
    double recall[SETTINGS] = {0}, model[SETTINGS] = {0}, off = 0;
    size_t rows = 0, pairs = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct study study = real_study(path, seed, true);
        for (int i = 0; i < SETTINGS; i++) {
            recall[i] += measure(&study, settings[i]).recall[0] / SEEDS;
            if (seed == 0)
                model[i] = modelled(&study, &settings[i]);
        }
        rows = study.all.rows;
        pairs = count_neighbours(&study, &study.truth, THRESHOLD, rows) / 2;
        free_study(&study);
    }
    printf("%s: %zu queries, %zu pairs at 0.7; recall with Gaussian values, mean of %d seeds\n",
           path, rows, pairs, SEEDS);
    for (int i = 0; i < SETTINGS; i++) {
        printf("  K = %2u, L = %2u, F = %u %s%s   %.3f, model %.3f (%+.3f)\n", settings[i].key_bits,
               settings[i].tables, settings[i].flips, settings[i].flip_both ? "both " : "query",
               settings[i].flip_mode == LSH_FLIP_ACROSS ? " across" : "       ", recall[i],
               model[i], recall[i] - model[i]);
        off = fmax(off, fabs(recall[i] - model[i]));
    }
    print_goal("Gaussian values, the default of `cognate related`: within 0.03 of the model",
               off <= 0.03, off);
}

/* ---- What keys and joins cost ---------------------------------------------------------------- */

/* Microseconds a row, one thread. */
static double key_cost(const struct study *study, const struct lsh_options *options) {
    struct lsh_keyer keyer;
    struct lsh_key *keys = malloc(lsh_keys_max(options, true) * sizeof *keys);
    size_t rows = study->all.rows < 50000 ? study->all.rows : 50000, made = 0;
    need(lsh_keyer_create(&keyer, options, NULL) == COG_OK, "no keys");
    uint64_t start_ns = clock_ns();
    for (size_t row = 0; row < rows; row++)
        made +=
            lsh_keys_of(&keyer, signature_row(&study->all_bits, row), study->all_bits.stride_bytes,
                        study->all_sums + row * SIGNATURE_BITS, true, keys);
    double seconds = clock_seconds_since(start_ns);
    need(made == rows * lsh_keys_max(options, true), "keys are missing");
    lsh_keyer_free(&keyer);
    free(keys);
    return seconds * 1e6 / (double)rows;
}

static void key_costs(const struct study *study) {
    printf("Keys of a row, one thread\n");
    for (unsigned flips = 1; flips <= 4; flips *= 2)
        for (unsigned tables = 10; tables <= 55; tables += 45) {
            struct lsh_options across = flipped(tables, flips, LSH_FLIP_ACROSS, false);
            struct lsh_options distance = flipped(tables, flips, LSH_FLIP_DISTANCE, false);
            double one = key_cost(study, &across), other = key_cost(study, &distance);
            printf("  K = 16, L = %u, F = %u: across %.2f us, Distance Flip %.2f us (%.2f)\n",
                   tables, flips, one, other, one / other);
        }
}

/* All pairs of the log, once by tables and once exactly. */
static void join_costs(const struct study *study) {
    struct method_rows all = {.signatures = &study->all_bits, .margins = study->all_sums};
    struct pair_check check = {
        .vectors = {&study->all, &study->all}, .threshold = THRESHOLD, .scattered = true};
    const struct match_sieve sieve = {pair_check_keep, &check};
    const uint32_t radius_bits =
        radius_for_recall(SIGNATURE_BITS, bit_flip_probability_cosine(THRESHOLD), 0.9999);
    struct join_options exactly = {.threshold = THRESHOLD};
    struct match_list truth = {0};
    uint64_t start_ns = clock_ns();
    need(cosine_join(&study->all, NULL, &exactly, &truth, NULL) == COG_OK, "no truth");
    double exact = clock_seconds_since(start_ns);
    printf("All pairs of the log at 0.7: the exact join takes %.2f s\n", exact);
    for (unsigned flips = 2; flips <= 8; flips *= 2) {
        struct lsh_options options = flipped(10, flips, LSH_FLIP_ACROSS, false);
        struct match_list found = {.sieve = &sieve};
        start_ns = clock_ns();
        need(lsh_join(&all, NULL, &options, radius_bits, 0, &found, NULL, NULL) == COG_OK,
             "no join");
        double seconds = clock_seconds_since(start_ns);
        printf("  K = 16, L = 10, F = %u: recall %.3f in %.2f s, %.1f times the exact join\n",
               flips, (double)found.count / (double)truth.count, seconds, seconds / exact);
        match_list_free(&found);
    }
    match_list_free(&truth);
}

static void costs(void) {
    struct query_log_shape shape;
    query_log_shape_init(&shape);
    struct study study = generated_study(shape.queries);
    key_costs(&study);
    join_costs(&study);
    free_study(&study);
}

static void real_log(const char *path) {
    against_model(path);
    flips_on_real_log(path);
}

static void links(void) {
    const char *data = getenv("COGNATE_DATA");
    char path[4096];
    snprintf(path, sizeof path, "%s/links/links.tsv.zst", data ? data : "../shared/data");
    if (access(path, R_OK) == 0)
        real_log(path);
    else
        printf("no real log: %s is absent\n", path);
}

static void tables(void) {
    struct query_log_shape shape;
    query_log_shape_init(&shape);
    struct study study = generated_study(shape.queries);
    table_3_to_5(&study);
    table_8_and_9(&study);
    free_study(&study);
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < 2) {
        tables();
        growth();
        costs();
        links();
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "tables") == 0)
            tables();
        else if (strcmp(argv[i], "growth") == 0)
            growth();
        else if (strcmp(argv[i], "costs") == 0)
            costs();
        else
            real_log(argv[i]);
    }
    return 0;
}
