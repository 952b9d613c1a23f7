/* The result of a search: what a cog_hits is. */
#pragma once

#include "jobs/index/index_job.h"

struct cog_hits {
    const cog_index *index;
    struct corpus queries; /* for the ids; empty where queries have none */
    bool has_query_ids;
    struct hit_lists lists;
    bool estimates, has_distances;
};

/* cog_searcher_find_text for the bag of a text that was read already. */
cog_status searcher_find_bag(cog_searcher *searcher, const struct bag_view *bag,
                             const cog_hits **hits, cog_error *error);
/* Texts of another language, as cog_searcher_project has them; borrowed. */
cog_status searcher_project(cog_searcher *searcher, const struct foreign_documents *foreign,
                            cog_error *error);
