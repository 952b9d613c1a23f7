#include "text/analyzer.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/strings.h"
#include "text/code_scanner.h"
#include "text/hard_runs.h"
#include "text/language/elisions.h"
#include "text/language/language_detect.h"
#include "text/text_origins.h"
#include "text/text_scanner.h"

/* More languages than have a stemmer, stop words or elisions; codes beyond these are not kept. */
enum { LANGUAGES_MAX = 48 };

struct analyzer {
    struct term_options options;
    struct text_scanner scanner; /* but for code */
    struct code_scanner code;
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
    if (options->tokens > TOKENS_CODE)
        return error_set(error, COG_ERR_USAGE, "no kind of tokens has number %d",
                         (int)options->tokens);
    struct analyzer *created;
    TAKE_ZEROED(created, 1, "text analyzer", error);
    created->options = *options;
    cog_status status = COG_OK;
    if (options->tokens != TOKENS_CODE)
        status = text_scanner_init(&created->scanner, folds[options->tokens], text_kernels_best(),
                                   error);
    THEN(status, term_writer_init(&created->writer, options, error));
    return HAND_OUT(status, created, analyzer_free, analyzer);
}

void analyzer_free(struct analyzer *analyzer) {
    if (!analyzer)
        return;
    for (unsigned i = 0; i < analyzer->language_count; i++)
        language_release(&analyzer->languages[i]);
    term_writer_release(&analyzer->writer);
    text_scanner_release(&analyzer->scanner);
    token_batch_free(&analyzer->code.batch);
    buffer_free(&analyzer->folded);
    free(analyzer);
}

size_t analyzer_memory_bytes(void) {
    return sizeof(struct analyzer) + TERM_CACHE_SLOTS * sizeof(struct cached_term) +
           hard_runs_memory_bytes();
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
    if (analyzer->language_count == LANGUAGES_MAX || !language_has_rules(canonical))
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

static bool uses_language(const struct term_writer *writer) {
    return writer->stem || writer->drop_stop_words || writer->elide;
}

static cog_status choose_language(struct analyzer *analyzer, struct bytes_view text,
                                  struct bytes_view own, cog_error *error) {
    char code[LANGUAGE_CODE_BYTES] = "";
    const char *named = analyzer->options.language;
    analyzer->writer.language = NULL;
    if (!uses_language(&analyzer->writer))
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
    struct text_place *places = list->want_places ? analyzer->scanner.origins->places : NULL;
    char_terms_squeeze(&analyzer->folded, places);
    return char_terms_add(buffer_view(&analyzer->folded), places, analyzer->options.ngram, list,
                          error);
}

static cog_status next_tokens(struct analyzer *analyzer, const struct token_batch **batch,
                              cog_error *error) {
    return analyzer->options.tokens == TOKENS_CODE
               ? code_scanner_next(&analyzer->code, batch, error)
               : text_scanner_next(&analyzer->scanner, batch, error);
}

cog_status analyzer_run(struct analyzer *analyzer, struct bytes_view text,
                        struct bytes_view language, struct term_list *list, cog_error *error) {
    const struct term_options *options = &analyzer->options;
    list->count = list->short_terms = 0;
    buffer_reset(&list->strings);
    TRY(text_scanner_want_places(&analyzer->scanner, list->want_places, error));
    if (options->tokens == TOKENS_CHARS)
        return run_chars(analyzer, text, list, error);
    cog_status status = choose_language(analyzer, text, language, error);
    analyzer->writer.list = list;
    analyzer->writer.text = text.data;
    const struct token_batch *batch = NULL;
    if (options->tokens == TOKENS_CODE)
        code_scanner_start(&analyzer->code, text, list->want_places);
    else
        text_scanner_start(&analyzer->scanner, text);
    THEN(status, next_tokens(analyzer, &batch, error));
    while (status == COG_OK && batch) {
        status = term_writer_take(&analyzer->writer, batch, error);
        THEN(status, next_tokens(analyzer, &batch, error));
    }
    if (options->short_texts && options->ngram > 1 && options->tokens != TOKENS_CODE)
        THEN(status, term_list_join_short(list, options->ngram, error));
    else
        THEN(status, term_list_join(list, options->ngram, error));
    return status;
}

cog_status term_writer_init(struct term_writer *writer, const struct term_options *options,
                            cog_error *error) {
    *writer = (struct term_writer){
        .kernels = text_kernels_best(),
        .stem = options->tokens == TOKENS_WORDS && options->stem,
        .drop_stop_words = options->tokens == TOKENS_WORDS && options->drop_stop_words,
        .elide = options->tokens == TOKENS_WORDS && options->elide,
    };
    if (!uses_language(writer))
        return COG_OK;
    writer->cache = memory_written_array(TERM_CACHE_SLOTS, sizeof *writer->cache);
    if (!writer->cache)
        return error_memory(error, TERM_CACHE_SLOTS * sizeof *writer->cache, "cache of stems");
    return COG_OK;
}

void term_writer_release(struct term_writer *writer) {
    free(writer->cache);
}

static cog_status take_plain(struct term_writer *writer, const struct token_batch *batch,
                             cog_error *error) {
    struct term_list *list = writer->list;
    TRY(term_list_reserve(list, batch->count, error));
    writer->kernels->hash_tokens(batch->bytes.data, batch->spans, batch->count,
                                 list->hashes + list->count);
    list->count += batch->count;
    return COG_OK;
}

/* The word's term; false when it is a stop word. */
static bool find_term(const struct term_writer *writer, struct bytes_view word,
                      struct bytes_view *term) {
    *term = word;
    if (!writer->language)
        return true;
    if (writer->elide && writer->language->elisions) {
        size_t front = elision_bytes(writer->language->elisions, word);
        *term = word = view_of(word.data + front, word.size - front);
    }
    if (writer->drop_stop_words &&
        hash_set_has(&writer->language->stops, hash_bytes(word.data, word.size)))
        return false;
    if (writer->stem)
        *term = language_stem(writer->language, word);
    return true;
}

/* Adds the terms of a batch one by one, with what is wanted of them. */
static cog_status take_each(struct term_writer *writer, const struct token_batch *batch,
                            cog_error *error) {
    struct term_list *list = writer->list;
    for (size_t i = 0; i < batch->count; i++) {
        struct token_span span = batch->spans[i];
        struct bytes_view term;
        if (!find_term(writer, view_of(batch->bytes.data + span.begin, span.end - span.begin),
                       &term))
            continue;
        TRY(term_list_add(list, hash_bytes(term.data, term.size), term, error));
        if (list->want_places) {
            size_t begin = (size_t)(batch->places[i].data - writer->text);
            list->places[list->count - 1] =
                (struct text_place){begin, begin + batch->places[i].size};
        }
    }
    return COG_OK;
}

/* Loads the word padded with zeros; reads CACHED_WORD_BYTES whatever its size. */
static inline void load_word(const char *token, size_t size, uint64_t word[3]) {
    memcpy(word, token, CACHED_WORD_BYTES);
    for (size_t i = 0; i < 3; i++) {
        size_t have = size > 8 * i ? size - 8 * i : 0;
        uint64_t keep = have >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * have) - 1;
        word[i] &= keep;
    }
}

