/* What stands behind cog_pairs: matches with the ids of their rows. */
#pragma once

#include "jobs/pairs/pair_task.h"

struct cog_pairs {
    struct match_list matches;
    struct corpus corpora[2]; /* for the ids; empty where rows have none */
    int sides;
    bool estimates, has_distances, has_ids;
};

/* Ends a task that found `matches` with this status: on success they become pairs with the task's
 * ids. Task and matches are released in any case; returns the status. */
cog_status pairs_of_task(struct pair_task *task, cog_status status, struct match_list *matches,
                         cog_pairs **pairs, cog_error *error);
