/* Documents with the same terms: grouped before any join, so that a thousand copies of a page cost
 * a thousand comparisons and not a million. Documents are compared by fingerprints of 128 bits,
 * which two different ones share by chance once in 2^128 pairs. */
#pragma once

#include "vector/bag.h"

struct fingerprint {
    uint64_t low, high;
};

/* Of a bag, whatever the order of its terms. */
struct fingerprint fingerprint_of_bag(const struct bag_view *bag);

/* leaders[row] is the first row with the same fingerprint, *groups the number of groups of two rows
 * or more. free() the leaders. Linear time; 9 bytes per row while it runs. */
cog_status equal_documents_find(const struct fingerprint *prints, size_t rows, uint32_t **leaders,
                                size_t *groups, cog_error *error);
