#include <math.h>

#include "base/hash.h"
#include "base/io/files.h"
#include "crosslingual/sentence_splitter.h"
#include "jobs/link/link_candidates.h"
#include "jobs/link/link_job.h"
#include "join/join_method.h"
#include "test.h"
#include "two_languages.h"

TEST(link_sentences_end_at_stops_and_lines) {
    static const char text[] = "  First one. Is this\tit? Yes!\nA title\n\nLast, e.g. this one";
    static const char *const expected[] = {"First one.", "Is this\tit?", "Yes!", "A title",
                                           "Last, e.g. this one"};
    struct sentence_splitter *splitter = NULL;
    struct bytes_view sentence;
    CHECK_OK(sentence_splitter_create("en", &splitter, error));
    for (int round = 0; round < 2; round++) {
        CHECK_OK(sentence_splitter_start(splitter, view_of(text, sizeof text - 1), error));
        for (size_t i = 0; i < 5; i++) {
            CHECK(sentence_splitter_next(splitter, &sentence));
            CHECK_MSG(sentence.size == strlen(expected[i]) &&
                          memcmp(sentence.data, expected[i], sentence.size) == 0,
                      "%.*s", (int)sentence.size, sentence.data);
        }
        CHECK(!sentence_splitter_next(splitter, &sentence));
    }
    CHECK_OK(sentence_splitter_start(splitter, view_of("", 0), error));
    CHECK(!sentence_splitter_next(splitter, &sentence));
    sentence_splitter_free(splitter);
}

/* ---- A small bilingual collection ------------------------------------------------------------ */

enum { TEXTS = 40, SENTENCES = 6, WORDS_A_SENTENCE = 7, VOCABULARY = 300 };

struct bilingual {
    char texts[2][TEXTS][1024];
    cog_document items[2][TEXTS];
    cog_documents *documents[2];
    cog_lexicon *lexicon;
};

static int append(char *text, int at, const char *format, int word) {
    return at + snprintf(text + at, 1024 - (size_t)at, format, word);
}

/* Sentences are in reverse order in the other language. */
static void make_texts(struct bilingual *collection) {
    struct random random = random_seeded(21);
    for (int t = 0; t < TEXTS; t++) {
        int words[SENTENCES][WORDS_A_SENTENCE], at[2] = {0, 0};
        for (int s = 0; s < SENTENCES; s++)
            for (int w = 0; w < WORDS_A_SENTENCE; w++)
                words[s][w] = (int)random_below(&random, VOCABULARY);
        for (int s = 0; s < SENTENCES; s++)
            for (int w = 0; w < WORDS_A_SENTENCE; w++) {
                bool last = w == WORDS_A_SENTENCE - 1;
                at[0] = append(collection->texts[0][t], at[0], last ? "Fq%dx. " : "Fq%dx ",
                               words[s][w]);
                at[1] = append(collection->texts[1][t], at[1], last ? "Tz%dy. " : "Tz%dy ",
                               words[SENTENCES - 1 - s][w]);
            }
    }
}

static cog_status open_collection(struct bilingual *collection, cog_error *error) {
    make_texts(collection);
    TRY(two_languages_train(VOCABULARY, &collection->lexicon, error));
    for (int side = 0; side < 2; side++)
        TRY(two_languages_read(collection->texts[side][0], 1024, TEXTS, collection->items[side],
                               &collection->documents[side], error));
    return COG_OK;
}

static void close_collection(struct bilingual *collection) {
    cog_documents_close(collection->documents[0]);
    cog_documents_close(collection->documents[1]);
    cog_lexicon_free(collection->lexicon);
}

static cog_status link_collection(struct bilingual *collection, cog_method method,
                                  cog_links **links, cog_error *error) {
    cog_link_options options;
    cog_link_options_init(&options);
    options.one_to_one = true;
    options.method = method;
    options.bits = 512;
    return cog_link(collection->documents[0], collection->documents[1], collection->lexicon,
                    &options, NULL, links, NULL, error);
}

TEST(link_pairs_the_sentences_of_partners) {
    static struct bilingual collection;
    cog_links *links = NULL;
    const char *path = test_path("sentences.tsv");
    CHECK_OK(open_collection(&collection, error));
    CHECK_OK(link_collection(&collection, COG_METHOD_EXACT, &links, error));
    CHECK(cog_links_count(links) == TEXTS);
    cog_sentence_options sentences;
    cog_sentence_options_init(&sentences);
    CHECK_OK(cog_links_sentences(links, collection.documents[0], collection.documents[1],
                                 &sentences, path, NULL, NULL, error));
    FILE *file = fopen(path, "r");
    CHECK(file);
    char line[2048];
    int rows = 0;
    CHECK(fgets(line, sizeof line, file) &&
          strcmp(line, "from\tto\tsimilarity\tfrom_id\tto_id\tscore\n") == 0);
    while (fgets(line, sizeof line, file)) {
        int from, to;
        const char *tab = strchr(line, '\t');
        CHECK(tab && sscanf(line, "Fq%d", &from) == 1 && sscanf(tab + 1, "Tz%d", &to) == 1);
        CHECK_MSG(from == to, "%s", line);
        rows++;
    }
    fclose(file);
    CHECK_MSG(rows == TEXTS * SENTENCES, "%d rows", rows);
    cog_links_free(links);
    close_collection(&collection);
}

