/* The links of two collections, as the public API hands them out. */
#pragma once

#include "crosslingual/links.h"
#include "jobs/link/link_vectors.h"

struct cog_links {
    struct link_space space; /* for ids, explanations and sentences */
    struct link *items;      /* those that were asked for, by source row */
    size_t count;
    struct link *firsts; /* the best of every source row, whatever its score */
    size_t first_count;
};
