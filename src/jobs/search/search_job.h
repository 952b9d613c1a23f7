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
/* Reports how the searchers answered texts: the method, the work of all queries, and the recall. */
cog_status searchers_report(cog_searcher *const *searchers, size_t count, cog_report *report,
                            cog_error *error);
/* Reports the statistics that documents and queries were weighed with. */
void search_report_statistics(const cog_index *index, cog_report *report);
