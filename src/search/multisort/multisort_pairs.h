/* Finds pairs of short keys that agree in some bits and lie within a radius: the inner part of
 * multisort_join. Keys are distinct. A run that a table in cache does not spread is split by
 * further bits, so a skewed collection costs quadratic work only if its result is that large. */
#pragma once

#include "search/keys/key_set.h"

enum { PAIR_DIFFER_MAX = 48 };

/* The pairs that a step reports: they agree in all bits of `equal` and differ somewhere in each of
 * `differ`. The latter makes every pair belong to exactly one step. */
struct pair_step {
    short_key equal;
    short_key differ[PAIR_DIFFER_MAX];
    unsigned differ_count;
    unsigned radius_bits;
    short_key open;       /* bits in neither; runs may be split further by these */
    unsigned open_errors; /* the most differences in open bits that a wanted pair may have: each
                           * differing block has at least one */
};

struct key_pair {
    uint32_t u, v; /* ids of the keys */
    uint32_t distance;
};

/* One worker's memory. Zero-initialise; pair_finder_free releases. */
struct pair_finder {
    uint32_t *heads, *nexts;
    size_t head_capacity, next_capacity;
    struct key_pair *pairs; /* found so far; the caller takes them and sets pair_count to 0 */
    size_t pair_count, pair_capacity;
};

/* Adds the pairs of a step among keys [begin, end). Ids are the keys' rows, or their positions if
 * there are no rows. */
cog_status pair_finder_run(struct pair_finder *finder, const struct key_array *keys, size_t begin,
                           size_t end, const struct pair_step *step, cog_error *error);
void pair_finder_free(struct pair_finder *finder);

/* Splits the bits of `from` into blocks of nearly equal size, in order. */
void pair_blocks(short_key from, unsigned blocks, short_key *masks);

/* The steps that together find every pair of `base` once: one step per choice of `chosen` blocks,
 * for pairs whose first equal blocks are the chosen ones. The blocks cover the open bits of `base`
 * that vary at all; there are open_errors + chosen of them. Calls use(context, step, first block)
 * and ends at the first failure. */
typedef cog_status pair_step_use(void *context, const struct pair_step *step, unsigned first_block,
                                 cog_error *error);
cog_status pair_steps(const struct pair_step *base, const short_key *masks, unsigned blocks,
                      unsigned chosen, pair_step_use *use, void *context, cog_error *error);
