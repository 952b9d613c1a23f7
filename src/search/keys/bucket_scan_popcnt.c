#if defined(__x86_64__)
#include "search/keys/bucket_scan_loop.h"

size_t bucket_scan_popcnt(const struct bucket_table *table, const struct bucket_probes *probes,
                          unsigned radius_bits, struct bucket_ahead ahead,
                          struct bucket_hit *hits) {
    return bucket_scan_loop(table, probes, radius_bits, ahead, hits, bucket_slots_near_each);
}
#endif
