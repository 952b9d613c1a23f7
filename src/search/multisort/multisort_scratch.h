/* Signatures on disk in parts that fit a memory budget, cut by some of their bits: rows that agree
 * in those bits are in one part. */
#pragma once

#include "search/keys/key_set.h"

struct scratch_parts {
    const struct signatures_view *views; /* borrowed; rows are numbered through */
    unsigned view_count;
    size_t rows;
    size_t part_rows; /* that fit the budget */
    size_t buffer_bytes;
    int descriptor;
};

/* How many rows can be joined within a number of bytes: keys and rows twice, while they are sorted.
 */
size_t scratch_rows_within(size_t memory_bytes, unsigned key_bits);

/* Takes the space on disk at once. */
cog_status scratch_parts_open(struct scratch_parts *parts, const struct signatures_view *views,
                              unsigned view_count, size_t memory_bytes, cog_error *error);
void scratch_parts_close(struct scratch_parts *parts);

/* Takes over a part's keys, which are in the order of their rows. */
typedef cog_status scratch_part_use(void *context, struct key_array *keys, cog_error *error);

/* Cuts all rows by up to `width` bits from `bit` on and visits every part with two rows and more.
 * More rows than fit that agree in all these bits are COG_ERR_MEMORY. */
cog_status scratch_parts_visit(struct scratch_parts *parts, unsigned bit, unsigned width,
                               scratch_part_use *use, void *context, cog_error *error);
