/* Signing a collection as a stream: documents in, .npy files of signatures and margins and a file
 * of ids out; or the same into the caller's memory.
 *
 * Memory does not grow with the input. BM25 needs statistics of the whole collection first: if none
 * are given, they are collected in a pass of its own, whose bags wait in a scratch file next to the
 * output; if the disk has no room for that, the input is read twice. */
#pragma once

#include "run/job.h"

cog_status sign_documents(struct job *job, cog_documents *documents,
                          const cog_sign_options *options, const cog_statistics *statistics,
                          const cog_sign_outputs *outputs, cog_error *error);
/* Fills the first rows of the buffers, one per document that was not skipped, in input order.
 * COG_ERR_USAGE if there are more. *documents_signed: how many there were. */
cog_status sign_into_buffers(struct job *job, cog_documents *documents,
                             const cog_sign_options *options, const cog_statistics *statistics,
                             const cog_sign_buffers *buffers, size_t *documents_signed,
                             cog_error *error);
