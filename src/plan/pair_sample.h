/* The recall of a join: the true matches of some of its rows, found exactly, against those that it
 * listed. Truth is looked at a part at a time, so that rows which match everything do not fill the
 * memory. */
#pragma once

#include "base/error.h"
#include "estimate/interval.h"
#include "search/hits/match_list.h"

enum { RECALL_ROWS = 1000 };

/* Zero-initialise, then fill rows, count and self. */
struct pair_sample {
    uint32_t rows[RECALL_ROWS]; /* of the first collection, rising */
    size_t count;
    bool self; /* the join is inside one collection: a row may be either of a pair */
    uint64_t hits[RECALL_ROWS], trials[RECALL_ROWS];
};

struct share_tally pair_sample_tally(const struct pair_sample *sample);

/* All matches of the given rows, a counting from 0 among them; more than truth->limit are
 * COG_ERR_MEMORY. */
typedef cog_status pair_truth(const void *context, const uint32_t *rows, size_t count,
                              struct match_list *truth, cog_error *error);
/* Counts all of the truth. A row has at most most_matches; matches is sorted. */
cog_status pair_sample_measure(struct pair_sample *sample, pair_truth *find, const void *context,
                               size_t most_matches, const struct match_list *matches,
                               cog_error *error);
