/* The bucket tables of one collection and the rows of their keys, in memory or in a segment file:
 * one table for psm, one per choice of blocks for bphs.
 *
 * Writing appends the sections listed in docs/format.md under "Tables of short signatures". Opening
 * takes constant time: it checks shapes and sizes and borrows the arrays from the container, which
 * must outlive the index. A damaged file may give wrong answers but never reads out of bounds. */
#pragma once

#include "search/keys/bucket_table.h"
#include "search/method.h"

/* The section that every file with such tables has: it identifies the method that wrote them. */
#define SECTION_BUCKETS_SHAPE CONTAINER_TAG('s', 'h', 's', 'h')

enum bucket_kind { BUCKETS_PSM = 1, BUCKETS_BPHS = 2 };

/* Zero-initialise; free with bucket_index_free. */
struct bucket_index {
    struct bucket_table *tables;
    unsigned count;       /* tables */
    struct key_rows rows; /* by position in table 0, the only one with ranks */
    bool is_mapped;       /* arrays are borrowed from a container */
};

/* Makes room for the tables. */
cog_status bucket_index_init(struct bucket_index *index, unsigned tables, cog_error *error);
void bucket_index_free(struct bucket_index *index);
/* What a method records about itself in the file. */
struct bucket_description {
    uint64_t kind, radius_bits;
    uint64_t learned_pairs, learned_radius_bits; /* psm */
    uint64_t blocks, chosen;                     /* bphs */
};

cog_status bucket_index_write(const struct bucket_index *index,
                              const struct bucket_description *description,
                              struct container_writer *writer, cog_error *error);
/* False if the container has no tables. */
bool bucket_index_describe(const struct container *container,
                           struct bucket_description *description);
/* Opens an index of `tables` tables with keys of `bits` bits. Call bucket_index_free also after a
 * failure. */
cog_status bucket_index_open(struct bucket_index *index, const struct container *container,
                             unsigned bits, unsigned tables, cog_error *error);
/* COG_ERR_FORMAT, for tables that contradict the file. */
cog_status bucket_index_damaged(const struct container *container, cog_error *error);

/* Checks that every row of the view is found at its position in table 0, and its key, permuted by
 * `permute`, in each further table. Reads everything. */
cog_status bucket_index_check(const struct bucket_index *index, const struct signatures_view *view,
                              short_key (*permute)(const void *context, unsigned table,
                                                   short_key key),
                              const void *context, cog_error *error);
