#include "vector/member_set.h"

#include <string.h>

#include "base/numbers.h"

enum {
    PLAIN_BELOW = 32, /* smaller sets are not cut into buckets */
    LOW_BITS = 40,
    BUCKETS = MEMBER_SHARES,
    DIGIT_BITS = 12,
    INSERTION_MOST = 8,         /* members that need no other sorting */
    FIRST_DIGIT_MOST = 64,      /* members that 6 bits tell apart, mostly */
    UPPER_DIGITS_MOST = 1 << 16 /* members that 16 bits tell apart, mostly */
};
_Static_assert(BUCKETS == 1 << (MEMBER_BITS - LOW_BITS), "a share is a bucket");

/* ---- Sorting --------------------------------------------------------------------------------- */

/* Sorts by the upper 6 bits: of a short text the insertion moves few members by few places then. */
static void sort_by_first_digit(uint64_t *items, size_t count, uint64_t *scratch) {
    enum { BITS = 6, DIGITS = 1 << BITS, UPPER = MEMBER_BITS - BITS };
    uint8_t starts[DIGITS + 1] = {0};
    _Static_assert(FIRST_DIGIT_MOST <= UINT8_MAX, "starts are bytes");
    for (size_t i = 0; i < count; i++)
        starts[(items[i] >> UPPER) + 1]++;
    for (size_t i = 1; i < DIGITS; i++)
        starts[i] = (uint8_t)(starts[i] + starts[i - 1]);
    for (size_t i = 0; i < count; i++)
        scratch[starts[items[i] >> UPPER]++] = items[i];
    memcpy(items, scratch, count * sizeof *items);
}

/* Sorts by the upper 16 bits, the lower digit first. What is left to the insertion is next to
 * nothing: the branch of a bucket sort that moves members within their bucket is not foreseen by
 * the processor and took half of the time. */
static void sort_by_upper_digits(uint64_t *items, size_t count, uint64_t *scratch) {
    enum { BITS = 8, DIGITS = 1 << BITS, UPPER = MEMBER_BITS - BITS, LOWER = UPPER - BITS };
    uint32_t upper[DIGITS] = {0}, lower[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) {
        upper[items[i] >> UPPER]++;
        lower[items[i] >> LOWER & (DIGITS - 1)]++;
    }
    for (uint32_t i = 0, upper_start = 0, lower_start = 0; i < DIGITS; i++) {
        const uint32_t in_upper = upper[i], in_lower = lower[i];
        upper[i] = upper_start;
        lower[i] = lower_start;
        upper_start += in_upper;
        lower_start += in_lower;
    }
    for (size_t i = 0; i < count; i++)
        scratch[lower[items[i] >> LOWER & (DIGITS - 1)]++] = items[i];
    for (size_t i = 0; i < count; i++)
        items[upper[scratch[i] >> UPPER]++] = scratch[i];
}

/* Least digit first; the even number of passes ends in `items`. */
static void sort_by_digits(uint64_t *items, size_t count, uint64_t *scratch) {
    enum { DIGITS = 1 << DIGIT_BITS };
    _Static_assert(MEMBER_BITS / DIGIT_BITS % 2 == 0, "the last pass writes to items");
    for (unsigned shift = 0; shift < MEMBER_BITS; shift += DIGIT_BITS) {
        size_t starts[DIGITS + 1] = {0};
        for (size_t i = 0; i < count; i++)
            starts[((items[i] >> shift) & (DIGITS - 1)) + 1]++;
        for (size_t i = 1; i < DIGITS; i++)
            starts[i] += starts[i - 1];
        for (size_t i = 0; i < count; i++)
            scratch[starts[(items[i] >> shift) & (DIGITS - 1)]++] = items[i];
        uint64_t *swap = items;
        items = scratch;
        scratch = swap;
    }
}

/* Insertion, which leaves out what is there already. Returns how many are left. */
static size_t insert_distinct(uint64_t *items, size_t count) {
    size_t kept = count > 0;
    for (size_t i = 1; i < count; i++) {
        const uint64_t item = items[i];
        size_t at = kept;
        while (at > 0 && items[at - 1] > item)
            at--;
        if (at > 0 && items[at - 1] == item)
            continue;
        for (size_t j = kept++; j > at; j--)
            items[j] = items[j - 1];
        items[at] = item;
    }
    return kept;
}

