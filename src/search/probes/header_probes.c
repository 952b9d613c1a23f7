#include "search/probes/header_probes.h"

#include "base/cpu.h"

struct header_probes header_probes_of(const struct volatility *volatility, unsigned header_bits,
                                      unsigned flips_max, uint32_t from, uint32_t bound) {
    struct header_probes probes = {.volatility = volatility,
                                   .header_bits = header_bits,
                                   .flips_max = flips_max,
                                   .from = from,
                                   .bound = bound,
                                   .fill = header_probes_portable};
    while (probes.cells < VOLATILITY_CELLS && volatility->penalties[probes.cells] <= bound)
        probes.cells++;
#if defined(__x86_64__)
    if (cpu_best_level() == CPU_AVX512)
        probes.fill = header_probes_avx512;
#endif
    return probes;
}

struct filling {
    struct probe_bits bits;
    uint32_t *buckets;
    size_t count, capacity;
};

/* All extensions of a set by one bit, then the extensions of these. `from` is what a bit must add
 * at least to be written. */
static void extend(struct filling *filling, unsigned first, unsigned flips_left, uint32_t from,
                   uint32_t left, uint32_t bucket) {
    const struct probe_bits *bits = &filling->bits;
    unsigned end = first;
    for (; end < bits->count && bits->penalties[end] <= left; end++)
        if (bits->penalties[end] >= from && filling->count < filling->capacity)
            filling->buckets[filling->count++] = bucket ^ (uint32_t)bits->masks[end];
    for (unsigned i = first; flips_left > 1 && i + 1 < end; i++) {
        uint32_t penalty = bits->penalties[i];
        if (bits->penalties[i + 1] > left - penalty || filling->count == filling->capacity)
            return;
        extend(filling, i + 1, flips_left - 1, from > penalty ? from - penalty : 0, left - penalty,
               bucket ^ (uint32_t)bits->masks[i]);
    }
}

size_t header_probes_portable(const struct header_probes *probes, const float *weights,
                              uint32_t header, uint32_t *buckets, size_t capacity) {
    uint32_t penalties[PROBE_BITS_MAX];
    for (unsigned i = 0; i < probes->header_bits; i++)
        penalties[i] = volatility_penalty(probes->volatility, weights[i]);
    struct filling filling = {.buckets = buckets, .capacity = capacity};
    probe_bits_init(&filling.bits, penalties, probes->header_bits, probes->bound);
    if (probes->from == 0 && capacity > 0)
        buckets[filling.count++] = header;
    if (probes->flips_max > 0)
        extend(&filling, 0, probes->flips_max, probes->from, probes->bound, header);
    return filling.count;
}
