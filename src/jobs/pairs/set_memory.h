/* Memory and disk of jobs that join documents by their sets (join/sets/set_join.h): the rest of the
 * budget, and predictions. */
#pragma once

#include "collection/sets/document_sets.h"
#include "join/sets/set_join.h"

/* The memory that the budget leaves for the join once the documents are read; 0 without a budget.
 * other_bytes: memory that the job holds in addition to the sets, and to the join. COG_ERR_MEMORY
 * with the minimum budget if too little is left. */
cog_status set_memory_room(const struct document_sets *sets, uint64_t other_bytes,
                           const struct job *job, uint64_t *room, cog_error *error);
/* Makes the join announce the job's memory once it knows its posting lists; other_bytes as above.
 * The options borrow the prediction. */
struct set_memory {
    const struct document_sets *sets;
    uint64_t other_bytes;
    const struct job *job;
};
void set_memory_predict(struct set_memory *prediction, struct set_join_options *options);
/* Announces the size of the scratch files (sets and prefixes) before the collections are read, if
 * it is large. Collections may be NULL. other_bytes: size of sets from elsewhere. */
cog_status set_memory_announce_disk(cog_documents *const collections[2],
                                    const struct term_options *terms, double threshold,
                                    uint64_t other_bytes, const struct job *job, cog_error *error);
