#include "crosslingual/document_projector.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "text/language/stop_words.h"

/* ---- Stop words of the target language ------------------------------------------------------- */

/* The lexicon's words are stems: what it has of a stop word is its stem. */
static cog_status find_stops(struct document_projector *projector, cog_error *error) {
    const char *to = projector->to_terms.language;
    char code[LANGUAGE_CODE_BYTES];
    language_canonical(view_of_text(to), code);
    const char *stops = stop_words_of(code);
    struct bytes_view word;
    struct term_options whole = projector->to_terms;
    struct analyzer *analyzer = NULL;
    struct term_list list = {0};
    if (!projector->to_terms.drop_stop_words || projector->from_terms.drop_stop_words || !stops)
        return COG_OK;
    whole.drop_stop_words = false;
    cog_status status =
        hash_set_init(&projector->stops, stop_words_count(stops), "stop words", error);
    THEN(status, analyzer_create(&whole, &analyzer, error));
    while (status == COG_OK && stop_words_next(&stops, &word)) {
        status = analyzer_run(analyzer, word, view_of("", 0), &list, error);
        if (status == COG_OK && list.count == 1)
            hash_set_add(&projector->stops, list.hashes[0]);
    }
    analyzer_free(analyzer);
    term_list_free(&list);
    return status;
}

cog_status document_projector_init(struct document_projector *projector,
                                   const struct lexicon *lexicon,
                                   const struct projection_options *options,
                                   const struct term_options *from_terms,
                                   const struct term_options *to_terms, cog_error *error) {
    *projector = (struct document_projector){
        .lexicon = lexicon, .options = options, .from_terms = *from_terms, .to_terms = *to_terms};
    return find_stops(projector, error);
}

void document_projector_free(struct document_projector *projector) {
    hash_set_free(&projector->stops);
    *projector = (struct document_projector){0};
}

/* ---- Documents ------------------------------------------------------------------------------- */

/* Beyond this number of remembered words, all are forgotten. */
enum { REMEMBERED_WORDS_MAX = 1 << 17 };

struct projector_worker {
    const struct document_projector *projector;
    struct analyzer *source; /* of documents */
    struct analyzer *target; /* of words that stand for themselves */
    struct source_words words;
    struct unknown_words unknown;
    struct word_projector word_projector;
    /* What unknown words became: words[ends[u - 1] .. ends[u]) for unknown word u. */
    struct projected_word *remembered;
    size_t *ends;
    size_t remembered_capacity, end_capacity, remembered_count;
    struct bag_counter *counter, *summer;
    struct term_list terms, scratch;
    uint64_t *hashes; /* of the document being projected, before they are summed */
    float *values;
    size_t count, hash_capacity, value_capacity;
};

cog_status projector_worker_create(const struct document_projector *projector,
                                   struct projector_worker **result, cog_error *error) {
    struct projector_worker *worker;
    struct term_options whole = projector->to_terms;
    whole.drop_stop_words = false;
    TAKE_ZEROED(worker, 1, "a projector", error);
    worker->projector = projector;
    cog_status status = analyzer_create(&projector->from_terms, &worker->source, error);
    THEN(status, analyzer_create(&whole, &worker->target, error));
    THEN(status, source_words_init(&worker->words, &projector->from_terms, error));
    THEN(status, word_projector_init(&worker->word_projector, projector->lexicon,
                                     projector->options, &projector->from_terms, NULL, error));
    THEN(status, bag_counter_create(&worker->counter, error));
    THEN(status, bag_counter_create(&worker->summer, error));
    return HAND_OUT(status, worker, projector_worker_free, result);
}

void projector_worker_free(struct projector_worker *worker) {
    if (!worker)
        return;
    analyzer_free(worker->source);
    analyzer_free(worker->target);
    source_words_free(&worker->words);
    unknown_words_free(&worker->unknown);
    word_projector_free(&worker->word_projector);
    bag_counter_free(worker->counter);
    bag_counter_free(worker->summer);
    term_list_free(&worker->terms);
    term_list_free(&worker->scratch);
    FREE(worker->remembered, worker->ends, worker->hashes, worker->values, worker);
}