static struct cached_term find_uncached(const struct term_writer *writer, const char *token,
                                        size_t size) {
    struct bytes_view term;
    struct cached_term found = {.size = (uint8_t)size,
                                .language = (uint8_t)writer->language->number};
    found.dropped = !find_term(writer, view_of(token, size), &term);
    found.hash = found.dropped ? 0 : hash_bytes(term.data, term.size);
    return found;
}

static struct cached_term *find_slot(const struct term_writer *writer, const uint64_t word[3]) {
    uint64_t mixed = (word[0] ^ word[1] * 0x9e3779b97f4a7c15u) + word[2] + writer->language->number;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
    return &writer->cache[mixed >> 32 & (TERM_CACHE_SLOTS - 1)];
}

/* The slot, holding the word: filled now if it held another. */
static const struct cached_term *fill_slot(const struct term_writer *writer,
                                           struct cached_term *slot, const char *token, size_t size,
                                           const uint64_t word[3]) {
    uint64_t differs = (slot->word[0] ^ word[0]) | (slot->word[1] ^ word[1]) |
                       (slot->word[2] ^ word[2]) | (slot->size ^ size) |
                       (slot->language ^ writer->language->number);
    if (differs) {
        *slot = find_uncached(writer, token, size);
        memcpy(slot->word, word, CACHED_WORD_BYTES);
    }
    return slot;
}

/* Words that are too long for the cache have no slot. Slots are asked for a group ahead of their
 * use, because the cache is larger than the processor's near ones. */
