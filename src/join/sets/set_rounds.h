/* The rounds of a set join: documents are taken in blocks, looked up by all threads, settled one
 * after the other and listed, until the posting lists are full; the rest is looked up, and what is
 * left is listed by the next round. With a work folder, a checkpoint is written after a block when
 * it is due: results so far, what is pending, and which documents are listed; their postings are
 * made again. */
#pragma once

#include "join/sets/set_look_up.h"

/* A result as it is before the first round: no document has a partner. */
void set_rounds_reset(struct joining *joining, size_t count);
/* Fills joining->result; the index and the seekers must be there. */
cog_status set_rounds_run(struct joining *joining, size_t count, cog_error *error);

/* Postings of the round that an earlier job was stopped in; 0: there is none. */
size_t set_rounds_saved_postings(const struct join_checkpoints *checkpoints);
void set_rounds_remove_saved(const struct join_checkpoints *checkpoints);
