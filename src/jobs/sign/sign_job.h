/* Signing a collection as a stream: documents in, .npy files of signatures and margins and a file
 * of ids out.
 *
 * Memory does not grow with the input. BM25 needs statistics of the whole collection first: if none
 * are given, they are collected in a pass of its own, whose bags wait in a scratch file next to the
 * output; if the disk has no room for that, the input is read twice. */
#pragma once

#include "run/job.h"

cog_status sign_documents(struct job *job, cog_documents *documents,
                          const cog_sign_options *options, const cog_statistics *statistics,
                          const cog_sign_outputs *outputs, cog_error *error);
