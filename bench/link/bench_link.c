/* Across languages on real documents: training a lexicon, Figure 1 of Ture et al. 2011, linking
 * documents among distractors, single sentences, and the cost of all pairs at a cosine; goals are
 * printed next to the figures. About seven minutes on two processors. usage: bench_link DATA_FOLDER
 * [LEXICON]
 *
 * The lexicon is trained on DATA_FOLDER's parallel text without every 40th parliament sentence, up
 * to 10,000, which are the single sentences; with LEXICON, that one is used without training. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "input/parallel/line_source.h"
#include "jobs/link/link_space.h"
#include "link_cost.h"
#include "search/flat/flat.h"

enum { HELD_OUT_STEP = 40, HELD_OUT = 10000, FIGURE_PAIRS = 505, BINS = 10 };

static const char *path_in(const char *folder, const char *name) {
    static char paths[16][512];
    static int next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static cog_documents *open_documents(const char *const *paths, size_t count) {
    cog_input_options options;
    cog_documents *documents = NULL;
    cog_error error = {0};
    cog_input_options_init(&options);
    need(cog_documents_open(&options, paths, count, &documents, &error), &error);
    return documents;
}

static void read_space(struct link_space *space, const cog_lexicon *lexicon, cog_documents *from,
                       cog_documents *to, const cog_projection_options *projection) {
    cog_documents *const documents[2] = {from, to};
    cog_error error = {0};
    struct job job;
    job_begin(&job, NULL, NULL);
    need(link_space_read(space, &job, &lexicon->table, documents, &error), &error);
    need(link_space_build(space, &job, projection, &error), &error);
    job_end(&job);
}

/* ---- Parallel text, and the sentences that are left out of it -------------------------------- */

struct sentences {
    char *texts[2][HELD_OUT];
    size_t count;
};

static FILE *open_scratch(const char *name) {
    FILE *file = fopen(name, "w");
    if (!file) {
        fprintf(stderr, "bench_link: cannot write %s\n", name);
        exit(2);
    }
    return file;
}

static void split_text(const char *path, const char *train_path, struct sentences *held) {
    struct line_source lines;
    cog_error error = {0};
    FILE *train = open_scratch(train_path);
    need(line_source_open(&lines, path, &error), &error);
    for (;;) {
        struct bytes_view line;
        bool end;
        need(line_source_next(&lines, &line, &end, &error), &error);
        if (end)
            break;
        if (lines.line % HELD_OUT_STEP == 7 && held->count < HELD_OUT) {
            struct bytes_view from = take_field(&line, '\t'), to = take_field(&line, '\t');
            held->texts[0][held->count] = strndup(from.data, from.size);
            held->texts[1][held->count++] = strndup(to.data, to.size);
        } else {
            fprintf(train, "%.*s\n", (int)line.size, line.data);
        }
    }
    line_source_close(&lines);
    fclose(train);
}

static cog_lexicon *train(const char *const *paths, size_t count, unsigned threads,
                          cog_report *report) {
    cog_lexicon_options options;
    cog_run_options run = {.threads = threads};
    cog_lexicon *lexicon = NULL;
    cog_error error = {0};
    cog_lexicon_options_init(&options);
    options.from = "de";
    options.to = "en";
    need(cog_lexicon_train(paths, count, &options, &run, &lexicon, report, &error), &error);
    return lexicon;
}

static cog_lexicon *train_all(const char *folder, const char *train_path) {
    const char *paths[] = {train_path, path_in(folder, "gettext_sent/de-en.tsv.zst")};
    cog_report *report = NULL;
    cog_error error = {0};
    need(cog_report_create(&report, &error), &error);
    uint64_t start = clock_ns();
    cog_lexicon *lexicon = train(paths, 2, 0, report);
    double seconds = clock_seconds_since(start);
    printf("training on %.0f pairs: %.0f word pairs, %zu entries, cpu %.0f s\n",
           cog_report_number(report, "pairs"), cog_report_number(report, "word_pairs"),
           cog_lexicon_entries(lexicon), cost_seconds());
    printf("  seconds: %s\n  GB: %s\n", goal_text(seconds, 240, false),
           goal_text((double)memory_peak_bytes() * 1e-9, 4, false));
    cog_report_free(report);
    return lexicon;
}

/* Whether two files have the same bytes. */
static bool same_files(const char *a, const char *b) {
    FILE *files[2] = {fopen(a, "rb"), fopen(b, "rb")};
    int x = 0, y = 0;
    while (files[0] && files[1] && x == y && x != EOF) {
        x = getc(files[0]);
        y = getc(files[1]);
    }
    bool same = files[0] && files[1] && x == y;
    for (int i = 0; i < 2; i++)
        if (files[i])
            fclose(files[i]);
    return same;
}

