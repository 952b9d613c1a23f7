/* The buckets that a query of psm visits: its header with every set of bits flipped whose penalty
 * (see probes.h) lies in a range. The same sets as probes_within, straight from the weights and
 * into bucket numbers, for the headers of line tables; one call is a fraction of what a single
 * access to memory costs, so the CPU's own vector instructions do it where they can. */
#pragma once

#include "search/probes/volatility.h"

enum { HEADER_PROBES_SLACK = 16 /* written behind the last bucket */ };

struct header_probes;

/* Writes the buckets of a query whose first weights are those of the header's bits, at most
 * `capacity` and HEADER_PROBES_SLACK behind them; returns how many. Sets come by extension: all
 * that add one bit to the empty set (which comes first), then those that add one to the first of
 * these, and so on, bits in order of their penalty; every level writes the same. */
typedef size_t header_probes_fill(const struct header_probes *probes, const float *weights,
                                  uint32_t header, uint32_t *buckets, size_t capacity);

struct header_probes {
    const struct volatility *volatility; /* borrowed */
    unsigned header_bits;                /* at most 31 */
    unsigned flips_max;
    uint32_t from, bound; /* penalties of sets, both inclusive */
    unsigned cells;       /* of the volatility that are within the bound */
    header_probes_fill *fill;
};

struct header_probes header_probes_of(const struct volatility *volatility, unsigned header_bits,
                                      unsigned flips_max, uint32_t from, uint32_t bound);

header_probes_fill header_probes_portable;
header_probes_fill header_probes_avx512;
