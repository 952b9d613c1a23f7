/* The fast tokeniser against ICU on the whole text, and every instruction level against the
 * portable one. */
#include <unicode/ustring.h>

#include "base/hash.h"
#include "base/strings.h"
#include "test.h"
#include "text/analyzer.h"
#include "text/hard_runs.h"
#include "text/text_scanner.h"

/* Tokens as bytes, each ended by a newline (no token holds one). */
static void collect(const struct token_batch *batch, struct buffer *tokens) {
    for (size_t i = 0; i < batch->count; i++) {
        struct token_span span = batch->spans[i];
        if (!buffer_append(tokens, batch->bytes.data + span.begin, span.end - span.begin) ||
            !buffer_append(tokens, "\n", 1))
            abort();
    }
}

static cog_status scan(struct text_scanner *scanner, struct bytes_view text,
                       struct buffer *tokens) {
    const struct token_batch *batch;
    text_scanner_start(scanner, text);
    cog_status status;
    while ((status = text_scanner_next(scanner, &batch, NULL)) == COG_OK && batch)
        collect(batch, tokens);
    return status;
}

static cog_status segment(struct word_segmenter *segmenter, struct bytes_view text,
                          struct buffer *tokens) {
    const struct token_batch *batch;
    word_segmenter_start(segmenter, text);
    cog_status status;
    while ((status = word_segmenter_next(segmenter, &batch, NULL)) == COG_OK && batch)
        collect(batch, tokens);
    return status;
}

struct comparison {
    struct text_scanner scanner;
    struct word_segmenter oracle;
    struct buffer actual, expected;
};

static bool comparison_open(struct comparison *comparison, enum cpu_level level) {
    *comparison = (struct comparison){0};
    return text_scanner_init(&comparison->scanner, FOLD_WORDS, text_kernels_at(level), NULL) ==
               COG_OK &&
           word_segmenter_init(&comparison->oracle, NULL) == COG_OK;
}

static void comparison_close(struct comparison *comparison) {
    text_scanner_release(&comparison->scanner);
    word_segmenter_release(&comparison->oracle);
    buffer_free(&comparison->actual);
    buffer_free(&comparison->expected);
}

static bool comparison_agrees(struct comparison *comparison, struct bytes_view text) {
    buffer_reset(&comparison->actual);
    buffer_reset(&comparison->expected);
    if (scan(&comparison->scanner, text, &comparison->actual) != COG_OK ||
        segment(&comparison->oracle, text, &comparison->expected) != COG_OK)
        return false;
    if (comparison->actual.size == comparison->expected.size &&
        memcmp(comparison->actual.data, comparison->expected.data, comparison->actual.size) == 0)
        return true;
    printf("  text: ");
    for (size_t i = 0; i < text.size && i < 300; i++)
        printf(" %02x", (unsigned char)text.data[i]);
    printf("\n  fast:\n%.*s  ICU:\n%.*s", (int)(comparison->actual.size % 300),
           comparison->actual.data, (int)(comparison->expected.size % 300),
           comparison->expected.data);
    return false;
}

TEST(text_ascii_words_are_icu_words) {
    static const char alphabet[] = "aZbk019__''..,,;;:-\"  \t\n/@#\x01\x7f";
    struct random random = random_seeded(11);
    for (int level = CPU_PORTABLE; level < CPU_LEVEL_COUNT; level++) {
        struct comparison comparison;
        if (!cpu_supports((enum cpu_level)level))
            continue;
        CHECK(comparison_open(&comparison, (enum cpu_level)level));
        for (int round = 0; round < 4000; round++) {
            char text[300];
            size_t size = random_below(&random, round % 8 ? 40 : sizeof text);
            for (size_t i = 0; i < size; i++)
                text[i] = alphabet[random_below(&random, sizeof alphabet)];
            CHECK(comparison_agrees(&comparison, view_of(text, size)));
        }
        comparison_close(&comparison);
    }
}

