/* Flips in one order across all tables: of all sets of up to three flipped bits in all tables, the
 * F * L sets most likely to find a row that no own key finds.
 *
 * Such a row agrees in at most one half-key. Let a_h be the probability that it agrees in half h. A
 * set of flips with penalty s in the table of halves g and h finds it with a probability
 * proportional to exp(-s) a_g / (1 - a_g) a_h / (1 - a_h), whichever bits of which half it flips.
 * So every half has its own sets, each with a cost, and a key costs the sum of its two sets: the
 * sets of a half are sorted once, and a table takes pairs of them while their sum is within a
 * bound. Penalties are fixed-point integers (search/probes/probes.h), so the order never depends on
 * the CPU. */
#pragma once

#include "base/cpu.h"
#include "search/lsh/lsh_keys.h"

struct lsh_across;

/* Scratch memory for rows of these options, which are borrowed; free with lsh_across_free. */
cog_status lsh_across_create(const struct lsh_options *options, struct lsh_across **across,
                             cog_error *error);
void lsh_across_free(struct lsh_across *across);

/* Writes flips * tables keys, unsorted. Among equal costs it prefers earlier tables, then fewer
 * flips, then likelier bits, then earlier bits. `margins` belong to the row's bits, `own` are its
 * own keys by table. */
void lsh_across_keys(struct lsh_across *across, const float *margins, const struct lsh_key *own,
                     struct lsh_key *keys);

/* Sets of flipped bits of a half-key, by cost; the last is a sentinel with the highest cost. */
struct flip_sets {
    int32_t *costs;
    uint32_t *flips; /* from FLIP_COUNT_SHIFT up: their number; below: the bits, as in the second
                        half of a key */
    size_t count;
};
enum { FLIP_COUNT_SHIFT = 28, FLIPS_MAX = 3, FLIP_SLACK = 16 /* written after the last */ };

/* Keys with their costs and tables. */
struct flip_keys {
    int32_t *costs;
    uint64_t *keys;
    uint32_t *tables;
    size_t count, most; /* stops after `most` */
};

/* The loops over a row's bits and keys, one implementation per instruction set; all return the same
 * numbers. */
struct flip_kernels {
    /* The cost of bits: penalties[i] = probe_penalty(p), differs[i] = p, the probability that bit i
     * differs in a row whose margins are scaled to `scale` standard deviations. */
    void (*penalties)(const float *margins, size_t count, double scale, uint32_t *penalties,
                      double *differs);
    /* The log-odds against these probabilities. */
    void (*costs)(const double *probabilities, size_t count, int32_t *costs);
    /* Adds the keys of a table that flip 1 to FLIPS_MAX bits and cost at most the bound. Halves
     * have half_bits bits; keys are left-aligned. */
    void (*collect)(struct flip_keys *keys, const struct flip_sets *first,
                    const struct flip_sets *second, struct lsh_key own, unsigned half_bits,
                    int32_t bound);
    /* The number of costs within the bound. */
    size_t (*count)(const int32_t *costs, size_t count, int32_t bound);
};
/* The table of one level, for tests; NULL if this build or machine has none. */
const struct flip_kernels *flip_kernels_for(enum cpu_level level);

extern const struct flip_kernels flip_kernels_portable;
extern const struct flip_kernels flip_kernels_avx2, flip_kernels_avx512;
