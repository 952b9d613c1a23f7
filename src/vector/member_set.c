#include "vector/member_set.h"

#include <string.h>

#include "base/numbers.h"

enum {
    PLAIN_BELOW = 32, /* smaller sets are not cut into buckets */
    LOW_BITS = 40,
    BUCKETS = MEMBER_SHARES,
    DIGIT_BITS = 12,
    INSERTION_MOST = 8,    /* members that need no other sorting */
    FIRST_DIGIT_MOST = 40, /* members that 6 bits tell apart, mostly */
    START_BITS_MOST = 14,
    STARTS_MOST = 1 << START_BITS_MOST /* members that these bits tell apart, mostly */
};
_Static_assert(BUCKETS == 1 << (MEMBER_BITS - LOW_BITS), "a share is a bucket");

/* ---- Sorting --------------------------------------------------------------------------------- */

/* Sorts by the upper 6 bits, into `sorted`: of a short text the insertion moves few members by few
 * places then. */
static void sort_by_first_digit(const uint64_t *items, size_t count, uint64_t *sorted) {
    enum { BITS = 6, DIGITS = 1 << BITS, UPPER = MEMBER_BITS - BITS };
    uint8_t starts[DIGITS + 1] = {0};
    _Static_assert(FIRST_DIGIT_MOST <= UINT8_MAX, "starts are bytes");
    for (size_t i = 0; i < count; i++)
        starts[(items[i] >> UPPER) + 1]++;
    for (size_t i = 1; i < DIGITS; i++)
        starts[i] = (uint8_t)(starts[i] + starts[i - 1]);
    for (size_t i = 0; i < count; i++)
        sorted[starts[items[i] >> UPPER]++] = items[i];
}

/* Turns counts into starts: the sums of those before. Four at once, in the lanes of a word; sums
 * stay below 2^16. */
static void add_up(uint16_t *counts, size_t size) {
    const uint64_t lanes = 0x0001000100010001;
    uint64_t before = 0;
    for (size_t i = 0; i < size; i += 4) {
        uint64_t word;
        memcpy(&word, &counts[i], sizeof word);
        const uint64_t sums = word * lanes; /* a lane has its count and those of the lanes below */
        word = before * lanes + (sums << 16);
        memcpy(&counts[i], &word, sizeof word);
        before += sums >> 48;
    }
}

/* Sorts by upper bits, into `sorted`; they have two to four values per member. What is
 * left to the insertion is then one member in about twelve; its branch is not foreseen by the
 * processor. */
static void sort_by_upper_bits(const uint64_t *items, size_t count, uint64_t *sorted) {
    uint16_t starts[STARTS_MOST];
    const unsigned wanted = 65 - (unsigned)__builtin_clzll(count);
    const unsigned bits = wanted < START_BITS_MOST ? wanted : START_BITS_MOST;
    const unsigned shift = MEMBER_BITS - bits;
    _Static_assert(STARTS_MOST <= UINT16_MAX, "starts have 16 bits");
    memset(starts, 0, sizeof *starts << bits);
    for (size_t i = 0; i < count; i++)
        starts[items[i] >> shift]++;
    add_up(starts, (size_t)1 << bits);
    for (size_t i = 0; i < count; i++)
        sorted[starts[items[i] >> shift]++] = items[i];
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

/* Puts a member into its place among those before it, unless it is there. Returns how many there
 * are then. */
static size_t insert_one(uint64_t *items, size_t count, uint64_t item) {
    size_t at = count;
    while (at > 0 && items[at - 1] > item)
        at--;
    if (at > 0 && items[at - 1] == item)
        return count;
    for (size_t i = count; i > at; i--)
        items[i] = items[i - 1];
    items[at] = item;
    return count + 1;
}

/* Insertion, which leaves out what is there already. Returns how many are left; `from` may be
 * `items`. Repeated members are common, so that they take no branch. */
static size_t insert_distinct(const uint64_t *from, size_t count, uint64_t *items) {
    size_t kept = 0;
    uint64_t last = UINT64_MAX; /* no member */
    for (size_t i = 0; i < count; i++) {
        const uint64_t item = from[i];
        if (item < last && kept > 0) {
            kept = insert_one(items, kept, item);
            continue;
        }
        items[kept] = item;
        kept += item != last;
        last = item;
    }
    return kept;
}

size_t member_set_make(uint64_t *hashes, size_t count, uint64_t *scratch) {
    for (size_t i = 0; i < count; i++)
        hashes[i] = member_of_hash(hashes[i]);
    if (count > STARTS_MOST) {
        sort_by_digits(hashes, count, scratch);
    } else if (count > FIRST_DIGIT_MOST) {
        sort_by_upper_bits(hashes, count, scratch);
        return insert_distinct(scratch, count, hashes);
    } else if (count > INSERTION_MOST) {
        sort_by_first_digit(hashes, count, scratch);
        return insert_distinct(scratch, count, hashes);
    }
    return insert_distinct(hashes, count, hashes);
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
