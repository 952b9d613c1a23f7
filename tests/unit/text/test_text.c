#include "base/hash.h"
#include "test.h"
#include "text/language/language.h"
#include "text/language/language_detect.h"

/* The terms of a text as one string, separated by bars. Valid until the next call. */
static const char *terms_of(const struct term_options *options, const char *text, size_t size,
                            const char *language) {
    static char joined[1 << 16];
    struct analyzer *analyzer = NULL;
    struct term_list named = {.want_strings = true}, plain = {0};
    cog_error error = {0};
    size_t at = 0;
    struct bytes_view code = view_of_text(language);
    if (analyzer_create(options, &analyzer, &error) != COG_OK ||
        analyzer_run(analyzer, view_of(text, size), code, &named, &error) != COG_OK ||
        analyzer_run(analyzer, view_of(text, size), code, &plain, &error) != COG_OK)
        return error.message[0] ? strcpy(joined, error.message) : "failed";
    bool same = named.count == plain.count;
    for (size_t i = 0; i < named.count && same; i++) {
        size_t begin = i ? named.ends[i - 1] : 0, length = named.ends[i] - begin;
        same = named.hashes[i] == plain.hashes[i];
        if (options->ngram == 1 || options->tokens == TOKENS_CHARS)
            same &= hash_bytes(named.strings.data + begin, length) == named.hashes[i];
        if (at + length + 2 < sizeof joined)
            at += (size_t)sprintf(joined + at, "%s%.*s", i ? "|" : "", (int)length,
                                  named.strings.data + begin);
    }
    joined[at] = 0;
    term_list_free(&named);
    term_list_free(&plain);
    analyzer_free(analyzer);
    return same ? joined : "hashes and strings differ";
}

static struct term_options options_of(enum token_kind tokens, unsigned ngram) {
    struct term_options options;
    term_options_init(&options);
    options.tokens = tokens;
    options.ngram = ngram;
    strcpy(options.language, "");
    return options;
}

static const char *words(const char *text) {
    struct term_options options = options_of(TOKENS_WORDS, 1);
    return terms_of(&options, text, strlen(text), "");
}

static const char *stems(const char *text, const char *language) {
    struct term_options options = options_of(TOKENS_WORDS, 1);
    options.stem = options.drop_stop_words = true;
    return terms_of(&options, text, strlen(text), language);
}

