/* Verifies candidates: the true similarity of one document to others, on their sets in a file.
 *
 * One verifier per thread. set_verifier_begin names the document at hand, set_verifier_compare its
 * candidates one by one. Sets of candidates stay decoded in a cache, because the members of a
 * family of documents are compared again and again. A candidate that the sketches of both sets
 * rule out costs a fiftieth of a comparison; from the fourth candidate on the members of the
 * document at hand stand in a hash table, where those of a candidate are looked up without a
 * branch. */
#pragma once

#include "join/sets/set_measure.h"
#include "vector/set_file.h"

/* Which hashes an odd number of a set's terms have. Two sketches differ in at most as many bits as
 * their sets have members of only one of them, which bounds the overlap. */
struct set_sketch {
    uint64_t words[8];
};

struct cached_sets {
    uint32_t row;
    struct loaded_sets sets;
    struct set_sketch sketch;
};

/* Zero-initialise; set_verifier_free releases. */
struct set_verifier {
    const struct set_file *file;
    struct cached_sets *cache; /* by the lower bits of rows */
    size_t cache_slots;        /* a power of two */
    uint32_t row;              /* the document at hand */
    bool is_loaded;
    struct loaded_sets own;
    struct set_sketch own_sketch;
    uint64_t *table;   /* its terms, in two halves */
    size_t table_mask; /* places of a half less 1; 0: there is no table */
    size_t table_capacity;
    uint64_t compared;   /* candidates of the document at hand */
    struct buffer bytes; /* of the sets that were loaded last, encoded */
};

/* What one slot of the cache takes, if a set has that many members. */
uint64_t set_verifier_slot_bytes(uint64_t members);
cog_status set_verifier_init(struct set_verifier *verifier, const struct set_file *file,
                             size_t cache_slots, cog_error *error);
void set_verifier_free(struct set_verifier *verifier);

void set_verifier_begin(struct set_verifier *verifier, uint32_t row);
/* Similarities below the measure's threshold may come out as anything below it. A pair with a text
 * that is too short for n-grams is compared by its words. */
cog_status set_verifier_compare(struct set_verifier *verifier, uint32_t other,
                                const struct set_measure *measure, double *similarity,
                                cog_error *error);

/* The similarity of two rows by the measure. */
cog_status set_pair_similarity(const struct set_file *file, uint32_t a, uint32_t b,
                               const struct set_measure *measure, double *similarity,
                               cog_error *error);
