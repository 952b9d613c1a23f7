/* The rows of a collection in the order of a table, on disk: what the sliding window join reads
 * where the rows themselves do not fit the memory budget. Rows are read once from front to back and
 * distributed over regions of a scratch file, each a stretch of the order; loading part of the
 * order reads the regions that it touches. */
#pragma once

#include "base/error.h"
#include "hamming/hamming.h"

/* Zero-initialise; window_spool_free releases. */
struct window_spool {
    int file; /* 0 where there is none yet */
    size_t rows, region_rows, row_bytes, record_bytes;
    uint32_t *ranks;  /* of each row of the collection: its place in the order */
    uint8_t *buffers; /* one a region, of records on their way */
    size_t *buffered; /* records in each */
    size_t *written;  /* records of each region in the file */
    size_t regions;
    size_t buffer_records;
};

/* Room for the rows of the view in regions of about region_rows. */
cog_status window_spool_create(struct window_spool *spool, const struct signatures_view *view,
                               size_t region_rows, cog_error *error);
void window_spool_free(struct window_spool *spool);

/* Distributes the rows anew: order[i] is the row at place i. */
cog_status window_spool_fill(struct window_spool *spool, const struct signatures_view *view,
                             const uint32_t *order, cog_error *error);
/* Places [first, first + count) of the order, row_bytes each, to `to`. */
cog_status window_spool_load(struct window_spool *spool, size_t first, size_t count, uint8_t *to,
                             cog_error *error);