#define CHECK_TERMS(actual, expected)                                                              \
    do {                                                                                           \
        const char *given = (actual);                                                              \
        CHECK_MSG(strcmp(given, expected) == 0, "%s gives %s, not %s", #actual, given, expected);  \
    } while (0)

TEST(text_words_follow_unicode_rules) {
    CHECK_TERMS(words(""), "");
    CHECK_TERMS(words(" \t\r\n"), "");
    CHECK_TERMS(words("!?... --- () _ '"), "");
    CHECK_TERMS(words("The quick (\"brown\") fox can't jump 32.3 feet, right?"),
                "the|quick|brown|fox|can't|jump|32.3|feet|right");
    CHECK_TERMS(words("1,000;2 a,b e.g. x.y.z snake_case _ __ a:b 3.a a'1"),
                "1,000;2|a|b|e.g|x.y.z|snake_case|__|a|b|3|a|a|1");
    CHECK_TERMS(words("don\u2019t \u2018quoted\u2019 rock\u2019n\u2019roll"),
                "don't|quoted|rock'n'roll");
    struct term_options options = options_of(TOKENS_WORDS, 1);
    CHECK_TERMS(terms_of(&options,
                         "a\0b\x01"
                         "c\x7f"
                         "d",
                         7, ""),
                "a|b|c|d");
}

TEST(text_words_fold_what_looks_the_same) {
    CHECK_TERMS(words("Ünïcödé"), "ünïcödé");
    CHECK_TERMS(words("U\u0308ni\u0308co\u0308de\u0301"), "ünïcödé");
    CHECK_TERMS(words("Ｆｕｌｌｗｉｄｔｈ １２３"), "fullwidth|123");
    CHECK_TERMS(words("ﬁne ﬀ oﬃce ½ x² ™"), "fine|ff|office|1\u20442|x2|tm");
    CHECK_TERMS(words("Straße STRASSE STRAẞE Strasse"), "strasse|strasse|strasse|strasse");
    CHECK_TERMS(words("İstanbul ISTANBUL ıstanbul"), "i\u0307stanbul|istanbul|ıstanbul");
    CHECK_TERMS(words("ΟΔΟΣ οδός οδοσ"), "οδοσ|οδόσ|οδοσ");
    CHECK_TERMS(words("soft\u00adhyphen zero\u200bwidth join\u200der"),
                "softhyphen|zero|width|joiner");
}

TEST(text_words_of_many_scripts) {
    CHECK_TERMS(words("مرحبا بالعالم"), "مرحبا|بالعالم");
    CHECK_TERMS(words("नमस्ते दुनिया"), "नमस्ते|दुनिया");
    CHECK_TERMS(words("안녕하세요 세계"), "안녕하세요|세계");
    CHECK_TERMS(words("Привет, мир!"), "привет|мир");
    CHECK_TERMS(words("שלום עולם"), "שלום|עולם");
    CHECK_TERMS(words("我爱北京天安门"), "我|爱|北京|天安门");
    CHECK_TERMS(words("สวัสดีชาวโลก"), "สวัสดี|ชาว|โลก");
    CHECK_TERMS(words("I ❤️ 👩‍👩‍👧 and 🇩🇪!"), "i|and");
    CHECK_TERMS(words("ABC中文def"), "abc|中文|def");
    CHECK_TERMS(words("これは日本語の文章です。東京へ行きました。"),
                "これ|は|日本語|の|文章|です|東京|へ|行き|ま|した");
}

TEST(text_long_unsegmented_runs_become_bigrams) {
    char text[25 * 3 + 1] = "";
    for (int i = 0; i < 25; i++) /* Tai Le letters: no dictionary, no spaces */
        strcat(text, i % 2 ? "\u1951" : "\u1950");
    const char *got = words(text);
    int bars = 0;
    for (const char *p = got; *p; p++)
        bars += *p == '|';
    CHECK_MSG(bars == 23, "%s", got);
}

TEST(text_ngrams_join_neighbours) {
    struct term_options options = options_of(TOKENS_WORDS, 3);
    CHECK_TERMS(terms_of(&options, "a b c d", 7, ""), "a b c|b c d");
    CHECK_TERMS(terms_of(&options, "a b", 3, ""), "a b");
    CHECK_TERMS(terms_of(&options, "a", 1, ""), "a");
    CHECK_TERMS(terms_of(&options, " ", 1, ""), "");
    struct analyzer *analyzer = NULL;
    struct term_list list = {0};
    CHECK_OK(analyzer_create(&options, &analyzer, error));
    CHECK_OK(analyzer_run(analyzer, view_of("a b c d", 7), view_of("", 0), &list, error));
    uint64_t a = hash_bytes("a", 1), b = hash_bytes("b", 1), c = hash_bytes("c", 1);
    CHECK(list.count == 2 && list.hashes[0] == hash_pair(hash_pair(a, b), c));
    term_list_free(&list);
    analyzer_free(analyzer);
    options.ngram = 0;
    CHECK(analyzer_create(&options, &analyzer, NULL) == COG_ERR_USAGE && !analyzer);
    options.ngram = TERM_NGRAM_MAX + 1;
    CHECK(analyzer_create(&options, &analyzer, NULL) == COG_ERR_USAGE && !analyzer);
}

TEST(text_chars_are_windows_over_folded_text) {
    struct term_options options = options_of(TOKENS_CHARS, 3);
    CHECK_TERMS(terms_of(&options, "  Ab \n\t C ", 10, ""), "ab |b c");
    CHECK_TERMS(terms_of(&options, "X", 1, ""), "x");
    CHECK_TERMS(terms_of(&options, " \n ", 3, ""), "");
    const char *mixed = "Ä\u3000中e\u0301\u2028\u1680ﬁ";
    CHECK_TERMS(terms_of(&options, mixed, strlen(mixed), ""), "ä 中| 中é|中é |é f| fi");
}

TEST(text_detected_language_does_not_depend_on_composition) {
    const char *composed = "Die Häuser schön größer über Mädchen hören möglich Bücher für Schüler";
    const char *decomposed = "Die Ha\u0308user scho\u0308n gro\u0308ßer u\u0308ber Ma\u0308dchen "
                             "ho\u0308ren mo\u0308glich "
                             "Bu\u0308cher fu\u0308r Schu\u0308ler";
    struct term_options options;
    term_options_init(&options);
    options.stem = options.drop_stop_words = true;
    char first[256];
    snprintf(first, sizeof first, "%s", terms_of(&options, composed, strlen(composed), ""));
    CHECK(strstr(first, "haus"));
    CHECK_TERMS(terms_of(&options, decomposed, strlen(decomposed), ""), first);
}

TEST(text_stop_words_and_stems) {
    CHECK_TERMS(stems("The cats don't like running in the houses", "en"), "cat|like|run|hous");
    CHECK_TERMS(stems("The cats don\u2019t like running", "en-GB"), "cat|like|run");
    CHECK_TERMS(stems("Die Häuser, daß und die Katzen", "de-AT"), "haus|katz");
    CHECK_TERMS(stems("Les maisons et les chevaux dans le jardin", "fra"), "maison|cheval|jardin");
    CHECK_TERMS(stems("The cats", ""), "the|cats");
    CHECK_TERMS(stems("The cats", "xx"), "the|cats");
    CHECK_TERMS(stems("The cats", "not a code"), "the|cats");
    struct term_options options = options_of(TOKENS_WORDS, 2);
    options.stem = options.drop_stop_words = true;
    CHECK_TERMS(terms_of(&options, "the cats in the houses run", 26, "en"), "cat hous|hous run");
    strcpy(options.language, "en");
    CHECK_TERMS(terms_of(&options, "the cats in the houses", 22, ""), "cat hous");
    CHECK(language_has_stemmer("de") && language_has_stemmer("ta") && !language_has_stemmer("ja"));
}

TEST(text_language_is_detected) {
    struct term_options options = options_of(TOKENS_WORDS, 1);
    options.drop_stop_words = true;
    strcpy(options.language, "auto");
    const char *english = "The house stood at the end of the road, and nobody had lived in it for "
                          "more than twenty years when the new owners came to look at it.";
    const char *german = "Das Haus stand am Ende der Straße, und niemand hatte darin seit mehr als "
                         "zwanzig Jahren gewohnt, als die neuen Besitzer es sich ansahen.";
    const char *french = "La maison se trouvait au bout de la rue, et personne n'y avait habité "
                         "depuis plus de vingt ans quand les nouveaux propriétaires sont venus.";
    CHECK(!strstr(terms_of(&options, english, strlen(english), ""), "the|"));
    const char *got = terms_of(&options, german, strlen(german), "");
    CHECK_MSG(!strstr(got, "der|") && strstr(got, "haus|"), "%s", got);
    got = terms_of(&options, french, strlen(french), "");
    CHECK_MSG(!strstr(got, "|de|") && strstr(got, "|rue|"), "%s", got);
    /* The document's own language wins. */
    CHECK(strstr(terms_of(&options, english, strlen(english), "de"), "|the|"));
    CHECK_TERMS(terms_of(&options, "", 0, ""), "");
}

/* The cache of stems: one analyzer over many words in changing languages gives what the uncached
 * way (with strings) gives. */
TEST(text_cached_terms_are_the_uncached_ones) {
    static const char *const codes[] = {"en", "de", "fr", "", "ru"};
    static const char *const parts[] = {"the", "die", "ing", "ung", "les",   "haus", "running",
                                        "s",   "er",  "ion", "é",   "ность", "not",  "est"};
    struct term_options options = options_of(TOKENS_WORDS, 1);
    struct random random = random_seeded(31);
    struct analyzer *analyzer = NULL;
    struct term_list cached = {0}, named = {.want_strings = true};
    options.stem = options.drop_stop_words = true;
    CHECK_OK(analyzer_create(&options, &analyzer, error));
    for (int round = 0; round < 500; round++) {
        char text[16384] = "";
        size_t size = 0;
        for (int word = 0; word < 100; word++) {
            for (uint64_t i = random_below(&random, 8) + 1; i > 0; i--)
                size += (size_t)sprintf(text + size, "%s", parts[random_below(&random, 14)]);
            text[size++] = ' ';
        }
        const char *code = codes[random_below(&random, 5)];
        struct bytes_view language = view_of_text(code);
        CHECK_OK(analyzer_run(analyzer, view_of(text, size), language, &cached, error));
        CHECK_OK(analyzer_run(analyzer, view_of(text, size), language, &named, error));
        CHECK(cached.count > 20 && cached.count == named.count);
        CHECK(memcmp(cached.hashes, named.hashes, cached.count * sizeof(uint64_t)) == 0);
    }
    term_list_free(&cached);
    term_list_free(&named);
    analyzer_free(analyzer);
}

TEST(text_language_of_short_texts) {
    static const struct {
        const char *code, *text;
    } samples[] = {
        {"en", "Nobody had lived in the house for more than twenty years when they came."},
        {"de", "Niemand hatte seit mehr als zwanzig Jahren in diesem Haus gewohnt."},
        {"es", "Nadie había vivido en la casa durante más de veinte años cuando llegaron."},
        {"it", "Nessuno aveva vissuto nella casa per più di vent'anni quando arrivarono."},
        {"ru", "Никто не жил в этом доме больше двадцати лет, когда они приехали."},
        {"ja", "これは日本語の文章です。東京へ行きました。とても楽しかったです。"},
        {"ar", "ذهب الولد إلى المدرسة صباحا مع أخيه الصغير في الحافلة"},
        {"ar", "ذَهَبَ الوَلَدُ إلى المَدْرَسَةِ صَبَاحًا مَعَ أَخِيهِ الصَّغِيرِ في الحَافِلَةِ"},
        {"iw", "בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו"},
        {"iw", "בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ וְהָאָרֶץ הָיְתָה תֹהוּ"},
        {"", "12345 67890 --- ..."},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        CHECK_TERMS(language_detect(samples[i].text, strlen(samples[i].text)), samples[i].code);
}

TEST(text_language_codes_are_made_canonical) {
    static const char *const codes[][2] = {
        {"de", "de"},   {"DE-at", "de"}, {"de_CH", "de"},   {"deu", "de"},    {"ger", "de"},
        {"nb", "no"},   {"nn-NO", "no"}, {"zh-Hant", "zh"}, {"", ""},         {"x", ""},
        {"german", ""}, {"d1", ""},      {"de AT", ""},     {"\xc3\xa4", ""},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char canonical[LANGUAGE_CODE_BYTES];
        language_canonical(view_of_text(codes[i][0]), canonical);
        CHECK_TERMS(canonical, codes[i][1]);
    }
}

TEST(text_very_long_words) {
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    CHECK(text);
    memset(text, 'A', SIZE);
    struct term_options options = options_of(TOKENS_WORDS, 1);
    struct analyzer *analyzer = NULL;
    struct term_list list = {0};
    CHECK_OK(analyzer_create(&options, &analyzer, error));
    CHECK_OK(analyzer_run(analyzer, view_of(text, SIZE), view_of("", 0), &list, error));
    memset(text, 'a', SIZE);
    CHECK(list.count == 1 && list.hashes[0] == hash_bytes(text, SIZE));
    memcpy(text + SIZE - 2, "\u0301", 2); /* one hard character at the very end */
    CHECK_OK(analyzer_run(analyzer, view_of(text, SIZE), view_of("", 0), &list, error));
    memcpy(text + SIZE - 3, "á", 2);
    CHECK(list.count == 1 && list.hashes[0] == hash_bytes(text, SIZE - 1));
    term_list_free(&list);
    analyzer_free(analyzer);
    free(text);
}

TEST(text_regex_is_python) {
    struct term_options options = options_of(TOKENS_REGEX, 1);
    const char *text = "Don't İzmir ΟΔΟΣ ΣΑ Σ a_b ½ x² 日本語 e\u0301 _";
    CHECK_TERMS(terms_of(&options, text, strlen(text), ""),
                "don|t|i|zmir|οδος|σα|σ|a_b|½|x²|日本語|e|_");
}

static const char *code(const char *text) {
    struct term_options options = options_of(TOKENS_CODE, 1);
    return terms_of(&options, text, strlen(text), "en");
}

TEST(text_code_tokens) {
    CHECK_TERMS(code("if (a == b)\n\tfoo_1->Bar += 'x y';"),
                "if|(|a|=|=|b|)|foo_1|-|>|Bar|+|=|'|x|y|'|;");
    CHECK_TERMS(code("a != b // The  comment"), "a|!|=|b|/|/|The|comment");
    CHECK_TERMS(code("0xFF 1_000 2.5e-3 1..2 x.5.y 3.f a1.2 7."),
                "0xFF|1_000|2.5e|-|3|1|.|.|2|x|.|5|.|y|3|.|f|a1|.|2|7|.");
    CHECK_TERMS(code("größe=Ünï·x×2\xc2\xa0√\xe3\x80\x80日本"), "größe|=|Ünï|·|x|×|2|√|日本");
    CHECK_TERMS(code("e\xcc\x81 \xf0\x9f\x98\x80 \xf0\x90\x90\x80z"), "e\xcc\x81|😀|𐐀z");
    CHECK_TERMS(code(" \t\r\n\x01"), "");
    struct term_options options = options_of(TOKENS_CODE, 3);
    options.stem = options.drop_stop_words = true; /* neither is for code */
    CHECK_TERMS(terms_of(&options, "the houses the", 14, "en"), "the houses the");
}

/* Batches end between tokens: the tokens of a text are those of its halves at white space. */
TEST(text_code_of_any_size) {
    enum { SIZE = 100000 };
    struct random random = random_seeded(5);
    static char text[SIZE];
    static const char letters[] = "abcZ_09 .+(\n";
    for (int round = 0; round < 20; round++) {
        size_t size = (size_t)random_below(&random, SIZE) + 2, middle = size / 2;
        for (size_t i = 0; i < size; i++)
            text[i] = round % 4 ? letters[random_below(&random, sizeof letters - 1)] : 'a';
        text[middle] = ' ';
        struct term_options options = options_of(TOKENS_CODE, 1);
        struct analyzer *analyzer = NULL;
        struct term_list whole = {0}, half = {0};
        CHECK_OK(analyzer_create(&options, &analyzer, error));
        CHECK_OK(analyzer_run(analyzer, view_of(text, size), view_of("", 0), &whole, error));
        size_t done = 0;
        for (int part = 0; part < 2; part++) {
            struct bytes_view piece =
                part ? view_of(text + middle, size - middle) : view_of(text, middle);
            CHECK_OK(analyzer_run(analyzer, piece, view_of("", 0), &half, error));
            CHECK(done + half.count <= whole.count);
            CHECK(half.count == 0 ||
                  memcmp(whole.hashes + done, half.hashes, half.count * sizeof *half.hashes) == 0);
            done += half.count;
        }
        CHECK(done == whole.count);
        term_list_free(&whole);
        term_list_free(&half);
        analyzer_free(analyzer);
    }
}

TEST(text_marks_that_readers_leave_out_do_not_count) {
    static const char *const pairs[][2] = {
        {"أحرارًا وضميرًا", "أحرارا وضميرا"},
        {"مُحَمَّد", "محمـــد"},
        {"رَحْمٰن", "رحمن"},
        {"كِتَابٌ", "كتاب"},
        {"שָׁלוֹם בְּרֵאשִׁית", "שלום בראשית"},
        {"\xef\xac\xaa", "ש"},
        {"ا\xd9\x8e\xd9\x94", "أ"},
        {"\xef\xb7\xb2", "الله"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "%s", words(pairs[i][1]));
        CHECK_TERMS(words(pairs[i][0]), expected);
    }
    CHECK_TERMS(words("آمن أمن امن"), "آمن|أمن|امن"); /* letters of their own */
    struct term_options options = options_of(TOKENS_CHARS, 32);
    CHECK_TERMS(terms_of(&options, "مُـد", strlen("مُـد"), ""), "مد");
    options = options_of(TOKENS_REGEX, 1);
    CHECK_TERMS(terms_of(&options, "مـد", strlen("مـد"), ""), "مـد");
}
