/* Prefixes: the few members of each set by which a join finds its partners.
 *
 * The members of all sets are in one order: ascending count (member_counts.h), then ascending
 * member. Let two sets share o members or more. The first member that they share, in this order, is
 * followed by o - 1 shared ones in both sets, so it is at place |x| - o or earlier (places count
 * from 0). The prefix of x is its first |x| - least + 1 places, where every partner of x shares at
 * least `least` members. Two partners then share a member of both prefixes. (Prefix filter:
 * Chaudhuri, Ganti, Kaushik, ICDE 2006.) Members with a count of 1 come first and take places but
 * are not stored, as no other set has them. This holds for any order; rare members first keep
 * posting lists short.
 *
 * For containment the larger set has no such prefix: the first shared member may be anywhere in it.
 * Its other members are stored too, as `rest`, if they are in the prefix of any document.
 *
 * Prefixes stay in memory if they fit, otherwise in a scratch file. */
#pragma once

#include "join/sets/member_counts.h"
#include "join/sets/set_measure.h"

struct set_prefixes;

/* Makes the prefixes of the rows whose mark is set (all if NULL), for partners at the measure's
 * threshold. If they take more than most_bytes, a scratch file is created in the folder of
 * `near_path`. Writes checkpoints, and continues from those of an earlier job with the same counts.
 */
cog_status set_prefixes_make(const struct set_file *file, const struct member_counts *counts,
                             const uint8_t *marks, const struct set_measure *measure,
                             uint64_t most_bytes, const char *near_path, unsigned threads,
                             struct join_checkpoints *checkpoints, struct set_prefixes **prefixes,
                             cog_error *error);
/* Whether an earlier job made all of them and they are undamaged; set_prefixes_make then needs no
 * counts (NULL). */
bool set_prefixes_are_saved(const struct join_checkpoints *checkpoints, size_t row_count);
/* Writes a checkpoint of the whole unless there is one, and removes the checkpoints of the counts.
 */
cog_status set_prefixes_save(struct set_prefixes *prefixes, struct join_checkpoints *checkpoints,
                             cog_error *error);
void set_prefixes_remove_saved(const struct join_checkpoints *checkpoints);
/* Accepts NULL. */
void set_prefixes_free(struct set_prefixes *prefixes);

/* Whether a row has stored members: a row without any has no partner. */
bool set_prefixes_has(const struct set_prefixes *prefixes, size_t row);
/* The total number of stored members. */
uint64_t set_prefixes_members(const struct set_prefixes *prefixes);
uint64_t set_prefixes_memory_bytes(const struct set_prefixes *prefixes);
uint64_t set_prefixes_disk_bytes(const struct set_prefixes *prefixes);

/* A part of a document's prefix: `count` members, starting at place `place` of its set. */
struct prefix_part {
    const uint64_t *members;
    uint32_t count, place;
};

/* The prefix of one row, with reusable buffers. Zero-initialise; set_prefix_free releases. */
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
