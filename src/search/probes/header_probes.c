#include "search/probes/header_probes.h"

#include "base/cpu.h"

struct header_probes header_probes_of(const struct volatility *volatility, unsigned header_bits,
                                      unsigned flips_max, uint32_t from, uint32_t bound) {
    static header_probes_fill *const levels[CPU_LEVEL_COUNT] =
        CPU_TABLE(header_probes_portable, header_probes_portable, header_probes_portable,
                  header_probes_avx512, header_probes_portable);
    struct header_probes probes = {.volatility = volatility,
                                   .header_bits = header_bits,
                                   .flips_max = flips_max,
                                   .from = from,
                                   .bound = bound,
                                   .fill = levels[cpu_best_level()]};
    while (probes.cells < VOLATILITY_CELLS && volatility->penalties[probes.cells] <= bound)
        probes.cells++;
    return probes;
}

size_t header_probes_portable(const struct header_probes *probes, const float *margins,
                              uint32_t header, uint32_t *buckets, size_t capacity) {
    struct probe_bits bits;
    volatility_bits(probes->volatility, margins, probes->header_bits, probes->bound, &bits);
    return probes_between(&bits, probes->flips_max, probes->from, probes->bound, header, buckets,
                          capacity);
}
