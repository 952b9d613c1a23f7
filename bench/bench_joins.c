/* The exact joins next to the plain double loop, and all cosines, on generated documents (Zipf
 * words, topics, set phrases, near-duplicates) or documents of files. usage: bench_joins [ROWS |
 * FILE]... (default: all cosines, joins of 10000 and 50000 rows) */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "collection/corpus.h"
#include "join/cosine/cosine_join.h"
#include "join/cosine/cosine_tiles.h"
#include "join/cosine/cosine_topk.h"
#include "join/sets/set_join.h"

enum { VOCABULARY = 100000, TOPICS = 200, TOPIC_WORDS = 2000, REPEATS = 3 };

/* Time of one thread's work, which other programs on the machine do not lengthen much. */
static uint64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *need(void *block) {
    if (!block) {
        fprintf(stderr, "out of memory\n");
        exit(3);
    }
    return block;
}

/* Words of all documents, one after the other. */
struct documents {
    size_t count;
    size_t *offsets;
    uint32_t *words;
};

static uint32_t zipf_word(struct random *random, uint32_t count) {
    return (uint32_t)(pow((double)count + 1, random_unit(random)) - 1) % count;
}

static uint32_t next_word(struct random *random, uint32_t topic, uint32_t before) {
    double draw = random_unit(random);
    if (draw < 0.35) /* a set phrase: one of three usual successors */
        return (uint32_t)(hash_pair(before, random_below(random, 3)) % 5000);
    if (draw < 0.65)
        return (uint32_t)(hash_pair(topic + 1, zipf_word(random, TOPIC_WORDS)) % VOCABULARY);
    return zipf_word(random, VOCABULARY);
}

/* One in ten is an earlier document with 1 to 30 words in a hundred changed. */
static struct documents make_documents(size_t count, size_t mean_words) {
    struct random random = random_seeded(count);
    struct documents documents = {count, need(malloc((count + 1) * sizeof(size_t))),
                                  need(malloc(count * mean_words * 2 * sizeof(uint32_t)))};
    documents.offsets[0] = 0;
    for (size_t d = 0; d < count; d++) {
        size_t at = documents.offsets[d];
        if (d > 0 && random_below(&random, 10) == 0) {
            size_t source = (size_t)random_below(&random, d);
            uint64_t changed = 1 + random_below(&random, 30);
            for (size_t i = documents.offsets[source]; i < documents.offsets[source + 1]; i++)
                documents.words[at++] = random_below(&random, 100) < changed
                                            ? zipf_word(&random, VOCABULARY)
                                            : documents.words[i];
        } else {
            uint32_t topic = (uint32_t)random_below(&random, TOPICS), word = 0;
            size_t words = mean_words / 3 + (size_t)random_below(&random, mean_words * 4 / 3);
            for (size_t i = 0; i < words; i++)
                documents.words[at++] = word = next_word(&random, topic, word);
        }
        documents.offsets[d + 1] = at;
    }
    return documents;
}

static int by_number(const void *x, const void *y) {
    uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;
    return (p > q) - (p < q);
}

/* Sorted terms of all documents with repetitions; `frequencies` counts documents. */
struct term_rows {
    size_t *offsets;
    uint32_t *terms;
    uint32_t term_count;
};

/* Renumbers terms by rising document frequency; single[t] is set for those of one document. */
static void renumber(struct term_rows *rows, size_t count, uint32_t **frequencies_out) {
    uint32_t *frequencies = need(calloc(rows->term_count + 1, 4));
    uint32_t *last = need(calloc(rows->term_count + 1, 4)), most = 0;
    for (size_t d = 0; d < count; d++)
        for (size_t i = rows->offsets[d]; i < rows->offsets[d + 1]; i++)
            if (last[rows->terms[i]] != d + 1) {
                last[rows->terms[i]] = (uint32_t)d + 1;
                uint32_t frequency = ++frequencies[rows->terms[i]];
                most = frequency > most ? frequency : most;
            }
    uint32_t *starts = need(calloc(most + 2, 4)), *sorted = need(calloc(rows->term_count + 1, 4));
    for (uint32_t t = 0; t < rows->term_count; t++)
        starts[frequencies[t] + 1]++;
    for (uint32_t f = 0; f <= most; f++)
        starts[f + 1] += starts[f];
    for (uint32_t t = 0; t < rows->term_count; t++) {
        last[t] = starts[frequencies[t]]++;
        sorted[last[t]] = frequencies[t];
    }
    for (size_t d = 0; d < count; d++) {
        for (size_t i = rows->offsets[d]; i < rows->offsets[d + 1]; i++)
            rows->terms[i] = last[rows->terms[i]];
        qsort(rows->terms + rows->offsets[d], rows->offsets[d + 1] - rows->offsets[d], 4,
              by_number);
    }
    free(starts);
    free(frequencies);
    free(last);
    *frequencies_out = sorted;
}