/* Ranges from which random characters are drawn: scripts, marks, joiners, punctuation, pictures. */
static const uint32_t ranges[][2] = {
    {' ', ' '},         {' ', '~'},         {'a', 'z'},         {0, 0x7f},
    {0x80, 0xff},       {0xc0, 0x24f},      {0x300, 0x36f},     {0x370, 0x3ff},
    {0x400, 0x52f},     {0x531, 0x589},     {0x591, 0x5f4},     {0x600, 0x6ff},
    {0x900, 0x97f},     {0x980, 0xcff},     {0xe01, 0xe5b},     {0xe81, 0xedf},
    {0xf00, 0xfbc},     {0x1000, 0x109f},   {0x10a0, 0x11ff},   {0x1780, 0x17f9},
    {0x1950, 0x19df},   {0x1ab0, 0x1aff},   {0x1c80, 0x1cff},   {0x1d00, 0x1fff},
    {0x2000, 0x206f},   {0x200b, 0x200f},   {0x2010, 0x2027},   {0x2070, 0x214f},
    {0x2150, 0x218f},   {0x20d0, 0x20f0},   {0x2190, 0x27bf},   {0x2c00, 0x2dff},
    {0x3000, 0x30ff},   {0x3130, 0x33ff},   {0x4e00, 0x4fff},   {0xa640, 0xa7ff},
    {0xaa80, 0xaadf},   {0xac00, 0xad00},   {0xd7b0, 0xd7fb},   {0xf900, 0xfaff},
    {0xfb00, 0xfdff},   {0xfe00, 0xfe0f},   {0xfe20, 0xfeff},   {0xff00, 0xffef},
    {0x10400, 0x1044f}, {0x10900, 0x1095f}, {0x1d400, 0x1d7ff}, {0x1e900, 0x1e95f},
    {0x1f1e6, 0x1f1ff}, {0x1f300, 0x1f6ff}, {0x20000, 0x20100}, {0xe0100, 0xe01ef},
};

static size_t random_text(struct random *random, char *text, size_t characters) {
    enum { RANGES = sizeof ranges / sizeof *ranges };
    unsigned chosen[4];
    size_t size = 0;
    for (int i = 0; i < 4; i++)
        chosen[i] = (unsigned)random_below(random, RANGES);
    for (size_t i = 0; i < characters; i++) {
        unsigned pick = (unsigned)random_below(random, 8);
        const uint32_t *range = pick < 3   ? ranges[pick]
                                : pick < 7 ? ranges[chosen[pick - 3]]
                                           : ranges[random_below(random, RANGES)];
        size += utf8_encode(range[0] + (uint32_t)random_below(random, range[1] - range[0] + 1),
                            text + size);
    }
    return size;
}

TEST(text_words_of_mixed_scripts_are_icu_words) {
    struct random random = random_seeded(12);
    struct comparison comparison;
    CHECK(comparison_open(&comparison, cpu_best_level()));
    for (int round = 0; round < 20000; round++) {
        char text[4 * 400];
        size_t size = random_text(&random, text, random_below(&random, round % 16 ? 40 : 400));
        CHECK(comparison_agrees(&comparison, view_of(text, size)));
    }
    comparison_close(&comparison);
}

/* Text of ideographs and kana, with the characters between them: frequent characters, of which the
 * dictionary has many words; kana of any kind, long runs of katakana too; rare ideographs, marks,
 * compatibility forms, and ASCII. */
