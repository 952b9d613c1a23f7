/* Bags: a document as its distinct terms with frequencies. In: the hashes of a document's terms in
 * order. Out: a view owned by the counter. One counter per thread; starting another document costs
 * one increment, whatever the size of the table. */
#pragma once

#include "base/error.h"

struct bag_counter;
cog_status bag_counter_create(struct bag_counter **counter, cog_error *error);
void bag_counter_free(struct bag_counter *counter);

/* Distinct terms in order of first occurrence. Owned by the counter, valid until its next count.
 * Frequencies saturate at UINT32_MAX. */
struct bag_view {
    const uint64_t *hashes;
    const uint32_t *frequencies; /* NULL for a set: 1 each */
    size_t count;
    uint64_t length; /* terms with repetition */
    /* Set if the input itself weighs its terms (clicks, which may be fractions); frequencies are
     * then the rounded weights, at least 1. Also set if frequencies are expected values (bag_sum),
     * which bag_round_expected rounds. Otherwise NULL. */
    const float *weights;
};
static inline double bag_weight(const struct bag_view *bag, size_t i) {
    return bag->weights ? (double)bag->weights[i] : bag->frequencies[i];
}
/* The frequency that represents a weight of the input. */
static inline uint32_t bag_frequency(float weight) {
    if (!(weight >= 1))
        return 1;
    return weight < (float)UINT32_MAX ? (uint32_t)(weight + 0.5f) : UINT32_MAX;
}
cog_status bag_count(struct bag_counter *counter, const uint64_t *hashes, size_t count,
                     struct bag_view *bag, cog_error *error);
/* Sums positive values by term: a document whose frequencies are expected values, such as those of
 * a translation. The sums become the weights of the bag; its length is their rounded sum. */
cog_status bag_sum(struct bag_counter *counter, const uint64_t *hashes, const float *values,
                   size_t count, struct bag_view *bag, cog_error *error);
/* Whole frequencies for statistics, which count documents and occurrences. Each expected frequency
 * is rounded up with the probability of its fraction, so that sums over many documents match the
 * expected frequencies. A frequency of 0 is not counted. The randomness is a hash of terms and
 * length: the same document always gets the same frequencies, in any order of its terms. */
void bag_round_expected(const struct bag_view *bag, uint32_t *frequencies);