/* Training on part of the text with 1, 2 and 3 threads, and a table that was saved and opened. */
static void print_repetition(const char *train_path, const cog_lexicon *lexicon) {
    enum { PART_LINES = 40000 };
    char names[4][40];
    cog_error error = {0};
    for (int i = 0; i < 4; i++)
        snprintf(names[i], sizeof names[i], "/tmp/bench_link_%d_%d", (int)getpid(), i);
    FILE *all = fopen(train_path, "r"), *part = open_scratch(names[3]);
    char *line = NULL;
    size_t capacity = 0;
    for (int i = 0; i < PART_LINES && all && getline(&line, &capacity, all) > 0; i++)
        fputs(line, part);
    free(line);
    if (all)
        fclose(all);
    fclose(part);
    const char *paths[] = {names[3]};
    for (unsigned threads = 1; threads <= 3; threads++) {
        cog_lexicon *other = train(paths, 1, threads, NULL);
        need(cog_lexicon_save(other, names[threads - 1], &error), &error);
        cog_lexicon_free(other);
    }
    printf("tables of 1, 2 and 3 threads: %s\n",
           same_files(names[0], names[1]) && same_files(names[0], names[2]) ? "the same bytes"
                                                                            : "DIFFERENT");
    cog_lexicon *again = NULL;
    need(cog_lexicon_save(lexicon, names[0], &error), &error);
    need(cog_lexicon_open(names[0], &again, &error), &error);
    need(cog_lexicon_save(again, names[1], &error), &error);
    printf("table saved, opened, saved: %s\n",
           same_files(names[0], names[1]) ? "the same bytes" : "DIFFERENT");
    cog_lexicon_free(again);
    for (int i = 0; i < 4; i++)
        remove(names[i]);
}

/* ---- Figure 1 -------------------------------------------------------------------------------- */

static double row_cosine(const struct link_space *space, size_t a, size_t b) {
    return sparse_row_dot(&space->vectors[0], a, &space->vectors[1], b);
}

/* The documents of the two files are in the same order. Every k-th pair is a true one of the
 * sample; unrelated ones pair a document with one half a collection away. */
static void print_figure(const char *folder, const cog_lexicon *lexicon, bool paper) {
    const char *paths[] = {path_in(folder, "europarl_10sent/de.jsonl.zst"),
                           path_in(folder, "europarl_10sent/en.jsonl.zst")};
    cog_documents *documents[2] = {open_documents(paths, 1), open_documents(paths + 1, 1)};
    struct link_space space = {0};
    cog_projection_options projection;
    cog_projection_options_init(&projection);
    projection.source_given_target = paper;
    read_space(&space, lexicon, documents[0], documents[1], &projection);
    size_t rows = space.vectors[0].rows, bins[BINS] = {0};
    double sum = 0, unrelated = 0;
    for (size_t i = 0; i < FIGURE_PAIRS; i++) {
        size_t row = i * rows / FIGURE_PAIRS;
        double cosine = row_cosine(&space, row, row);
        sum += cosine;
        unrelated += row_cosine(&space, row, (row + rows / 2) % rows);
        bins[cosine >= 1 ? BINS - 1 : cosine <= 0 ? 0 : (size_t)(cosine * BINS)]++;
    }
    printf("figure 1, %s, %d true pairs\n  mean cosine: %s; of unrelated pairs: %s\n",
           paper ? "p(from | to) as published" : "p(to | from), the default", FIGURE_PAIRS,
           goal_text(sum / FIGURE_PAIRS, paper ? 0.40 : 0.66, true),
           goal_text(unrelated / FIGURE_PAIRS, 0.07, false));
    for (int b = 0; b < BINS; b++)
        printf(
            "  %.1f %4zu %.*s\n", b / 10.0, bins[b], (int)bins[b] / 6,
            "##################################################################################");
    link_space_free(&space);
    cog_documents_close(documents[0]);
    cog_documents_close(documents[1]);
}

/* ---- Linking --------------------------------------------------------------------------------- */

static cog_link_scores score_links(cog_documents *from, cog_documents *to,
                                   const cog_lexicon *lexicon, const cog_link_options *options,
                                   const char *gold, double *seconds) {
    cog_links *links = NULL;
    cog_link_scores scores;
    cog_error error = {0};
    uint64_t start = clock_ns();
    need(cog_link(from, to, lexicon, options, NULL, &links, NULL, &error), &error);
    *seconds = clock_seconds_since(start);
    need(cog_links_score(links, gold, &scores, &error), &error);
    cog_links_free(links);
    return scores;
}

