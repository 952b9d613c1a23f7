/* The hash tables of a collection. Each table has the rows under their keys and, if both sides
 * flip, under their flipped keys too. The candidates of a query are the rows of the buckets that it
 * probes, each once. */
#pragma once

#include "search/keys/key_table.h"
#include "search/lsh/lsh_keys.h"
#include "search/method.h"

/* The margins of a row, which flips by distance need; NULL if they are not known. */
static inline const float *lsh_margins(const struct method_rows *collection, size_t row) {
    size_t stride =
        collection->margins_per_row ? collection->margins_per_row : collection->signatures->bits;
    return collection->margins ? collection->margins + row * stride : NULL;
}

struct lsh_tables {
    struct lsh_options options;
    size_t rows;
    struct key_table *tables;
};

/* Free with lsh_tables_free. The collection is not needed afterwards. */
cog_status lsh_tables_build(struct lsh_tables *tables, const struct method_rows *collection,
                            const struct lsh_options *options, unsigned threads, cog_error *error);
void lsh_tables_free(struct lsh_tables *tables);
size_t lsh_tables_bytes(const struct lsh_tables *tables);
/* Peak memory of building the tables. */
uint64_t lsh_tables_memory_bytes(const struct lsh_options *options, size_t rows, unsigned threads);

/* One thread's probing. Free with lsh_probing_free. */
struct lsh_probing {
    const struct lsh_tables *tables; /* borrowed */
    struct lsh_keyer keyer;
    struct lsh_key *keys;
    struct key_range *buckets; /* of the keys */
    uint64_t *seen; /* a bit per row, set if it is a candidate already; all 0 between queries */
    uint32_t *candidates; /* of the last query, in the order found */
    size_t candidate_count, candidate_capacity;
    uint64_t entries; /* of all buckets visited so far, repetitions included */
};
cog_status lsh_probing_create(struct lsh_probing *probing, const struct lsh_tables *tables,
                              cog_error *error);
void lsh_probing_free(struct lsh_probing *probing);

/* Fills probing->candidates with the rows below row_end that share a key with the query, each once.
 */
cog_status lsh_probe(struct lsh_probing *probing, const uint8_t *signature, size_t stride_bytes,
                     const float *margins, size_t row_end, cog_error *error);
