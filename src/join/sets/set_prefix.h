/* Prefixes: the few members of each set by which a join finds its partners.
 *
 * All sets are taken in one order of members: rising count (member_counts.h), then rising member.
 * Let two sets share o members or more. The first member that they share, in this order, has o - 1
 * shared ones behind it in both sets, so it stands at place |x| - o or before (places count from
 * 0). The prefix of x is its first |x| - least + 1 places, where no partner of x shares fewer than
 * `least` members: two partners share a member of both prefixes. (Prefix filter: Chaudhuri, Ganti,
 * Kaushik, ICDE 2006.) Members with a count of 1 come first, fill places, and are not stored: no
 * other set has them. This holds for any order; rare members first keep posting lists short.
 *
 * For containment the larger set has no such prefix: the first shared member stands anywhere in
 * it. Its other members are stored too, as `rest`, if they are in the prefix of any document.
 *
 * Prefixes stay in memory if they fit, else in a scratch file. */
#pragma once

#include "join/sets/member_counts.h"
#include "join/sets/set_measure.h"

struct set_prefixes;

/* Prefixes of the rows whose mark is set (all if NULL), for partners at the measure's threshold. A
 * scratch file is made in the folder of `beside` if they take more than most_bytes. Checkpoints are
 * written on the way, and what an earlier job of these counts has made is taken. */
cog_status set_prefixes_make(const struct set_file *file, const struct member_counts *counts,
                             const uint8_t *marks, const struct set_measure *measure,
                             uint64_t most_bytes, const char *beside, unsigned threads,
                             struct join_checkpoints *checkpoints, struct set_prefixes **prefixes,
                             cog_error *error);
/* Whether an earlier job has made all of them, and they are undamaged: set_prefixes_make then needs
 * no counts (NULL). */
bool set_prefixes_are_saved(const struct join_checkpoints *checkpoints, size_t row_count);
/* A checkpoint of the whole, if there is none yet; checkpoints of the counts go. */
cog_status set_prefixes_save(struct set_prefixes *prefixes, struct join_checkpoints *checkpoints,
                             cog_error *error);
void set_prefixes_remove_saved(const struct join_checkpoints *checkpoints);
/* Accepts NULL. */
void set_prefixes_free(struct set_prefixes *prefixes);

/* Whether a row has stored members: a row without any has no partner. */
bool set_prefixes_has(const struct set_prefixes *prefixes, size_t row);
/* Stored members of all rows. */
uint64_t set_prefixes_members(const struct set_prefixes *prefixes);
uint64_t set_prefixes_memory_bytes(const struct set_prefixes *prefixes);
uint64_t set_prefixes_disk_bytes(const struct set_prefixes *prefixes);

/* A part of a document's prefix: `count` members, the first of them at place `place` of its set. */
struct prefix_part {
    const uint64_t *members;
    uint32_t count, place;
};

/* The prefix of one row; buffers are used again. Zero-initialise; set_prefix_free releases. */
struct set_prefix {
    struct prefix_part terms, words;
    struct prefix_part rest; /* of terms; containment only */
    uint64_t *members;
    size_t capacity;
    struct buffer bytes;
};
cog_status set_prefix_load(const struct set_prefixes *prefixes, size_t row,
                           struct set_prefix *prefix, cog_error *error);
void set_prefix_free(struct set_prefix *prefix);
