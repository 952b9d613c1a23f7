/* A document as a bag: each distinct term once, with its frequency. One counter a thread counts one
 * document after another; nothing of its size is cleared in between. */
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
    /* Where the input itself weighs its terms (clicks, which may be fractions), frequencies are
     * these rounded, 1 at least; else NULL. */
    const float *weights;
};
static inline double bag_weight(const struct bag_view *bag, size_t i) {
    return bag->weights ? (double)bag->weights[i] : bag->frequencies[i];
}
cog_status bag_count(struct bag_counter *counter, const uint64_t *hashes, size_t count,
                     struct bag_view *bag, cog_error *error);
