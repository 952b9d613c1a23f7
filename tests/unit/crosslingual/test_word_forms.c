/* Forms of words that a lexicon lacks, against a look at every word of the lexicon. */
#include "base/hash.h"
#include "crosslingual/word_forms.h"
#include "crosslingual/word_projection.h"
#include "test.h"

static void add_from(struct lexicon *lexicon, const char *word, uint64_t times) {
    uint32_t number;
    CHECK_OK(word_table_add_string(&lexicon->from, view_of_text(word), times, &number, error));
}

static const char *form_of(const struct word_forms *forms, const char *word) {
    static char found[64];
    uint32_t number = word_forms_find(forms, view_of_text(word));
    if (number == WORD_NONE)
        return "";
    struct bytes_view string = word_table_string(&forms->lexicon->from, number);
    snprintf(found, sizeof found, "%.*s", (int)string.size, string.data);
    return found;
}

TEST(word_forms_share_most_of_their_beginning) {
    static const struct {
        const char *word, *form;
    } cases[] = {
        {"prawami", "prawach"},    /* as long a beginning as prawa, and more frequent */
        {"prawo", "prawa"},        /* prawach is too long */
        {"pra", ""},               /* too short */
        {"권리를", "권리"},        /* two syllables are enough */
        {"권", ""},                /* one is not */
        {"права", ""},             /* another script */
        {"rozdziaływanie", ""},    /* not most of the longer word */
        {"rozdziały", "rozdział"}, /* the whole of the known word */
        {"żółć", ""},              /* letters are compared as wholes: ź and ż share a byte */
    };
    struct lexicon lexicon = {0};
    struct word_forms forms = {0};
    add_from(&lexicon, "prawa", 3);
    add_from(&lexicon, "prawach", 9);
    add_from(&lexicon, "권리", 1);
    add_from(&lexicon, "rozdział", 1);
    add_from(&lexicon, "źółć", 1);
    CHECK_OK(word_forms_init(&forms, &lexicon, error));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_MSG(strcmp(form_of(&forms, cases[i].word), cases[i].form) == 0, "%s is taken for %s",
                  cases[i].word, form_of(&forms, cases[i].word));
    word_forms_free(&forms);
    word_table_free(&lexicon.from);
}

TEST(word_forms_of_an_empty_lexicon) {
    struct lexicon lexicon = {0};
    struct word_forms forms = {0};
    CHECK_OK(word_forms_init(&forms, &lexicon, error));
    CHECK(word_forms_find(&forms, view_of("word", 4)) == WORD_NONE);
    word_forms_free(&forms);
}

/* Of words over few letters, where many share their beginnings. */
TEST(word_forms_are_the_best_of_all_words) {
    struct random random = random_seeded(5);
    struct lexicon lexicon = {0};
    struct word_forms forms = {0};
    char word[16];
    for (int i = 0; i < 60; i++) {
        size_t size = 3 + random_below(&random, 8);
        for (size_t j = 0; j < size; j++)
            word[j] = (char)('a' + random_below(&random, 2));
        word[size] = 0;
        add_from(&lexicon, word, 1 + random_below(&random, 1000000));
    }
    CHECK_OK(word_forms_init(&forms, &lexicon, error));
    for (int i = 0; i < 500; i++) {
        size_t size = 3 + random_below(&random, 8), best_common = 0;
        for (size_t j = 0; j < size; j++)
            word[j] = (char)('a' + random_below(&random, 2));
        uint32_t best = WORD_NONE;
        for (uint32_t w = 0; w < lexicon.from.count; w++) {
            struct bytes_view other = word_table_string(&lexicon.from, w);
            size_t common = 0, longer = size > other.size ? size : other.size;
            while (common < size && common < other.size && word[common] == other.data[common])
                common++;
            if (common >= 4 && 10 * common >= 6 * longer &&
                (common > best_common ||
                 (common == best_common && lexicon.from.counts[w] > lexicon.from.counts[best]))) {
                best = w;
                best_common = common;
            }
        }
        CHECK(word_forms_find(&forms, view_of(word, size)) == best);
    }
    word_forms_free(&forms);
    word_table_free(&lexicon.from);
}

/* Only where there is a collection to compare with, and no stemmer. */
TEST(word_forms_are_for_languages_without_a_stemmer) {
    struct lexicon lexicon = {0};
    struct projection_options options;
    struct term_options terms;
    struct statistics *statistics = NULL;
    CHECK_OK(statistics_create(&statistics, error));
    add_from(&lexicon, "prawa", 1);
    projection_options_init(&options);
    term_options_init(&terms);
    terms.stem = true;
    static const char *const codes[] = {"pl", "de"};
    for (int i = 0; i < 2; i++) {
        struct word_projector projector;
        strcpy(terms.language, codes[i]);
        CHECK_OK(word_projector_init(&projector, &lexicon, &options, &terms, statistics, error));
        CHECK((projector.forms.order != NULL) == (i == 0));
        word_projector_free(&projector);
        CHECK_OK(word_projector_init(&projector, &lexicon, &options, &terms, NULL, error));
        CHECK(!projector.forms.order);
        word_projector_free(&projector);
    }
    statistics_free(statistics);
    word_table_free(&lexicon.from);
}
