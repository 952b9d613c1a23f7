#include "crosslingual/compounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/strings.h"

enum { WORD_LETTERS_MAX = 60 };

struct compound_splitter {
    const struct lexicon *lexicon;
    struct compound_options options;
    struct bytes_view linkers[COMPOUND_LINKERS_MAX];
    unsigned linker_count;
    struct analyzer *stems; /* inside a word, parts are not stemmed */
    struct term_list terms;
};

/* A way to split: its parts in order, and the product of their counts, which decides between ways
 * of the same number of parts. */
struct split {
    uint32_t parts[COMPOUND_PARTS_MAX];
    unsigned count;
    double weight;
};

cog_status compound_splitter_create(const struct lexicon *lexicon,
                                    const struct compound_options *options,
                                    const struct term_options *terms,
                                    struct compound_splitter **result, cog_error *error) {
    struct compound_splitter *splitter;
    TAKE_ZEROED(splitter, 1, "splitting compounds", error);
    splitter->lexicon = lexicon;
    splitter->options = *options;
    splitter->linkers[splitter->linker_count++] = view_of("", 0);
    for (const char *at = options->linkers; *at && splitter->linker_count < COMPOUND_LINKERS_MAX;) {
        size_t size = strcspn(at, ",");
        if (size)
            splitter->linkers[splitter->linker_count++] = view_of(at, size);
        at += size + (at[size] == ',');
    }
    struct term_options whole = *terms;
    whole.drop_stop_words = false;
    cog_status status = analyzer_create(&whole, &splitter->stems, error);
    return HAND_OUT(status, splitter, compound_splitter_free, result);
}

void compound_splitter_free(struct compound_splitter *splitter) {
    if (!splitter)
        return;
    analyzer_free(splitter->stems);
    term_list_free(&splitter->terms);
    free(splitter);
}

/* The lexicon's word for a part as it stands, or for its stem. */
static cog_status find_part(struct compound_splitter *splitter, struct bytes_view part,
                            uint32_t *word, cog_error *error) {
    const struct lexicon *lexicon = splitter->lexicon;
    *word = word_table_find(&lexicon->from, hash_bytes(part.data, part.size));
    if (*word != WORD_NONE)
        return COG_OK;
    TRY(analyzer_run(splitter->stems, part, view_of("", 0), &splitter->terms, error));
    if (splitter->terms.count == 1)
        *word = word_table_find(&lexicon->from, splitter->terms.hashes[0]);
    return COG_OK;
}

static bool ends_with(struct bytes_view word, struct bytes_view end) {
    return word.size >= end.size &&
           memcmp(word.data + word.size - end.size, end.data, end.size) == 0;
}

static size_t letters_of(struct bytes_view word) {
    size_t letters = 0;
    for (size_t i = 0; i < word.size; i++)
        letters += utf8_is_start(word.data[i]) != 0;
    return letters;
}

/* Finds the front part of a compound, with or without a linker at its end. */
static cog_status find_front(struct compound_splitter *splitter, struct bytes_view front,
                             uint32_t *word, cog_error *error) {
    *word = WORD_NONE;
    for (unsigned i = 0; i < splitter->linker_count && *word == WORD_NONE; i++) {
        struct bytes_view part = view_of(front.data, front.size - splitter->linkers[i].size);
        if (ends_with(front, splitter->linkers[i]) &&
            letters_of(part) >= splitter->options.min_part_letters)
            TRY(find_part(splitter, part, word, error));
    }
    return COG_OK;
}

static double count_of(const struct compound_splitter *splitter, uint32_t word) {
    return (double)(splitter->lexicon->from.counts[word] + 1);
}

/* Keeps the better of two ways of splitting. */
static void keep_better(struct split *best, const struct split *other) {
    if (other->count && (!best->count || other->count < best->count ||
                         (other->count == best->count && other->weight > best->weight)))
        *best = *other;
}

static cog_status split_rest(struct compound_splitter *splitter, struct bytes_view rest,
                             unsigned parts_left, struct split *best, cog_error *error) {
    *best = (struct split){.count = 0};
    size_t least = splitter->options.min_part_letters;
    if (letters_of(rest) < least)
        return COG_OK;
    uint32_t whole, front;
    TRY(find_part(splitter, rest, &whole, error));
    if (whole != WORD_NONE) {
        *best = (struct split){{whole}, 1, count_of(splitter, whole)};
        return COG_OK;
    }
    for (size_t at = least; parts_left > 1 && at < rest.size; at++) {
        if (!utf8_is_start(rest.data[at]))
            continue;
        TRY(find_front(splitter, view_of(rest.data, at), &front, error));
        if (front == WORD_NONE)
            continue;
        struct split tail, joined = {{front}, 1, count_of(splitter, front)};
        TRY(split_rest(splitter, view_of(rest.data + at, rest.size - at), parts_left - 1, &tail,
                       error));
        if (!tail.count)
            continue;
        memcpy(joined.parts + 1, tail.parts, tail.count * sizeof *tail.parts);
        joined.count += tail.count;
        joined.weight *= tail.weight;
        keep_better(best, &joined);
    }
    return COG_OK;
}

cog_status compound_split(struct compound_splitter *splitter, struct bytes_view word,
                          uint32_t parts[COMPOUND_PARTS_MAX], unsigned *count, cog_error *error) {
    size_t letters = letters_of(word);
    *count = 0;
    if (letters < splitter->options.min_word_letters || letters > WORD_LETTERS_MAX)
        return COG_OK;
    struct split best;
    TRY(split_rest(splitter, word, COMPOUND_PARTS_MAX, &best, error));
    if (best.count > 1) {
        memcpy(parts, best.parts, best.count * sizeof *parts);
        *count = best.count;
    }
    return COG_OK;
}
