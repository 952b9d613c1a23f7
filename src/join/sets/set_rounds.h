/* The rounds of a set join. Documents are taken in blocks: looked up by all threads, then decided
 * and listed one by one, until the posting lists are full. The remaining documents are still looked
 * up, and those left are listed in the next round. With a work folder, a checkpoint is written
 * after a block when due: results so far, pending documents, and which documents are listed; their
 * postings are made again. */
#pragma once

#include "join/sets/set_look_up.h"

/* Resets the result to its state before the first round: no document has a partner. */
void set_rounds_reset(struct joining *joining, size_t count);
/* Fills joining->result; the index and the seekers must exist. */
cog_status set_rounds_run(struct joining *joining, size_t count, cog_error *error);

/* The number of postings of the round in which an earlier job stopped; 0 if there is none. */
size_t set_rounds_saved_postings(const struct join_checkpoints *checkpoints);
void set_rounds_remove_saved(const struct join_checkpoints *checkpoints);
