/* Joins by locality-sensitive hashing (Distributed LSH): rows that share a key in some table are
 * candidates, and each candidate within a radius becomes a match with the estimated cosine, or with
 * the result of the list's sieve. Misses pairs that share no key. The result does not depend on the
 * number of threads. */
#pragma once

#include "search/hits/hit_lists.h"
#include "search/lsh/lsh_tables.h"

/* Counts of the work done; the same for any number of threads. */
struct lsh_work {
    uint64_t entries;     /* of the buckets visited */
    uint64_t comparisons; /* candidates checked */
    /* The paper's comparisons: the average number of candidates per query, without itself. If a row
     * of a self-join looks only for earlier rows, the later ones that it would find are counted
     * too. */
    double comparisons_a_query;
    uint64_t table_bytes;
};

/* Whether each of two rows finds the other: with flips on one side only, one may find the other but
 * not vice versa. */
bool lsh_is_symmetric(const struct lsh_options *options);

/* If `rows` is NULL: pairs a < b of one collection. Every row is a query, and if only the query's
 * bits are flipped, a pair is found if either row finds the other. Otherwise: rows of the first
 * collection, the queries, against rows of the second, which is in the tables. `matches` is
 * overwritten: zero-initialise it, free it with match_list_free; its limit and sieve apply. `work`
 * may be NULL. */
cog_status lsh_join(const struct method_rows *queries, const struct method_rows *rows,
                    const struct lsh_options *options, uint32_t radius_bits, unsigned threads,
                    struct match_list *matches, struct lsh_work *work, cog_error *error);
