#include "jobs/explain/shared_spans.h"

#include <stdlib.h>

#include "base/hash_table.h"
#include "base/memory.h"

/* The terms of one text to compare. A number identifies equal terms of both texts. */
struct compared {
    const uint64_t *hashes;
    const struct text_place *places;
    uint32_t count;
    uint32_t *numbers;   /* by term */
    uint32_t *positions; /* of the terms, sorted by number, then ascending */
    uint32_t *offsets;   /* by number: the beginning of its positions */
    uint8_t *is_covered; /* whether the term is in a span */
};

struct comparing {
    struct compared sides[2];
    uint32_t number_count;
    struct shared_spans *shared;
};

void shared_spans_free(struct shared_spans *shared) {
    FREE(shared->spans, shared->marks[0].items, shared->marks[1].items);
    *shared = (struct shared_spans){0};
}

/* ---- Numbers of terms ------------------------------------------------------------------------ */

/* Whether the words are the text's only terms. */
static bool has_words_only(const struct term_list *list) {
    return list->count > 0 && list->count == list->short_terms;
}

static cog_status choose_terms(const struct term_list lists[2], struct comparing *work,
                               cog_error *error) {
    const bool by_words = has_words_only(&lists[0]) || has_words_only(&lists[1]);
    work->shared->by_words = by_words;
    for (int side = 0; side < 2; side++) {
        const struct term_list *list = &lists[side];
        struct compared *terms = &work->sides[side];
        size_t ngrams = list->count - list->short_terms, first = by_words ? ngrams : 0;
        size_t count = by_words ? list->short_terms : ngrams;
        if (count > UINT32_MAX / 4)
            return error_set(error, COG_ERR_INPUT,
                             "a text has %zu terms, too many to compare: split it", count);
        terms->count = (uint32_t)count;
        terms->hashes = count ? list->hashes + first : NULL;
        terms->places = count ? list->places + first : NULL;
    }
    return COG_OK;
}

static void number_side(struct comparing *work, struct compared *terms, uint64_t *keys,
                        uint32_t *slots, size_t slot_count) {
    for (uint32_t i = 0; i < terms->count; i++) {
        const uint64_t hash = terms->hashes[i];
        size_t at;
        HASH_PROBE(at, hash, slot_count, !slots[at] || keys[slots[at] - 1] == hash);
        if (!slots[at]) {
            keys[work->number_count] = hash;
            slots[at] = ++work->number_count;
        }
        terms->numbers[i] = slots[at] - 1;
    }
}

static cog_status number_terms(struct comparing *work, cog_error *error) {
    size_t most = (size_t)work->sides[0].count + work->sides[1].count;
    size_t slot_count = hash_slots(most, 64);
    uint64_t *keys = NULL;
    uint32_t *slots = NULL;
    cog_status status = TAKEN(keys, most, "terms of two texts", error);
    THEN(status, TAKEN_ZEROED(slots, slot_count, "terms of two texts", error));
    for (int side = 0; side < 2 && status == COG_OK; side++) {
        struct compared *terms = &work->sides[side];
        status = TAKEN(terms->numbers, terms->count, "terms of two texts", error);
        if (status == COG_OK)
            number_side(work, terms, keys, slots, slot_count);
    }
    FREE(keys, slots);
    return status;
}

/* Lists the positions of each number, and counts the numbers. */
static cog_status list_positions(struct comparing *work, int side, cog_error *error) {
    struct compared *terms = &work->sides[side];
    TAKE(terms->positions, terms->count, "places of terms", error);
    TAKE_ZEROED(terms->offsets, (size_t)work->number_count + 2, "places of terms", error);
    TAKE_ZEROED(terms->is_covered, terms->count, "places of terms", error);
    uint32_t *next =
        terms->offsets + 1; /* finally the end of each number, which is the beginning of the next */
    for (uint32_t i = 0; i < terms->count; i++)
        next[terms->numbers[i] + 1]++;
    for (uint32_t number = 0; number < work->number_count; number++) {
        work->shared->terms[side] += next[number + 1] > 0;
        next[number + 1] += next[number];
    }
    for (uint32_t i = 0; i < terms->count; i++)
        terms->positions[next[terms->numbers[i]]++] = i;
    return COG_OK;
}

static uint32_t occurrences(const struct compared *terms, uint32_t number) {
    return terms->offsets[number + 1] - terms->offsets[number];
}

/* ---- Spans and marks ------------------------------------------------------------------------- */

static uint32_t run_length(const struct compared *from, uint32_t i, const struct compared *to,
                           uint32_t j) {
    uint32_t length = 0;
    while (i + length < from->count && j + length < to->count &&
           from->numbers[i + length] == to->numbers[j + length])
        length++;
    return length;
}

/* The first of a number's `count` positions at or after `least`. */
static uint32_t first_behind(const uint32_t *positions, uint32_t count, uint32_t least) {
    uint32_t low;
    FIND_FIRST_NOT(low, 0, count, positions[low] < least);
    return low;
}

