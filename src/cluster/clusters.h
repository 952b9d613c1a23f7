/* Builds clusters of rows from matches.
 *
 * Connected: rows linked by a chain of matches form one cluster. Chains can swallow a corpus.
 * Strict: every row matches the representative of its cluster directly. Rows are taken in
 * descending order of a key (for example the document's length; ties by row). A row that no earlier
 * representative matched becomes a representative and takes all rows that it matches and that are
 * not yet taken. */
#pragma once

#include "search/hits/hit_lists.h"

enum cluster_mode { CLUSTERS_CONNECTED, CLUSTERS_STRICT };

/* Clusters are numbered from 0 in order of their smallest row; a row without matches is a cluster
 * of its own. Zero-initialise; clusters_free releases. */
struct clusters {
    size_t rows, count;
    uint32_t *cluster;        /* by row */
    uint32_t *representative; /* by row: the cluster's row with the largest key, ties by row */
    float *similarity; /* by row, to its representative: 1 for itself; 0 if a connected row does not
                          match it directly */
};

/* In: matches of a join within one collection, in any order, and a key per row; `keys` may be NULL
 * if all are equal. */
cog_status clusters_build(const struct match_list *matches, size_t rows, const uint64_t *keys,
                          enum cluster_mode mode, struct clusters *clusters, cog_error *error);
void clusters_free(struct clusters *clusters);
