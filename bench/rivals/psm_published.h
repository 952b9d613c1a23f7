/* PSM as Sood and Loguinov published it: sorted hashes, an array of offsets for every header of t
 * bits, flips in the order of the heap (VOSH), one probe after the other, a linear scan behind
 * each. The reference for psm.h in tests and its rival in benchmarks. */
#pragma once

#include "search/psm/psm.h"

struct psm_published {
    struct key_set set;
    uint32_t *offsets; /* first key of each header, and the end */
    unsigned header_bits;
};

struct psm_published_search {
    unsigned radius_bits;
    size_t flips;    /* k: sets tried after the query's own header */
    bool first_only; /* PSM_F: stops at the first hit */
    unsigned threads;
};

/* header_bits is t, 1 to 31. */
cog_status psm_published_build(struct psm_published *index, const struct signatures_view *view,
                               unsigned header_bits, unsigned threads, cog_error *error);
void psm_published_free(struct psm_published *index);
/* Memory of hashes and offsets, without the row numbers. */
size_t psm_published_bytes(const struct psm_published *index);

cog_status psm_published_search(const struct psm_published *index,
                                const struct psm_queries *queries,
                                const struct psm_published_search *search, struct match_list *hits,
                                cog_error *error);