static size_t ideographic_text(struct random *random, char *text, size_t characters) {
    static const uint32_t kinds[][2] = {
        {0x3041, 0x3096}, {0x30a1, 0x30fa}, {0x30fc, 0x30fc}, {0x4e00, 0x9fff}, {0x3400, 0x4dbf},
        {0x3000, 0x30ff}, {'a', 'z'},       {'0', '9'},       {' ', '~'},       {0x3001, 0x3002},
        {0xff01, 0xff9f}, {0x3005, 0x3007}, {0xf900, 0xfa20}, {0xac00, 0xad00}, {0x20000, 0x20040}};
    static const char frequent[] =
        "\u7684\u4e00\u662f\u4e0d\u4e86\u5728\u4eba\u6709\u6211\u4ed6\u8fd9\u4e2d\u5927\u6765"
        "\u4e0a\u56fd\u4e2a\u5230\u8bf4\u4eec\u4e3a\u5b50\u548c\u4f60\u5730\u51fa\u9053\u4e5f"
        "\u65f6\u5e74\u5f97\u5c31\u90a3\u8981\u4e0b\u4ee5\u751f\u4f1a\u81ea\u7740\u53bb\u4e4b"
        "\u8fc7\u5bb6\u5b66\u5bf9\u53ef\u91cc\u540e\u5c0f\u5fc3\u591a\u5929\u800c\u80fd\u597d";
    enum { KINDS = sizeof kinds / sizeof *kinds, LETTERS = (sizeof frequent - 1) / 3 };
    size_t size = 0;
    while (characters) {
        const size_t pick = random_below(random, KINDS + 12);
        size_t run = 1 + random_below(random, pick == 1 ? 30 : 8);
        for (; run && characters; run--, characters--) {
            if (pick >= KINDS) {
                memcpy(text + size, frequent + 3 * random_below(random, LETTERS), 3);
                size += 3;
                continue;
            }
            const uint32_t first = kinds[pick][0], count = kinds[pick][1] - first + 1;
            size += utf8_encode(first + (uint32_t)random_below(random, count), text + size);
        }
    }
    return size;
}

/* The dictionary of our own comes into use after some text. */
TEST(text_words_of_ideographs_are_icu_words) {
    struct random random = random_seeded(17);
    struct comparison comparison;
    CHECK(comparison_open(&comparison, cpu_best_level()));
    for (int round = 0; round < 4000; round++) {
        char text[4 * 3000];
        const size_t characters = random_below(&random, round % 100 ? 150 : 3000);
        size_t size = ideographic_text(&random, text, characters);
        CHECK(comparison_agrees(&comparison, view_of(text, size)));
    }
    CHECK(comparison.scanner.runs->dictionary == cjk_dictionary_get());
    comparison_close(&comparison);
}

/* Every character that the table handles, next to letters, digits, punctuation and itself. */
TEST(text_every_character_is_folded_as_icu_does) {
    static const char *const frames[][3] = {
        {"", "", ""}, {"a", "b", "1"}, {"a'", "'b", "x"}, {"1.", ".2", ""}, {"a ", "_", "."},
    };
    struct comparison comparison;
    CHECK(comparison_open(&comparison, cpu_best_level()));
    for (uint32_t c = 1; c < 0x30000; c++) {
        char own[4], text[128];
        if ((c >= 0xd800 && c < 0xe000) || (c > 0x3400 && c < 0xa000 && c % 64))
            continue;
        size_t bytes = utf8_encode(c, own), size = 0;
        for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
            size += (size_t)sprintf(text + size, "%s%.*s%s%.*s%s ", frames[i][0], (int)bytes, own,
                                    frames[i][1], (int)bytes, own, frames[i][2]);
        CHECK_MSG(comparison_agrees(&comparison, view_of(text, size)), "U+%04X", (unsigned)c);
    }
    comparison_close(&comparison);
}

/* Canonically equivalent texts have the same terms. Left out is the iota subscript, which
 * NFKC_Casefold turns into a letter before the marks after it are sorted. */
TEST(text_composed_and_decomposed_text_have_the_same_words) {
    struct random random = random_seeded(15);
    struct text_scanner scanner;
    UErrorCode code = U_ZERO_ERROR;
    const UNormalizer2 *forms[] = {unorm2_getNFCInstance(&code), unorm2_getNFDInstance(&code)};
    struct buffer words[2] = {{0}, {0}}, text = {0};
    CHECK_OK(text_scanner_init(&scanner, FOLD_WORDS, text_kernels_best(), error));
    for (int round = 0; round < 5000; round++) {
        enum { CHARACTERS = 60 };
        char utf8[4 * CHARACTERS];
        UChar source[2 * CHARACTERS], normal[40 * CHARACTERS];
        int32_t units, size = (int32_t)random_text(&random, utf8, CHARACTERS);
        u_strFromUTF8(source, 2 * CHARACTERS, &units, utf8, size, &code);
        int32_t decomposed =
            unorm2_normalize(forms[1], source, units, normal, 40 * CHARACTERS, &code);
        if (u_memchr(normal, 0x345, decomposed))
            continue;
        for (int form = 0; form < 2; form++) {
            int32_t count =
                unorm2_normalize(forms[form], source, units, normal, 40 * CHARACTERS, &code);
            CHECK(U_SUCCESS(code));
            buffer_reset(&text);
            buffer_reset(&words[form]);
            CHECK_OK(unicode_append_utf8(normal, (size_t)count, &text, error));
            CHECK(scan(&scanner, view_of(text.data, text.size), &words[form]) == COG_OK);
        }
        CHECK_MSG(words[0].size == words[1].size &&
                      memcmp(words[0].data, words[1].data, words[0].size) == 0,
                  "%.*s: %.*s or %.*s", size, utf8, (int)words[0].size, words[0].data,
                  (int)words[1].size, words[1].data);
    }
    buffer_free(&words[0]);
    buffer_free(&words[1]);
    buffer_free(&text);
    text_scanner_release(&scanner);
}

