#include "crosslingual/word_projection.h"

#include <stdlib.h>

#include "base/memory.h"
#include "text/analyzer.h"

void projection_options_init(struct projection_options *options) {
    *options = (struct projection_options){
        .keep_unknown = true,
        .compounds = {.linkers = "s,es,n,en,e", .min_word_letters = 8, .min_part_letters = 4}};
}

/* ---- Terms of source documents --------------------------------------------------------------- */

cog_status source_words_init(struct source_words *words, const struct term_options *terms,
                             cog_error *error) {
    struct term_options unstemmed = *terms;
    unstemmed.stem = false;
    *words = (struct source_words){.list = {.want_strings = true}};
    return analyzer_create(&unstemmed, &words->words, error);
}

void source_words_free(struct source_words *words) {
    analyzer_free(words->words);
    term_list_free(&words->list);
    word_table_free(&words->unknown);
    *words = (struct source_words){0};
}

/* The two analyzers drop the same stop words, so their lists correspond. */
cog_status source_words_take(struct source_words *words, const struct lexicon *lexicon,
                             struct bytes_view text, struct bytes_view language,
                             struct term_list *terms, cog_error *error) {
    const struct term_list *list = &words->list;
    cog_status status = analyzer_run(words->words, text, language, &words->list, error);
    for (size_t i = 0; i < terms->count && i < list->count && status == COG_OK; i++) {
        if (word_table_find(&lexicon->from, terms->hashes[i]) != WORD_NONE)
            continue;
        size_t begin = i ? list->ends[i - 1] : 0;
        uint32_t number;
        terms->hashes[i] = list->hashes[i];
        status = word_table_add(&words->unknown, list->hashes[i],
                                view_of(list->strings.data + begin, list->ends[i] - begin), 1,
                                &number, error);
    }
    return status;
}

cog_status unknown_words_add(struct unknown_words *unknown, struct analyzer *target,
                             struct term_list *list, struct bytes_view string, cog_error *error) {
    uint32_t number;
    size_t before = unknown->strings.count;
    cog_status status = word_table_add_string(&unknown->strings, string, 1, &number, error);
    if (status != COG_OK || number < before)
        return status;
    GROW(unknown->target_hashes, unknown->target_capacity, before + 1, "unknown words", error);
    status = analyzer_run(target, string, view_of("", 0), list, error);
    unknown->target_hashes[number] =
        status == COG_OK && list->count == 1 ? list->hashes[0] : unknown->strings.hashes[number];
    return status;
}

void unknown_words_free(struct unknown_words *unknown) {
    word_table_free(&unknown->strings);
    free(unknown->target_hashes);
    *unknown = (struct unknown_words){0};
}

/* ---- Projection of one term ------------------------------------------------------------------ */

cog_status word_projector_init(struct word_projector *projector, const struct lexicon *lexicon,
                               const struct projection_options *options,
                               const struct term_options *from_terms, const struct statistics *to,
                               cog_error *error) {
    *projector = (struct word_projector){.lexicon = lexicon, .options = options, .to = to};
    bool stems = from_terms->stem && language_has_stemmer(from_terms->language);
    if (to && !stems)
        TRY(word_forms_init(&projector->forms, lexicon, error));
    return compound_splitter_create(lexicon, &options->compounds, from_terms, &projector->splitter,
                                    error);
}

void word_projector_free(struct word_projector *projector) {
    compound_splitter_free(projector->splitter);
    word_forms_free(&projector->forms);
    free(projector->words);
    *projector = (struct word_projector){0};
}

static cog_status add_word(struct word_projector *projector, uint64_t hash, float weight,
                           cog_error *error) {
    GROW(projector->words, projector->capacity, projector->count + 1, "projected terms", error);
    projector->words[projector->count++] = (struct projected_word){hash, weight};
    return COG_OK;
}

static cog_status add_row(struct word_projector *projector, uint32_t word, float share,
                          cog_error *error) {
    const struct lexicon *lexicon = projector->lexicon;
    const float *weights =
        projector->options->source_given_target ? lexicon->from_given_to : lexicon->to_given_from;
    for (uint64_t i = lexicon->offsets[word]; i < lexicon->offsets[word + 1]; i++)
        if (weights[i] > 0)
            TRY(add_word(projector, lexicon->to.hashes[lexicon->targets[i]], share * weights[i],
                         error));
    return COG_OK;
}

static bool target_has(const struct word_projector *projector, uint64_t hash) {
    return projector->to ? statistics_find(projector->to, hash).document_frequency > 0
                         : word_table_find(&projector->lexicon->to, hash) != WORD_NONE;
}

static cog_status project_unknown(struct word_projector *projector, struct bytes_view word,
                                  uint64_t itself, cog_error *error) {
    bool keeps = projector->options->keep_unknown;
    uint32_t parts[COMPOUND_PARTS_MAX];
    unsigned count = 0;
    if (!keeps || !target_has(projector, itself)) {
        TRY(compound_split(projector->splitter, word, parts, &count, error));
        if (!count && projector->forms.order) {
            parts[0] = word_forms_find(&projector->forms, word);
            count = parts[0] != WORD_NONE;
        }
    }
    for (unsigned i = 0; i < count; i++)
        TRY(add_row(projector, parts[i], 0.5f, error));
    if (count && keeps && !projector->to) /* nobody knows whether the other side has it */
        TRY(add_word(projector, itself, 0.5f, error));
    bool passes = !count && keeps;
    projector->split += count > 0;
    projector->passed += passes;
    projector->dropped += !count && !passes;
    return passes ? add_word(projector, itself, 1, error) : COG_OK;
}

cog_status word_project(struct word_projector *projector, uint64_t hash,
                        const struct unknown_words *unknown, cog_error *error) {
    uint32_t word = word_table_find(&projector->lexicon->from, hash);
    projector->count = 0;
    if (word != WORD_NONE) {
        projector->known++;
        return add_row(projector, word, 1, error);
    }
    word = word_table_find(&unknown->strings, hash);
    if (word != WORD_NONE)
        return project_unknown(projector, word_table_string(&unknown->strings, word),
                               unknown->target_hashes[word], error);
    projector->dropped++;
    return COG_OK;
}
