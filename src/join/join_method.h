/* Descriptors of the methods that compare vectors and sets without signatures: exact, and lists,
 * which limits its bounds on the tails of rows to what the wanted recall needs. */
#pragma once

#include "join/cosine/cosine_join.h"
#include "search/method.h"

extern const struct search_method exact_method, lists_method;

/* The tail cosines that the true pairs of a join need for the wanted recall; `lists` uses them as
 * its bounds. The rows of pair i are those of join->pairs.rows if these have vectors, otherwise
 * rows of the joined matrices. With fewer pairs than this, `lists` is exact. */
enum { LISTS_LEAST_PAIRS = 50 };
cog_status lists_tails(const struct method_join *join, const struct cosine_cuts *cuts,
                       struct cosine_tails *tails, cog_error *error);

/* Whether the method lists is worth the pairs that it misses: true if the exact join would take
 * about a second of processor time or more. exact_term_ns is its cost per pair of rows and per term
 * of both rows. Does not depend on the machine or the number of threads. */
bool lists_method_pays(const struct sparse_matrix vectors[2], double exact_term_ns);
