/* Member sets: a document as the set of its terms, for Jaccard and containment.
 *
 * A member is the upper 48 bits of a term's hash; a set is a strictly ascending list of members.
 * For two documents of a thousand terms each, the probability that two different terms have the
 * same member is 4e-9.
 *
 * Encoding: a set of 32 members or more takes 32 bytes plus 5 bytes and 1 bit per member. Members
 * are grouped in buckets by their upper 8 bits; a bit string encodes the bucket sizes (one set bit
 * per member, one clear bit after each bucket), followed by the lower 40 bits of each member.
 * Smaller sets take 6 bytes per member. Equal sets have equal bytes. */
#pragma once

#include "base/error.h"

enum { MEMBER_BITS = 48 };

static inline uint64_t member_of_hash(uint64_t hash) {
    return hash >> (64 - MEMBER_BITS);
}

/* Turns the hashes of a document's terms, in any order and with repetition, into its set, in place.
 * `scratch` has room for `count` items. Returns the number of members. Linear time. */
size_t member_set_make(uint64_t *hashes, size_t count, uint64_t *scratch);

size_t member_set_bytes(size_t count);
/* Writes member_set_bytes(count) bytes. */
void member_set_encode(const uint64_t *members, size_t count, uint8_t *bytes);
/* From damaged bytes the members may be wrong, but there are always `count` of them, below 2^48.
 * Reads up to MEMBER_SET_SLACK bytes beyond the set, which must be readable. */
enum { MEMBER_SET_SLACK = 8 };
void member_set_decode(const uint8_t *bytes, size_t count, uint64_t *members);
/* Decodes only the first members: those in the first `share` of MEMBER_SHARES equal ranges of
 * values. Returns their number; `members` has room for `count`. */
enum { MEMBER_SHARES = 256 };
size_t member_set_decode_first(const uint8_t *bytes, size_t count, unsigned share,
                               uint64_t *members);

/* |a and b|, or any number below `least` if the overlap is below `least`. */
size_t member_set_overlap(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                          size_t least);
