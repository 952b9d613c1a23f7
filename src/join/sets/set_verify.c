#include "join/sets/set_verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
    CACHED_MEMBERS_MOST = 1 << 14, /* larger sets are not cached */
    TABLE_FROM = 4,                /* number of candidates from which a table pays */
    TABLE_MEMBERS_MOST = 1 << 12,  /* a larger one would exceed the cache of a core */
    SECOND_HASH = 16,              /* the second hash of a member is its bits from here on */
    MOVES_MOST = 64
};
#define NO_ROW UINT32_MAX
#define NO_MEMBER UINT64_MAX

uint64_t set_verifier_slot_bytes(uint64_t members) {
    return sizeof(struct cached_sets) + members * 3 / 2 * sizeof(uint64_t);
}

cog_status set_verifier_init(struct set_verifier *verifier, const struct set_file *file,
                             size_t cache_slots, uint64_t cache_bytes_most, cog_error *error) {
    *verifier = (struct set_verifier){
        .file = file, .cache_slots = cache_slots, .cache_bytes_most = cache_bytes_most};
    TAKE_ZEROED(verifier->cache, cache_slots, "a join", error);
    for (size_t slot = 0; slot < cache_slots; slot++)
        verifier->cache[slot].row = NO_ROW;
    return COG_OK;
}

void set_verifier_free(struct set_verifier *verifier) {
    for (size_t slot = 0; verifier->cache && slot < verifier->cache_slots; slot++)
        loaded_sets_free(&verifier->cache[slot].sets);
    loaded_sets_free(&verifier->own);
    buffer_free(&verifier->bytes);
    FREE(verifier->cache, verifier->table);
    *verifier = (struct set_verifier){0};
}

void set_verifier_begin(struct set_verifier *verifier, uint32_t row) {
    verifier->row = row;
    verifier->is_loaded = false;
    verifier->compared = 0;
    verifier->table_mask = 0;
}

/* ---- Sketches -------------------------------------------------------------------------------- */

static struct set_sketch sketch_of(const struct loaded_sets *sets) {
    struct set_sketch sketch = {{0}};
    for (size_t i = 0; i < sets->term_count; i++)
        sketch.words[sets->terms[i] >> 6 & 7] ^= (uint64_t)1 << (sets->terms[i] & 63);
    return sketch;
}

static bool sketches_allow(const struct set_sketch *a, const struct set_sketch *b, size_t a_count,
                           size_t b_count, uint64_t least) {
    uint64_t apart = 0;
    for (size_t i = 0; i < sizeof a->words / sizeof *a->words; i++)
        apart += (uint64_t)__builtin_popcountll(a->words[i] ^ b->words[i]);
    return apart + 2 * least <= a_count + b_count;
}

/* ---- The table of the document at hand ------------------------------------------------------- */

/* Cuckoo hashing: a member is at one of two places, one per half of the table, so two comparisons
 * find it or prove its absence. */
static uint64_t *place_of(const struct set_verifier *verifier, size_t mask, size_t half,
                          uint64_t member) {
    return &verifier->table[half ? mask + 1 + (member >> SECOND_HASH & mask) : member & mask];
}

/* Puts a member at its place in one half and moves the previous member to its place in the other
 * half. False if that does not end. */
static bool put_member(const struct set_verifier *verifier, size_t mask, uint64_t member) {
    for (size_t move = 0; move < MOVES_MOST && member != NO_MEMBER; move++) {
        uint64_t *place = place_of(verifier, mask, move % 2, member), moved = *place;
        *place = member;
        member = moved;
    }
    return member == NO_MEMBER;
}

static bool fill_table(struct set_verifier *verifier, size_t mask) {
    const struct loaded_sets *own = &verifier->own;
    for (size_t i = 0; i < 2 * (mask + 1); i++)
        verifier->table[i] = NO_MEMBER;
    for (size_t i = 0; i < own->term_count; i++)
        if (!put_member(verifier, mask, own->terms[i]))
            return false;
    return true;
}

/* Makes the smallest table that has room. Members of damaged files may repeat and find none. */
static cog_status make_table(struct set_verifier *verifier, cog_error *error) {
    const size_t count = verifier->own.term_count;
    size_t half = 16;
    while (half < count)
        half *= 2;
    if (count > TABLE_MEMBERS_MOST)
        return COG_OK;
    for (; half <= 8 * TABLE_MEMBERS_MOST; half *= 2) {
        GROW(verifier->table, verifier->table_capacity, 2 * half, "a set of terms", error);
        if (fill_table(verifier, half - 1)) {
            verifier->table_mask = half - 1;
            return COG_OK;
        }
    }
    return COG_OK;
}

