#if defined(__x86_64__)
#include "search/keys/line_slots.h"

#include "search/keys/line_scan_loop.h"

size_t line_scan_popcnt(const struct line_table *table, const struct line_probes *probes,
                        unsigned radius_bits, struct line_ahead ahead, struct line_hit *hits) {
    return line_scan_loop(table, probes, radius_bits, ahead, hits);
}
#endif