/* tf-idf with logarithmic tf, of unit length. */
static struct sparse_matrix make_matrix(const struct documents *documents) {
    size_t count = documents->count, total = documents->offsets[count];
    struct term_rows rows = {documents->offsets, need(malloc(total * 4)), VOCABULARY};
    memcpy(rows.terms, documents->words, total * 4);
    uint32_t *frequencies;
    renumber(&rows, count, &frequencies);
    struct sparse_matrix matrix = {.rows = count, .column_count = VOCABULARY};
    matrix.offsets = need(malloc((count + 1) * 8));
    matrix.columns = rows.terms;
    matrix.values = need(malloc(total * 4));
    uint64_t at = 0;
    for (size_t d = 0; d < count; d++) {
        double squares = 0;
        uint64_t begin = at;
        matrix.offsets[d] = at;
        for (size_t i = rows.offsets[d]; i < rows.offsets[d + 1];) {
            size_t from = i;
            uint32_t term = rows.terms[i];
            while (i < rows.offsets[d + 1] && rows.terms[i] == term)
                i++;
            double value = (1 + log((double)(i - from))) * log((double)count / frequencies[term]);
            squares += value * value;
            matrix.columns[at] = term;
            matrix.values[at++] = (float)value;
        }
        for (uint64_t i = begin; i < at; i++)
            matrix.values[i] = (float)(matrix.values[i] / sqrt(squares));
    }
    matrix.offsets[count] = at;
    free(frequencies);
    return matrix;
}

/* Hashes of word 3-grams. */
static struct corpus make_grams(const struct documents *documents) {
    struct corpus corpus = {0};
    size_t longest = 0;
    for (size_t d = 0; d < documents->count; d++) {
        size_t words = documents->offsets[d + 1] - documents->offsets[d];
        longest = words > longest ? words : longest;
    }
    uint64_t *hashes = need(malloc((longest + 1) * sizeof *hashes));
    uint32_t *ones = need(malloc((longest + 1) * sizeof *ones));
    for (size_t i = 0; i < longest; i++)
        ones[i] = 1;
    for (size_t d = 0; d < documents->count; d++) {
        struct bag_view bag = {hashes, ones, 0, 0, NULL};
        for (size_t i = documents->offsets[d]; i + 2 < documents->offsets[d + 1]; i++)
            hashes[bag.count++] = hash_bytes(documents->words + i, 12);
        if (corpus_add_bag(&corpus, &bag, NULL) != COG_OK)
            exit(3);
    }
    free(hashes);
    free(ones);
    return corpus;
}

/* Sets in a file, as the join has them, and decoded for the plain loop. */
struct gram_sets {
    struct document_sets sets;
    uint64_t *offsets, *members;
    uint32_t *order;
};

static struct gram_sets make_sets(const struct corpus *grams) {
    struct gram_sets made = {.offsets = need(malloc((grams->rows + 1) * 8)),
                             .order = need(malloc((grams->rows + 1) * 4))};
    struct loaded_sets loaded = {0};
    if (document_sets_open(&made.sets, "-", NULL) != COG_OK ||
        corpus_add_sets(grams, NULL, &made.sets, NULL) != COG_OK)
        exit(3);
    made.offsets[0] = 0;
    for (size_t row = 0; row < grams->rows; row++)
        made.offsets[row + 1] = made.offsets[row] + made.sets.rows[row].terms;
    made.members = need(malloc((made.offsets[grams->rows] + 1) * 8));
    for (size_t row = 0; row < grams->rows; row++) {
        if (set_file_load(&made.sets.file, row, &loaded, NULL) != COG_OK)
            exit(3);
        if (loaded.term_count)
            memcpy(made.members + made.offsets[row], loaded.terms, loaded.term_count * 8);
        made.order[row] = (uint32_t)row;
    }
    loaded_sets_free(&loaded);
    return made;
}

