/* From matches to clusters of rows.
 *
 * Connected: rows that a chain of matches links are one cluster. Chains can swallow a corpus.
 * Strict: every row matches the representative of its cluster itself. Rows are taken in falling
 * order of a key (the length of the document, say; ties by row): a row that no earlier
 * representative has matched becomes a representative, and takes all rows that it matches and that
 * are not yet taken. */
#pragma once

#include "search/hits/hit_lists.h"

enum cluster_mode { CLUSTERS_CONNECTED, CLUSTERS_STRICT };

/* Clusters are numbered from 0 in order of their smallest row; a row without matches is a cluster
 * of its own. Zero-initialise; clusters_free releases. */
struct clusters {
    size_t rows, count;
    uint32_t *cluster; /* of a row */
    uint32_t
        *representative; /* of a row: the one of its cluster with the largest key, ties by row */
    float *similarity;   /* of a row to its representative: 1 for itself, and 0 if a connected row
                          * does not match it directly */
};

/* Matches of a join inside one collection, in any order; keys has a number per row, or is NULL if
 * all are equal. */
cog_status clusters_build(const struct match_list *matches, size_t rows, const uint64_t *keys,
                          enum cluster_mode mode, struct clusters *clusters, cog_error *error);
void clusters_free(struct clusters *clusters);
