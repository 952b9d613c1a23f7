/* The descriptors of the methods that compare vectors and sets and need no signatures: exact, and
 * lists, which bounds the tails of rows by what the wanted recall allows. */
#pragma once

#include "join/cosine/cosine_join.h"
#include "search/method.h"

extern const struct search_method exact_method, lists_method;

/* The tail cosines that the true pairs of a join need for the wanted recall: `lists` cuts its
 * bounds there. The rows of pair i are those of join->pairs.rows if these have vectors, else rows
 * of the joined matrices. With fewer pairs than this, `lists` is exact. */
enum { LISTS_LEAST_PAIRS = 50 };
cog_status lists_tails(const struct method_join *join, const struct cosine_cuts *cuts,
                       struct cosine_tails *tails, cog_error *error);

/* Whether the method lists is worth the pairs that it misses: whether the exact way, at that many
 * nanoseconds per pair of rows and term that the two rows have, would take about a second of a
 * processor or more. The same for every machine and number of threads. */
bool lists_method_pays(const struct sparse_matrix vectors[2], double exact_term_ns);