size_t projector_worker_memory_bytes(void) {
    enum { WORD_BYTES = 150 }; /* of a remembered word and what it became */
    return 3 * analyzer_memory_bytes() + (size_t)REMEMBERED_WORDS_MAX * WORD_BYTES;
}

static void forget_words(struct projector_worker *worker) {
    word_table_free(&worker->words.unknown);
    unknown_words_free(&worker->unknown);
    worker->remembered_count = 0;
}

/* Splitting compounds takes longer than the rest: what became of an unknown word is remembered. */
static cog_status remember_unknown(struct projector_worker *worker, uint32_t word,
                                   cog_error *error) {
    struct word_projector *projected = &worker->word_projector;
    size_t before = worker->unknown.strings.count;
    TRY(unknown_words_add(&worker->unknown, worker->target, &worker->scratch,
                          word_table_string(&worker->words.unknown, word), error));
    if (worker->unknown.strings.count == before)
        return COG_OK;
    TRY(word_project(projected, worker->unknown.strings.hashes[before], &worker->unknown, error));
    GROW(worker->remembered, worker->remembered_capacity,
         worker->remembered_count + projected->count, "unknown words", error);
    GROW(worker->ends, worker->end_capacity, before + 1, "unknown words", error);
    for (size_t i = 0; i < projected->count; i++)
        worker->remembered[worker->remembered_count++] = projected->words[i];
    worker->ends[before] = worker->remembered_count;
    return COG_OK;
}

static cog_status add_words(struct projector_worker *worker, const struct projected_word *words,
                            size_t count, uint32_t frequency, cog_error *error) {
    GROW(worker->hashes, worker->hash_capacity, worker->count + count, "a document", error);
    GROW(worker->values, worker->value_capacity, worker->count + count, "a document", error);
    for (size_t i = 0; i < count; i++) {
        if (worker->projector->stops.slot_count &&
            hash_set_has(&worker->projector->stops, words[i].hash))
            continue;
        worker->hashes[worker->count] = words[i].hash;
        worker->values[worker->count++] = words[i].weight * (float)frequency;
    }
    return COG_OK;
}

static cog_status project_term(struct projector_worker *worker, uint64_t hash, uint32_t frequency,
                               cog_error *error) {
    struct word_projector *projected = &worker->word_projector;
    uint32_t word = word_table_find(&worker->words.unknown, hash);
    if (word == WORD_NONE) {
        TRY(word_project(projected, hash, &worker->unknown, error));
        return add_words(worker, projected->words, projected->count, frequency, error);
    }
    TRY(remember_unknown(worker, word, error));
    word = word_table_find(&worker->unknown.strings, hash);
    if (word == WORD_NONE)
        return COG_OK;
    size_t begin = word ? worker->ends[word - 1] : 0, count = worker->ends[word] - begin;
    return count ? add_words(worker, worker->remembered + begin, count, frequency, error) : COG_OK;
}

cog_status projector_worker_run(struct projector_worker *worker, struct bytes_view text,
                                struct bag_view *bag, cog_error *error) {
    static const struct bytes_view own_language;
    const struct document_projector *projector = worker->projector;
    struct bag_view source;
    if (worker->words.unknown.count > REMEMBERED_WORDS_MAX)
        forget_words(worker);
    TRY(analyzer_run(worker->source, text, own_language, &worker->terms, error));
    TRY(source_words_take(&worker->words, projector->lexicon, text, own_language, &worker->terms,
                          error));
    TRY(bag_count(worker->counter, worker->terms.hashes, worker->terms.count, &source, error));
    worker->count = 0;
    for (size_t i = 0; i < source.count; i++)
        TRY(project_term(worker, source.hashes[i], source.frequencies[i], error));
    return bag_sum(worker->summer, worker->hashes, worker->values, worker->count, bag, error);
}
