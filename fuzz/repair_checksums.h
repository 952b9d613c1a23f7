/* Puts the right checksums into a container whose bytes were changed: they would stop nearly every
 * mutation at the door. */
#pragma once

#include "base/hash.h"
#include "base/numbers.h"

static inline void repair_checksums(uint8_t *data, size_t size) {
    if (size < 64)
        return;
    encode_u64(data + 32, size);
    uint64_t table = decode_u64(data + 24);
    for (uint64_t at = table; table <= size && at + 32 <= size; at += 32) {
        uint64_t offset = decode_u64(data + at + 8), length = decode_u64(data + at + 16);
        if (offset <= size && length <= size - offset)
            encode_u64(data + at + 24, hash_bytes(data + offset, length));
    }
    if (table <= size)
        encode_u64(data + 40, hash_bytes(data + table, size - table));
    encode_u64(data + 56, hash_bytes(data, 56));
}
