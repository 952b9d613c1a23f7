/* Groups of equal rows. A join compares one row per group and writes the pairs of whole groups, so
 * a thousand copies of a page cost one comparison plus writing their pairs. */
#pragma once

#include "base/error.h"
#include "search/hits/hit_lists.h"

/* Group g is rows[offsets[g] .. offsets[g+1]), ascending; groups are in order of their first row.
 * Empty rows are in no group. Zero-initialise; equal_rows_free releases. */
struct equal_rows {
    size_t count;
    size_t *offsets; /* count + 1 */
    uint32_t *rows;
};

/* A row is its entries, as up to two arrays with the same offsets (the second may be NULL), plus an
 * optional number per row that must be equal as well. */
struct row_bytes {
    size_t rows;
    const uint64_t *offsets;
    const uint32_t *first;
    const void *second;      /* elements of 4 bytes */
    const uint32_t *numbers; /* one per row; may be NULL */
};
cog_status equal_rows_build(const struct row_bytes *source, struct equal_rows *groups,
                            cog_error *error);
/* Puts every row in a group of its own, for rows that are known to differ. */
cog_status equal_rows_none(const struct row_bytes *source, struct equal_rows *groups,
                           cog_error *error);
void equal_rows_free(struct equal_rows *groups);

/* The same for rows that are not in memory, from a 128-bit hash of each row (row_key_of). Sorts the
 * keys. */
struct row_key {
    uint64_t bits[2]; /* both 0 if the row has no entries */
    uint32_t row, leader;
};
struct row_key row_key_of(uint32_t row, const uint32_t *columns, const float *values, size_t count);
cog_status equal_rows_of_keys(struct row_key *keys, size_t rows, struct equal_rows *groups,
                              cog_error *error);

static inline uint32_t equal_rows_first(const struct equal_rows *groups, size_t group) {
    return groups->rows[groups->offsets[group]];
}

/* Adds all pairs of a row of group a and a row of group b, with one similarity. `ordered` puts the
 * smaller row first, for self-joins. */
cog_status equal_rows_match(const struct equal_rows *a_groups, size_t a,
                            const struct equal_rows *b_groups, size_t b, bool ordered,
                            double similarity, struct match_list *matches, cog_error *error);
/* Adds all pairs of rows within a group. */
cog_status equal_rows_match_within(const struct equal_rows *groups, size_t group, double similarity,
                                   struct match_list *matches, cog_error *error);
