/* Matches in the order of their rows, more of them than fit memory. In: matches in any order, from
 * any thread. Out: a sorted list with every pair once; if they were too many, the list is in a
 * scratch file in TMPDIR that vanishes with it. Memory: a buffer, twice while it is sorted; disk:
 * 16 bytes per match, twice while sorted runs are merged. */
#pragma once

#include <pthread.h>

#include "search/hits/hit_lists.h"

struct match_run {
    uint64_t first, count; /* in the file */
};

/* match_sorter_init, match_sorter_free. */
struct match_sorter {
    struct match *items;
    size_t count, capacity;
    int file; /* -1: none yet */
    uint64_t written;
    struct match_run *runs;
    size_t run_count, run_capacity;
    pthread_mutex_t lock;
};

/* With a buffer of about that size. */
void match_sorter_init(struct match_sorter *sorter, uint64_t memory_bytes);
void match_sorter_free(struct match_sorter *sorter);
/* Bytes that a buffer of that size takes at most. */
uint64_t match_sorter_memory_bytes(uint64_t memory_bytes);

cog_status match_sorter_add(struct match_sorter *sorter, const struct match *items, size_t count,
                            cog_error *error);
/* Of equal pairs one is kept. `matches` must be zeroed; the sorter is empty afterwards. */
cog_status match_sorter_finish(struct match_sorter *sorter, struct match_list *matches,
                               cog_error *error);
