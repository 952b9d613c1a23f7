#include "vector/term_numbers.h"

#include <stdlib.h>

#include "base/hash_table.h"
#include "base/memory.h"

/* Half of the slots or more are free: number TERM_NUMBER_NONE. The hash stands in the slot, so that
 * finding a term costs one cache miss, which term_numbers_prefetch can hide. */
struct term_slot {
    uint64_t hash;
    uint32_t number;
};

struct term_numbers {
    struct term_slot *slots;
    size_t slot_count;
    uint32_t count;
};

struct ranked_term {
    uint64_t hash;
    uint32_t document_frequency;
};

static int by_rarity(const void *a, const void *b) {
    const struct ranked_term *p = a, *q = b;
    return p->document_frequency != q->document_frequency
               ? ORDER(p->document_frequency, q->document_frequency)
               : ORDER(p->hash, q->hash);
}

static struct term_slot *find_slot(const struct term_numbers *numbers, uint64_t hash) {
    size_t at;
    HASH_PROBE(at, hash, numbers->slot_count,
               numbers->slots[at].number == TERM_NUMBER_NONE || numbers->slots[at].hash == hash);
    return &numbers->slots[at];
}

static cog_status number_terms(struct term_numbers *numbers, const struct ranked_term *terms,
                               size_t count, cog_error *error) {
    if (count >= TERM_NUMBER_NONE)
        return error_set(error, COG_ERR_MEMORY,
                         "%zu distinct terms are more than a collection can hold; split it", count);
    numbers->slot_count = hash_slots(count, 64);
    TAKE(numbers->slots, numbers->slot_count, "the vocabulary", error);
    for (size_t i = 0; i < numbers->slot_count; i++)
        numbers->slots[i] = (struct term_slot){0, TERM_NUMBER_NONE};
    for (size_t i = 0; i < count; i++)
        *find_slot(numbers, terms[i].hash) = (struct term_slot){terms[i].hash, (uint32_t)i};
    numbers->count = (uint32_t)count;
    return COG_OK;
}

static cog_status rank_terms(struct term_numbers *numbers, const struct statistics *statistics,
                             struct term_counts least, cog_error *error) {
    uint64_t term_count = statistics_term_count(statistics);
    struct ranked_term *terms;
    TAKE(terms, term_count, "the vocabulary", error);
    struct term_cursor cursor = {.statistics = statistics};
    size_t count = 0;
    while (term_cursor_next(&cursor, error))
        if (cursor.counts.document_frequency >= least.document_frequency &&
            cursor.counts.collection_frequency >= least.collection_frequency)
            terms[count++] = (struct ranked_term){cursor.hash, cursor.counts.document_frequency};
    cog_status status = term_cursor_end(&cursor, COG_OK);
    if (status == COG_OK) {
        qsort(terms, count, sizeof *terms, by_rarity);
        status = number_terms(numbers, terms, count, error);
    }
    free(terms);
    return status;
}

cog_status term_numbers_create(const struct statistics *statistics, uint32_t min_documents,
                               uint32_t min_collection_frequency, struct term_numbers **result,
                               cog_error *error) {
    struct term_numbers *numbers;
    TAKE_ZEROED(numbers, 1, "the vocabulary", error);
    struct term_counts least = {min_documents, min_collection_frequency};
    cog_status status = rank_terms(numbers, statistics, least, error);
    return HAND_OUT(status, numbers, term_numbers_free, result);
}

void term_numbers_free(struct term_numbers *numbers) {
    if (!numbers)
        return;
    FREE(numbers->slots, numbers);
}

uint32_t term_numbers_count(const struct term_numbers *numbers) {
    return numbers->count;
}

uint32_t term_numbers_find(const struct term_numbers *numbers, uint64_t hash) {
    return find_slot(numbers, hash ? hash : 1)->number; /* 1: as the statistics store 0 */
}

void term_numbers_prefetch(const struct term_numbers *numbers, uint64_t hash) {
    __builtin_prefetch(&numbers->slots[hash & (numbers->slot_count - 1)]);
}
