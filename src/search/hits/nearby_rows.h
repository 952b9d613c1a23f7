/* Tries the rows next to the rows that a search has found.
 *
 * Collections have an order: the passages of a document are adjacent, and documents on one subject
 * often are. Rows around a near row are therefore near more often than others, and comparing a run
 * of them is cheap because they are adjacent in memory. If the rows have no order, nothing is found
 * and the search ends after a few runs. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/hit_lists.h"

/* Replaces `hits` (by distance, then row) by the nearest of them and of the rows around them, up to
 * k. Returns their number; adds the rows examined to *compared. */
size_t nearby_rows_find(const struct signatures_view *signatures, const uint8_t *query,
                        struct neighbour *hits, size_t count, size_t k, size_t *compared);