static void free_sets(struct gram_sets *made) {
    document_sets_close(&made->sets);
    free(made->offsets);
    free(made->members);
    free(made->order);
}

/* Nanoseconds per pair of the plain loop, which compares every row with each row of a sample. */
enum { SAMPLE = 50 };

static double plain_cosine_ns(const struct sparse_matrix *m, double *checksum) {
    uint64_t start = cpu_ns();
    for (size_t s = 0; s < SAMPLE; s++) {
        uint64_t q = m->offsets[s * (m->rows / SAMPLE)];
        size_t q_count = (size_t)(m->offsets[s * (m->rows / SAMPLE) + 1] - q);
        for (size_t r = 0; r < m->rows; r++)
            *checksum +=
                sparse_dot(m->columns + q, m->values + q, q_count, m->columns + m->offsets[r],
                           m->values + m->offsets[r], (size_t)(m->offsets[r + 1] - m->offsets[r]));
    }
    return (double)(cpu_ns() - start) / (SAMPLE * (double)m->rows);
}

static double plain_jaccard_ns(const struct gram_sets *sets, double *checksum) {
    const size_t rows = sets->sets.count;
    uint64_t start = cpu_ns();
    for (size_t s = 0; s < SAMPLE; s++) {
        uint64_t q = sets->offsets[s * (rows / SAMPLE)];
        size_t q_count = (size_t)(sets->offsets[s * (rows / SAMPLE) + 1] - q);
        for (size_t r = 0; r < rows; r++)
            *checksum += (double)member_set_overlap(
                sets->members + q, q_count, sets->members + sets->offsets[r],
                (size_t)(sets->offsets[r + 1] - sets->offsets[r]), 0);
    }
    return (double)(cpu_ns() - start) / (SAMPLE * (double)rows);
}

static int by_value(const void *x, const void *y) {
    double p = *(const double *)x, q = *(const double *)y;
    return (p > q) - (p < q);
}

typedef cog_status run_join(const void *input, const struct join_options *options,
                            struct match_list *matches, cog_error *error);

static cog_status run_cosine(const void *input, const struct join_options *options,
                             struct match_list *matches, cog_error *error) {
    return cosine_join(input, NULL, options, matches, error);
}

static cog_status run_jaccard(const void *input, const struct join_options *options,
                              struct match_list *matches, cog_error *error) {
    const struct gram_sets *sets = input;
    const cog_run_options run = {.threads = options->threads};
    const struct set_join_options joining = {
        .mode = SET_JOIN_PAIRS, .measure = {false, options->threshold}, .near_path = "-"};
    struct set_join_result result = {0};
    struct job job;
    job_begin(&job, &run, NULL);
    cog_status status = set_join_run(&sets->sets.file, sets->order, sets->sets.count, &joining,
                                     &job, &result, error);
    job_end(&job);
    *matches = result.pairs;
    result.pairs = (struct match_list){0};
    *options->work = (struct join_work){.postings = result.comparisons,
                                        .candidates = result.candidates,
                                        .verified = result.candidates};
    set_join_result_free(&result);
    return status;
}

/* Median of REPEATS runs; fewer when a run takes long. */
static double join_seconds(run_join *run, const void *input, struct join_options options,
                           size_t *pairs) {
    double seconds[REPEATS];
    int done = 0;
    do {
        struct match_list matches = {0};
        cog_error error = {0};
        uint64_t start = options.threads == 1 ? cpu_ns() : clock_ns();
        if (run(input, &options, &matches, &error) != COG_OK) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
        uint64_t end = options.threads == 1 ? cpu_ns() : clock_ns();
        seconds[done++] = (double)(end - start) * 1e-9;
        *pairs = matches.count;
        match_list_free(&matches);
    } while (done < REPEATS && seconds[0] < 5);
    qsort(seconds, (size_t)done, sizeof *seconds, by_value);
    return seconds[done / 2];
}