size_t member_set_make(uint64_t *hashes, size_t count, uint64_t *scratch) {
    for (size_t i = 0; i < count; i++)
        hashes[i] = member_of_hash(hashes[i]);
    if (count > UPPER_DIGITS_MOST)
        sort_by_digits(hashes, count, scratch);
    else if (count > FIRST_DIGIT_MOST)
        sort_by_upper_digits(hashes, count, scratch);
    else if (count > INSERTION_MOST)
        sort_by_first_digit(hashes, count, scratch);
    return insert_distinct(hashes, count);
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static size_t bucket_bytes(size_t count) {
    return (BUCKETS + count + 7) / 8;
}

size_t member_set_bytes(size_t count) {
    return count < PLAIN_BELOW ? count * (MEMBER_BITS / 8)
                               : bucket_bytes(count) + count * (LOW_BITS / 8);
}

/* Numbers are stored least byte first. */
static uint8_t *put_number(uint8_t *bytes, uint64_t number, unsigned size) {
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    return bytes + size;
}

void member_set_encode(const uint64_t *members, size_t count, uint8_t *bytes) {
    if (count < PLAIN_BELOW) {
        for (size_t i = 0; i < count; i++)
            bytes = put_number(bytes, members[i], MEMBER_BITS / 8);
        return;
    }
    memset(bytes, 0, bucket_bytes(count));
    for (size_t i = 0; i < count; i++) {
        size_t bit = i + (size_t)(members[i] >> LOW_BITS);
        bytes[bit / 8] |= (uint8_t)(1u << (bit % 8));
    }
    bytes += bucket_bytes(count);
    for (size_t i = 0; i + 1 < count; i++, bytes += LOW_BITS / 8)
        encode_u64(bytes, members[i]); /* the next member writes over the upper bytes */
    put_number(bytes, members[count - 1], LOW_BITS / 8);
}

/* Members of buckets below `buckets`, up to `count` of them: how many there are. */
static inline size_t decode_buckets(const uint8_t *bytes, size_t count, uint64_t buckets,
                                    uint64_t *members) {
    const uint64_t low_mask = ((uint64_t)1 << LOW_BITS) - 1;
    const uint8_t *lows = bytes + bucket_bytes(count);
    size_t taken = 0;
    for (size_t bit = 0; bit < BUCKETS + count && taken < count; bit += 64)
        for (uint64_t word = decode_u64(bytes + bit / 8); word && taken < count; word &= word - 1) {
            uint64_t bucket = bit + (size_t)__builtin_ctzll(word) - taken;
            uint64_t low = decode_u64(lows + taken * (LOW_BITS / 8)) & low_mask;
            if (buckets < BUCKETS && bucket >= buckets)
                return taken;
            members[taken++] = (bucket & (BUCKETS - 1)) << LOW_BITS | low;
        }
    return taken;
}

void member_set_decode(const uint8_t *bytes, size_t count, uint64_t *members) {
    if (count < PLAIN_BELOW) {
        for (size_t i = 0; i < count; i++)
            members[i] = decode_u64(bytes + i * (MEMBER_BITS / 8)) << 16 >> 16;
        return;
    }
    for (size_t taken = decode_buckets(bytes, count, BUCKETS, members); taken < count; taken++)
        members[taken] = 0; /* damaged */
}

size_t member_set_decode_first(const uint8_t *bytes, size_t count, unsigned share,
                               uint64_t *members) {
    if (count >= PLAIN_BELOW)
        return decode_buckets(bytes, count, share, members);
    size_t taken = 0;
    member_set_decode(bytes, count, members);
    while (taken < count && members[taken] >> LOW_BITS < share)
        taken++;
    return taken;
}

size_t member_set_overlap(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                          size_t least) {
    enum { LOOK_EVERY = 32 };
    size_t i = 0, j = 0, shared = 0;
    while (i < a_count && j < b_count) {
        size_t left = a_count - i < b_count - j ? a_count - i : b_count - j;
        if (shared + left < least)
            return shared;
        for (size_t step = left < LOOK_EVERY ? left : LOOK_EVERY; step > 0; step--) {
            uint64_t x = a[i], y = b[j];
            shared += x == y;
            i += x <= y;
            j += y <= x;
        }
    }
    return shared;
}
