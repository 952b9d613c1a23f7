/* Rows in clusters of near ones, so that a query may leave out those of the far clusters. Centres
 * are signatures, found by a few rounds of k-means over a sample of the rows; every row belongs to
 * the nearest centre. What is kept of a cluster is the share of its rows that has each bit: the
 * product with a query's bits, or with the numbers behind them, tells how near its rows are. */
#ifndef COGNATE_INDEX_ROW_CLUSTERS_H
#define COGNATE_INDEX_ROW_CLUSTERS_H

#include "base/error.h"
#include "hamming/hamming.h"

enum {
    CLUSTER_SHARE_ONE = 255, /* of a bit that all rows have */
    CLUSTER_WEIGHT_MAX = 63, /* of a query: two products with a share fit 16 bits */
};

/* Borrowed, from row_clusters or a file. Whoever reads a file takes no number for granted. */
struct clusters_view {
    const uint32_t *order; /* the rows, cluster by cluster */
    const uint32_t *ends;  /* where each cluster ends in the order; rising, the last is the rows */
    const uint8_t *shares; /* of each bit, cluster_stride(bits) bytes for each cluster */
    size_t count, rows;
    unsigned bits;
};

/* Bytes beyond the bits are zero. */
static inline size_t cluster_stride(unsigned bits) {
    return signature_stride_bytes(bits) * 8;
}

/* Zero-initialise; row_clusters_free releases. */
struct row_clusters {
    struct clusters_view view;
    uint32_t *order, *ends;
    uint8_t *shares;
};
/* Rows below 2^32. Makes rows^1.5 comparisons; the result is the same for every number of threads.
 */
cog_status row_clusters_build(struct row_clusters *clusters,
                              const struct signatures_view *signatures, unsigned threads,
                              cog_error *error);
void row_clusters_free(struct row_clusters *clusters);
/* Whether all rows are there once, and the shares are those of the rows. */
cog_status row_clusters_check(const struct clusters_view *view,
                              const struct signatures_view *signatures, cog_error *error);

#endif
