/* A first look: the nearest signatures of a query, and whether their cosines answer it already.
 *
 * A query whose neighbours stand out needs a few true cosines, wherever the other rows lie: a
 * translation, a near-duplicate. All rows are compared, by some columns of their bits or by their
 * signatures, and the nearest get their true cosines in the order of their distances. As soon as k
 * of them have cosines that a row of a larger distance reaches with a probability of at most 1 -
 * recall (estimate/radius.h), the query is answered. Across languages, neighbours below the cosine
 * of likely partners do not count, as in `link`. Queries that stay unsure are answered as if there
 * had been no first look. In: a task whose signatures are made. Out: the hits of the sure queries,
 * and which ones are unsure. */
#pragma once

#include "jobs/search/search_task.h"

/* Rows that get a true cosine, at most, for the k nearest. */
size_t first_look_candidates(size_t k);
/* Whether a first look can answer the task's question and costs less than half of other_ns, the
 * time per query without one. */
bool first_look_pays(const struct search_task *task, const struct effort_question *question,
                     double other_ns);
/* Fills the task's hits, without any for unsure queries, whose is_unsure is set to 1. */
cog_status first_look_run(struct search_task *task, uint8_t *is_unsure, cog_error *error);
