/* The nearest kept document of each document, below the threshold too: for the report.
 *
 * In: a file of sets, the rows that stay, and the rows that are asked about. Out: for each row
 * asked about the most similar other row that stays, from a floor on. Near misses can be many where
 * matches are few (pages of one template, no two of them near enough), so the search has a budget
 * of comparisons: a small sample tells what a row costs, and if all rows together cost more, only
 * as many as fit are looked at, drawn at random and always the same ones. */
#pragma once

#include "join/sets/set_join.h"

struct near_search {
    const struct set_file *file;
    struct set_measure measure;
    double floor;          /* below the threshold of the measure */
    const uint32_t *kept;  /* rows that stay */
    const uint32_t *asked; /* rows; they may be among those that stay */
    size_t kept_count, asked_count;
    uint64_t budget;                /* as near_search_cost counts */
    uint64_t memory_bytes;          /* 0: no limit */
    const char *beside;             /* as in set_join_options */
    const struct join_folder *work; /* the same */
};

/* What a join has cost: postings that were read, and more for each candidate that was verified. */
uint64_t near_search_cost(const struct set_join_result *result);

/* Zero-initialise; near_found_free releases. Of a row asked[at[i]]: the row that is nearest to it,
 * UINT32_MAX if none reaches the floor, and its similarity. */
struct near_found {
    uint32_t *at, *nearest;
    float *similarity;
    size_t count;
};
void near_found_free(struct near_found *found);

cog_status near_search_run(const struct near_search *search, struct job *job,
                           struct near_found *found, cog_error *error);
