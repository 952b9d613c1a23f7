#include "collection/sets/set_bag.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "collection/sets/document_sets.h"

/* The set that a hash belongs to, in its lowest bits. No hash is 0. */
enum set_mark { MARK_TERM = 1, MARK_WORD = 2, MARK_TEXT = 3, MARK_BITS = 64 - MEMBER_BITS };
enum { TEXT_PARTS = 3 }; /* a fingerprint of 128 bits: 48, 48 and 32 of them */

static uint64_t marked(uint64_t member, unsigned mark) {
    return member << MARK_BITS | mark;
}

cog_status set_bag_mark(struct term_list *terms, struct bytes_view text, cog_error *error) {
    const size_t words_from = terms->count - terms->short_terms;
    for (size_t i = 0; i < terms->count; i++)
        terms->hashes[i] =
            marked(member_of_hash(terms->hashes[i]), i < words_from ? MARK_TERM : MARK_WORD);
    if (terms->count > 0)
        return COG_OK;
    const struct fingerprint print = fingerprint_of_text(text);
    TRY(term_list_reserve(terms, TEXT_PARTS, error));
    terms->hashes[0] = marked(print.low >> MARK_BITS, MARK_TEXT);
    terms->hashes[1] = marked(print.high >> MARK_BITS, MARK_TEXT + 1);
    terms->hashes[2] = marked((print.low & 0xffff) << 16 | (print.high & 0xffff), MARK_TEXT + 2);
    terms->count = TEXT_PARTS;
    return COG_OK;
}

static void take_text(struct document_set *set, uint64_t hash) {
    const uint64_t part = hash >> MARK_BITS, mark = hash & 0xffff;
    if (mark < MARK_TEXT + 2)
        set->text[mark - MARK_TEXT] |= part << MARK_BITS;
    else {
        set->text[0] |= part >> 16 & 0xffff;
        set->text[1] |= part & 0xffff;
    }
}

cog_status set_bag_read(struct set_bag *sets, const struct bag_view *bag, cog_error *error) {
    size_t terms = 0, words = 0;
    GROW(sets->members, sets->member_capacity, bag->count + 1, "a document's terms", error);
    GROW(sets->scratch, sets->scratch_capacity, bag->count + 1, "a document's terms", error);
    sets->set = (struct document_set){0};
    /* Terms are written from the front, words from the back. */
    for (size_t i = 0; i < bag->count; i++) {
        const uint64_t hash = bag->hashes[i], mark = hash & 0xffff;
        if (mark == MARK_TERM)
            sets->members[terms++] = hash;
        else if (mark == MARK_WORD)
            sets->members[bag->count - ++words] = hash;
        else if (mark >= MARK_TEXT && mark < MARK_TEXT + TEXT_PARTS)
            take_text(&sets->set, hash);
    }
    uint64_t *of_words = sets->members + (bag->count - words);
    sets->set.terms = sets->members;
    sets->set.words = of_words;
    sets->set.term_count = member_set_make(sets->members, terms, sets->scratch);
    sets->set.word_count = member_set_make(of_words, words, sets->scratch);
    return COG_OK;
}

void set_bag_free(struct set_bag *sets) {
    FREE(sets->members, sets->scratch);
    *sets = (struct set_bag){0};
}
