/* How the documents of a set join (set_join.h) find their partners: a document looks up the members
 * of its prefix in the posting lists of documents before it, and candidates are verified on their
 * sets. Rounds (set_rounds.h) say when which documents are listed.
 *
 * Threads look up at once, each with a seeker of its own, while nobody adds to the lists. */
#pragma once

#include "join/candidates.h"
#include "join/sets/join_checkpoint.h"
#include "join/sets/set_index.h"
#include "join/sets/set_join.h"
#include "join/sets/set_prefix.h"
#include "join/sets/set_verify.h"

#define NO_RANK UINT32_MAX

/* One thread's part. */
struct seeker {
    struct set_prefix prefix;
    struct set_verifier verifier;
    uint32_t prefix_rank; /* whose prefix is loaded */
    struct candidates candidates;
    struct match_list pairs;
    struct heavy_member heavy;
    uint64_t comparisons, verified;
};

/* Jaccard. Let x be the smaller of two partners. They share what two sets of the size of x must
 * share at least, so the first member that they share is even among the first places of x, about
 * half of its prefix: the near places. Postings of near places and of far places are in lists of
 * their own, and two far places are never compared. In a family of documents that lies below the
 * threshold, what its members share is often only in far places. */
static const uint64_t far_lists = 0x5bd1e995c2b2;

struct joining {
    const struct set_file *file;
    const uint32_t *order;
    const struct set_join_options *options;
    struct set_measure lowest; /* the measure at the floor */
    uint64_t candidates_most;
    double share; /* needed overlap per member of both sets, rounded down */
    struct job *job;
    struct set_join_result *result;
    struct set_prefixes *prefixes;
    struct set_index index;
    uint32_t *skips;   /* connected: of a posting, a later one of its list; between them are only
                          postings of its component */
    uint64_t *nearest; /* similarity as bits, then the complement of the rank; atomic */
    struct seeker *seekers;
    const uint32_t *ranks; /* of the block at hand */
    size_t block_first;    /* the first posting of the block at hand */
    size_t listed_pairs;   /* atomic: what the lists of pairs share */
    struct join_checkpoints checkpoints;
};

static inline const struct set_row *row_of(const struct joining *joining, uint32_t rank) {
    return &joining->file->rows[joining->order[rank]];
}

/* Whether a document has found the representative that it goes for. */
static inline bool is_done(const struct joining *joining, uint32_t rank) {
    return joining->options->mode == SET_JOIN_REPRESENTATIVES &&
           joining->result->partner[rank] != rank;
}

/* The first rank of a component. */
uint32_t component_of(uint32_t *parents, uint32_t rank);
/* Keeps the largest similarity, and of equal ones the smallest rank, whoever comes first. */
void note_nearest(struct joining *joining, uint32_t rank, uint32_t other, double similarity);
/* The number of near places of a set. For containment all places are near. */
uint64_t near_places(const struct joining *joining, uint64_t size);

cog_status load_prefix(const struct joining *joining, struct seeker *seeker, uint32_t rank,
                       cog_error *error);
/* Compares a document with what the index has: of the block at hand (`local`), or of earlier
 * ones. */
cog_status look_up(struct joining *joining, struct seeker *seeker, uint32_t rank, bool local,
                   cog_error *error);
/* The documents of the block at hand, for parallel_for. */
cog_status look_up_ranks(void *joining, unsigned worker, size_t begin, size_t end,
                         cog_error *error);
