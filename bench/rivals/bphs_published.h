/* BPHS as Manku et al. and Sood and Loguinov describe it: T = C(G, g) sorted copies of the hashes
 * with the chosen blocks in front, a binary search and a linear scan in each, one query at a time.
 * The reference for bphs.h in tests and its rival in benchmarks. */
#pragma once

#include "search/bphs/bphs.h"

struct bphs_published {
    struct block_layout layout;
    struct key_set set;                         /* the first copy, with the rows */
    struct key_array copies[BLOCK_CHOICES_MAX]; /* the others; the first of these is not used */
};

/* blocks >= chosen + radius_bits. */
cog_status bphs_published_build(struct bphs_published *index, const struct signatures_view *view,
                                unsigned blocks, unsigned chosen, unsigned radius_bits,
                                unsigned threads, cog_error *error);
void bphs_published_free(struct bphs_published *index);
/* Memory of the copies, without the row numbers. */
size_t bphs_published_bytes(const struct bphs_published *index);

cog_status bphs_published_search(const struct bphs_published *index,
                                 const struct signatures_view *queries,
                                 const struct short_search *search, struct match_list *hits,
                                 cog_error *error);

/* The paper's batch mode: the tables hold the queries, and the stored signatures search them. Hits
 * are those of the queries; there is no find-first. */
cog_status bphs_published_search_batch(const struct signatures_view *stored,
                                       const struct signatures_view *queries, unsigned blocks,
                                       unsigned chosen, unsigned radius_bits, unsigned threads,
                                       struct match_list *hits, cog_error *error);
