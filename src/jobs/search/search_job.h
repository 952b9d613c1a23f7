/* The result of a search: the implementation of cog_hits. */
#pragma once

#include "jobs/index/index_job.h"

struct cog_hits {
    const cog_index *index;
    struct corpus queries; /* for the ids; empty if queries have none */
    bool has_query_ids;
    struct hit_lists lists;
    bool estimates, has_distances;
};

/* cog_searcher_find_text for the bag of a text already analysed. */
cog_status searcher_find_bag(cog_searcher *searcher, const struct bag_view *bag,
                             const cog_hits **hits, cog_error *error);
/* Projects texts of another language, like cog_searcher_project; borrowed. */
cog_status searcher_project(cog_searcher *searcher, const struct foreign_documents *foreign,
                            cog_error *error);
