/* Candidates for links: the nearest documents of the other language, exactly, or by signatures with
 * the true cosines computed afterwards. */
#ifndef COGNATE_JOB_LINK_CANDIDATES_H
#define COGNATE_JOB_LINK_CANDIDATES_H

#include "job/link_vectors.h"
#include "match/cosine_topk.h"

/* Whether signatures are worth their small loss: where they save ten seconds of a processor or
 * more. The same for every machine and number of threads. */
bool link_signatures_pay(const struct link_space *space);

/* forward: the k best target documents of each source document; backward, where `back` is not 0:
 * the `back` best source documents of each target document. bits 0: exact. Both must be zeroed and
 * are the caller's to free. */
cog_status link_candidates_find(const struct link_space *space, size_t k, size_t back,
                                unsigned bits, struct cosine_neighbours *forward,
                                struct cosine_neighbours *backward, cog_error *error);

#endif