struct run {
    uint32_t begin, length; /* begin: in the other text */
};

/* Looks among the first positions for a longer run of the term at `i` than the best so far. */
static void try_positions(const struct compared *from, uint32_t i, const struct compared *to,
                          const uint32_t *positions, uint32_t count, struct run *best) {
    for (uint32_t k = 0; k < count && k < SPAN_OCCURRENCES / 2; k++) {
        struct run run = {positions[k], run_length(from, i, to, positions[k])};
        if (run.length > best->length)
            *best = run;
    }
}

/* The longest run starting with the term at `i`. Of equally long runs, the first after `expected`,
 * the end of the previous run. */
static struct run longest_run(const struct compared *from, uint32_t i, const struct compared *to,
                              uint32_t expected) {
    const uint32_t number = from->numbers[i], count = occurrences(to, number);
    const uint32_t *positions = to->positions + to->offsets[number];
    uint32_t before = first_behind(positions, count, expected);
    struct run best = {0, 0};
    try_positions(from, i, to, positions + before, count - before, &best);
    try_positions(from, i, to, positions, before, &best);
    return best;
}

/* Adds the run of side `from` starting at `i`. */
static cog_status add_span(struct comparing *work, int from, uint32_t i, struct run run,
                           cog_error *error) {
    struct shared_spans *shared = work->shared;
    const uint32_t first[2] = {from ? run.begin : i, from ? i : run.begin};
    GROW(shared->spans, shared->capacity, shared->count + 1, "shared spans", error);
    cog_shared_span *span = &shared->spans[shared->count++];
    span->terms = run.length;
    for (int side = 0; side < 2; side++) {
        struct compared *terms = &work->sides[side];
        span->begin[side] = terms->places[first[side]].begin;
        span->end[side] = terms->places[first[side] + run.length - 1].end;
        memset(terms->is_covered + first[side], 1, run.length);
    }
    return COG_OK;
}

/* Adds spans until they cover all terms of side `from` that the other side has too. */
static cog_status add_spans(struct comparing *work, int from, cog_error *error) {
    const struct compared *own = &work->sides[from], *other = &work->sides[!from];
    uint32_t length, expected = 0;
    for (uint32_t i = 0; i < own->count; i += length) {
        length = 1;
        if (own->is_covered[i] || occurrences(other, own->numbers[i]) == 0)
            continue;
        struct run run = longest_run(own, i, other, expected);
        TRY(add_span(work, from, i, run, error));
        length = run.length;
        expected = run.begin + run.length;
    }
    return COG_OK;
}

/* Marks the runs of shared terms of a text. */
static cog_status add_marks(struct comparing *work, int side, cog_error *error) {
    const struct compared *own = &work->sides[side];
    struct text_marks *marks = &work->shared->marks[side];
    bool in_run = false;
    for (uint32_t i = 0; i < own->count; i++) {
        const struct text_place place = own->places[i];
        if (!own->is_covered[i]) {
            in_run = false;
            continue;
        }
        cog_text_span *last = marks->count ? &marks->items[marks->count - 1] : NULL;
        if (last && (in_run || place.begin <= last->end)) {
            last->end = place.end > last->end ? place.end : last->end;
        } else {
            GROW(marks->items, marks->capacity, marks->count + 1, "marks", error);
            marks->items[marks->count++] = (cog_text_span){place.begin, place.end};
        }
        in_run = true;
    }
    return COG_OK;
}

static int by_terms(const void *x, const void *y) {
    const cog_shared_span *a = x, *b = y;
    if (a->terms != b->terms)
        return a->terms > b->terms ? -1 : 1;
    for (int side = 0; side < 2; side++)
        if (a->begin[side] != b->begin[side])
            return a->begin[side] < b->begin[side] ? -1 : 1;
    return 0;
}

static cog_status find(struct comparing *work, cog_error *error) {
    TRY(number_terms(work, error));
    TRY(list_positions(work, 0, error));
    TRY(list_positions(work, 1, error));
    for (uint32_t number = 0; number < work->number_count; number++)
        work->shared->shared +=
            occurrences(&work->sides[0], number) && occurrences(&work->sides[1], number);
    TRY(add_spans(work, 0, error));
    TRY(add_spans(work, 1, error)); /* terms that the second text repeats */
    TRY(add_marks(work, 0, error));
    TRY(add_marks(work, 1, error));
    if (work->shared->count)
        qsort(work->shared->spans, work->shared->count, sizeof *work->shared->spans, by_terms);
    return COG_OK;
}

cog_status shared_spans_find(const struct term_list lists[2], struct shared_spans *shared,
                             cog_error *error) {
    struct comparing work = {.shared = shared};
    cog_status status = choose_terms(lists, &work, error);
    THEN(status, find(&work, error));
    for (int side = 0; side < 2; side++) {
        FREE(work.sides[side].numbers, work.sides[side].positions, work.sides[side].offsets,
             work.sides[side].is_covered);
    }
    return status;
}
