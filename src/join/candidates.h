/* Candidates of one document in a join: ranks, each once, taken from the smallest on. Used again
 * and again: emptying costs nothing, and memory grows with the most candidates of any document. */
#pragma once

#include "base/error.h"

/* Zero-initialise; candidates_free releases. */
struct candidates {
    /* A set of ranks; slots of another turn are free. */
    struct candidate {
        uint32_t rank, turn;
    } * slots;
    size_t slot_count;
    uint32_t turn;
    uint32_t *ranks; /* the same as a list; a heap behind candidates_order */
    size_t count, capacity;
};

void candidates_free(struct candidates *candidates);
void candidates_clear(struct candidates *candidates);
/* *is_new: the rank was not there. Not behind candidates_order. */
cog_status candidates_add(struct candidates *candidates, uint32_t rank, bool *is_new,
                          cog_error *error);
/* Prepares for taking, in linear time. */
void candidates_order(struct candidates *candidates);
/* Takes the smallest rank; false if there is none left. */
bool candidates_take(struct candidates *candidates, uint32_t *rank);
