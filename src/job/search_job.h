/* What stands behind cog_hits. */
#ifndef COGNATE_JOB_SEARCH_JOB_H
#define COGNATE_JOB_SEARCH_JOB_H

#include "job/hit_lists.h"

struct cog_hits {
    const cog_index *index;
    struct corpus queries; /* for the ids; empty where queries have none */
    bool has_query_ids;
    struct hit_lists lists;
    bool estimates, has_distances;
};

#endif
