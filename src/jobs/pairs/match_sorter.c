#include "jobs/pairs/match_sorter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io/files.h"
#include "base/io/output.h"
#include "base/memory.h"

enum { LEAST_ITEMS = 1 << 14, LEAST_READ = 256 };

static const char *const file_name = "scratch file in TMPDIR";

void match_sorter_init(struct match_sorter *sorter, uint64_t memory_bytes) {
    *sorter = (struct match_sorter){.file = -1,
                                    .capacity = (size_t)(memory_bytes / sizeof(struct match))};
    if (sorter->capacity < LEAST_ITEMS)
        sorter->capacity = LEAST_ITEMS;
    pthread_mutex_init(&sorter->lock, NULL);
}

void match_sorter_free(struct match_sorter *sorter) {
    if (sorter->file >= 0)
        close(sorter->file);
    free(sorter->items);
    free(sorter->runs);
    pthread_mutex_destroy(&sorter->lock);
}

uint64_t match_sorter_memory_bytes(uint64_t memory_bytes) {
    const uint64_t least = LEAST_ITEMS * sizeof(struct match);
    return 2 * (memory_bytes < least ? least : memory_bytes);
}

static bool same_pair(const struct match *x, const struct match *y) {
    return x->a == y->a && x->b == y->b;
}

/* Sorts the buffer and removes duplicates. */
static void sort_buffer(struct match_sorter *sorter) {
    struct match_list list = {.items = sorter->items, .count = sorter->count};
    match_list_sort_distinct(&list);
    sorter->count = list.count;
}

static cog_status append(int file, uint64_t *written, const struct match *items, size_t count,
                         cog_error *error) {
    TRY(descriptor_write_at(file, items, count * sizeof *items, *written * sizeof *items, file_name,
                            error));
    *written += count;
    return COG_OK;
}

/* Writes the buffer as a run of the file. */
static cog_status spill(struct match_sorter *sorter, cog_error *error) {
    sort_buffer(sorter);
    if (sorter->file < 0) {
        TRY(scratch_file_open(&sorter->file, error));
    }
    GROW(sorter->runs, sorter->run_capacity, sorter->run_count + 1, "runs of matches", error);
    sorter->runs[sorter->run_count++] = (struct match_run){sorter->written, sorter->count};
    TRY(append(sorter->file, &sorter->written, sorter->items, sorter->count, error));
    sorter->count = 0;
    return COG_OK;
}

/* Doubles the buffer up to its capacity. */
static cog_status grow(struct match_sorter *sorter, cog_error *error) {
    const size_t wanted = sorter->room ? 2 * sorter->room : LEAST_ITEMS;
    const size_t room = wanted < sorter->capacity ? wanted : sorter->capacity;
    struct match *grown = realloc(sorter->items, room * sizeof *grown);
    if (!grown)
        return error_memory(error, room * sizeof *grown, "matches");
    sorter->items = grown;
    sorter->room = room;
    return COG_OK;
}

/* Sorting may free enough room if the buffer has many duplicate pairs; otherwise it becomes a run.
 */
static cog_status make_room(struct match_sorter *sorter, cog_error *error) {
    if (sorter->room < sorter->capacity)
        return grow(sorter, error);
    sort_buffer(sorter);
    return sorter->count > sorter->capacity / 2 ? spill(sorter, error) : COG_OK;
}

static cog_status add(struct match_sorter *sorter, const struct match *items, size_t count,
                      cog_error *error) {
    while (count > 0) {
        if (sorter->count == sorter->room) {
            TRY(make_room(sorter, error));
        }
        size_t room = sorter->room - sorter->count, taken = count < room ? count : room;
        memcpy(sorter->items + sorter->count, items, taken * sizeof *items);
        sorter->count += taken;
        items += taken;
        count -= taken;
    }
    return COG_OK;
}

cog_status match_sorter_add(struct match_sorter *sorter, const struct match *items, size_t count,
                            cog_error *error) {
    pthread_mutex_lock(&sorter->lock);
    cog_status status = add(sorter, items, count, error);
    pthread_mutex_unlock(&sorter->lock);
    return status;
}

/* ---- Merging --------------------------------------------------------------------------------- */

struct run_reader {
    struct match_run left;
    struct match *items; /* part of the sorter's buffer */
    size_t at, count;
};

struct merge {
    struct match_sorter *sorter;
    struct run_reader *readers;
    size_t *heap; /* readers; on top the one with the smallest match */
    size_t heap_count;
    size_t at_once;      /* matches read or written at a time */
    struct match *ready; /* to be written */
    struct match last;   /* the last match put there, if any */
    bool has_last;
    size_t ready_count;
    int file;
    uint64_t written;
};