static void report_join(const char *name, run_join *run, const void *input, double threshold,
                        double plain_seconds) {
    struct join_work work;
    size_t pairs;
    struct join_options options = {.threshold = threshold, .threads = 1, .work = &work};
    double one = join_seconds(run, input, options, &pairs);
    options.threads = 0;
    double all = join_seconds(run, input, options, &pairs);
    printf("%-8s %.2f %10zu pairs %8.3f s %8.3f s %8.0fx %8.0fx  postings %.2e met %.2e verified "
           "%.2e\n",
           name, threshold, pairs, one, all, plain_seconds / one, plain_seconds / all,
           (double)work.postings, (double)work.candidates, (double)work.verified);
}

/* All cosines of the rows with one another, and the exact ten best of each, on one core. */
static void bench_all_pairs(const struct sparse_matrix *matrix) {
    double seconds[2][REPEATS], sum = 0, rows = (double)matrix->rows;
    for (int i = 0; i < REPEATS; i++) {
        struct cosine_tiles tiles = {.queries = cosine_rows_all(matrix),
                                     .collection = cosine_rows_all(matrix),
                                     .threads = 1};
        struct cosine_neighbours neighbours = {0};
        uint64_t start = cpu_ns();
        cog_status status = cosine_tiles_create(&tiles, NULL);
        while (cosine_tiles_next(&tiles, &status, NULL))
            for (size_t query = 0; query < tiles.query_count; query++)
                sum += cosine_tile(&tiles, 0, query).values[0];
        cosine_tiles_free(&tiles);
        uint64_t middle = cpu_ns();
        if (status != COG_OK || cosine_topk(matrix, matrix, 10, 1, &neighbours, NULL) != COG_OK)
            exit(1);
        seconds[0][i] = (double)(middle - start) * 1e-9;
        seconds[1][i] = (double)(cpu_ns() - middle) * 1e-9;
        cosine_topk_free(&neighbours);
    }
    double plain = plain_cosine_ns(matrix, &sum), pairs = rows * rows;
    printf("all cosines of %.0f rows of %.0f terms, one core:\n", rows,
           (double)matrix->offsets[matrix->rows] / rows);
    static const char *const names[] = {"all pairs", "ten best"};
    for (int i = 0; i < 2; i++) {
        qsort(seconds[i], REPEATS, sizeof(double), by_value);
        double ns = seconds[i][REPEATS / 2] * 1e9 / pairs;
        printf("%-10s %6.2f ns per pair, plain loop %.0f ns: %.0fx\n", names[i], ns, plain,
               plain / ns);
    }
}

enum { ALL_PAIRS_ROWS = 10000 };

static void bench_all_generated(void) {
    struct documents documents = make_documents(ALL_PAIRS_ROWS, 420);
    struct sparse_matrix matrix = make_matrix(&documents);
    bench_all_pairs(&matrix);
    sparse_matrix_free(&matrix);
    free(documents.offsets);
    free(documents.words);
}

/* The first rows of a file's, where it has enough of them. */
static void bench_all_of_file(const struct sparse_matrix *matrix) {
    static uint32_t first[ALL_PAIRS_ROWS];
    struct sparse_matrix rows = {0};
    for (uint32_t i = 0; i < ALL_PAIRS_ROWS; i++)
        first[i] = i;
    if (matrix->rows < ALL_PAIRS_ROWS)
        return;
    if (!sparse_matrix_select(matrix, first, ALL_PAIRS_ROWS, &rows))
        exit(2);
    bench_all_pairs(&rows);
    sparse_matrix_free(&rows);
}

