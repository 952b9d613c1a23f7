/* Rules of languages in the analyzers: elided words, stop words, optional marks. */
#include "test.h"
#include "text/analyzer.h"
#include "text/language/elisions.h"
#include "text/language/stop_words.h"

enum { STEM = 1, DROP = 2, ELIDE = 4 };

/* The terms of a text as one string, separated by bars; the same without strings, which goes
 * through the cache. */
static char joined[4096];
static void join_terms(unsigned rules, const char *language, const char *text) {
    struct term_options options;
    struct analyzer *analyzer = NULL;
    struct term_list named = {.want_strings = true}, cached = {0};
    struct bytes_view code = view_of_text(language), view = view_of_text(text);
    size_t at = 0;
    term_options_init(&options);
    options.stem = rules & STEM;
    options.drop_stop_words = rules & DROP;
    options.elide = rules & ELIDE;
    CHECK_OK(analyzer_create(&options, &analyzer, error));
    CHECK_OK(analyzer_run(analyzer, view, code, &named, error));
    CHECK_OK(analyzer_run(analyzer, view, code, &cached, error));
    CHECK(named.count == cached.count);
    joined[0] = 0;
    for (size_t i = 0; i < named.count; i++) {
        size_t begin = i ? named.ends[i - 1] : 0;
        CHECK(named.hashes[i] == cached.hashes[i]);
        at += (size_t)snprintf(joined + at, sizeof joined - at, "%s%.*s", i ? "|" : "",
                               (int)(named.ends[i] - begin), named.strings.data + begin);
    }
    term_list_free(&named);
    term_list_free(&cached);
    analyzer_free(analyzer);
}

#define CHECK_TERMS(rules, language, text, expected)                                               \
    do {                                                                                           \
        join_terms(rules, language, text);                                                         \
        CHECK_MSG(strcmp(joined, expected) == 0, "%s gives %s, not %s", text, joined, expected);   \
    } while (0)

TEST(language_elided_words_are_cut_off) {
    CHECK_TERMS(ELIDE, "fr", "L'homme qu’il l‘homme d'abord", "homme|il|homme|abord");
    CHECK_TERMS(ELIDE, "fr", "jusqu'à lorsqu'un JUSQU’ICI", "à|un|ici");
    CHECK_TERMS(ELIDE, "fr", "aujourd'hui presqu'île prud'homme",
                "aujourd'hui|presqu'île|prud'homme");
    CHECK_TERMS(ELIDE, "fr", "l' l'' 'l l'1", "l|l|l|l|1");
    CHECK_TERMS(ELIDE, "it", "dell'acqua quest’anno un'altra sugl'altri", "acqua|anno|altra|altri");
    CHECK_TERMS(ELIDE, "ca", "l'home d’aigua", "home|aigua");
    CHECK_TERMS(ELIDE, "oc", "l'òme", "òme");
    /* Other languages, and languages that nobody named, keep what is before an apostrophe. */
    CHECK_TERMS(ELIDE, "en", "don't l'homme o'clock", "don't|l'homme|o'clock");
    CHECK_TERMS(ELIDE, "uk", "п'ять", "п'ять");
    CHECK_TERMS(0, "fr", "l'homme", "l'homme");
}

TEST(language_elisions_come_before_stop_words_and_stems) {
    CHECK_TERMS(STEM | ELIDE, "fr", "les maisons d'hôtes", "le|maison|hôt");
    CHECK_TERMS(STEM | DROP | ELIDE, "fr", "C'est l'un d'entre eux qu'elle n’a vus", "entre|a|vus");
    CHECK_TERMS(STEM | DROP | ELIDE, "it", "dell'amica dov'è", "amic");
}

TEST(language_elision_bytes_of_any_word) {
    const char *french = elisions_of("fr");
    CHECK(french && !elisions_of("en") && !elisions_of(""));
    CHECK(elision_bytes(french, view_of("l'a", 3)) == 2);
    CHECK(elision_bytes(french, view_of("l'", 2)) == 0);
    CHECK(elision_bytes(french, view_of("'", 1)) == 0);
    CHECK(elision_bytes(french, view_of("'a", 2)) == 0);
    CHECK(elision_bytes(french, view_of("", 0)) == 0);
    CHECK(elision_bytes(french, view_of("jusqu'a", 7)) == 6);
    CHECK(elision_bytes(french, view_of("jus'a", 5)) == 0);
}

/* A place is the whole word, because a reader sees it so. */
TEST(language_place_of_an_elided_word) {
    struct term_options options;
    struct analyzer *analyzer = NULL;
    struct term_list list = {.want_places = true};
    const char *text = "oh l’homme";
    term_options_init(&options);
    options.elide = true;
    CHECK_OK(analyzer_create(&options, &analyzer, error));
    CHECK_OK(analyzer_run(analyzer, view_of_text(text), view_of("fr", 2), &list, error));
    CHECK(list.count == 2 && list.places[1].begin == 3 && list.places[1].end == strlen(text));
    term_list_free(&list);
    analyzer_free(analyzer);
}

TEST(language_versions_name_elisions_and_stop_words) {
    struct term_options options;
    char plain[TEXT_VERSIONS_BYTES], eliding[TEXT_VERSIONS_BYTES], all[TEXT_VERSIONS_BYTES];
    term_options_init(&options);
    text_versions(&options, plain);
    options.elide = true;
    text_versions(&options, eliding);
    options.stem = options.drop_stop_words = true;
    text_versions(&options, all);
    CHECK(!strstr(plain, "elisions") && strstr(eliding, "elisions") && strstr(all, "elisions"));
    CHECK(strstr(eliding, "detector") && strstr(all, "stop words"));
    CHECK(strlen(all) + 1 < TEXT_VERSIONS_BYTES);
}

TEST(language_with_a_stemmer_has_stop_words) {
    static const char *const stemmed[] = {
        "ar", "ca", "da", "de", "el", "en", "es", "eu", "fi", "fr", "ga", "hi", "hu", "hy",
        "id", "it", "lt", "ne", "nl", "no", "pt", "ro", "ru", "sr", "sv", "ta", "tr", "yi"};
    for (size_t i = 0; i < sizeof stemmed / sizeof *stemmed; i++) {
        CHECK_MSG(language_has_stemmer(stemmed[i]), "%s", stemmed[i]);
        CHECK_MSG(stop_words_of(stemmed[i]), "%s", stemmed[i]);
    }
}

/* A list that its own analyzer does not drop would be of no use: words that are cut in two, or that
 * folding changes. */
TEST(language_stop_words_are_dropped_as_they_are_written) {
    static const char *const lists[] = {"ar", "ca", "el", "eu", "ga", "hi", "hy",
                                        "lt", "ne", "sr", "ta", "tr", "yi", "fr"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *words = stop_words_of(lists[i]);
        struct bytes_view word;
        CHECK(words && stop_words_count(words) > 40);
        while (stop_words_next(&words, &word)) {
            char text[64];
            snprintf(text, sizeof text, "%.*s", (int)word.size, word.data);
            CHECK_TERMS(DROP, lists[i], text, "");
        }
    }
    CHECK_TERMS(DROP, "tr", "Bu ev çok güzel değil mi", "ev|güzel");
    CHECK_TERMS(DROP, "el", "Το σπίτι ΚΑΙ ο κήπος", "σπίτι|κήποσ");
    CHECK_TERMS(DROP, "sr", "кућа је на брду i kuća je na brdu", "кућа|брду|kuća|brdu");
}
