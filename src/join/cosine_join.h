/* All pairs of rows whose dot product is at or above a threshold: the exact cosine join for rows of
 * unit length. Empty rows match nothing. The decision and the reported similarity are sparse_dot's
 * value. With options->rests pairs may be missed; what is listed is right. */
#pragma once

#include "join/join.h"
#include "search/hits/match_list.h"
#include "vector/sparse.h"

/* Vectors are of single precision: the product of a vector with itself may miss 1 by this much. Who
 * asks for a threshold takes it off, so that a cosine that is nearer to the threshold than that
 * counts as reaching it. */
#define COSINE_PRECISION 2e-7

/* Pairs of rows a < b of one matrix if b is NULL, else of rows of a and rows of b; both have the
 * same columns. `matches` must be empty. */
cog_status cosine_join(const struct sparse_matrix *a, const struct sparse_matrix *b,
                       const struct join_options *options, struct match_list *matches,
                       cog_error *error);