TEST(text_folded_text_is_icu_folded_text) {
    struct random random = random_seeded(13);
    struct text_scanner scanner;
    struct unicode_folder folder;
    struct buffer actual = {0}, expected = {0};
    CHECK_OK(text_scanner_init(&scanner, FOLD_CHARS, text_kernels_best(), error));
    CHECK_OK(unicode_folder_init(&folder, error));
    for (int round = 0; round < 20000; round++) {
        char text[4 * 60];
        size_t size = random_text(&random, text, random_below(&random, 60));
        buffer_reset(&actual);
        buffer_reset(&expected);
        CHECK_OK(text_scanner_fold(&scanner, view_of(text, size), &actual, error));
        CHECK_OK(unicode_fold(&folder, view_of(text, size), error));
        CHECK_OK(unicode_append_utf8(folder.folded, (size_t)folder.folded_size, &expected, error));
        char_terms_squeeze(&actual, NULL);
        char_terms_squeeze(&expected, NULL);
        CHECK(actual.size == expected.size && memcmp(actual.data, expected.data, actual.size) == 0);
    }
    buffer_free(&actual);
    buffer_free(&expected);
    unicode_folder_release(&folder);
    text_scanner_release(&scanner);
}

TEST(text_kernels_agree) {
    struct random random = random_seeded(14);
    for (int round = 0; round < 2000; round++) {
        char text[512] = {0}, lower[2][1024];
        uint64_t masks[2][8];
        size_t size = random_below(&random, 7 * TEXT_BLOCK_BYTES);
        for (size_t i = 0; i < size; i++)
            text[i] = (char)random_below(&random, round % 2 ? 256 : 128);
        size_t ascii = text_kernels_portable.lower_ascii(text, size, lower[0]);
        for (int level = CPU_POPCNT; level < CPU_LEVEL_COUNT; level++) {
            const struct text_kernels *kernels = text_kernels_at((enum cpu_level)level);
            if (!kernels)
                continue;
            CHECK(kernels->lower_ascii(text, size, lower[1]) == ascii);
            CHECK(memcmp(lower[0], lower[1], ascii) == 0);
            for (int inner = 0; inner < 2; inner++) {
                text_kernels_portable.token_mask(text, 7, inner, masks[0]);
                kernels->token_mask(text, 7, inner, masks[1]);
                CHECK(memcmp(masks[0], masks[1], 7 * sizeof masks[0][0]) == 0);
            }
        }
    }
}

/* A term's place, folded by itself, is or holds the term; places are characters in their order. */
static bool places_hold_terms(struct bytes_view text, const struct term_list *list,
                              struct text_scanner *folding, struct buffer *folded) {
    size_t begin = 0, end = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct text_place place = list->places[i];
        if (place.begin < begin || place.end < end || place.begin >= place.end ||
            place.end > text.size || !utf8_is_start(text.data[place.begin]) ||
            (place.end < text.size && !utf8_is_start(text.data[place.end])))
            return false;
        begin = place.begin;
        end = place.end;
        buffer_reset(folded);
        if (text_scanner_fold(folding, view_of(text.data + begin, end - begin), folded, NULL) !=
            COG_OK)
            return false;
        char_terms_squeeze(folded, NULL);
        size_t first = i ? list->ends[i - 1] : 0, size = list->ends[i] - first;
        if (!(size == 1 && list->strings.data[first] == ' ') &&
            !memmem(folded->data, folded->size, list->strings.data + first, size))
            return false;
    }
    return true;
}

