#include "vector/bag.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"

/* Open addressing from hash to position in the bag. A slot belongs to the current document only if
 * its stamp is the counter's, so starting a document costs one increment. */
struct slot {
    uint32_t stamp;
    uint32_t position;
};

struct bag_counter {
    struct slot *slots;
    size_t slot_count; /* a power of two */
    uint32_t stamp;
    uint64_t *hashes;
    uint32_t *frequencies;
    size_t hash_capacity, frequency_capacity;
    double *sums; /* of bag_sum */
    float *weights;
    size_t sum_capacity, weight_capacity;
};

enum { FIRST_SLOTS = 4096 };

cog_status bag_counter_create(struct bag_counter **result, cog_error *error) {
    struct bag_counter *counter;
    TAKE_ZEROED(counter, 1, "a term counter", error);
    counter->slot_count = FIRST_SLOTS;
    cog_status status = TAKEN_ZEROED(counter->slots, FIRST_SLOTS, "a term counter", error);
    return HAND_OUT(status, counter, bag_counter_free, result);
}

void bag_counter_free(struct bag_counter *counter) {
    if (!counter)
        return;
    FREE(counter->slots, counter->hashes, counter->frequencies, counter->sums, counter->weights);
    free(counter);
}

static void start_document(struct bag_counter *counter) {
    if (++counter->stamp == 0) {
        memset(counter->slots, 0, counter->slot_count * sizeof *counter->slots);
        counter->stamp = 1;
    }
}

/* Slots for at most half load with `distinct` terms, and the terms counted so far put into them. */
static cog_status grow_slots(struct bag_counter *counter, size_t distinct, cog_error *error) {
    size_t wanted = counter->slot_count * 4;
    struct slot *slots = memory_written_array(wanted, sizeof *slots);
    if (!slots)
        return error_memory(error, wanted * sizeof *slots, "a document's terms");
    free(counter->slots);
    counter->slots = slots;
    counter->slot_count = wanted;
    counter->stamp = 1;
    for (size_t i = 0; i < distinct; i++) {
        size_t at;
        HASH_PROBE(at, counter->hashes[i], wanted, slots[at].stamp != 1);
        slots[at] = (struct slot){1, (uint32_t)i};
    }
    return COG_OK;
}

static cog_status reserve_terms(struct bag_counter *counter, size_t needed, cog_error *error) {
    GROW(counter->hashes, counter->hash_capacity, needed, "a document's terms", error);
    return GROWN(counter->frequencies, counter->frequency_capacity, needed, "a document's terms",
                 error);
}

/* The position of a term in the bag, a new one after the last. */
static inline cog_status take_position(struct bag_counter *counter, uint64_t hash, size_t *distinct,
                                       size_t *position, cog_error *error) {
    if (*distinct * 2 >= counter->slot_count)
        TRY(grow_slots(counter, *distinct, error));
    size_t at;
    HASH_PROBE(at, hash, counter->slot_count,
               counter->slots[at].stamp != counter->stamp ||
                   counter->hashes[counter->slots[at].position] == hash);
    struct slot *slot = &counter->slots[at];
    if (slot->stamp == counter->stamp) {
        *position = slot->position;
        return COG_OK;
    }
    if (*distinct == counter->hash_capacity || *distinct == counter->frequency_capacity)
        TRY(reserve_terms(counter, *distinct + 1, error));
    *slot = (struct slot){counter->stamp, (uint32_t)*distinct};
    counter->hashes[*distinct] = hash;
    counter->frequencies[*distinct] = 0;
    *position = (*distinct)++;
    return COG_OK;
}

cog_status bag_count(struct bag_counter *counter, const uint64_t *hashes, size_t count,
                     struct bag_view *bag, cog_error *error) {
    size_t distinct = 0, position = 0;
    start_document(counter);
    for (size_t i = 0; i < count; i++) {
        TRY(take_position(counter, hashes[i], &distinct, &position, error));
        uint32_t *frequency = &counter->frequencies[position];
        *frequency += *frequency != UINT32_MAX;
    }
    *bag = (struct bag_view){counter->hashes, counter->frequencies, distinct, count, NULL};
    return COG_OK;
}

cog_status bag_sum(struct bag_counter *counter, const uint64_t *hashes, const float *values,
                   size_t count, struct bag_view *bag, cog_error *error) {
    size_t distinct = 0, position = 0;
    double length = 0;
    start_document(counter);
    for (size_t i = 0; i < count; i++) {
        size_t before = distinct;
        TRY(take_position(counter, hashes[i], &distinct, &position, error));
        GROW(counter->sums, counter->sum_capacity, distinct, "a document's terms", error);
        counter->sums[position] =
            (position == before ? 0 : counter->sums[position]) + (double)values[i];
        length += (double)values[i];
    }
    GROW(counter->weights, counter->weight_capacity, distinct + 1, "a document's terms", error);
    for (size_t i = 0; i < distinct; i++)
        counter->weights[i] = (float)counter->sums[i];
    *bag = (struct bag_view){counter->hashes, counter->frequencies, distinct,
                             (uint64_t)(length + 0.5), counter->weights};
    bag_round_expected(bag, counter->frequencies);
    return COG_OK;
}

void bag_round_expected(const struct bag_view *bag, uint32_t *frequencies) {
    uint64_t document = bag->length;
    for (size_t i = 0; i < bag->count; i++)
        document += hash_mix(bag->hashes[i]);
    for (size_t i = 0; i < bag->count; i++) {
        double whole = floor((double)bag->weights[i]), rest = (double)bag->weights[i] - whole;
        double chance = (double)(hash_mix(document ^ bag->hashes[i]) >> 11) * 0x1p-53;
        whole += chance < rest;
        frequencies[i] = whole < (double)UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
    }
}