static cog_status take_cached(struct term_writer *writer, const struct token_batch *batch,
                              cog_error *error) {
    enum { GROUP = 16 };
    struct term_list *list = writer->list;
    TRY(term_list_reserve(list, batch->count, error));
    uint64_t *out = list->hashes + list->count;
    for (size_t first = 0; first < batch->count; first += GROUP) {
        size_t count = batch->count - first < GROUP ? batch->count - first : GROUP;
        uint64_t words[GROUP][3];
        struct cached_term *slots[GROUP];
        const struct token_span *spans = batch->spans + first;
        for (size_t i = 0; i < count; i++) {
            load_word(batch->bytes.data + spans[i].begin, spans[i].end - spans[i].begin, words[i]);
            slots[i] = find_slot(writer, words[i]);
            __builtin_prefetch(slots[i]);
        }
        for (size_t i = 0; i < count; i++) {
            const char *token = batch->bytes.data + spans[i].begin;
            size_t size = spans[i].end - spans[i].begin;
            struct cached_term found;
            if (size <= CACHED_WORD_BYTES)
                found = *fill_slot(writer, slots[i], token, size, words[i]);
            else
                found = find_uncached(writer, token, size);
            *out = found.hash;
            out += !found.dropped;
        }
    }
    list->count = (size_t)(out - list->hashes);
    return COG_OK;
}

cog_status term_writer_take(struct term_writer *writer, const struct token_batch *batch,
                            cog_error *error) {
    if (writer->list->want_strings || writer->list->want_places)
        return take_each(writer, batch, error);
    return writer->language ? take_cached(writer, batch, error) : take_plain(writer, batch, error);
}

/* ---- Lists of terms -------------------------------------------------------------------------- */

void term_list_free(struct term_list *list) {
    FREE(list->hashes, list->ends, list->places);
    buffer_free(&list->strings);
    *list = (struct term_list){0};
}

cog_status term_list_reserve(struct term_list *list, size_t extra, cog_error *error) {
    size_t needed = list->count + extra;
    GROW(list->hashes, list->capacity, needed, "terms", error);
    if (list->want_strings)
        GROW(list->ends, list->ends_capacity, needed, "terms", error);
    if (list->want_places)
        GROW(list->places, list->place_capacity, needed, "terms", error);
    return COG_OK;
}

cog_status term_list_add(struct term_list *list, uint64_t hash, struct bytes_view string,
                         cog_error *error) {
    TRY(term_list_reserve(list, 1, error));
    if (list->want_strings) {
        if (!buffer_append(&list->strings, string.data, string.size))
            return error_memory(error, string.size, "terms");
        list->ends[list->count] = list->strings.size;
    }
    list->hashes[list->count++] = hash;
    return COG_OK;
}

/* The strings of n-grams: the tokens' joined by spaces. */
static cog_status join_strings(struct term_list *list, size_t n, size_t terms, cog_error *error) {
    struct buffer joined = {0};
    size_t *ends = memory_array(terms, sizeof *ends);
    bool enough = ends != NULL;
    for (size_t i = 0; i < terms && enough; i++) {
        for (size_t j = i; j < i + n && enough; j++) {
            size_t begin = j ? list->ends[j - 1] : 0;
            enough = (j == i || buffer_append(&joined, " ", 1)) &&
                     buffer_append(&joined, list->strings.data + begin, list->ends[j] - begin);
        }
        ends[i] = joined.size;
    }
    if (!enough) {
        free(ends);
        buffer_free(&joined);
        return error_memory(error, terms * sizeof *ends, "strings of n-grams");
    }
    free(list->ends);
    buffer_free(&list->strings);
    list->ends = ends;
    list->ends_capacity = terms;
    list->strings = joined;
    return COG_OK;
}

cog_status term_list_join(struct term_list *list, unsigned n, cog_error *error) {
    if (n > list->count)
        n = (unsigned)list->count;
    if (n <= 1)
        return COG_OK;
    size_t terms = list->count - n + 1;
    TRY(list->want_strings ? join_strings(list, n, terms, error) : COG_OK);
    text_kernels_best()->hash_ngrams(list->hashes, terms, n);
    for (size_t i = 0; i < terms && list->want_places; i++)
        list->places[i].end = list->places[i + n - 1].end;
    list->count = terms;
    return COG_OK;
}

/* The words of a text of at most BRIDGE_TEXT_TOKENS tokens. */
struct short_words {
    size_t count, ends[BRIDGE_TEXT_TOKENS];
    uint64_t hashes[BRIDGE_TEXT_TOKENS];
    struct text_place places[BRIDGE_TEXT_TOKENS];
    struct buffer strings;
};

static const uint64_t short_domain = 0x73686f7274747874;

/* The term of word i: the word, and how often it has come before. */
static uint64_t hash_short_word(const uint64_t *words, size_t i) {
    uint64_t before = 0;
    for (size_t j = 0; j < i; j++)
        before += words[j] == words[i];
    return hash_pair(hash_pair(short_domain, words[i]), before);
}

