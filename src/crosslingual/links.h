/* From candidates to links: which document of the other language is the partner of which.
 *
 * A document that is close to everything (a hub) draws links that it should not have; its score is
 * therefore 2 cos(x, y) minus the mean cosine of x's nearest and of y's nearest (Conneau et al.,
 * "Word translation without parallel data", 2018, for word vectors). One-to-one links are taken
 * greedily by score, the best first, each document once (the rule of the WMT16 shared task). */
#ifndef COGNATE_CROSSLINGUAL_LINKS_H
#define COGNATE_CROSSLINGUAL_LINKS_H

#include "base/error.h"

struct link {
    uint32_t from, to;
    float similarity; /* cosine */
    float score;
};

/* In: similarity. Out: score. from_means[r] and to_means[r] are the documents' mean cosines to
 * their nearest; NULL: the score is the cosine. */
void links_score(struct link *links, size_t count, const float *from_means, const float *to_means);

/* Both bring what they keep to the front and return how many that are; the order is by source row.
 * Ties go to the smaller rows. */
size_t links_one_to_one(struct link *links, size_t count, size_t from_rows, size_t to_rows,
                        cog_error *error, cog_status *status);
size_t links_best(struct link *links, size_t count);

#endif
