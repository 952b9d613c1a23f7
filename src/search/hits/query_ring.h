/* Several queries in flight at once: while the memory that a query will need is on its way, the
 * queries before it are scanned. */
#pragma once

#include "base/error.h"

enum {
    QUERY_RING = 16,         /* slots, more than QUERY_COLLECT_DELAY */
    QUERY_SCAN_DELAY = 6,    /* queries between a prefetch and the scan */
    QUERY_COLLECT_DELAY = 11 /* and the collection */
};

/* For each i in [begin, end): start(context, slot, i) finds out what scan(context, slot, ahead)
 * reads; scan also prefetches for the slot `ahead` (NULL: nothing to fetch), which was started just
 * before, and what collect(context, slot) reads some queries later. Inlined, so that the three are.
 */
static inline __attribute__((always_inline)) cog_status
query_ring_run(void *context, size_t begin, size_t end, void (*start)(void *, size_t, size_t),
               void (*scan)(void *, const size_t *, const size_t *),
               cog_status (*collect)(void *, size_t, cog_error *), cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = begin; i < end + QUERY_COLLECT_DELAY && status == COG_OK; i++) {
        size_t ahead = i % QUERY_RING, slot = (i - QUERY_SCAN_DELAY) % QUERY_RING;
        if (i < end)
            start(context, ahead, i);
        bool due = i >= begin + QUERY_SCAN_DELAY && i - QUERY_SCAN_DELAY < end;
        scan(context, due ? &slot : NULL, i < end ? &ahead : NULL);
        if (i >= begin + QUERY_COLLECT_DELAY)
            status = collect(context, (i - QUERY_COLLECT_DELAY) % QUERY_RING, error);
    }
    return status;
}
