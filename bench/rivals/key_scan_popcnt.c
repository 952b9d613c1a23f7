#if defined(__x86_64__)
#include "rivals/key_scan.h"

size_t key_scan_popcnt(const uint64_t *keys, unsigned words, size_t begin, size_t end,
                       short_key key, short_key header, unsigned radius_bits) {
    if (words == 1)
        return key_scan_loop(keys, 1, begin, end, key, header, radius_bits);
    return key_scan_loop(keys, 2, begin, end, key, header, radius_bits);
}
#endif