static void bench_collections(const struct sparse_matrix *matrix, const struct gram_sets *sets) {
    static const double cosines[] = {0.05, 0.3, 0.5, 0.8}, jaccards[] = {0.3, 0.5, 0.8};
    size_t count = matrix->rows;
    double pairs = (double)count * (double)(count - 1) / 2, checksum = 0;
    double cosine_ns = plain_cosine_ns(matrix, &checksum);
    double jaccard_ns = plain_jaccard_ns(sets, &checksum);
    printf("%zu rows, %.0f terms per row, %.0f 3-grams per row\n", count,
           (double)matrix->offsets[count] / (double)count,
           (double)sets->offsets[count] / (double)count);
    printf(
        "plain double loop (from %d sampled rows): cosine %.0f ns per pair, %.1f s in all; overlap "
        "%.0f ns, %.1f s\n",
        SAMPLE, cosine_ns, cosine_ns * pairs * 1e-9, jaccard_ns, jaccard_ns * pairs * 1e-9);
    printf(
        "measure threshold                one core   all cores   ratio to the loop on one core\n");
    for (size_t i = count > 20000; i < sizeof cosines / sizeof *cosines; i++)
        report_join("cosine", run_cosine, matrix, cosines[i], cosine_ns * pairs * 1e-9);
    for (size_t i = 0; i < sizeof jaccards / sizeof *jaccards; i++)
        report_join("jaccard", run_jaccard, sets, jaccards[i], jaccard_ns * pairs * 1e-9);
    if (checksum == 0)
        printf("no terms in common\n");
}

static void bench_rows(size_t count) {
    struct documents documents = make_documents(count, 220);
    struct sparse_matrix matrix = make_matrix(&documents);
    struct corpus grams = make_grams(&documents);
    struct gram_sets sets = make_sets(&grams);
    bench_collections(&matrix, &sets);
    sparse_matrix_free(&matrix);
    corpus_free(&grams);
    free_sets(&sets);
    free(documents.offsets);
    free(documents.words);
}

/* Terms of a file's documents: stemmed words without stop words, or word 3-grams. */
static void read_terms(const char *path, unsigned ngram, struct corpus *corpus,
                       struct statistics **statistics) {
    struct term_options terms;
    term_options_init(&terms);
    terms.ngram = ngram;
    terms.stem = terms.drop_stop_words = ngram == 1;
    struct corpus_options options = {.terms = &terms, .want_frequencies = true};
    cog_input_options input;
    cog_run_options run = {0};
    cog_documents *documents = NULL;
    cog_report *report = NULL;
    cog_error error = {0};
    cog_input_options_init(&input);
    const struct corpus *corpora[] = {corpus};
    if (cog_documents_open(&input, &path, 1, &documents, &error) != COG_OK ||
        cog_report_create(&report, &error) != COG_OK ||
        corpus_read(corpus, documents, &options, &run, report, &error) != COG_OK ||
        corpus_statistics(corpora, 1, 0, statistics, &error) != COG_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    cog_report_free(report);
    cog_documents_close(documents);
}

static void bench_file(const char *path) {
    struct corpus words = {0}, grams = {0};
    const struct corpus *word_corpora[] = {&words};
    struct statistics *statistics[2] = {NULL, NULL};
    struct sparse_matrix matrix = {0};
    const uint8_t *const everything[] = {NULL};
    struct weighting weighting;
    weighting_init(&weighting, WEIGHTING_BM25);
    read_terms(path, 1, &words, &statistics[0]);
    read_terms(path, 3, &grams, &statistics[1]);
    if (corpus_vectors(word_corpora, 1, statistics[0], &weighting, everything, 0, &matrix, NULL) !=
        COG_OK)
        exit(2);
    struct gram_sets sets = make_sets(&grams);
    printf("%s\n", path);
    bench_collections(&matrix, &sets);
    bench_all_of_file(&matrix);
    sparse_matrix_free(&matrix);
    free_sets(&sets);
    corpus_free(&words);
    corpus_free(&grams);
    statistics_free(statistics[0]);
    statistics_free(statistics[1]);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        size_t rows = (size_t)strtoul(argv[i], NULL, 10);
        if (rows > 0)
            bench_rows(rows);
        else
            bench_file(argv[i]);
    }
    if (argc == 1) {
        bench_all_generated();
        bench_rows(10000);
        bench_rows(50000);
    }
    return 0;
}
