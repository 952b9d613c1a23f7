/* Across languages on real documents: training a lexicon, Figure 1 of paper 000, linking documents
 * among distractors, and single sentences. usage: bench_link DATA_FOLDER [LEXICON]
 *
 * The lexicon is trained on DATA_FOLDER's parallel text without every 40th parliament sentence, up
 * to 10,000, which are the single sentences; with LEXICON that one is used, and training is left
 * out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "crosslingual/line_source.h"
#include "job/link_vectors.h"

enum { HELD_OUT_STEP = 40, HELD_OUT = 10000, FIGURE_PAIRS = 505, BINS = 10 };

static void need(cog_status status, const cog_error *error) {
    if (status == COG_OK)
        return;
    fprintf(stderr, "bench_link: %s\n", error->message);
    exit(2);
}

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

static cog_lexicon *train(const char *folder, const char *train_path) {
    const char *paths[] = {train_path, path_in(folder, "gettext_sent/de-en.tsv.zst")};
    cog_lexicon_options options;
    cog_lexicon *lexicon = NULL;
    cog_report *report = NULL;
    cog_error error = {0};
    cog_lexicon_options_init(&options);
    options.from = "de";
    options.to = "en";
    need(cog_report_create(&report, &error), &error);
    uint64_t start = clock_ns();
    struct timespec cpu;
    need(cog_lexicon_train(paths, 2, &options, NULL, &lexicon, report, &error), &error);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("training: %.0f pairs, %.0f word pairs, %zu entries; %.0f s wall, %.0f s of all "
           "processors, peak %.2f GB\n",
           cog_report_number(report, "pairs"), cog_report_number(report, "word_pairs"),
           cog_lexicon_entries(lexicon), clock_seconds_since(start), (double)cpu.tv_sec,
           (double)memory_peak_bytes() * 1e-9);
    cog_report_free(report);
    return lexicon;
}

/* ---- Figure 1 -------------------------------------------------------------------------------- */

static double row_cosine(const struct link_space *space, size_t a, size_t b) {
    const struct sparse_matrix *from = &space->vectors[0], *to = &space->vectors[1];
    uint64_t i = from->offsets[a], j = to->offsets[b];
    return sparse_dot(from->columns + i, from->values + i, from->offsets[a + 1] - i,
                      to->columns + j, to->values + j, to->offsets[b + 1] - j);
}

/* The documents of the two files stand in the same order. Every k-th pair is a true one of the
 * sample; unrelated ones pair a document with one half a collection away. */
static void print_figure(const char *folder, const cog_lexicon *lexicon, bool paper) {
    const char *paths[] = {path_in(folder, "europarl_10sent/de.jsonl.zst"),
                           path_in(folder, "europarl_10sent/en.jsonl.zst")};
    cog_documents *documents[2] = {open_documents(paths, 1), open_documents(paths + 1, 1)};
    struct link_space space = {0};
    cog_projection_options projection;
    cog_error error = {0};
    cog_projection_options_init(&projection);
    projection.source_given_target = paper;
    need(link_space_read(&space, &lexicon->table, documents[0], documents[1], NULL, NULL, &error),
         &error);
    need(link_space_build(&space, &projection, &error), &error);
    size_t rows = space.vectors[0].rows, bins[BINS] = {0};
    double sum = 0, unrelated = 0;
    for (size_t i = 0; i < FIGURE_PAIRS; i++) {
        size_t row = i * rows / FIGURE_PAIRS;
        double cosine = row_cosine(&space, row, row);
        sum += cosine;
        unrelated += row_cosine(&space, row, (row + rows / 2) % rows);
        bins[cosine >= 1 ? BINS - 1 : cosine <= 0 ? 0 : (size_t)(cosine * BINS)]++;
    }
    printf("figure 1, %s: mean cosine of %d true pairs %.3f, of unrelated ones %.3f\n  ",
           paper ? "p(from | to)" : "p(to | from)", FIGURE_PAIRS, sum / FIGURE_PAIRS,
           unrelated / FIGURE_PAIRS);
    for (int b = 0; b < BINS; b++)
        printf("%.1f:%zu ", b / 10.0, bins[b]);
    printf("\n");
    link_space_free(&space);
    cog_documents_close(documents[0]);
    cog_documents_close(documents[1]);
}

/* ---- Linking --------------------------------------------------------------------------------- */

static void print_links(const char *name, cog_documents *from, cog_documents *to,
                        const cog_lexicon *lexicon, const cog_link_options *options,
                        const char *gold) {
    cog_links *links = NULL;
    cog_link_scores scores;
    cog_error error = {0};
    uint64_t start = clock_ns();
    need(cog_link(from, to, lexicon, options, NULL, &links, NULL, &error), &error);
    double seconds = clock_seconds_since(start);
    need(cog_links_score(links, gold, &scores, &error), &error);
    printf("%s: R@1 %.4f, precision %.4f, recall %.4f, recall at precision 0.99 %.4f (%llu links, "
           "%.1f "
           "s)\n",
           name, scores.recall_at_1, scores.precision, scores.recall, scores.recall_at_precision_99,
           (unsigned long long)scores.links, seconds);
    cog_links_free(links);
}

static void link_dev(const char *folder, const cog_lexicon *lexicon) {
    const char *from_paths[] = {path_in(folder, "xling_de_en/dev/de.jsonl.zst"),
                                path_in(folder, "xling_de_en/distractors/de.jsonl.zst")};
    const char *to_paths[] = {path_in(folder, "xling_de_en/dev/en.jsonl.zst"),
                              path_in(folder, "xling_de_en/distractors/en.jsonl.zst")};
    const char *gold = path_in(folder, "xling_de_en/dev/align.tsv");
    cog_documents *from = open_documents(from_paths, 2), *to = open_documents(to_paths, 2);
    cog_link_options options;
    cog_link_options_init(&options);
    print_links("dev, best of each, default threshold", from, to, lexicon, &options, gold);
    options.one_to_one = true;
    print_links("dev, one-to-one, default threshold", from, to, lexicon, &options, gold);
    options.threshold = -1;
    print_links("dev, one-to-one, no threshold", from, to, lexicon, &options, gold);
    options.hub_neighbours = 0;
    print_links("dev, one-to-one, no threshold, no hubness", from, to, lexicon, &options, gold);
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
    options.threshold = -1;
    print_links("single sentences", documents[0], documents[1], lexicon, &options, gold_path);
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
        lexicon = train(argv[1], train_path);
    print_figure(argv[1], lexicon, true);
    print_figure(argv[1], lexicon, false);
    link_dev(argv[1], lexicon);
    link_sentences(&held, lexicon, gold_path);
    cog_lexicon_free(lexicon);
    remove(train_path);
    remove(gold_path);
    return 0;
}
