#include "vector/term_numbers.h"

#include <stdlib.h>

#include "base/memory.h"

/* Open addressing at half load or less; a slot is empty where its column is TERM_NUMBER_NONE. */
struct column_slot {
    uint64_t hash;
    uint32_t column;
};

struct term_numbers {
    struct column_slot *slots;
    size_t slot_count; /* a power of two */
    uint32_t count;
};

struct ranked_term {
    uint64_t hash;
    uint32_t document_frequency;
};

struct ranking {
    struct ranked_term *terms;
    size_t count;
    uint32_t min_documents, min_collection_frequency;
};

static cog_status rank_term(void *context, uint64_t hash, struct term_counts counts,
                            cog_error *error) {
    (void)error;
    struct ranking *ranking = context;
    if (counts.document_frequency >= ranking->min_documents &&
        counts.collection_frequency >= ranking->min_collection_frequency)
        ranking->terms[ranking->count++] = (struct ranked_term){hash, counts.document_frequency};
    return COG_OK;
}

static int by_rarity(const void *a, const void *b) {
    const struct ranked_term *p = a, *q = b;
    if (p->document_frequency != q->document_frequency)
        return p->document_frequency < q->document_frequency ? -1 : 1;
    return (p->hash > q->hash) - (p->hash < q->hash);
}

static size_t slots_for(uint64_t terms) {
    size_t slots = 64;
    while (slots < 2 * terms)
        slots *= 2;
    return slots;
}

static cog_status number_terms(struct term_numbers *columns, const struct ranking *ranking,
                               cog_error *error) {
    if (ranking->count >= TERM_NUMBER_NONE)
        return error_set(error, COG_ERR_MEMORY,
                         "%zu distinct terms are more than a collection can hold; split it",
                         ranking->count);
    columns->slot_count = slots_for(ranking->count);
    columns->slots = memory_array(columns->slot_count, sizeof *columns->slots);
    if (!columns->slots)
        return error_memory(error, columns->slot_count * sizeof *columns->slots, "the vocabulary");
    for (size_t i = 0; i < columns->slot_count; i++)
        columns->slots[i] = (struct column_slot){0, TERM_NUMBER_NONE};
    for (size_t i = 0; i < ranking->count; i++) {
        size_t at = ranking->terms[i].hash & (columns->slot_count - 1);
        while (columns->slots[at].column != TERM_NUMBER_NONE)
            at = (at + 1) & (columns->slot_count - 1);
        columns->slots[at] = (struct column_slot){ranking->terms[i].hash, (uint32_t)i};
    }
    columns->count = (uint32_t)ranking->count;
    return COG_OK;
}

cog_status term_numbers_create(const struct statistics *statistics, uint32_t min_documents,
                               uint32_t min_collection_frequency, struct term_numbers **result,
                               cog_error *error) {
    struct ranking ranking = {.min_documents = min_documents,
                              .min_collection_frequency = min_collection_frequency};
    struct term_numbers *columns = calloc(1, sizeof *columns);
    ranking.terms = memory_array(statistics_term_count(statistics), sizeof *ranking.terms);
    cog_status status = COG_OK;
    if (!columns || !ranking.terms)
        status = error_memory(error, statistics_term_count(statistics) * sizeof *ranking.terms,
                              "the vocabulary");
    THEN(status, statistics_visit(statistics, rank_term, &ranking, error));
    if (status == COG_OK) {
        qsort(ranking.terms, ranking.count, sizeof *ranking.terms, by_rarity);
        status = number_terms(columns, &ranking, error);
    }
    free(ranking.terms);
    if (status != COG_OK) {
        term_numbers_free(columns);
        return status;
    }
    *result = columns;
    return COG_OK;
}

void term_numbers_free(struct term_numbers *columns) {
    if (!columns)
        return;
    free(columns->slots);
    free(columns);
}

uint32_t term_numbers_count(const struct term_numbers *columns) {
    return columns->count;
}

uint32_t term_numbers_find(const struct term_numbers *columns, uint64_t hash) {
    size_t mask = columns->slot_count - 1;
    hash = hash ? hash : 1; /* as the statistics store it */
    for (size_t at = hash & mask; columns->slots[at].column != TERM_NUMBER_NONE;
         at = (at + 1) & mask)
        if (columns->slots[at].hash == hash)
            return columns->slots[at].column;
    return TERM_NUMBER_NONE;
}

void term_numbers_prefetch(const struct term_numbers *columns, uint64_t hash) {
    __builtin_prefetch(&columns->slots[hash & (columns->slot_count - 1)]);
}
