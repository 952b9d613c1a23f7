/* How far the cosines that signatures estimate lie from the true cosines: the mean absolute error
 * over all pairs of a sample of documents, pairs above 0.1 and pairs above 0.2, next to the error
 * that theory expects of random projection.
 *
 * Costs n^2 / 2 floats of memory for a sample of n documents, and the time of n^2 / 2 distances for
 * each kind of signature and seed. */
#pragma once

#include "run/job.h"

/* Fills results[i] for kinds[i]. seeds is at least 1. */
cog_status evaluate_signatures(struct job *job, cog_documents *documents,
                               const cog_sign_options *options, const cog_signature_options *kinds,
                               size_t kind_count, size_t sample, unsigned seeds,
                               cog_signature_error *results, cog_error *error);
