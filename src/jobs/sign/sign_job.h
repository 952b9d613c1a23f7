/* Signs a collection as a stream. In: documents. Out: .npy files of signatures and margins and a
 * file of ids, or the same in the caller's memory.
 *
 * Memory does not grow with the input. BM25 needs statistics of the whole collection: if none are
 * given, a first pass collects them and keeps the bags in a scratch file next to the output. If the
 * disk has no room for that, the input is read twice. */
#pragma once

#include "run/job.h"

cog_status sign_documents(struct job *job, cog_documents *documents,
                          const cog_sign_options *options, const cog_statistics *statistics,
                          const cog_sign_outputs *outputs, cog_error *error);
/* Fills the first rows of the buffers, one per document that was not skipped, in input order.
 * *documents_signed is their number. COG_ERR_USAGE if the buffers are too small. */
cog_status sign_into_buffers(struct job *job, cog_documents *documents,
                             const cog_sign_options *options, const cog_statistics *statistics,
                             const cog_sign_buffers *buffers, size_t *documents_signed,
                             cog_error *error);
