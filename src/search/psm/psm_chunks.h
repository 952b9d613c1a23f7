/* PSM in tables of some stored signatures at a time, one chunk after the other: for a mapped file
 * larger than memory. */
#pragma once

#include "search/psm/psm_learn.h"

struct psm_chunks {
    const struct signatures_view *stored;
    size_t chunk_rows;         /* of one table */
    struct line_limits limits; /* of a table */
    double recall; /* not 0: what is volatile, and the bound of this recall, are learned from what
                      the queries find in the first chunk */
};

/* As psm_search, with the hits by query and row. Where one hit is enough, a query is dropped after
 * the first chunk that has one, and reading ends when none is left. */
cog_status psm_search_chunks(const struct psm_chunks *chunks, const struct psm_queries *queries,
                             const struct psm_search *search, struct short_hits *hits,
                             cog_error *error);
