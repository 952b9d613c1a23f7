#include "text/analyzer.h"

#include <string.h>

#include "base/memory.h"
#include "text/char_terms.h"
#include "text/language_detect.h"
#include "text/term_writer.h"
#include "text/text_scanner.h"

/* More languages than have a stemmer or stop words; codes beyond these are not kept. */
enum { LANGUAGES_MAX = 48 };

struct analyzer {
    struct term_options options;
    struct text_scanner scanner;
    struct term_writer writer;
    struct buffer folded;
    struct language languages[LANGUAGES_MAX];
    unsigned language_count;
};

void term_options_init(struct term_options *options) {
    *options = (struct term_options){.tokens = TOKENS_WORDS, .ngram = 1, .language = "auto"};
}

cog_status analyzer_create(const struct term_options *options, struct analyzer **analyzer,
                           cog_error *error) {
    static const enum fold_kind folds[] = {FOLD_WORDS, FOLD_REGEX, FOLD_CHARS};
    *analyzer = NULL;
    if (options->ngram < 1 || options->ngram > TERM_NGRAM_MAX)
        return error_set(error, COG_ERR_USAGE, "n-grams of %u tokens: choose 1 to %d",
                         options->ngram, TERM_NGRAM_MAX);
    if (options->tokens > TOKENS_CHARS)
        return error_set(error, COG_ERR_USAGE, "no kind of tokens has number %d",
                         (int)options->tokens);
    struct analyzer *created = memory_zeroed_array(1, sizeof *created);
    if (!created)
        return error_memory(error, sizeof *created, "text analyzer");
    created->options = *options;
    cog_status status =
        text_scanner_init(&created->scanner, folds[options->tokens], text_kernels_best(), error);
    THEN(status, term_writer_init(&created->writer, options, error));
    if (status == COG_OK)
        *analyzer = created;
    else
        analyzer_free(created);
    return status;
}

void analyzer_free(struct analyzer *analyzer) {
    if (!analyzer)
        return;
    for (unsigned i = 0; i < analyzer->language_count; i++)
        language_release(&analyzer->languages[i]);
    term_writer_release(&analyzer->writer);
    text_scanner_release(&analyzer->scanner);
    buffer_free(&analyzer->folded);
    free(analyzer);
}

size_t analyzer_memory_bytes(void) {
    return sizeof(struct analyzer) + TERM_CACHE_SLOTS * sizeof(struct cached_term);
}

/* The tools of a language, made at its first use; *language is NULL for one that has none. */
static cog_status open_language(struct analyzer *analyzer, const char *canonical,
                                const struct language **language, cog_error *error) {
    *language = NULL;
    for (unsigned i = 0; i < analyzer->language_count; i++)
        if (strcmp(analyzer->languages[i].code, canonical) == 0) {
            *language = &analyzer->languages[i];
            return COG_OK;
        }
    if (analyzer->language_count == LANGUAGES_MAX ||
        (!language_has_stemmer(canonical) && !language_has_stop_words(canonical)))
        return COG_OK;
    struct language *made = &analyzer->languages[analyzer->language_count];
    cog_status status = language_init(made, canonical, &analyzer->scanner, error);
    if (status != COG_OK) {
        language_release(made);
        return status;
    }
    made->number = ++analyzer->language_count;
    *language = made;
    return COG_OK;
}

static cog_status choose_language(struct analyzer *analyzer, struct bytes_view text,
                                  struct bytes_view own, cog_error *error) {
    char code[LANGUAGE_CODE_BYTES] = "";
    const char *named = analyzer->options.language;
    analyzer->writer.language = NULL;
    if (!analyzer->writer.stem && !analyzer->writer.drop_stop_words)
        return COG_OK;
    language_canonical(own, code);
    if (!code[0] && strncmp(named, "auto", LANGUAGE_CODE_BYTES) == 0)
        named = language_detect(text.data, text.size);
    if (!code[0])
        language_canonical(view_of(named, strnlen(named, LANGUAGE_CODE_BYTES)), code);
    return code[0] ? open_language(analyzer, code, &analyzer->writer.language, error) : COG_OK;
}

static cog_status run_chars(struct analyzer *analyzer, struct bytes_view text,
                            struct term_list *list, cog_error *error) {
    buffer_reset(&analyzer->folded);
    TRY(text_scanner_fold(&analyzer->scanner, text, &analyzer->folded, error));
    char_terms_squeeze(&analyzer->folded);
    return char_terms_add(view_of(analyzer->folded.data, analyzer->folded.size),
                          analyzer->options.ngram, list, error);
}

cog_status analyzer_run(struct analyzer *analyzer, struct bytes_view text,
                        struct bytes_view language, struct term_list *list, cog_error *error) {
    list->count = 0;
    buffer_reset(&list->strings);
    if (analyzer->options.tokens == TOKENS_CHARS)
        return run_chars(analyzer, text, list, error);
    cog_status status = choose_language(analyzer, text, language, error);
    analyzer->writer.list = list;
    const struct token_batch *batch = NULL;
    text_scanner_start(&analyzer->scanner, text);
    THEN(status, text_scanner_next(&analyzer->scanner, &batch, error));
    while (status == COG_OK && batch) {
        status = term_writer_take(&analyzer->writer, batch, error);
        THEN(status, text_scanner_next(&analyzer->scanner, &batch, error));
    }
    THEN(status, term_list_join(list, analyzer->options.ngram, error));
    return status;
}
