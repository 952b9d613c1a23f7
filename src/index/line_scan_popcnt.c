#if defined(__x86_64__)
#include "index/line_slots.h"

#include "index/line_scan_loop.h"

size_t line_scan_popcnt(const struct line_table *table, const struct line_probes *probes,
                        unsigned radius_bits, struct line_ahead ahead, struct line_hit *hits) {
    return line_scan_loop(table, probes, radius_bits, ahead, hits);
}
#endif
