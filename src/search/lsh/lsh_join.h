/* Joins by locality sensitive hashing (Distributed LSH): rows that share a key in some table are
 * candidates, and each candidate within a radius becomes a match with the estimated cosine, or with
 * what the list's sieve makes of it. Misses pairs that share no key. The result does not depend on
 * the number of threads. */
#pragma once

#include "search/hits/hit_lists.h"
#include "search/lsh/lsh_tables.h"

/* The same for every number of threads. */
struct lsh_work {
    uint64_t entries;     /* of the buckets visited */
    uint64_t comparisons; /* candidates checked */
    /* The paper's comparisons: candidates of a query on average, without itself. Where a row of a
     * self-join looks for earlier ones only, the later ones that it would meet are counted too. */
    double comparisons_a_query;
    uint64_t table_bytes;
};

/* Whether of two rows each finds the other: flips on one side only let one find the other. */
bool lsh_is_symmetric(const struct lsh_options *options);

/* Pairs a < b of one collection if `rows` is NULL: every row is a query, and if only the query's
 * bits are flipped, a pair is found when either row finds the other. Else rows of the first
 * collection, the queries, against rows of the second, which is in the tables. matches is
 * overwritten: zero-initialise it, free it with match_list_free; its limit and its sieve hold. work
 * may be NULL. */
cog_status lsh_join(const struct method_rows *queries, const struct method_rows *rows,
                    const struct lsh_options *options, uint32_t radius_bits, unsigned threads,
                    struct match_list *matches, struct lsh_work *work, cog_error *error);
