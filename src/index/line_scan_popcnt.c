#if defined(__x86_64__)
#include "index/line_scan_loop.h"

size_t line_scan_popcnt(const struct line_table *table, const uint32_t *buckets, size_t count,
                        uint32_t filter, unsigned radius_bits, struct line_ahead ahead,
                        struct line_hit *hits) {
    return line_scan_loop(table, buckets, count, filter, radius_bits, ahead, hits);
}
#endif
