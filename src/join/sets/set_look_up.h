/* How the documents of a set join (set_join.h) find their partners. A document looks up the members
 * of its prefix in the posting lists of earlier documents, and candidates are verified on their
 * sets. Rounds (set_rounds.h) determine which documents are listed when.
 *
 * Threads look up concurrently, each with its own seeker, while none adds to the lists. */
#pragma once

#include "join/candidates.h"
#include "join/sets/join_checkpoint.h"
#include "join/sets/set_index.h"
#include "join/sets/set_join.h"
#include "join/sets/set_prefix.h"
#include "join/sets/set_verify.h"

#define NO_RANK UINT32_MAX

/* The state of one thread. */
struct seeker {
    struct set_prefix prefix;
    struct set_verifier verifier;
    uint32_t prefix_rank; /* rank of the loaded prefix */
    struct candidates candidates;
    struct match_list pairs;
    struct heavy_member heavy;
    uint64_t comparisons, verified;
};

/* Jaccard only. Let x be the smaller of two partners. They share at least the minimum overlap of
 * two sets of the size of x, so their first shared member is among the first places of x, about
 * half of its prefix: the near places. Postings of near places and of far places are in separate
 * lists, and two far places are never compared. In a family of documents below the threshold,
 * shared members are often only in far places. */
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
    uint32_t *skips;   /* connected: for each posting, a later one of its list; all postings between
                          them belong to its component */
    uint64_t *nearest; /* the similarity's bits, then the complement of the rank; atomic */
    struct seeker *seekers;
    const uint32_t *ranks; /* of the current block */
    size_t block_first;    /* the first posting of the current block */
    size_t listed_pairs;   /* atomic: shared by the lists of pairs */
    struct join_checkpoints checkpoints;
};

static inline const struct set_row *row_of(const struct joining *joining, uint32_t rank) {
    return &joining->file->rows[joining->order[rank]];
}

/* Whether a document has found the representative that it belongs to. */
static inline bool is_done(const struct joining *joining, uint32_t rank) {
    return joining->options->mode == SET_JOIN_REPRESENTATIVES &&
           joining->result->partner[rank] != rank;
}

/* The first rank of a component. */
uint32_t component_of(uint32_t *parents, uint32_t rank);
/* Keeps the largest similarity, and among equal ones the smallest rank, in any order of calls. */
void note_nearest(struct joining *joining, uint32_t rank, uint32_t other, double similarity);
/* The number of near places of a set. For containment all places are near. */
uint64_t near_places(const struct joining *joining, uint64_t size);

cog_status load_prefix(const struct joining *joining, struct seeker *seeker, uint32_t rank,
                       cog_error *error);
/* Compares a document with the documents of the index: of the current block (`local`), or of
 * earlier ones. */
cog_status look_up(struct joining *joining, struct seeker *seeker, uint32_t rank, bool local,
                   cog_error *error);
/* Looks up the documents of the current block, for parallel_for. */
cog_status look_up_ranks(void *joining, unsigned worker, size_t begin, size_t end,
                         cog_error *error);
