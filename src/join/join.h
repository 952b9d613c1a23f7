/* What every exact join takes and reports. A join finds all pairs of rows whose measure is at or
 * above the threshold, misses none, and lists each once, sorted by rows. */
#pragma once

#include "search/hits/match_list.h"

struct cosine_rests;

/* How much a join had to do; the same for every number of threads. */
struct join_work {
    uint64_t postings;   /* entries of inverted lists visited */
    uint64_t candidates; /* pairs of different rows that were met there */
    uint64_t verified;   /* pairs whose measure was computed */
};

struct join_options {
    double threshold;       /* above 0, at most 1; compared with the measure before rounding */
    unsigned threads;       /* 0 means all */
    struct join_work *work; /* filled unless NULL */
    /* Cosine joins: what bounds expect of the ends of rows (cosine_rests.h), for the cuts of the
     * joined matrices. NULL: the worst, and no pair is missed. */
    const struct cosine_rests *rests;
    size_t max_matches; /* that a worker may list; more are COG_ERR_MEMORY, 0 is no limit */
};

/* What one worker finds. */
struct join_part {
    struct match_list matches;
    struct join_work work;
};

/* Checks the threshold and clears the counts. */
cog_status join_start(const struct join_options *options, cog_error *error);
/* Moves a worker's matches and counts to the whole. */
cog_status join_collect(struct join_part *part, const struct join_options *options,
                        struct match_list *matches, cog_error *error);
