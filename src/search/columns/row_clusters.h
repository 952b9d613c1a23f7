/* Rows grouped in clusters of nearby rows, so that a query can skip far clusters.
 *
 * A cluster has whole groups of rows, which are read together. A row belongs to the nearest of the
 * centres; the farthest rows of a cluster move to another cluster if they would only begin a new
 * group. A cluster is summarised by the share of its rows that have each bit: the product of these
 * shares with the query's bits or margins estimates how near its rows are. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

enum {
    CLUSTER_GROUP = 512,      /* places for rows */
    CLUSTER_SHARE_STEPS = 30, /* from 0 to 1; the 15 in the middle are distinct */
    CLUSTER_SHARE_LEAST = 7,
    CLUSTER_SHARE_MAX = 15,
    CLUSTER_WEIGHT_MAX = 63, /* of a query: the sum of 32 products with a share fits 16 bits */
};

/* A place without a row. */
#define CLUSTER_NO_ROW UINT32_MAX

/* Borrowed, from row_clusters or a file. Numbers from a file may be wrong, so readers check them.
 */
struct clusters_view {
    const uint32_t *order; /* the row at each place, group by group; ascending in a cluster, whose
                            * last places may have none */
    const uint32_t *ends;  /* group at which each cluster ends; ascending, the last is `groups` */
    const uint8_t *shares; /* of each bit in four bits, cluster_stride(bits) bytes per cluster */
    size_t count, groups, rows;
    unsigned bits;
};

/* The groups of a cluster. In a damaged file they may be wrong but never out of range. */
static inline size_t cluster_begin(const struct clusters_view *view, size_t cluster) {
    return cluster ? view->ends[cluster - 1] : 0;
}

static inline size_t cluster_end(const struct clusters_view *view, size_t cluster) {
    return view->ends[cluster] < view->groups ? view->ends[cluster] : view->groups;
}

/* Bit b of 128 is in byte b % 64: in its lower half if b < 64. Bits beyond the last are zero. */
static inline size_t cluster_stride(unsigned bits) {
    return ((size_t)bits + 127) / 128 * 64;
}

/* Zero-initialise; row_clusters_free releases. */
struct row_clusters {
    struct clusters_view view;
    uint32_t *order, *ends;
    uint8_t *shares;
};
/* Fewer than 2^32 rows. Makes rows^1.5 comparisons; the result is the same for any number of
 * threads. */
cog_status row_clusters_build(struct row_clusters *clusters,
                              const struct signatures_view *signatures, unsigned threads,
                              cog_error *error);
void row_clusters_free(struct row_clusters *clusters);
/* Checks that each row occurs once, and that the shares match the rows. */
cog_status row_clusters_check(const struct clusters_view *view,
                              const struct signatures_view *signatures, cog_error *error);