/* What one way to find candidates reaches: R@1, one-to-one recall without a threshold; precision,
 * recall and recall at precision 0.99 with the default one. */
struct link_row {
    double values[5];
};
static const char *const link_columns[] = {"R@1", "one-to-one", "precision", "recall", "R@P0.99"};
static const double link_goals[] = {0.990, 0.995, 0.98, 0.99, 0.98};

static struct link_row measure_links(const char *name, cog_documents *from, cog_documents *to,
                                     const cog_lexicon *lexicon, cog_link_options options,
                                     const char *gold) {
    double seconds, again;
    options.one_to_one = true;
    cog_link_scores with = score_links(from, to, lexicon, &options, gold, &seconds);
    options.calibrated = false;
    options.threshold = -1;
    cog_link_scores all = score_links(from, to, lexicon, &options, gold, &again);
    struct link_row row = {
        {with.recall_at_1, all.recall, with.precision, with.recall, with.recall_at_precision_99}};
    printf("  %-26s", name);
    for (int i = 0; i < 5; i++)
        printf(" %10.4f", row.values[i]);
    printf(" %8.1f s\n", seconds);
    return row;
}

/* The first choice by signatures alone, no true cosines: the paper's way. Documents of the gold
 * file are found by the order of the ids. */
static double signatures_alone(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                               const char *gold) {
    struct link_space space = {0};
    cog_projection_options projection;
    struct signature_options signature;
    struct signatures_view views[2] = {{0}, {0}};
    struct hit_lists firsts = {0};
    cog_error error = {0};
    cog_projection_options_init(&projection);
    signature_options_init(&signature, SIGNATURE_RP);
    signature.bits = COST_BITS;
    read_space(&space, lexicon, from, to, &projection);
    for (int i = 0; i < 2; i++) {
        struct signable_rows rows = {.matrix = &space.vectors[i], .count = space.vectors[i].rows};
        need(vector_sign(&rows, &signature, threads_resolve(0), &views[i], NULL, 0, &error),
             &error);
    }
    need(flat_search_topk(&views[1], &views[0], 1, threads_resolve(0), &firsts, &error), &error);
    char path[] = "/tmp/bench_first_XXXXXX";
    int file = mkstemp(path);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    for (size_t row = 0; out && row < space.vectors[0].rows; row++) {
        struct bytes_view a = corpus_id(&space.corpora[0], row);
        struct bytes_view b = corpus_id(&space.corpora[1], firsts.items[firsts.offsets[row]].b);
        fprintf(out, "%.*s\t%.*s\n", (int)a.size, a.data, (int)b.size, b.data);
    }
    if (out)
        fclose(out);
    cog_link_scores scores;
    need(cog_evaluate_link_file(path, gold, NULL, &scores, &error), &error);
    remove(path);
    hit_lists_free(&firsts);
    free((void *)views[0].data);
    free((void *)views[1].data);
    link_space_free(&space);
    return scores.recall_at_1;
}

/* The first is what the others lose against; the second is the default. */
static const struct {
    const char *name;
    cog_method method;
} link_methods[] = {{"exact", COG_METHOD_EXACT},   {"auto", COG_METHOD_AUTO},
                    {"lists", COG_METHOD_LISTS},   {"flat", COG_METHOD_FLAT},
                    {"slices", COG_METHOD_SLICES}, {"hash tables", COG_METHOD_LSH},
                    {"windows", COG_METHOD_WINDOW}};

static void link_dev(const char *folder, const cog_lexicon *lexicon) {
    const char *from_paths[] = {path_in(folder, "xling_de_en/dev/de.jsonl.zst"),
                                path_in(folder, "xling_de_en/distractors/de.jsonl.zst")};
    const char *to_paths[] = {path_in(folder, "xling_de_en/dev/en.jsonl.zst"),
                              path_in(folder, "xling_de_en/distractors/en.jsonl.zst")};
    const char *gold = path_in(folder, "xling_de_en/dev/align.tsv");
    cog_documents *from = open_documents(from_paths, 2), *to = open_documents(to_paths, 2);
    cog_link_options options;
    cog_link_options_init(&options);
    printf("linking dev among the distractors; signatures of %d bits, rescored\n  %-26s", COST_BITS,
           "");
    for (int i = 0; i < 5; i++)
        printf(" %10s", link_columns[i]);
    double alone = signatures_alone(from, to, lexicon, gold);
    printf("\n  %-26s %10.4f\n", "1000 bits alone", alone);
    struct link_row rows[sizeof link_methods / sizeof *link_methods];
    options.bits = COST_BITS;
    for (size_t m = 0; m < sizeof link_methods / sizeof *link_methods; m++) {
        options.method = link_methods[m].method;
        rows[m] = measure_links(link_methods[m].name, from, to, lexicon, options, gold);
    }
    const struct link_row *exact = &rows[0], *chosen = &rows[1];
    options.method = COG_METHOD_AUTO;
    options.hub_neighbours = 0;
    measure_links("auto, no hubness", from, to, lexicon, options, gold);
    for (int i = 0; i < 5; i++)
        printf("  %s: %s\n", link_columns[i], goal_text(chosen->values[i], link_goals[i], true));
    for (size_t m = 1; m < sizeof link_methods / sizeof *link_methods; m++) {
        printf("  lost by %-24s", link_methods[m].name);
        double most = -1;
        for (int i = 0; i < 5; i++) {
            double lost = exact->values[i] - rows[m].values[i];
            printf(" %8.4f", lost);
            most = lost > most ? lost : most;
        }
        printf("  %s\n", goal_text(most, 0.005, false));
    }
    printf("  R@1 lost by 1000 bits alone, no rescoring: %.4f\n", exact->values[0] - alone);
    cog_documents_close(from);
    cog_documents_close(to);
}

