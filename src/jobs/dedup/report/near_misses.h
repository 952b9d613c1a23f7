/* The nearest kept document of each document, also below the threshold, for the report.
 *
 * In: a file of sets, the kept rows, and the rows to search for. Out: for each of these rows the
 * most similar other kept row, from a floor on. There can be many near misses but few matches
 * (pages of one template that are never near enough), so the search has a budget of comparisons. A
 * small sample shows the cost per row; if all rows together cost more than the budget, a random
 * subset, always the same, is searched. */
#pragma once

#include "join/sets/set_join.h"

struct near_search {
    const struct set_file *file;
    struct set_measure measure;
    double floor;          /* below the threshold of the measure */
    const uint32_t *kept;  /* kept rows */
    const uint32_t *asked; /* rows; may include kept ones */
    size_t kept_count, asked_count;
    uint64_t budget;                /* in the unit of near_search_cost */
    uint64_t memory_bytes;          /* 0: no limit */
    const char *near_path;          /* as in set_join_options */
    const struct join_folder *work; /* as in set_join_options */
};

/* The cost of a join: postings read, plus more for each candidate verified. */
uint64_t near_search_cost(const struct set_join_result *result);

/* Zero-initialise; near_found_free releases. For row asked[at[i]]: the nearest row, UINT32_MAX if
 * none reaches the floor, and its similarity. */
struct near_found {
    uint32_t *at, *nearest;
    float *similarity;
    size_t count;
};
void near_found_free(struct near_found *found);

cog_status near_search_run(const struct near_search *search, struct job *job,
                           struct near_found *found, cog_error *error);
