/* The plan of posting lists: how many products a source document may take, and the cosine below
 * which neighbours are not needed (link_lists.h).
 *
 * In: the nearest target documents of a sample of source documents (link_radius_rows), found
 * exactly. Every block of target documents is asked for the sample under each budget; the tallies
 * of blocks and of source documents add up. Out: the smallest sufficient budget. */
#pragma once

#include "jobs/link/blocks/posting_block.h"
#include "jobs/link/link_candidates.h"

/* True neighbours per source document. */
enum { LISTS_PLAN_NEAREST = 128 };
/* The neighbours to find: likely partners, and the rivals that links are compared with. */
enum { LISTS_PARTNER, LISTS_RIVAL, LISTS_KINDS, LISTS_BUDGETS = 8 };

struct lists_tally {
    uint64_t trials[LISTS_KINDS], hits[LISTS_BUDGETS][LISTS_KINDS];
};

/* The cosine that a source document reaches with about `wanted` others, but at most that of likely
 * partners. */
cog_status lists_floor(const struct cosine_neighbours *truth, size_t wanted, float *floor,
                       cog_error *error);
/* Asks a block, whose first row is `first`, under each budget. Adds to the tally. */
void lists_try_budgets(struct asking *asking, const struct posting_block *block, size_t first,
                       const struct sparse_matrix *sample, size_t query,
                       const struct cosine_neighbours *truth, float floor,
                       struct lists_tally *tally);
/* The smallest sufficient budget, or else infinity: all products. */
double lists_choose_budget(const struct lists_tally *tallies, size_t count, double recall);
