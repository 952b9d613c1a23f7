/* Rows beside those that a search has found. Collections have an order: the passages of a document
 * stand together, and documents on one subject often do. So the rows around a near row are near
 * more often than others are, whatever their signatures showed to the search; comparing a run of
 * them costs little, since they lie together in memory. Where rows have no order, nothing is found,
 * and the search ends after a few runs. */
#pragma once

#include "hamming/hamming.h"
#include "search/hits/topk.h"

/* Replaces hits, by distance, then row, by the nearest of them and of the rows around them, up to
 * k. Returns how many there are now; compared grows by the rows that were looked at. */
size_t nearby_rows_find(const struct signatures_view *signatures, const uint8_t *query,
                        struct neighbour *hits, size_t count, size_t k, size_t *compared);
