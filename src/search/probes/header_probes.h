/* The buckets that a psm query visits: its header with every set of bits flipped whose penalty lies
 * in a range.
 *
 * In: the margins of the header's bits. Out: bucket numbers, for the sets of probes_between
 * (probes.h) with the learned volatility, in one call. A call costs a fraction of a memory access,
 * so an AVX-512 version of the enumeration extends a set by up to 16 bits per instruction;
 * bench_short prints what it saves ("header probes"). */
#pragma once

#include "search/probes/volatility.h"

enum { HEADER_PROBES_SLACK = 16 /* values written after the last bucket */ };

struct header_probes;

/* Writes at most `capacity` buckets, and up to HEADER_PROBES_SLACK values after them; returns the
 * number of buckets. Every level writes the same buckets in the same order. */
typedef size_t header_probes_fill(const struct header_probes *probes, const float *margins,
                                  uint32_t header, uint32_t *buckets, size_t capacity);

struct header_probes {
    const struct volatility *volatility; /* borrowed */
    unsigned header_bits;                /* at most 31 */
    unsigned flips_max;
    uint32_t from, bound; /* penalties of sets, both inclusive */
    unsigned cells;       /* cells of the volatility whose penalties are within the bound */
    header_probes_fill *fill;
};

struct header_probes header_probes_of(const struct volatility *volatility, unsigned header_bits,
                                      unsigned flips_max, uint32_t from, uint32_t bound);

header_probes_fill header_probes_portable;
header_probes_fill header_probes_avx512;
