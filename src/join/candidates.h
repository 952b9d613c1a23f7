/* The candidates of one document in a join: a set of ranks, taken in ascending order. Reusable:
 * clearing is free, and memory grows to the largest number of candidates of any document. */
#pragma once

#include "base/error.h"

/* Zero-initialise; candidates_free releases. */
struct candidates {
    /* A hash set of ranks; slots of another turn are free. */
    struct candidate {
        uint32_t rank, turn;
    } * slots;
    size_t slot_count;
    uint32_t turn;
    uint32_t *ranks; /* the same ranks as a list; a heap after candidates_order */
    size_t count, capacity;
};

void candidates_free(struct candidates *candidates);
void candidates_clear(struct candidates *candidates);
/* Sets *is_new if the rank was not in the set. Not allowed after candidates_order. */
cog_status candidates_add(struct candidates *candidates, uint32_t rank, bool *is_new,
                          cog_error *error);
/* Prepares for candidates_take, in linear time. */
void candidates_order(struct candidates *candidates);
/* Takes the smallest rank; false if none is left. */
bool candidates_take(struct candidates *candidates, uint32_t *rank);