/* Web documentation, which took no part in any choice, and the cost of all its pairs. */
static void link_mdn(const char *folder, const cog_lexicon *lexicon) {
    const char *from_paths[] = {path_in(folder, "xling_de_en/mdn/de.jsonl.zst"),
                                path_in(folder, "xling_de_en/distractors/de.jsonl.zst")};
    const char *to_paths[] = {path_in(folder, "xling_de_en/mdn/en.jsonl.zst"),
                              path_in(folder, "xling_de_en/distractors/en.jsonl.zst")};
    cog_documents *from = open_documents(from_paths, 2), *to = open_documents(to_paths, 2);
    cog_link_options options;
    cog_projection_options projection;
    struct link_space space = {0};
    cog_link_options_init(&options);
    cog_projection_options_init(&projection);
    printf("linking mdn among the distractors\n");
    measure_links("auto", from, to, lexicon, options, path_in(folder, "xling_de_en/mdn/align.tsv"));
    read_space(&space, lexicon, from, to, &projection);
    link_cost_print(&space, 0.3);
    link_space_free(&space);
    cog_documents_close(from);
    cog_documents_close(to);
}

static void link_sentences(const struct sentences *held, const cog_lexicon *lexicon,
                           const char *gold_path) {
    cog_document *items[2];
    cog_documents *documents[2];
    cog_error error = {0};
    FILE *gold = open_scratch(gold_path);
    for (int side = 0; side < 2; side++) {
        items[side] = memory_zeroed_array(held->count, sizeof *items[side]);
        for (size_t i = 0; items[side] && i < held->count; i++)
            items[side][i] = (cog_document){.text = held->texts[side][i],
                                            .text_size = strlen(held->texts[side][i])};
        need(cog_documents_from_memory(items[side], held->count, &documents[side], &error), &error);
    }
    for (size_t i = 0; i < held->count; i++)
        fprintf(gold, "%zu\t%zu\n", i, i);
    fclose(gold);
    cog_link_options options;
    cog_link_options_init(&options);
    options.calibrated = false;
    options.threshold = -1;
    double seconds;
    cog_link_scores scores =
        score_links(documents[0], documents[1], lexicon, &options, gold_path, &seconds);
    printf("%zu single sentences, partner first: %s (%.1f s)\n", held->count,
           goal_text(scores.recall_at_1, 0.96, true), seconds);
    for (int side = 0; side < 2; side++) {
        cog_documents_close(documents[side]);
        free(items[side]);
    }
}

int main(int argc, char **argv) {
    static struct sentences held;
    if (argc < 2) {
        printf("usage: bench_link DATA_FOLDER [LEXICON]\n");
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    char train_path[] = "/tmp/bench_link_XXXXXX", gold_path[] = "/tmp/bench_gold_XXXXXX";
    cog_lexicon *lexicon = NULL;
    cog_error error = {0};
    int train_file = mkstemp(train_path), gold_file = mkstemp(gold_path);
    if (train_file < 0 || gold_file < 0)
        return 2;
    split_text(path_in(argv[1], "europarl_sent/train.de-en.tsv.zst"), train_path, &held);
    if (argc > 2)
        need(cog_lexicon_open(argv[2], &lexicon, &error), &error);
    else
        lexicon = train_all(argv[1], train_path);
    print_repetition(train_path, lexicon);
    print_figure(argv[1], lexicon, true);
    print_figure(argv[1], lexicon, false);
    link_dev(argv[1], lexicon);
    link_sentences(&held, lexicon, gold_path);
    link_mdn(argv[1], lexicon);
    cog_lexicon_free(lexicon);
    remove(train_path);
    remove(gold_path);
    return 0;
}
