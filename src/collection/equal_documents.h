/* Groups documents with the same terms before a join, so that a thousand copies of a page cost a
 * thousand comparisons instead of a million. Compares 128-bit fingerprints, which collide for two
 * different documents with a probability of 2^-128. */
#pragma once

#include "vector/bag.h"

struct fingerprint {
    uint64_t low, high;
};

/* Independent of the order of the bag's terms. */
struct fingerprint fingerprint_of_bag(const struct bag_view *bag);

/* leaders[row] is the first row with the same fingerprint, *groups the number of groups with two or
 * more rows. free() *leaders. Linear time; 9 bytes per row during the call. */
cog_status equal_documents_find(const struct fingerprint *prints, size_t rows, uint32_t **leaders,
                                size_t *groups, cog_error *error);
