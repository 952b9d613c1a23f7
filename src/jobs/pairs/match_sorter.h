/* Sorts matches by their rows, even if they do not fit in memory. In: matches in any order, from
 * any thread. Out: a sorted list with every pair once; if it is too large, it is in a scratch file
 * in TMPDIR that is deleted with the list. Memory: a buffer, doubled while sorting. Disk: 16 bytes
 * per match, doubled while sorted runs are merged. */
#pragma once

#include <pthread.h>

#include "search/hits/hit_lists.h"

struct match_run {
    uint64_t first, count; /* in the file */
};

/* Use match_sorter_init and match_sorter_free. */
struct match_sorter {
    struct match *items;
    size_t count, room, capacity; /* `room` items are allocated, `capacity` at most */
    int file;                     /* -1: none yet */
    uint64_t written;
    struct match_run *runs;
    size_t run_count, run_capacity;
    pthread_mutex_t lock;
};

/* The buffer has about this size. */
void match_sorter_init(struct match_sorter *sorter, uint64_t memory_bytes);
void match_sorter_free(struct match_sorter *sorter);
/* The maximum memory of a buffer of this size. */
uint64_t match_sorter_memory_bytes(uint64_t memory_bytes);

cog_status match_sorter_add(struct match_sorter *sorter, const struct match *items, size_t count,
                            cog_error *error);
/* Keeps one of equal pairs, with the least distance. `matches` must be zeroed; the sorter is empty
 * afterwards. */
cog_status match_sorter_finish(struct match_sorter *sorter, struct match_list *matches,
                               cog_error *error);