/* 30 sources and one target of 60 sentences each. Sentence s has word s on both sides and a word
 * that the lexicon does not know; the sources also have a word of their own, so that no two of
 * their sentences are equal. */
static cog_status open_many_to_one(struct bilingual *collection, cog_error *error) {
    enum { SOURCES = 30, LONG_SENTENCES = 60, TEXT_BYTES = 4096 };
    static char texts[SOURCES + 1][TEXT_BYTES];
    static cog_document items[SOURCES + 1];
    TRY(open_collection(collection, error));
    for (int t = 0; t <= SOURCES; t++) {
        size_t at = 0;
        for (int s = 0; s < LONG_SENTENCES; s++)
            at += (size_t)snprintf(texts[t] + at, TEXT_BYTES - at,
                                   t < SOURCES ? "Fq%dx Zwi%dx Zwi%dx Fq%dx. " : "Tz%dy Zwi%dx. ",
                                   s, s, s, LONG_SENTENCES + (s + t) % LONG_SENTENCES);
        items[t] = (cog_document){.text = texts[t], .text_size = at};
    }
    cog_documents_close(collection->documents[0]);
    cog_documents_close(collection->documents[1]);
    collection->documents[0] = collection->documents[1] = NULL;
    TRY(cog_documents_from_memory(items, SOURCES, &collection->documents[0], error));
    return cog_documents_from_memory(items + SOURCES, 1, &collection->documents[1], error);
}

/* Lines of the sentence pairs, without the header. */
static cog_status count_sentence_pairs(struct bilingual *collection,
                                       const cog_link_options *options, double threshold,
                                       size_t *lines, double *similarity, cog_error *error) {
    const char *path = test_path("many_sentences.tsv");
    cog_sentence_options sentences;
    cog_sentence_options_init(&sentences);
    sentences.threshold = threshold;
    cog_links *links = NULL;
    TRY(cog_link(collection->documents[0], collection->documents[1], collection->lexicon, options,
                 NULL, &links, NULL, error));
    cog_status status =
        cog_links_sentences(links, collection->documents[0], collection->documents[1], &sentences,
                            path, NULL, NULL, error);
    cog_links_free(links);
    TRY(status);
    char line[2048];
    FILE *file = fopen(path, "r");
    for (*lines = 0; file && fgets(line, sizeof line, file); ++*lines)
        if (*lines == 1)
            sscanf(line, "%*[^\t]\t%*[^\t]\t%lf", similarity);
    if (file)
        fclose(file);
    --*lines;
    return COG_OK;
}

TEST(link_pairs_sentences_of_many_sources_with_one_target) {
    static struct bilingual collection;
    cog_link_options options;
    size_t lines = 0;
    double similarity;
    cog_link_options_init(&options);
    options.calibrated = false;
    options.threshold = 0.1;
    CHECK_OK(open_many_to_one(&collection, error));
    CHECK_OK(count_sentence_pairs(&collection, &options, 0.1, &lines, &similarity, error));
    CHECK_MSG(lines == 30 * 60, "%zu pairs", lines);
    close_collection(&collection);
}

TEST(link_weighs_sentences_by_the_options_of_the_links) {
    static struct bilingual collection;
    cog_link_options options;
    size_t lines = 0;
    double usual = 0, dropped = 0, flat = 0;
    cog_link_options_init(&options);
    options.calibrated = false;
    options.threshold = 0.1;
    CHECK_OK(open_many_to_one(&collection, error));
    CHECK_OK(count_sentence_pairs(&collection, &options, 0.1, &lines, &usual, error));
    options.projection.keep_unknown = false;
    CHECK_OK(count_sentence_pairs(&collection, &options, 0.1, &lines, &dropped, error));
    CHECK_MSG(dropped != usual, "%g without unknown words", dropped);
    options.projection.keep_unknown = true;
    options.projection.k1 = 0;
    CHECK_OK(count_sentence_pairs(&collection, &options, 0.1, &lines, &flat, error));
    CHECK_MSG(flat != usual, "%g whatever the frequencies", flat);
    close_collection(&collection);
}

