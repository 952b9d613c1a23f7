/* From candidates to links: which document of the other language is the partner of which.
 *
 * A document that is close to everything (a hub) draws links that it should not have; a link counts
 * therefore by 2 cos(x, y) minus the mean cosine of x's nearest and of y's nearest (Conneau et al.,
 * "Word translation without parallel data", 2018, for word vectors). Which of two candidates is the
 * partner, the two nearest tell best: a page made from the same template as the partner has a
 * partner of its own that is nearer. Whether a candidate is a partner at all, more of them tell.
 * One-to-one links are taken greedily, the best first, each document once (the rule of the WMT16
 * shared task). */
#pragma once

#include "base/error.h"

struct link {
    uint32_t from, to;
    float similarity; /* cosine */
    float margin;     /* by which links are chosen: against the few nearest */
    float score;      /* how far it stands out: against more of them */
};

/* The documents' mean cosines to their nearest; NULL: what stands against them is the cosine. */
struct link_means {
    const float *from, *to;
};
/* In: similarity. Out: margin against `few`, score against `many`. */
void links_score(struct link *links, size_t count, struct link_means few, struct link_means many);

/* By margin. Both bring what they keep to the front and return how many that are; the order is by
 * source row. Ties go to the smaller rows. */
size_t links_one_to_one(struct link *links, size_t count, size_t from_rows, size_t to_rows,
                        cog_error *error, cog_status *status);
size_t links_best(struct link *links, size_t count);
