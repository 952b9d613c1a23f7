/* The inner part of psm.h: searches a list of queries in one table. */
#pragma once

#include "search/psm/psm.h"

/* The queries of `list` (or all, where it is NULL, and then count is their number), whose hits come
 * in that order. */
struct psm_list {
    const uint32_t *queries;
    size_t count;
};

cog_status psm_check_queries(const struct psm_queries *queries, const struct psm_search *search,
                             unsigned stored_bits, cog_error *error);
cog_status psm_search_list(const struct psm_index *index, const struct psm_queries *queries,
                           const struct psm_search *search, struct psm_list list,
                           struct short_hits *hits, cog_error *error);
