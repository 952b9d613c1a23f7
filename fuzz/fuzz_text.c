/* Any valid UTF-8 through every kind of terms: words have to be ICU's, hashes the strings' hashes,
 * places in the text and in order, and the document's language (the first bytes) is as hostile as
 * the text. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "input/documents/text_bytes.h"
#include "text/analyzer.h"
#include "text/text_scanner.h"

static void check_words(struct bytes_view text, const struct term_list *list) {
    struct word_segmenter oracle;
    uint64_t expected = 0, actual = 0;
    const struct token_batch *batch;
    if (word_segmenter_init(&oracle, NULL) != COG_OK)
        abort();
    word_segmenter_start(&oracle, text);
    do {
        if (word_segmenter_next(&oracle, &batch, NULL) != COG_OK)
            abort();
        for (size_t i = 0; batch && i < batch->count; i++)
            expected = hash_pair(expected, hash_bytes(batch->bytes.data + batch->spans[i].begin,
                                                      batch->spans[i].end - batch->spans[i].begin));
    } while (batch);
    for (size_t i = 0; i < list->count; i++)
        actual = hash_pair(actual, list->hashes[i]);
    if (actual != expected)
        abort();
    word_segmenter_release(&oracle);
}

static void check_places(struct bytes_view text, const struct term_list *list) {
    size_t begin = 0, end = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct text_place place = list->places[i];
        if (i == list->count - list->short_terms)
            begin = end = 0;
        if (place.begin < begin || place.end < end || place.begin >= place.end ||
            place.end > text.size)
            abort();
        begin = place.begin;
        end = place.end;
    }
}

static void run(const struct term_options *options, struct bytes_view text,
                struct bytes_view language) {
    struct analyzer *analyzer = NULL;
    struct term_list named = {.want_strings = true, .want_places = true}, plain = {0};
    cog_error error;
    if (analyzer_create(options, &analyzer, &error) != COG_OK ||
        analyzer_run(analyzer, text, language, &named, &error) != COG_OK ||
        analyzer_run(analyzer, text, language, &plain, &error) != COG_OK)
        abort();
    if (named.count != plain.count ||
        (plain.count && memcmp(named.hashes, plain.hashes, plain.count * sizeof(uint64_t)) != 0))
        abort();
    check_places(text, &named);
    if (options->tokens == TOKENS_WORDS && !options->stem && options->ngram == 1)
        check_words(text, &plain);
    term_list_free(&named);
    term_list_free(&plain);
    analyzer_free(analyzer);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size) {
    enum { LANGUAGE_BYTES = 4 };
    const char *text = (const char *)input;
    if (input_size < LANGUAGE_BYTES)
        return 0;
    struct bytes_view language = view_of(text, LANGUAGE_BYTES);
    struct bytes_view rest = view_of(text + LANGUAGE_BYTES, input_size - LANGUAGE_BYTES);
    if (!utf8_is_valid(rest.data, rest.size))
        return 0;
    static const struct term_options kinds[] = {
        {.tokens = TOKENS_WORDS, .ngram = 1},
        {.tokens = TOKENS_WORDS,
         .ngram = 1,
         .stem = true,
         .drop_stop_words = true,
         .language = "auto"},
        {.tokens = TOKENS_WORDS,
         .ngram = 3,
         .stem = true,
         .drop_stop_words = true,
         .language = "de"},
        {.tokens = TOKENS_WORDS, .ngram = 3, .short_texts = true},
        {.tokens = TOKENS_REGEX, .ngram = 2},
        {.tokens = TOKENS_CHARS, .ngram = 3},
        {.tokens = TOKENS_CODE, .ngram = 2},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        run(&kinds[i], rest, language);
    return 0;
}
