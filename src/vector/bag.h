/* Bags: a document as its distinct terms, each once, with frequencies. In: the hashes of a
 * document's terms in order. Out: a view owned by the counter. There is one counter per thread;
 * starting another document costs one increment, whatever the size of the table. */
#pragma once

#include "base/error.h"

struct bag_counter;
cog_status bag_counter_create(struct bag_counter **counter, cog_error *error);
void bag_counter_free(struct bag_counter *counter);

/* Distinct terms in the order of their first occurrence. Owned by the counter, valid until its next
 * count. Frequencies stop at UINT32_MAX. */
struct bag_view {
    const uint64_t *hashes;
    const uint32_t *frequencies; /* NULL for a set: 1 each */
    size_t count;
    uint64_t length; /* terms with repetition */
    /* If the input itself weighs its terms (clicks, which may be fractions); frequencies are then
     * these weights rounded, at least 1. NULL otherwise. */
    const float *weights;
};
static inline double bag_weight(const struct bag_view *bag, size_t i) {
    return bag->weights ? (double)bag->weights[i] : bag->frequencies[i];
}
/* The frequency that stands for a weight of the input. */
static inline uint32_t bag_frequency(float weight) {
    if (!(weight >= 1))
        return 1;
    return weight < (float)UINT32_MAX ? (uint32_t)(weight + 0.5f) : UINT32_MAX;
}
cog_status bag_count(struct bag_counter *counter, const uint64_t *hashes, size_t count,
                     struct bag_view *bag, cog_error *error);
