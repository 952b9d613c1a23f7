/* What a job that joins documents by their sets (join/sets/set_join.h) takes of memory and disk:
 * the rest of the budget, and predictions. */
#pragma once

#include "collection/sets/document_sets.h"
#include "join/sets/set_join.h"

/* What the budget leaves for the join once the documents are read; 0: there is no budget.
 * other_bytes: what the job holds next to the sets, and will hold next to the join. COG_ERR_MEMORY
 * with the least budget if too little is left. */
cog_status set_memory_room(const struct document_sets *sets, uint64_t other_bytes,
                           const struct job *job, uint64_t *room, cog_error *error);
/* Lets the join predict the memory of the job, once its documents are read; other_bytes as above.
 * The prediction is borrowed by the options. */
struct set_memory {
    const struct document_sets *sets;
    uint64_t other_bytes;
    const struct job *job;
};
void set_memory_predict(struct set_memory *prediction, struct set_join_options *options);
/* Reports the size of the scratch files before anything is read, with a notice if it is large.
 * Collections may be NULL. `other_bytes`: sets that come from elsewhere. */
void set_memory_announce_disk(cog_documents *const collections[2], uint64_t other_bytes,
                              const struct job *job);
