/* Random short signatures in clusters, with equal ones among them, and margins of their bits;
 * brute force over them is the oracle of the methods for short signatures. */
#pragma once

#include "base/hash.h"
#include "base/memory.h"
#include "search/hits/short_hits.h"

struct short_data {
    uint64_t *words;
    float *margins; /* rows x bits */
    struct signatures_view view;
};

/* Each row is one of `centres` random signatures with up to `spread` bits flipped. Flipped bits
 * have small margins, as those near zero flip most. */
static inline struct short_data short_data_make(uint64_t seed, uint64_t centre_seed, size_t rows,
                                                unsigned bits, size_t centres, unsigned spread) {
    struct short_data data = {memory_zeroed_array(rows * bits / 64, 8),
                              memory_array(rows * bits, sizeof(float)),
                              {NULL, rows, bits, bits / 8}};
    struct random random = random_seeded(seed);
    uint8_t *bytes = (uint8_t *)data.words;
    for (size_t row = 0; row < rows; row++) {
        uint64_t centre = random_below(&random, centres);
        for (unsigned w = 0; w < bits / 64; w++)
            data.words[row * (bits / 64) + w] = hash_sequence(hash_pair(centre_seed, centre), w);
        for (unsigned i = 0; i < bits; i++)
            data.margins[row * bits + i] = (float)random_unit(&random);
        for (uint64_t flips = random_below(&random, spread + 1); flips > 0; flips--) {
            uint64_t bit = random_below(&random, bits);
            bytes[row * (bits / 8) + bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
            data.margins[row * bits + bit] *= 0.1f;
        }
    }
    data.view.data = bytes;
    return data;
}

static inline void short_data_free(struct short_data *data) {
    free(data->words);
    free(data->margins);
}

/* All hits within the radius, by query and row. */
static inline struct match_list short_data_brute_force(const struct signatures_view *stored,
                                                       const struct signatures_view *queries,
                                                       unsigned radius_bits) {
    struct match_list hits = {0};
    for (size_t q = 0; q < queries->rows; q++)
        for (size_t row = 0; row < stored->rows; row++) {
            unsigned distance =
                short_key_distance(short_key_of_row(queries, q), short_key_of_row(stored, row));
            if (distance <= radius_bits)
                match_list_add(&hits, (struct match){(uint32_t)q, (uint32_t)row, distance, 0},
                               NULL);
        }
    return hits;
}

/* Sorts `found`. */
static inline bool short_hits_equal(struct match_list *found, const struct match_list *expected) {
    short_hits_sort(found, 0, 1, NULL);
    return found->count == expected->count &&
           (found->count == 0 ||
            memcmp(found->items, expected->items, found->count * sizeof *found->items) == 0);
}

/* Whether `first` has exactly one hit of `all` for every query that has any there. */
static inline bool short_hits_are_first_of(struct match_list *first, const struct match_list *all) {
    short_hits_sort(first, 0, 1, NULL);
    size_t next = 0;
    for (size_t i = 0; i < all->count;) {
        uint32_t query = all->items[i].a;
        bool member = false;
        if (next >= first->count || first->items[next].a != query)
            return false;
        for (; i < all->count && all->items[i].a == query; i++)
            member |= all->items[i].b == first->items[next].b &&
                      all->items[i].distance == first->items[next].distance;
        if (!member)
            return false;
        next++;
    }
    return next == first->count;
}

/* Whether the hits answer a search that wants all of them, or any one per query. */
static inline bool short_hits_answer(struct match_list *found, const struct match_list *expected,
                                     bool first_only) {
    return first_only ? short_hits_are_first_of(found, expected)
                      : short_hits_equal(found, expected);
}
