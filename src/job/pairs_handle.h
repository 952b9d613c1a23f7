/* What stands behind cog_pairs: matches with the ids of their rows. */
#ifndef COGNATE_JOB_PAIRS_HANDLE_H
#define COGNATE_JOB_PAIRS_HANDLE_H

#include "job/pair_task.h"

struct cog_pairs {
    struct match_list matches;
    struct corpus corpora[2]; /* for the ids; empty where rows have none */
    int sides;
    bool estimates, has_distances, has_ids;
};

/* After a task has filled pairs->matches: takes over the ids, and what the measures are. */
void pairs_take_task(cog_pairs *pairs, struct pair_task *task);

#endif
