/* Verifies candidates: computes the true similarity of one document to others from their sets in a
 * file.
 *
 * One verifier per thread. set_verifier_begin sets the current document, set_verifier_compare
 * compares it with a candidate. The sets of candidates stay decoded in a cache, because the members
 * of a family of documents are compared repeatedly. A candidate ruled out by the sketches of both
 * sets costs a fiftieth of a comparison. From the fourth candidate on, the members of the current
 * document are in a hash table, where those of the candidate are looked up without a branch. */
#pragma once

#include "join/sets/set_measure.h"
#include "vector/set_file.h"

/* Bit h is set if an odd number of the set's terms have hash h. Two sketches differ in at most as
 * many bits as there are members in only one of the two sets, which bounds the overlap. */
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
    struct cached_sets *cache;              /* by the lower bits of rows */
    size_t cache_slots;                     /* a power of two */
    uint64_t cache_bytes, cache_bytes_most; /* of decoded sets in the cache */
    size_t evicted;                         /* the slot that was emptied last to make room */
    uint32_t row;                           /* the current document */
    bool is_loaded;
    struct loaded_sets own;
    struct set_sketch own_sketch;
    uint64_t *table;   /* its terms, in two halves */
    size_t table_mask; /* slots of a half, minus 1; 0: no table */
    size_t table_capacity;
    uint64_t compared;   /* candidates of the current document */
    struct buffer bytes; /* of the sets loaded last, encoded */
};

/* The size of a cache slot for sets with this number of members. */
uint64_t set_verifier_slot_bytes(uint64_t members);
cog_status set_verifier_init(struct set_verifier *verifier, const struct set_file *file,
                             size_t cache_slots, uint64_t cache_bytes_most, cog_error *error);
void set_verifier_free(struct set_verifier *verifier);

void set_verifier_begin(struct set_verifier *verifier, uint32_t row);
/* Similarities below the measure's threshold may be returned as any value below it. If either text
 * is too short for n-grams, the pair is compared by words. */
cog_status set_verifier_compare(struct set_verifier *verifier, uint32_t other,
                                const struct set_measure *measure, double *similarity,
                                cog_error *error);

cog_status set_pair_similarity(const struct set_file *file, uint32_t a, uint32_t b,
                               const struct set_measure *measure, double *similarity,
                               cog_error *error);
