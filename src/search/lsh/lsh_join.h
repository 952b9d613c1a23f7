/* Joins by locality sensitive hashing (Distributed LSH): rows that share a key in some table are
 * candidates, and every candidate is checked once, by its true measure where there are vectors and
 * by the Hamming distance of the signatures where there are none. Misses pairs that share no key;
 * what it lists is right. The result does not depend on the number of threads. */
#pragma once

#include "search/hits/match_list.h"
#include "search/lsh/lsh_tables.h"
#include "vector/sparse.h"

/* The true measure of row a of the first collection and row b of the second (or the same); called
 * from several threads. */
typedef double lsh_measure(void *context, uint32_t a, uint32_t b);

struct lsh_check {
    lsh_measure *measure; /* NULL: candidates within radius_bits match, with the estimated cosine */
    void *context;
    double threshold;     /* of the measure: at or above, before rounding */
    uint32_t radius_bits; /* without a measure: the number of bits lists every candidate. With one:
                           * what is farther is not measured; 0 measures every candidate */
};

/* The dot product of two sparse rows; the context is a struct lsh_vectors. */
struct lsh_vectors {
    const struct sparse_matrix *first, *second;
};
double lsh_cosine(void *context, uint32_t a, uint32_t b);

/* The same for every number of threads. */
struct lsh_work {
    uint64_t entries;     /* of the buckets visited */
    uint64_t comparisons; /* candidates checked */
    /* The paper's comparisons: candidates of a query on average, without itself. Where a row of a
     * self-join looks for earlier ones only, the later ones that it would meet are counted too. */
    double comparisons_a_query;
    uint64_t table_bytes;
};

/* Pairs a < b of one collection if `rows` is NULL: every row is a query, and if only the query's
 * bits are flipped, a pair is found when either row finds the other. Else rows of the first
 * collection, the queries, against rows of the second, which is in the tables. matches is
 * overwritten: zero-initialise it, free it with match_list_free; its limit holds. work may be NULL.
 */
cog_status lsh_join(const struct lsh_collection *queries, const struct lsh_collection *rows,
                    const struct lsh_options *options, const struct lsh_check *check,
                    unsigned threads, struct match_list *matches, struct lsh_work *work,
                    cog_error *error);
