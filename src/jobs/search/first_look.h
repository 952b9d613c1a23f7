/* A first look: finds the nearest signatures of a query and decides whether their cosines already
 * answer it.
 *
 * A query with outstanding neighbours (a translation, a near-duplicate) needs only a few true
 * cosines. All rows are compared, by some columns of their bits or by their signatures, and the
 * nearest get their true cosines in the order of distance. The query is answered as soon as k of
 * them have cosines that a row at a larger distance reaches with a probability of at most 1 -
 * recall (estimate/radius.h). Across languages, neighbours below the cosine of likely partners do
 * not count, as in `link`. Queries that stay unsure are answered as if there had been no first
 * look.
 *
 * In: a task whose signatures are made. Out: the hits of the sure queries, and which queries are
 * unsure. */
#pragma once

#include "jobs/search/search_task.h"

/* The maximum number of rows that get a true cosine, for the k nearest. */
size_t first_look_candidates(size_t k);
/* Whether a first look can answer the task's question and costs less than half of other_ns, the
 * time per query without it. */
bool first_look_pays(const struct search_task *task, const struct effort_question *question,
                     double other_ns);
/* Fills the task's hits; unsure queries get none, and their is_unsure is set to 1. */
cog_status first_look_run(struct search_task *task, uint8_t *is_unsure, cog_error *error);
