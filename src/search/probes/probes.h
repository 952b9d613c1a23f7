/* Probes: the keys that a query visits in addition to its own, as sets of key bits to flip.
 *
 * In: penalties of bits. Out: sets of bits as XOR masks. The penalty of a bit is its log-odds
 * log((1 - p) / p) against flipping, and a set costs the sum over its bits, so the probability of a
 * set (equation 6 of Sood and Loguinov, CIKM 2011) falls exactly as its penalty rises. Penalties
 * are fixed-point integers, so the order of two sets never depends on the CPU. volatility.h defines
 * where the probability of a bit comes from.
 *
 * There are three ways to enumerate the sets. probes_within and probes_between write every set
 * within a bound, not sorted by penalty. probe_heap (VOSH, Algorithm 2 of the paper) returns one
 * set at a time in ascending order. probes_ring returns the sets of one size. */
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

/* The bits of a key by ascending penalty, ties by position. Bit 0 is the highest bit of the key. */
struct probe_bits {
    unsigned count;
    uint32_t penalties[PROBE_BITS_MAX];
    uint64_t masks[PROBE_BITS_MAX]; /* XOR with the key flips the bit */
};

/* The penalty of a bit that flips with the given probability; 0 from one half on. Branch-free, so
 * that the compiler can vectorise loops over it. */
static inline uint32_t probe_penalty(double probability) {
    double penalty = portable_log((1 - probability) / probability) * PROBE_PENALTY_ONE + 0.5;
    penalty = penalty < PROBE_PENALTY_MAX ? penalty : PROBE_PENALTY_MAX;
    penalty = probability > 0 ? penalty : PROBE_PENALTY_MAX;
    penalty = probability < 0.5 ? penalty : 0;
    return (uint32_t)(int32_t)penalty;
}

/* penalties[i] belongs to bit i of a key of key_bits bits, at most PROBE_BITS_MAX. Bits with a
 * penalty above the bound are dropped, as no set contains them. */
void probe_bits_init(struct probe_bits *bits, const uint32_t *penalties, unsigned key_bits,
                     uint32_t bound);

/* Writes the XOR masks of all sets of at most flips_max bits whose penalties sum to at most
 * `bound`, the empty set first; also their penalties, unless that is NULL. Each set is followed by
 * the sets that extend it. Returns the number of sets, at most `capacity`; if masks is NULL, only
 * counts. O(1) per set. Masks have 32 bits, so keys have at most 32. */
size_t probes_within(const struct probe_bits *bits, unsigned flips_max, uint32_t bound,
                     uint32_t *masks, uint32_t *penalties, size_t capacity);
/* The same for penalties from `from` to `bound`, but writes `key` with the bits flipped. All sets
 * that extend one set by one bit come together, then the sets that extend the first of these, and
 * so on. */
size_t probes_between(const struct probe_bits *bits, unsigned flips_max, uint32_t from,
                      uint32_t bound, uint32_t key, uint32_t *keys, size_t capacity);

/* Writes the `count` smallest masks with exactly `flips` bits set, ascending. */
void probes_ring(unsigned flips, uint32_t *masks, size_t count);

enum { PROBE_RECALL_CELLS = 4096, PROBE_RECALL_CELL = PROBE_PENALTY_ONE / 64 };

/* The recall to expect from one bound for all queries: the probability of the sets at each penalty,
 * summed over a sample of queries. Zero-initialise. */
struct probe_recall {
    double shares[PROBE_RECALL_CELLS];
    double queries;
};

cog_status probe_recall_add(struct probe_recall *recall, const struct probe_bits *bits,
                            unsigned flips_max, cog_error *error);
/* The smallest bound (to a cell) at which the sampled queries expect the wanted recall on average;
 * PROBE_BOUND_NONE if the recall is 1. */
uint32_t probe_recall_bound(const struct probe_recall *recall, double wanted);

struct probe {
    uint64_t mask;
    uint32_t penalty;
    unsigned flips;
};

/* A set of bits, as a node of the heap. */
struct probe_set {
    uint32_t penalty;
    uint8_t size;
    uint8_t members[PROBE_FLIPS_MAX]; /* indices into the sorted bits, rising */
};

/* VOSH: sets of 1 to flips_max bits in order of ascending penalty; ties by size, then members. */
struct probe_heap {
    const struct probe_bits *bits; /* borrowed */
    struct probe_set *sets;
    size_t count, capacity;
};

/* Zero-initialise before the first use; a heap may be restarted and keeps its memory. */
cog_status probe_heap_start(struct probe_heap *heap, const struct probe_bits *bits,
                            unsigned flips_max, cog_error *error);
/* Sets *end, and leaves *probe unchanged, if no set remains. */
cog_status probe_heap_next(struct probe_heap *heap, struct probe *probe, bool *end,
                           cog_error *error);
void probe_heap_free(struct probe_heap *heap);
