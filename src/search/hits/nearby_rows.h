/* Rows next to the rows that a search has found.
 *
 * Collections have an order: the passages of a document are adjacent, and documents on one subject
 * often are. So the rows around a near row are near more often than others. Comparing a run of them
 * is cheap because they are adjacent in memory. If the rows have no order, nothing is found and the
 * search ends after a few runs. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"

/* Replaces hits, by distance, then row, by the nearest of them and of the rows around them, up to
 * k. Returns how many there are now; compared grows by the rows that were looked at. */
size_t nearby_rows_find(const struct signatures_view *signatures, const uint8_t *query,
                        struct neighbour *hits, size_t count, size_t k, size_t *compared);
