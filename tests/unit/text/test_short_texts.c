/* The terms of short texts against the definition: words with their occurrence numbers, in a
 * separate domain, after the n-grams of texts that are not too short. */
#include "base/hash.h"
#include "test.h"
#include "text/analyzer.h"

enum { LONGEST = 30 };

struct text_words {
    size_t count;
    unsigned words[LONGEST]; /* letters of the alphabet */
};

static struct text_words random_words(struct random *random) {
    struct text_words text = {.count = random_below(random, LONGEST + 1)};
    unsigned vocabulary = 1 + (unsigned)random_below(random, 26);
    for (size_t i = 0; i < text.count; i++)
        text.words[i] = (unsigned)random_below(random, vocabulary);
    return text;
}

static bool run_words(const struct text_words *text, const struct term_options *options,
                      struct term_list *list) {
    char bytes[2 * LONGEST];
    struct analyzer *analyzer = NULL;
    for (size_t i = 0; i < text->count; i++) {
        bytes[2 * i] = (char)('a' + text->words[i]);
        bytes[2 * i + 1] = ' ';
    }
    bool ran = analyzer_create(options, &analyzer, NULL) == COG_OK &&
               analyzer_run(analyzer, view_of(bytes, 2 * text->count), view_of("", 0), list,
                            NULL) == COG_OK;
    analyzer_free(analyzer);
    return ran;
}

/* Words that two texts share, each as often as in the text that has fewer of it. */
static size_t shared_words(const struct text_words *a, const struct text_words *b) {
    size_t counts[2][26] = {{0}}, shared = 0;
    for (size_t i = 0; i < a->count; i++)
        counts[0][a->words[i]]++;
    for (size_t i = 0; i < b->count; i++)
        counts[1][b->words[i]]++;
    for (int w = 0; w < 26; w++)
        shared += counts[0][w] < counts[1][w] ? counts[0][w] : counts[1][w];
    return shared;
}

static bool texts_are_equal(const struct text_words *a, const struct text_words *b) {
    return a->count == b->count && memcmp(a->words, b->words, a->count * sizeof *a->words) == 0;
}

static size_t shared_hashes(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t shared = 0;
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++)
            shared += a[i] == b[j];
    return shared;
}

static bool words_are_named(const struct text_words *text, const struct term_list *list) {
    size_t first = list->count - list->short_terms;
    for (size_t i = 0; i < list->short_terms; i++) {
        size_t begin = first + i ? list->ends[first + i - 1] : 0;
        if (list->ends[first + i] - begin != 1 ||
            list->strings.data[begin] != (char)('a' + text->words[i]))
            return false;
    }
    return true;
}

TEST(text_short_texts_have_their_words_behind_their_ngrams) {
    struct random random = random_seeded(21);
    struct term_list all[2] = {{0}, {.want_strings = true}}, ngrams = {0}, singles = {0};
    struct text_words texts[2];
    for (int round = 0; round < 3000; round++) {
        struct term_options options;
        term_options_init(&options);
        options.tokens = round % 2 ? TOKENS_WORDS : TOKENS_REGEX;
        options.ngram = 2 + (unsigned)random_below(&random, 4);
        options.short_texts = true;
        size_t words[2];
        for (int side = 0; side < 2; side++) {
            texts[side] = random_words(&random);
            CHECK(run_words(&texts[side], &options, &all[side]));
            words[side] = all[side].short_terms;
            if (texts[side].count <= TINY_TEXT_TOKENS)
                CHECK(words[side] == (texts[side].count > 0) && all[side].count == words[side]);
            else
                CHECK(words[side] ==
                      (texts[side].count <= BRIDGE_TEXT_TOKENS ? texts[side].count : 0));
        }
        bool tiny = texts[0].count <= TINY_TEXT_TOKENS || texts[1].count <= TINY_TEXT_TOKENS;
        CHECK(texts[1].count <= TINY_TEXT_TOKENS || words_are_named(&texts[1], &all[1]));
        size_t first[2] = {all[0].count - words[0], all[1].count - words[1]};
        if (words[0] && words[1])
            CHECK(shared_hashes(all[0].hashes + first[0], words[0], all[1].hashes + first[1],
                                words[1]) == (tiny ? texts_are_equal(&texts[0], &texts[1])
                                                   : shared_words(&texts[0], &texts[1])));
        options.short_texts = false;
        CHECK(run_words(&texts[0], &options, &ngrams) && !ngrams.short_terms);
        CHECK(first[0] == (texts[0].count > SHORT_TEXT_TOKENS ? ngrams.count : 0));
        CHECK(first[0] == 0 ||
              memcmp(all[0].hashes, ngrams.hashes, first[0] * sizeof *ngrams.hashes) == 0);
        options.ngram = 1;
        CHECK(run_words(&texts[0], &options, &singles));
        CHECK(!shared_hashes(all[0].hashes + first[0], words[0], ngrams.hashes, ngrams.count));
        CHECK(!shared_hashes(all[0].hashes + first[0], words[0], singles.hashes, singles.count));
    }
    term_list_free(&all[0]);
    term_list_free(&all[1]);
    term_list_free(&ngrams);
    term_list_free(&singles);
}

