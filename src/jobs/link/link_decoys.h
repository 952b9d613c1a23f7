/* Computes how far links and their decoys stand out, from the nearest documents of either side.
 *
 * The decoy of a link x - y is the link that x would have if y did not exist: its best other
 * candidate by contrast. */
#pragma once

#include "jobs/link/link_candidates.h"
#include "jobs/link/link_job.h"
#include "jobs/link/link_strength.h"

/* LINK_NEAREST: the nearest neighbours that a view needs on either side, including the link and its
 * decoy. */
enum { LINK_RIVALS = 2, LINK_NEAREST = 4 };

/* Fills the sample with views of the links, at most one per source row, and of their decoys.
 * `rivals` is LINK_RIVALS, or 0 if links are chosen by cosine. link_sample_free releases the
 * sample, also after a failure. */
cog_status link_sample_take(struct link_sample *sample, const struct link_candidates *candidates,
                            const struct link *links, size_t count, size_t rivals, unsigned threads,
                            cog_error *error);
void link_sample_free(struct link_sample *sample);
/* The view of any candidate. */
struct link_view link_view_of(const struct link_candidates *candidates, const struct link *link);