static cog_status refill(struct merge *merge, struct run_reader *reader, cog_error *error) {
    const size_t size = sizeof(struct match);
    size_t count = reader->left.count < merge->at_once ? reader->left.count : merge->at_once;
    reader->at = 0;
    reader->count = count;
    TRY(descriptor_read_at(merge->sorter->file, reader->items, count * size,
                           reader->left.first * size, file_name, error));
    reader->left.first += count;
    reader->left.count -= count;
    return COG_OK;
}

static bool before(const struct merge *merge, size_t x, size_t y) {
    const struct match *p = &merge->readers[x].items[merge->readers[x].at];
    const struct match *q = &merge->readers[y].items[merge->readers[y].at];
    return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void sift_down(struct merge *merge, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1, least = at;
        for (size_t i = child; i < child + 2 && i < merge->heap_count; i++)
            if (before(merge, merge->heap[i], merge->heap[least]))
                least = i;
        if (least == at)
            return;
        size_t moved = merge->heap[at];
        merge->heap[at] = merge->heap[least];
        merge->heap[least] = moved;
        at = least;
    }
}

static cog_status flush(struct merge *merge, cog_error *error) {
    TRY(append(merge->file, &merge->written, merge->ready, merge->ready_count, error));
    merge->ready_count = 0;
    return COG_OK;
}

static cog_status put(struct merge *merge, const struct match *match, cog_error *error) {
    if (merge->has_last && same_pair(&merge->last, match)) {
        struct match *last = &merge->ready[merge->ready_count - 1];
        last->distance = match->distance < last->distance ? match->distance : last->distance;
        return COG_OK;
    }
    if (merge->ready_count == merge->at_once) {
        TRY(flush(merge, error));
    }
    merge->ready[merge->ready_count++] = merge->last = *match;
    merge->has_last = true;
    return COG_OK;
}

static cog_status merge_runs(struct merge *merge, cog_error *error) {
    cog_status status = COG_OK;
    while (merge->heap_count && status == COG_OK) {
        struct run_reader *reader = &merge->readers[merge->heap[0]];
        status = put(merge, &reader->items[reader->at++], error);
        if (reader->at == reader->count && reader->left.count)
            THEN(status, refill(merge, reader, error));
        else if (reader->at == reader->count)
            merge->heap[0] = merge->heap[--merge->heap_count];
        sift_down(merge, 0);
    }
    return status == COG_OK ? flush(merge, error) : status;
}

/* Divides the buffer into parts for the runs and for the output. */
static cog_status start_merge(struct merge *merge, cog_error *error) {
    struct match_sorter *sorter = merge->sorter;
    const size_t runs = sorter->run_count;
    merge->at_once = sorter->capacity / (runs + 1);
    if (merge->at_once < LEAST_READ) {
        merge->at_once = LEAST_READ;
        free(sorter->items);
        sorter->items = NULL;
        TAKE(sorter->items, LEAST_READ * (runs + 1), "matches", error);
    }
    TAKE_ZEROED(merge->readers, runs, "runs of matches", error);
    TAKE(merge->heap, runs, "runs of matches", error);
    merge->ready = sorter->items + runs * merge->at_once;
    TRY(scratch_file_open(&merge->file, error));
    for (size_t i = 0; i < runs; i++) {
        merge->readers[i] = (struct run_reader){.left = sorter->runs[i],
                                                .items = sorter->items + i * merge->at_once};
        TRY(refill(merge, &merge->readers[i], error));
        merge->heap[merge->heap_count++] = i;
    }
    for (size_t i = runs; i-- > 0;)
        sift_down(merge, i);
    return COG_OK;
}

static cog_status merge_to_file(struct match_sorter *sorter, struct match_list *matches,
                                cog_error *error) {
    struct merge merge = {.sorter = sorter, .file = -1};
    cog_status status = start_merge(&merge, error);
    THEN(status, merge_runs(&merge, error));
    THEN(status, mapping_of_descriptor(merge.file, file_name, &matches->file, error));
    if (status == COG_OK) {
        matches->items = (struct match *)(void *)matches->file.data;
        matches->count = (size_t)merge.written;
    }
    if (merge.file >= 0)
        close(merge.file);
    free(merge.readers);
    free(merge.heap);
    return status;
}

cog_status match_sorter_finish(struct match_sorter *sorter, struct match_list *matches,
                               cog_error *error) {
    cog_status status = COG_OK;
    if (sorter->run_count == 0) {
        sort_buffer(sorter);
        *matches = (struct match_list){
            .items = sorter->items, .count = sorter->count, .capacity = sorter->room};
        sorter->items = NULL;
        sorter->count = sorter->room = 0;
        return COG_OK;
    }
    if (sorter->count)
        status = spill(sorter, error);
    THEN(status, merge_to_file(sorter, matches, error));
    if (sorter->file >= 0)
        close(sorter->file);
    free(sorter->items);
    sorter->items = NULL;
    sorter->file = -1;
    sorter->run_count = sorter->count = sorter->room = 0;
    sorter->written = 0;
    return status;
}
