/* Options, results and common frame of the exact joins. A join finds all pairs of rows whose
 * measure is at or above the threshold, misses none, and lists each once, sorted by rows. The frame
 * checks the options, gives each worker its own list of matches, and merges the lists. */
#pragma once

#include "search/hits/hit_lists.h"

struct cosine_plan;
struct cosine_tails;

/* The work done by a join; the same for any number of threads. */
struct join_work {
    uint64_t postings;   /* entries of posting lists visited */
    uint64_t candidates; /* pairs of different rows met there */
    uint64_t verified;   /* pairs whose measure was computed */
};

struct join_options {
    double threshold;       /* in (0, 1]; compared with the measure before rounding */
    unsigned threads;       /* 0 means all */
    struct join_work *work; /* filled unless NULL */
    /* Cosine joins: assumed upper bounds on the tails of rows (cosine_join.h), for the cuts of the
     * joined matrices. NULL: the worst case, and no pair is missed. */
    const struct cosine_tails *tails;
    size_t max_matches; /* if exceeded, COG_ERR_MEMORY; 0: no limit */
    /* Cosine joins of blocks: one plan for all rows, instead of threshold and tails. NULL: plan for
     * the rows of this join. */
    const struct cosine_plan *plan;
    const struct match_sieve *sieve; /* filters matches at the end; may be NULL */
    uint64_t memory_bytes;           /* approximate size of posting lists; 0: as fast as possible */
    /* Cosine joins: if not NULL, keeps the norms of the tails of the rows a for the next join of
     * the same rows. Initially *kept_lengths is NULL; free() it. */
    float **kept_lengths;
};

/* One worker's results, padded to whole cache lines because workers write concurrently. */
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

/* Checks the threshold and creates a part per worker. The parts must not move until join_finish,
 * which must be called in any case. */
cog_status join_start(struct join_parts *parts, const struct join_options *options,
                      cog_error *error);
/* If status is COG_OK, moves all matches, sorted, to `matches` and the counts to options->work;
 * otherwise empties `matches`. Releases the parts and returns the status. */
cog_status join_finish(struct join_parts *parts, const struct join_options *options,
                       cog_status status, struct match_list *matches, cog_error *error);
