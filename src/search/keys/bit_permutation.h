/* Sorts rows by their signatures under a random permutation of the bits, for one table of the
 * sliding window algorithm (Ture et al. 2011, section 4.3).
 *
 * In: signatures. Out: their rows in the order of the permuted signatures, ties by row. Only the
 * first 64 permuted bits are computed for every row, as the sort key; rows with equal keys are
 * compared by the following bits, 64 at a time. Keys of several tables are gathered together,
 * because most of the work is transposing 64 rows into 64-bit planes. */
#pragma once

#include "hamming/hamming.h"
#include "search/keys/key_sort.h"

/* Bit i of the permuted signature is bit order[i] of the signature. */
struct bit_permutation {
    uint16_t *order;
    unsigned bits;
};

/* Makes the permutation of table number `table`. Free with bit_permutation_free. */
cog_status bit_permutation_create(struct bit_permutation *permutation, unsigned bits, uint64_t seed,
                                  uint64_t table, cog_error *error);
void bit_permutation_free(struct bit_permutation *permutation);

/* The rows of one collection, or of two: rows of the second are numbered after the first. */
struct row_space {
    const struct signatures_view *first, *second; /* second may be NULL */
};

static inline size_t row_space_count(const struct row_space *space) {
    return space->first->rows + (space->second ? space->second->rows : 0);
}

static inline const uint8_t *row_space_row(const struct row_space *space, size_t row) {
    return row < space->first->rows ? signature_row(space->first, row)
                                    : signature_row(space->second, row - space->first->rows);
}

/* Fills tables[t], made by key_array_init for all rows, with the rows 0, 1, ... and their keys
 * under permutations[t]. */
cog_status permuted_keys_gather(const struct row_space *space,
                                const struct bit_permutation *permutations, size_t table_count,
                                unsigned threads, struct key_array *tables, cog_error *error);

/* Sorts a table filled by permuted_keys_gather. */
cog_status permuted_keys_sort(const struct row_space *space,
                              const struct bit_permutation *permutation, unsigned threads,
                              struct key_array *table, cog_error *error);

/* Whole rows of one collection under permutations: bits / 8 bytes each (bits are a multiple of 8),
 * the rows of permutations[0] first. */
cog_status permuted_rows_gather(const struct signatures_view *view,
                                const struct bit_permutation *permutations, size_t table_count,
                                unsigned threads, uint8_t *permuted, cog_error *error);
