/* Measures how far cosines estimated from signatures are from the true cosines: the mean absolute
 * error over all pairs of a sample of documents, over pairs above 0.1 and over pairs above 0.2,
 * together with the error that theory predicts for random projection.
 *
 * Costs n^2 / 2 floats of memory for a sample of n documents, and the time of n^2 / 2 distances per
 * kind of signature and seed. */
#pragma once

#include "run/job.h"

/* Fills results[i] for kinds[i]. `seeds` must be at least 1. */
cog_status evaluate_signatures(struct job *job, cog_documents *documents,
                               const cog_sign_options *options, const cog_signature_options *kinds,
                               size_t kind_count, size_t sample, unsigned seeds,
                               cog_signature_error *results, cog_error *error);