TEST(text_places_of_mixed_scripts_hold_their_terms) {
    struct random random = random_seeded(16);
    struct text_scanner folding;
    struct analyzer *analyzers[2];
    struct buffer folded = {0};
    struct term_list plain = {0}, placed = {.want_strings = true, .want_places = true};
    CHECK_OK(text_scanner_init(&folding, FOLD_CHARS, text_kernels_best(), error));
    for (int i = 0; i < 2; i++) {
        struct term_options options;
        term_options_init(&options);
        options.tokens = i ? TOKENS_CHARS : TOKENS_WORDS;
        CHECK_OK(analyzer_create(&options, &analyzers[i], error));
    }
    for (int round = 0; round < 20000; round++) {
        char bytes[4 * 400];
        struct analyzer *analyzer = analyzers[round & 1];
        struct bytes_view text = view_of(
            bytes, random_text(&random, bytes, random_below(&random, round % 16 ? 40 : 400)));
        CHECK_OK(analyzer_run(analyzer, text, view_of("", 0), &plain, error));
        CHECK_OK(analyzer_run(analyzer, text, view_of("", 0), &placed, error));
        CHECK(plain.count == placed.count &&
              (!plain.count ||
               memcmp(plain.hashes, placed.hashes, plain.count * sizeof *plain.hashes) == 0));
        CHECK_MSG(places_hold_terms(text, &placed, &folding, &folded), "round %d: %.*s", round,
                  (int)text.size, text.data);
    }
    analyzer_free(analyzers[0]);
    analyzer_free(analyzers[1]);
    term_list_free(&plain);
    term_list_free(&placed);
    buffer_free(&folded);
    text_scanner_release(&folding);
}

/* Every level finds the same spans and gives tokens and n-grams their hashes, whatever their sizes
 * and number. */
TEST(text_kernels_agree_on_hashes) {
    enum { BYTES = 4096, BLOCKS = BYTES / TEXT_BLOCK_BYTES };
    struct random random = random_seeded(31);
    static char bytes[BYTES + TOKEN_SLACK_BYTES];
    static struct token_span spans[2][BYTES / 2 + 16];
    static uint64_t hashes[BYTES], expected[BYTES];
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (char)random_next(&random);
    for (int round = 0; round < 400; round++) {
        uint64_t masks[BLOCKS];
        size_t blocks = (size_t)random_below(&random, BLOCKS) + 1;
        for (size_t b = 0; b < blocks; b++) {
            masks[b] = random_next(&random);
            for (int i = 0; i < round % 5; i++) /* longer runs */
                masks[b] |= random_next(&random);
        }
        masks[blocks - 1] &= INT64_MAX;
        size_t count = text_kernels_portable.token_spans(masks, blocks, spans[0]);
        unsigned n = 1 + (unsigned)random_below(&random, 9);
        for (int level = 0; level < CPU_LEVEL_COUNT; level++) {
            const struct text_kernels *kernels = text_kernels_at((enum cpu_level)level);
            if (!kernels)
                continue;
            CHECK(kernels->token_spans(masks, blocks, spans[1]) == count);
            CHECK(count == 0 || memcmp(spans[0], spans[1], count * sizeof *spans[0]) == 0);
            kernels->hash_tokens(bytes, spans[0], count, hashes);
            for (size_t i = 0; i < count; i++) {
                struct token_span span = spans[0][i];
                expected[i] = hash_bytes(bytes + span.begin, span.end - span.begin);
                CHECK(hashes[i] == expected[i]);
            }
            size_t terms = count >= n ? count - n + 1 : 0;
            for (size_t i = 0; i < terms; i++)
                for (unsigned j = 1; j < n; j++)
                    expected[i] = hash_pair(expected[i], expected[i + j]);
            kernels->hash_ngrams(hashes, terms, n);
            CHECK(terms == 0 || memcmp(hashes, expected, terms * sizeof *hashes) == 0);
        }
    }
}
