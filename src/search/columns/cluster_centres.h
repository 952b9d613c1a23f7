/* Cluster centres: signatures moved to the middle of nearby rows by a few rounds of k-means over a
 * sample of the rows. The caller frees them. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

/* Zero-initialise; cluster_centres_free releases. */
struct cluster_centres {
    struct signatures_view view;
    uint8_t *rows;
    uint32_t *of_sample; /* the last centre of each row of a sample spread over all rows */
    size_t sample;
};
/* Finds `count` centres, or one per row if there are fewer rows. Near centres are adjacent. The
 * result does not depend on the number of threads. */
cog_status cluster_centres_find(struct cluster_centres *centres,
                                const struct signatures_view *signatures, size_t count,
                                unsigned threads, cog_error *error);
void cluster_centres_free(struct cluster_centres *centres);

/* Finds the nearest centre of each row (the first of equally near ones) and its distance. On entry
 * `nearest` holds a guess for each row, which may be any centre; near guesses make it faster.
 * `threads` is 1 or more. */
cog_status centres_nearest(const struct signatures_view *centres,
                           const struct signatures_view *rows, unsigned threads, uint32_t *nearest,
                           uint16_t *distances, cog_error *error);

/* Sorts rows by cluster number, and sets where each cluster ends in that order. */
void clusters_order(const uint32_t *cluster, size_t rows, size_t clusters, uint32_t *order,
                    uint32_t *ends);
/* For each bit, the number of the listed rows that have it. `counts` has a place for each bit of
 * the stride. */
void rows_count_ones(const struct signatures_view *signatures, const uint32_t *rows, size_t count,
                     uint32_t *counts);