TEST(link_refuses_certain_lists) {
    static struct bilingual collection;
    cog_link_options options;
    cog_links *links = NULL;
    cog_error failure;
    cog_link_options_init(&options);
    options.recall = 1;
    options.method = COG_METHOD_LISTS;
    CHECK_OK(open_collection(&collection, error));
    CHECK(cog_link(collection.documents[0], collection.documents[1], collection.lexicon, &options,
                   NULL, &links, NULL, &failure) == COG_ERR_USAGE);
    close_collection(&collection);
}

TEST(link_explains_the_whole_cosine) {
    static struct bilingual collection;
    cog_links *links = NULL;
    CHECK_OK(open_collection(&collection, error));
    CHECK_OK(link_collection(&collection, COG_METHOD_EXACT, &links, error));
    for (uint32_t row = 0; row < TEXTS; row++) {
        cog_word_match *matches = NULL;
        size_t count = 0;
        double sum = 0;
        CHECK_OK(cog_links_explain(links, row, row, &matches, &count, error));
        CHECK(count > 0);
        for (size_t i = 0; i < count; i++) {
            CHECK(matches[i].from_size == matches[i].to_size && matches[i].from[0] == 'f' &&
                  matches[i].to[0] == 't' && matches[i].probability > 0.99);
            CHECK(memcmp(matches[i].from + 2, matches[i].to + 2, matches[i].to_size - 3) == 0);
            CHECK(i == 0 || matches[i].share <= matches[i - 1].share);
            sum += matches[i].share;
        }
        CHECK_MSG(fabs(sum - 1) < 1e-5, "shares sum to %g", sum);
        free(matches);
    }
    cog_error failure;
    cog_word_match *matches = NULL;
    size_t count = 0;
    CHECK(cog_links_explain(links, TEXTS, 0, &matches, &count, &failure) == COG_ERR_USAGE);
    cog_links_free(links);
    close_collection(&collection);
}

TEST(link_candidates_by_signature_carry_true_cosines) {
    static struct bilingual collection;
    cog_links *exact = NULL, *flat = NULL;
    CHECK_OK(open_collection(&collection, error));
    CHECK_OK(link_collection(&collection, COG_METHOD_EXACT, &exact, error));
    CHECK_OK(link_collection(&collection, COG_METHOD_FLAT, &flat, error));
    CHECK(cog_links_count(exact) == TEXTS && cog_links_count(flat) == TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        cog_link_item a = cog_links_item(exact, i), b = cog_links_item(flat, i);
        CHECK(a.from_row == b.from_row && a.to_row == b.to_row && a.similarity == b.similarity);
    }
    cog_links_free(exact);
    cog_links_free(flat);
    close_collection(&collection);
}

/* A million pairs of rows with two hundred terms each. */
TEST(lists_pay_where_the_exact_way_takes_a_second) {
    enum { ROWS = 1000, TERMS = 100 };
    static uint64_t offsets[ROWS + 1];
    for (size_t row = 0; row <= ROWS; row++)
        offsets[row] = row * TERMS;
    const struct sparse_matrix vectors[2] = {{.rows = ROWS, .offsets = offsets},
                                             {.rows = ROWS, .offsets = offsets}};
    CHECK(!lists_method_pays(vectors, 4.9));
    CHECK(lists_method_pays(vectors, 5.1));
    const struct sparse_matrix few[2] = {vectors[0], {.rows = ROWS / 2, .offsets = offsets}};
    CHECK(!lists_method_pays(few, 5.1));
}

TEST(link_functions_refuse_arguments_out_of_range) {
    static struct bilingual collection;
    cog_link_options options;
    cog_links *links = NULL;
    cog_error failure;
    uint32_t row;
    CHECK_OK(open_collection(&collection, error));
    cog_documents *from = collection.documents[0], *to = collection.documents[1];
    cog_link_options_init(&options);
    options.method = (cog_method)1000;
    CHECK(cog_link(from, to, collection.lexicon, &options, NULL, &links, NULL, &failure) ==
          COG_ERR_USAGE);
    cog_link_options_init(&options);
    options.projection.k1 = -1;
    CHECK(cog_link(from, to, collection.lexicon, &options, NULL, &links, NULL, &failure) ==
          COG_ERR_USAGE);
    CHECK(cog_link(from, NULL, collection.lexicon, &options, NULL, &links, NULL, &failure) ==
          COG_ERR_USAGE);
    CHECK_OK(link_collection(&collection, COG_METHOD_EXACT, &links, error));
    CHECK(cog_links_item(links, cog_links_count(links)).from == NULL);
    CHECK(!cog_links_find(links, 2, "0", 1, &row));
    CHECK(cog_links_cosine(links, TEXTS, 0) == 0);
    CHECK(cog_links_write(links, (cog_output_format)99, test_path("links"), &failure) ==
          COG_ERR_USAGE);
    cog_links_free(links);
    close_collection(&collection);
}