/* Like member_set_overlap of the current document and b. */
static size_t overlap_by_table(const struct set_verifier *verifier, const uint64_t *b,
                               size_t b_count, size_t least) {
    enum { LOOK_EVERY = 64 };
    const size_t mask = verifier->table_mask;
    size_t shared = 0;
    for (size_t i = 0; i < b_count;) {
        const size_t end = b_count - i < LOOK_EVERY ? b_count : i + LOOK_EVERY;
        if (shared + (b_count - i) < least)
            return shared;
        for (; i < end; i++) {
            shared += *place_of(verifier, mask, 0, b[i]) == b[i];
            shared += *place_of(verifier, mask, 1, b[i]) == b[i];
        }
    }
    return shared;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static size_t overlap_with(const struct set_verifier *verifier, const struct loaded_sets *b,
                           bool use_words, size_t least) {
    const struct loaded_sets *a = &verifier->own;
    if (use_words)
        return member_set_overlap(a->words, a->word_count, b->words, b->word_count, least);
    if (verifier->table_mask)
        return overlap_by_table(verifier, b->terms, b->term_count, least);
    return member_set_overlap(a->terms, a->term_count, b->terms, b->term_count, least);
}

static cog_status load_own(struct set_verifier *verifier, cog_error *error) {
    TRY(set_file_load(verifier->file, verifier->row, &verifier->own, error));
    verifier->own_sketch = sketch_of(&verifier->own);
    verifier->is_loaded = true;
    return COG_OK;
}

static uint64_t held_bytes(const struct cached_sets *slot) {
    return (slot->sets.term_capacity + slot->sets.word_capacity) * sizeof(uint64_t);
}

/* Empties other slots in turn until the cache is within its bytes. */
static void make_room(struct set_verifier *verifier, const struct cached_sets *used) {
    for (size_t i = 1; i < verifier->cache_slots; i++) {
        if (verifier->cache_bytes <= verifier->cache_bytes_most)
            return;
        verifier->evicted = (verifier->evicted + 1) & (verifier->cache_slots - 1);
        struct cached_sets *slot = &verifier->cache[verifier->evicted];
        if (slot == used)
            continue;
        verifier->cache_bytes -= held_bytes(slot);
        loaded_sets_free(&slot->sets);
        slot->row = NO_ROW;
    }
}

/* Loads the sets of a document into a slot. The largest are not used again. */
static cog_status load_other(struct set_verifier *verifier, uint32_t row, struct cached_sets *slot,
                             cog_error *error) {
    if (slot->row == row)
        return COG_OK;
    slot->row = NO_ROW;
    slot->sets.bytes = verifier->bytes; /* encoded bytes are not cached */
    verifier->cache_bytes -= held_bytes(slot);
    cog_status status = set_file_load(verifier->file, row, &slot->sets, error);
    verifier->cache_bytes += held_bytes(slot);
    make_room(verifier, slot);
    verifier->bytes = slot->sets.bytes;
    slot->sets.bytes = (struct buffer){0};
    if (status != COG_OK)
        return status;
    slot->row = verifier->file->rows[row].terms > CACHED_MEMBERS_MOST ? NO_ROW : row;
    slot->sketch = sketch_of(&slot->sets);
    return COG_OK;
}

cog_status set_verifier_compare(struct set_verifier *verifier, uint32_t other,
                                const struct set_measure *measure, double *similarity,
                                cog_error *error) {
    struct cached_sets *slot = &verifier->cache[other & (verifier->cache_slots - 1)];
    const struct set_row *rows = verifier->file->rows;
    const bool use_words = rows[verifier->row].terms == 0 || rows[other].terms == 0;
    if (!verifier->is_loaded)
        TRY(load_own(verifier, error));
    TRY(load_other(verifier, other, slot, error));
    if (++verifier->compared == TABLE_FROM)
        TRY(make_table(verifier, error));
    const struct loaded_sets *own = &verifier->own;
    const size_t mine = use_words ? own->word_count : own->term_count;
    const size_t others = use_words ? slot->sets.word_count : slot->sets.term_count;
    const uint64_t least = set_needed_overlap(measure, mine, others);
    *similarity = 0;
    if (least > mine || least > others ||
        (!use_words && !sketches_allow(&verifier->own_sketch, &slot->sketch, mine, others, least)))
        return COG_OK;
    *similarity = set_similarity(measure, mine, others,
                                 overlap_with(verifier, &slot->sets, use_words, least));
    return COG_OK;
}

cog_status set_pair_similarity(const struct set_file *file, uint32_t a, uint32_t b,
                               const struct set_measure *measure, double *similarity,
                               cog_error *error) {
    const struct set_measure any = {measure->containment, 0};
    struct set_verifier verifier = {0};
    cog_status status = set_verifier_init(&verifier, file, 1, 0, error);
    set_verifier_begin(&verifier, a);
    THEN(status, set_verifier_compare(&verifier, b, &any, similarity, error));
    set_verifier_free(&verifier);
    return status;
}
