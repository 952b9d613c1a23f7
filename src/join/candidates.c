#include "join/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_table.h"
#include "base/memory.h"

void candidates_free(struct candidates *candidates) {
    free(candidates->slots);
    free(candidates->ranks);
    *candidates = (struct candidates){0};
}

/* The slot of a rank, or a free slot for it. */
static struct candidate *candidate_slot(const struct candidates *candidates, uint32_t rank) {
    const struct candidate *slots = candidates->slots;
    size_t at;
    HASH_PROBE(at, rank * 0x9e3779b1u, candidates->slot_count,
               slots[at].turn != candidates->turn || slots[at].rank == rank);
    return &candidates->slots[at];
}

static cog_status candidates_grow(struct candidates *candidates, cog_error *error) {
    size_t slots = hash_slots(candidates->count + 1, 64);
    struct candidate *grown;
    if (slots <= candidates->slot_count)
        return COG_OK;
    GROW(candidates->ranks, candidates->capacity, slots / 2, "candidates", error);
    TAKE_ZEROED(grown, slots, "candidates", error);
    free(candidates->slots);
    candidates->slots = grown;
    candidates->slot_count = slots;
    candidates->turn = 1;
    for (size_t i = 0; i < candidates->count; i++)
        *candidate_slot(candidates, candidates->ranks[i]) =
            (struct candidate){candidates->ranks[i], candidates->turn};
    return COG_OK;
}

cog_status candidates_add(struct candidates *candidates, uint32_t rank, bool *is_new,
                          cog_error *error) {
    if (candidates->count + 1 > candidates->slot_count / 2)
        TRY(candidates_grow(candidates, error));
    struct candidate *slot = candidate_slot(candidates, rank);
    *is_new = slot->turn != candidates->turn;
    if (*is_new) {
        *slot = (struct candidate){rank, candidates->turn};
        candidates->ranks[candidates->count++] = rank;
    }
    return COG_OK;
}

void candidates_clear(struct candidates *candidates) {
    candidates->count = 0;
    if (++candidates->turn == 0 && candidates->slots) {
        memset(candidates->slots, 0, candidates->slot_count * sizeof *candidates->slots);
        candidates->turn = 1;
    }
}

static void sift_down(uint32_t *heap, size_t count, size_t at) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            return;
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (heap[at] <= heap[child])
            return;
        uint32_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

void candidates_order(struct candidates *candidates) {
    for (size_t i = candidates->count / 2; i-- > 0;)
        sift_down(candidates->ranks, candidates->count, i);
}

bool candidates_take(struct candidates *candidates, uint32_t *rank) {
    if (candidates->count == 0)
        return false;
    *rank = candidates->ranks[0];
    candidates->ranks[0] = candidates->ranks[--candidates->count];
    sift_down(candidates->ranks, candidates->count, 0);
    return true;
}