static cog_status keep_words(const struct term_list *list, struct short_words *words,
                             cog_error *error) {
    words->count = list->count;
    for (size_t i = 0; i < list->count; i++)
        words->hashes[i] = hash_short_word(list->hashes, i);
    if (list->want_places && list->count)
        memcpy(words->places, list->places, list->count * sizeof *list->places);
    if (!list->want_strings || !list->count)
        return COG_OK;
    memcpy(words->ends, list->ends, list->count * sizeof *list->ends);
    if (!buffer_append(&words->strings, list->strings.data, list->strings.size))
        return error_memory(error, list->strings.size, "terms");
    return COG_OK;
}

static cog_status append_words(struct term_list *list, const struct short_words *words,
                               cog_error *error) {
    for (size_t i = 0, begin = 0; i < words->count; i++) {
        struct bytes_view word = view_of("", 0);
        if (list->want_strings)
            word = view_of(words->strings.data + begin, words->ends[i] - begin);
        begin = words->ends[i];
        TRY(term_list_add(list, words->hashes[i], word, error));
        if (list->want_places)
            list->places[list->count - 1] = words->places[i];
    }
    list->short_terms = words->count;
    return COG_OK;
}

/* The one term of a tiny text. */
static cog_status join_tiny(struct term_list *list, cog_error *error) {
    TRY(term_list_join(list, TINY_TEXT_TOKENS, error));
    for (size_t i = 0; i < list->count; i++)
        list->hashes[i] = hash_pair(short_domain, hash_pair(list->hashes[i], TINY_TEXT_TOKENS));
    list->short_terms = list->count;
    return COG_OK;
}

cog_status term_list_join_short(struct term_list *list, unsigned n, cog_error *error) {
    if (list->count <= TINY_TEXT_TOKENS)
        return join_tiny(list, error);
    struct short_words words = {0};
    bool has_words = list->count <= BRIDGE_TEXT_TOKENS;
    bool has_ngrams = list->count > SHORT_TEXT_TOKENS;
    cog_status status = has_words ? keep_words(list, &words, error) : COG_OK;
    if (has_ngrams) {
        THEN(status, term_list_join(list, n, error));
    } else {
        list->count = 0;
        buffer_reset(&list->strings);
    }
    THEN(status, append_words(list, &words, error));
    buffer_free(&words.strings);
    return status;
}

/* The bytes of the white space of other than ASCII at text[0 .. left), 0 if there is none. Folding
 * leaves these: U+0085, U+1680, U+2028, U+2029. */
static size_t wide_white_bytes(const char *text, size_t left) {
    uint32_t c;
    size_t bytes = utf8_decode(text, left, &c);
    return c == 0x85 || c == 0x1680 || c == 0x2028 || c == 0x2029 ? bytes : 0;
}

void char_terms_squeeze(struct buffer *folded, struct text_place *places) {
    char *data = folded->data;
    size_t out = 0;
    bool after_white = true;
    for (size_t i = 0; i < folded->size; i++) {
        unsigned char byte = (unsigned char)data[i];
        bool white = byte == ' ' || (byte >= '\t' && byte <= '\r');
        if (byte == 0xc2 || byte == 0xe1 || byte == 0xe2) {
            size_t bytes = wide_white_bytes(data + i, folded->size - i);
            white = bytes > 0;
            i += white ? bytes - 1 : 0;
        }
        data[out] = white ? ' ' : (char)byte;
        if (places)
            places[out] = places[i];
        out += !(white && after_white);
        after_white = white;
    }
    folded->size = out && after_white ? out - 1 : out;
}

static size_t next_start(struct bytes_view text, size_t at) {
    do
        at++;
    while (at < text.size && !utf8_is_start(text.data[at]));
    return at;
}

cog_status char_terms_add(struct bytes_view folded, const struct text_place *places, unsigned n,
                          struct term_list *list, cog_error *error) {
    size_t begin = 0, end = 0;
    for (unsigned i = 0; i < n && end < folded.size; i++)
        end = next_start(folded, end);
    if (end == 0)
        return COG_OK;
    cog_status status = term_list_reserve(list, folded.size - end + 1, error);
    while (status == COG_OK) {
        struct bytes_view term = view_of(folded.data + begin, end - begin);
        uint64_t hash = hash_bytes(term.data, term.size);
        if (list->want_places)
            list->places[list->count] =
                (struct text_place){places[begin].begin, places[end - 1].end};
        if (list->want_strings)
            status = term_list_add(list, hash, term, error);
        else
            list->hashes[list->count++] = hash;
        if (end == folded.size)
            break;
        begin = next_start(folded, begin);
        end = next_start(folded, end);
    }
    return status;
}