/* The Jaccard coefficient of two texts that short texts are compared by. */
static double short_similarity(const char *a, const char *b, enum token_kind tokens) {
    struct term_options options;
    struct term_list lists[2] = {{0}, {0}};
    struct analyzer *analyzer = NULL;
    term_options_init(&options);
    options.tokens = tokens;
    options.ngram = 3;
    options.short_texts = true;
    if (analyzer_create(&options, &analyzer, NULL) != COG_OK ||
        analyzer_run(analyzer, view_of_text(a), view_of("", 0), &lists[0], NULL) != COG_OK ||
        analyzer_run(analyzer, view_of_text(b), view_of("", 0), &lists[1], NULL) != COG_OK)
        abort();
    size_t shared = shared_hashes(lists[0].hashes, lists[0].count, lists[1].hashes, lists[1].count);
    double result = (double)shared / (double)(lists[0].count + lists[1].count - shared);
    term_list_free(&lists[0]);
    term_list_free(&lists[1]);
    analyzer_free(analyzer);
    return result;
}

TEST(text_short_texts_by_hand) {
    static const char ten[] = "one two three four five six seven eight nine ten";
    CHECK(short_similarity(ten, "one two three four five SIX seven eight nine zen", TOKENS_WORDS) ==
          9.0 / 11);
    CHECK(short_similarity(ten, "one two three four five six seven eight nine", TOKENS_WORDS) ==
          0.9);
    CHECK(short_similarity("good morning", "good evening", TOKENS_WORDS) == 0);
    CHECK(short_similarity("good morning", "morning good", TOKENS_WORDS) == 0);
    CHECK(short_similarity("man bites dog", "dog bites man", TOKENS_WORDS) == 0);
    CHECK(short_similarity("man bites dog", "Man bites dog!", TOKENS_WORDS) == 1);
    CHECK(short_similarity("yes", "yes yes", TOKENS_WORDS) == 0);
    CHECK(short_similarity("yes", "no", TOKENS_WORDS) == 0);
    CHECK(short_similarity("x - y;", "y - x;", TOKENS_CODE) == 0);
    CHECK(short_similarity("a == b;", "a != b;", TOKENS_CODE) < 0.8);
}

TEST(text_short_texts_change_neither_single_words_nor_characters) {
    static const struct text_words text = {.count = 5, .words = {0, 1, 0, 2, 1}};
    struct term_list plain = {0}, with = {0};
    static const struct term_options kinds[] = {{.tokens = TOKENS_WORDS, .ngram = 1},
                                                {.tokens = TOKENS_CHARS, .ngram = 3}};
    for (int i = 0; i < 2; i++) {
        struct term_options options = kinds[i];
        CHECK(run_words(&text, &options, &plain));
        options.short_texts = true;
        CHECK(run_words(&text, &options, &with) && !with.short_terms);
        CHECK(with.count == plain.count &&
              memcmp(with.hashes, plain.hashes, with.count * sizeof *with.hashes) == 0);
    }
    term_list_free(&plain);
    term_list_free(&with);
}
