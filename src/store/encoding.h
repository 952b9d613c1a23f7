/* Numbers as bytes: little-endian, at any address, the same on every machine. */
#pragma once

#include <stdint.h>
#include <string.h>

/* Arrays of numbers in sections are used as they lie in the map. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sections hold little-endian arrays");

static inline void encode_u32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline void encode_u64(uint8_t *bytes, uint64_t value) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t decode_u32(const uint8_t *bytes) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++)
        value |= (uint32_t)bytes[i] << (8 * i);
    return value;
}

static inline uint64_t decode_u64(const uint8_t *bytes) {
    return decode_u32(bytes) | (uint64_t)decode_u32(bytes + 4) << 32;
}
