/* Computes the keys of many rows, for programs that keep tables of their own. In: signatures, and
 * margins if flips need them. Out: a list of keys sorted by row, own keys first by table. Uses all
 * threads; the list does not depend on their number. 24 bytes per key. */
#pragma once

#include "search/lsh/lsh_tables.h"

struct row_key {
    uint32_t row, table;
    uint64_t key;
};

/* Rows whose term_counts are 0 have no keys; NULL: all rows have keys. free() *keys, also after an
 * error. */
cog_status lsh_keys_of_rows(const struct method_rows *rows, const uint32_t *term_counts,
                            const struct lsh_options *options, bool flipped, unsigned threads,
                            struct row_key **keys, size_t *count, cog_error *error);
