/* What every exact join takes and reports, and the frame that all share: options are checked, each
 * worker lists its matches, and the lists are put together. A join finds all pairs of rows whose
 * measure is at or above the threshold, misses none, and lists each once, sorted by rows. */
#pragma once

#include "search/hits/hit_lists.h"

struct cosine_plan;
struct cosine_tails;

/* How much a join had to do; the same for every number of threads. */
struct join_work {
    uint64_t postings;   /* entries of posting lists visited */
    uint64_t candidates; /* pairs of different rows that were met there */
    uint64_t verified;   /* pairs whose measure was computed */
};

struct join_options {
    double threshold;       /* above 0, at most 1; compared with the measure before rounding */
    unsigned threads;       /* 0 means all */
    struct join_work *work; /* filled unless NULL */
    /* Cosine joins: what bounds expect of the tails of rows (cosine_join.h), for the cuts of the
     * joined matrices. NULL: the worst, and no pair is missed. */
    const struct cosine_tails *tails;
    size_t max_matches; /* more are COG_ERR_MEMORY; 0 is no limit */
    /* Cosine joins of blocks: the plan for all rows, in place of threshold and tails. NULL: made
     * for the rows of the join. */
    const struct cosine_plan *plan;
    const struct match_sieve *sieve; /* the last word about matches; may be NULL */
    uint64_t memory_bytes;           /* of posting lists, about; 0: as fast as possible */
    /* Cosine joins: NULL, or where the norms of the tails of the rows a stay for the next join of
     * the same rows; NULL there at first, free() it. */
    float **kept_lengths;
};

/* What one worker finds; workers write to different cache lines. */
struct join_part {
    struct match_list matches;
    struct join_work work;
    uint64_t unused[5];
};

struct join_parts {
    struct join_part *items; /* one per worker */
    unsigned threads;
    size_t listed; /* matches of all workers; atomic */
};

/* Checks the threshold and makes a part per worker. The parts stay where they are until
 * join_finish, which is called in any case. */
cog_status join_start(struct join_parts *parts, const struct join_options *options,
                      cog_error *error);
/* If status is COG_OK, moves all matches and counts to `matches` and options->work, sorted; else
 * empties `matches`. Releases the parts and returns the status. */
cog_status join_finish(struct join_parts *parts, const struct join_options *options,
                       cog_status status, struct match_list *matches, cog_error *error);
