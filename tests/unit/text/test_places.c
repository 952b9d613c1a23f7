/* The places of terms in a text: given texts with the expected pieces. */
#include "test.h"
#include "text/analyzer.h"

/* Whether the terms' places are these pieces of the text, in their order; pieces end with NULL. */
static bool places_are(const struct term_options *options, const char *text,
                       const char *const *pieces) {
    struct analyzer *analyzer = NULL;
    struct term_list list = {.want_places = true};
    bool same = analyzer_create(options, &analyzer, NULL) == COG_OK &&
                analyzer_run(analyzer, view_of_text(text), view_of("", 0), &list, NULL) == COG_OK;
    size_t count = 0;
    for (; same && pieces[count] && count < list.count; count++) {
        struct bytes_view piece = view_of(text + list.places[count].begin,
                                          list.places[count].end - list.places[count].begin);
        same = view_equals(piece, view_of_text(pieces[count]));
        if (!same)
            printf("  %s: '%.*s' is not '%s'\n", text, (int)piece.size, piece.data, pieces[count]);
    }
    same = same && !pieces[count] && count == list.count;
    term_list_free(&list);
    analyzer_free(analyzer);
    return same;
}

#define PIECES(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(text_places_of_words) {
    struct term_options options;
    term_options_init(&options);
    CHECK(
        places_are(&options, "  The QUICK, brown\tfox. ", PIECES("The", "QUICK", "brown", "fox")));
    /* Letters that become more or fewer bytes: folded by table, and by ICU. */
    CHECK(places_are(&options, "Straße ÄRGER ﬃ x", PIECES("Straße", "ÄRGER", "ﬃ", "x")));
    CHECK(places_are(&options, "Cafe\u0301 re\u0301sume\u0301 end",
                     PIECES("Cafe\u0301", "re\u0301sume\u0301", "end")));
    CHECK(places_are(&options, "soft\u00adhyphen next", PIECES("soft\u00adhyphen", "next")));
    CHECK(places_are(&options, "ab\u200bcd ｅｆ", PIECES("ab", "cd", "ｅｆ")));
    CHECK(places_are(&options, "한국어 문서", PIECES("한국어", "문서")));
    CHECK(places_are(&options, "我们今天。", PIECES("我们", "今天")));
    /* One character that is two words. */
    CHECK(places_are(&options, "x ℀ y", PIECES("x", "℀", "℀", "y")));
}

TEST(text_places_follow_dropped_words_and_stems) {
    struct term_options options;
    term_options_init(&options);
    options.stem = options.drop_stop_words = true;
    strcpy(options.language, "en");
    CHECK(places_are(&options, "The foxes and the dogs", PIECES("foxes", "dogs")));
    options.ngram = 2;
    CHECK(places_are(&options, "The foxes and the dogs ran",
                     PIECES("foxes and the dogs", "dogs ran")));
}

TEST(text_places_of_ngrams_reach_from_first_to_last_token) {
    struct term_options options;
    term_options_init(&options);
    options.ngram = 3;
    CHECK(places_are(&options, "One, two; (three) four!",
                     PIECES("One, two; (three", "two; (three) four")));
    CHECK(places_are(&options, "- two words -", PIECES("two words")));
    CHECK(places_are(&options, "...", (const char *const[]){NULL}));
    options.short_texts = true;
    CHECK(places_are(&options, "to be or not to be", PIECES("to", "be", "or", "not", "to", "be")));
}

TEST(text_places_of_characters_and_of_regex_tokens) {
    struct term_options options;
    term_options_init(&options);
    options.tokens = TOKENS_REGEX;
    CHECK(places_are(&options, "Cafe\u0301, don't ÄB", PIECES("Cafe", "don", "t", "ÄB")));
    options.tokens = TOKENS_CHARS;
    options.ngram = 3;
    CHECK(places_are(&options, " Aé  \u3000 b\u00adC ",
                     PIECES("Aé ", "é  \u3000 b", "  \u3000 b\u00adC")));
    CHECK(places_are(&options, "ßx", PIECES("ßx")));
}

/* A text of several zones of the scanner, easy and hard ones. */
TEST(text_places_of_a_long_text) {
    enum { WORDS = 60000 };
    struct buffer text = {0};
    struct analyzer *analyzer = NULL;
    struct term_list list = {.want_places = true};
    struct term_options options;
    term_options_init(&options);
    for (int i = 0; i < WORDS; i++)
        CHECK(buffer_printf(&text, "%s%d ", i % 1000 == 7 ? "e\u0301" : i % 3 ? "word" : "Ä", i));
    CHECK_OK(analyzer_create(&options, &analyzer, error));
    CHECK_OK(analyzer_run(analyzer, view_of(text.data, text.size), view_of("", 0), &list, error));
    CHECK(list.count == WORDS);
    for (size_t i = 0, begin = 0; i < WORDS; i++) {
        CHECK(list.places[i].begin == begin && text.data[list.places[i].end] == ' ');
        CHECK(!memchr(text.data + begin, ' ', list.places[i].end - begin));
        begin = list.places[i].end + 1;
    }
    term_list_free(&list);
    analyzer_free(analyzer);
    buffer_free(&text);
}
