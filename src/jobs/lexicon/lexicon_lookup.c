/* The translations of words, for people. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "crosslingual/projection.h"
#include "input/utf8.h"
#include "jobs/lexicon/lexicon_job.h"

struct lookup {
    const struct lexicon *lexicon;
    struct analyzer *stems, *words; /* side by side: terms, and the words that they come from */
    struct term_list stem_list, word_list;
    struct compound_splitter *splitter;
    cog_translation *items;
    size_t count, capacity;
};

static cog_status lookup_open(struct lookup *lookup, const char *linkers, cog_error *error) {
    struct term_options terms, words;
    struct projection_options projection;
    cog_status status = lexicon_terms(lookup->lexicon, true, &terms, error);
    if (status != COG_OK)
        return status;
    projection_options_init(&projection);
    if (linkers)
        projection.compounds.linkers = linkers;
    words = terms;
    words.stem = false;
    lookup->word_list.want_strings = true;
    status = analyzer_create(&terms, &lookup->stems, error);
    THEN(status, analyzer_create(&words, &lookup->words, error));
    THEN(status, compound_splitter_create(lookup->lexicon, &projection.compounds, &terms,
                                          &lookup->splitter, error));
    return status;
}

static void lookup_close(struct lookup *lookup) {
    analyzer_free(lookup->stems);
    analyzer_free(lookup->words);
    term_list_free(&lookup->stem_list);
    term_list_free(&lookup->word_list);
    compound_splitter_free(lookup->splitter);
}

static cog_status add_translations(struct lookup *lookup, uint32_t word, cog_error *error) {
    const struct lexicon *lexicon = lookup->lexicon;
    struct bytes_view from = word_table_string(&lexicon->from, word);
    for (uint64_t i = lexicon->offsets[word]; i < lexicon->offsets[word + 1]; i++) {
        struct bytes_view to = word_table_string(&lexicon->to, lexicon->targets[i]);
        if (!memory_grow((void **)&lookup->items, &lookup->capacity, lookup->count + 1,
                         sizeof *lookup->items))
            return error_memory(error, lookup->count * sizeof *lookup->items, "translations");
        lookup->items[lookup->count++] =
            (cog_translation){.from = from.data,
                              .to = to.data,
                              .from_size = from.size,
                              .to_size = to.size,
                              .to_given_from = (double)lexicon->to_given_from[i],
                              .from_given_to = (double)lexicon->from_given_to[i]};
    }
    return COG_OK;
}

static cog_status look_up(struct lookup *lookup, size_t index, cog_error *error) {
    uint32_t parts[COMPOUND_PARTS_MAX];
    unsigned count = 1;
    parts[0] = word_table_find(&lookup->lexicon->from, lookup->stem_list.hashes[index]);
    cog_status status = COG_OK;
    if (parts[0] == WORD_NONE) {
        const struct term_list *words = &lookup->word_list;
        size_t begin = index ? words->ends[index - 1] : 0;
        struct bytes_view word = view_of(words->strings.data + begin, words->ends[index] - begin);
        status = compound_split(lookup->splitter, word, parts, &count, error);
    }
    for (unsigned i = 0; i < count && status == COG_OK; i++)
        status = add_translations(lookup, parts[i], error);
    return status;
}

cog_status cog_lexicon_translate(const cog_lexicon *lexicon, const char *text, size_t text_size,
                                 const char *linkers, cog_translation **translations, size_t *count,
                                 cog_error *error) {
    struct lookup lookup = {.lexicon = &lexicon->table};
    struct bytes_view view = view_of(text, text_size), none = view_of("", 0);
    if (!utf8_is_valid(text, text_size))
        return error_set(error, COG_ERR_INPUT, "the text is not valid UTF-8");
    cog_status status = lookup_open(&lookup, linkers, error);
    THEN(status, analyzer_run(lookup.stems, view, none, &lookup.stem_list, error));
    THEN(status, analyzer_run(lookup.words, view, none, &lookup.word_list, error));
    for (size_t i = 0; i < lookup.stem_list.count && status == COG_OK; i++)
        status = look_up(&lookup, i, error);
    lookup_close(&lookup);
    if (status != COG_OK) {
        free(lookup.items);
        return status;
    }
    *translations = lookup.items;
    *count = lookup.count;
    return COG_OK;
}
