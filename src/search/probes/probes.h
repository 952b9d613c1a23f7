/* The keys that a query visits besides its own: sets of key bits to flip, most probable first. A
 * bit's penalty is its log-odds log((1 - p) / p) against flipping, and a set S costs the sum over
 * its bits, so p(u, S) (equation 6 of "Probabilistic near-duplicate detection using simhash", Sood
 * and Loguinov, CIKM 2011) falls exactly as the sum rises. Penalties are fixed-point integers: the
 * order of two sets never depends on the CPU.
 *
 * There are two forms. probe_heap is the paper's VOSH (Algorithm 2 with the max-heap M), one set at
 * a time in order. probes_within writes every set below a bound in place: the same sets, no heap,
 * no order. */
#pragma once

#include "base/error.h"
#include "base/numbers.h"

enum {
    PROBE_BITS_MAX = 64,          /* of a key */
    PROBE_FLIPS_MAX = 8,          /* of a set */
    PROBE_PENALTY_ONE = 1 << 16,  /* a log-odds of 1 */
    PROBE_PENALTY_MAX = 1 << 24,  /* eight of these still fit 32 bits */
    PROBE_BOUND_NONE = 0x7fffffff /* every set passes */
};

/* The bits of a key, least penalty first, ties by position. Bit 0 is the highest of the key's bits.
 */
struct probe_bits {
    unsigned count;
    uint32_t penalties[PROBE_BITS_MAX];
    uint64_t masks[PROBE_BITS_MAX]; /* what XOR with the key flips the bit */
};

/* The penalty of a bit that flips with the given probability; 0 for probabilities of one half and
 * more. Without branches, so that loops over it become vectors. */
static inline uint32_t probe_penalty(double probability) {
    double penalty = portable_log((1 - probability) / probability) * PROBE_PENALTY_ONE + 0.5;
    penalty = penalty < PROBE_PENALTY_MAX ? penalty : PROBE_PENALTY_MAX;
    penalty = probability > 0 ? penalty : PROBE_PENALTY_MAX;
    penalty = probability < 0.5 ? penalty : 0;
    return (uint32_t)(int32_t)penalty;
}

/* penalties[i] belongs to bit i of a key of key_bits (at most PROBE_BITS_MAX) bits; bits above the
 * bound are in no set and left out. */
void probe_bits_init(struct probe_bits *bits, const uint32_t *penalties, unsigned key_bits,
                     uint32_t bound);

/* Writes the XOR masks of all sets of at most flips_max bits whose penalties sum to the bound or
 * less, the empty set first, and returns how many; stops at the capacity. O(1) a set. */
size_t probes_within(const struct probe_bits *bits, unsigned flips_max, uint32_t bound,
                     uint64_t *masks, size_t capacity);

enum { PROBE_RECALL_CELLS = 4096, PROBE_RECALL_CELL = PROBE_PENALTY_ONE / 64 };

/* The recall that one bound for all queries gives: how much of the probability of its sets a query
 * has at which penalty, summed over a sample of queries. Zero-initialise. */
struct probe_recall {
    double shares[PROBE_RECALL_CELLS];
    double queries;
};

cog_status probe_recall_add(struct probe_recall *recall, const struct probe_bits *bits,
                            unsigned flips_max, cog_error *error);
/* The least bound (to a cell) at which the sampled queries expect the wanted recall on average;
 * PROBE_BOUND_NONE for a recall of 1. */
uint32_t probe_recall_bound(const struct probe_recall *recall, double wanted);

struct probe {
    uint64_t mask;
    uint32_t penalty;
    unsigned flips;
};

/* One subset of the sorted bits, as a node of the heap. */
struct probe_set {
    uint32_t penalty;
    uint8_t size;
    uint8_t members[PROBE_FLIPS_MAX]; /* indices into the sorted bits, rising */
};

/* VOSH: sets of 1 to flips_max bits in order of rising penalty; ties by size, then members. */
struct probe_heap {
    const struct probe_bits *bits; /* borrowed */
    struct probe_set *sets;
    size_t count, capacity;
};

/* Zero-initialise before the first use; a heap may be started again and keeps its memory. */
cog_status probe_heap_start(struct probe_heap *heap, const struct probe_bits *bits,
                            unsigned flips_max, cog_error *error);
/* *end is set, and *probe left alone, when no set remains. */
cog_status probe_heap_next(struct probe_heap *heap, struct probe *probe, bool *end,
                           cog_error *error);
void probe_heap_free(struct probe_heap *heap);
