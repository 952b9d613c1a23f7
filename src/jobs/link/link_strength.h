/* The strength of a link: one number for how far it stands out, by which links are ordered.
 *
 * In: views of links and of their decoys. A decoy is the link that the source document would have
 * if its target document did not exist. If the link is right, the decoy is known to be wrong, and
 * wrong in the same way as links of documents without a partner. Out: a weighted sum of a link's
 * lead over its rivals, its cosine, and how far the lengths of its documents differ from those of
 * other links. The weights are learned in each run by logistic regression of links against decoys,
 * because the useful features differ: among pages made from one template the lead is small and the
 * lengths decide; among speeches it is the reverse. Semi-supervised learning from decoys is known
 * from the identification of peptides (Käll and others 2007). Cost: linear, about ten passes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The view of a link: its cosine relative to those of its two documents with others, and the
 * lengths of the documents. */
struct link_view {
    float margin; /* lead over the best rival of either document; above 0 if both prefer the link */
    float height; /* lead over the second best rival of either, which a single near copy of the
                     partner does not reduce */
    float cosine;
    float lengths; /* logarithm of the source document's length minus that of the target's */
};

struct link_sample {
    size_t count;
    struct link_view *links; /* by link */
    struct link_view
        *decoys; /* by link; -INFINITY if the source document would have no other link */
};

/* Margin, height, cosine and lengths. */
enum { LINK_FEATURES = 4 };
struct link_weights {
    bool is_known;
    double features[LINK_FEATURES], constant;
};

/* Links that both of their documents prefer, and the others. They need different weights, and as
 * the others are the majority, a common fit would suit only them. */
enum { LINK_PREFERRED, LINK_OTHERS, LINK_PARTS };
struct link_strength {
    bool is_learned;
    double usual_lengths; /* median of the links' lengths */
    struct link_weights parts[LINK_PARTS];
};
int link_part_of(const struct link_view *view);

/* Learns from links and decoys of each part. Each link is weighted by the probability that it is
 * right, its decoy by the probability that the source document has a partner. If there are too few
 * preferred decoys, the margin itself is the strength of preferred links, and the others have none;
 * they also have none if there are too few of them. */
cog_status link_strength_learn(struct link_strength *strength, const struct link_sample *sample,
                               const double *right, const double *partners, cog_error *error);
/* The same for both parts together and without the margin, for the probability that the source
 * document has a partner, whether or not the partner has a near copy. With too few decoys, the
 * height itself. */
cog_status link_strength_learn_partners(struct link_strength *strength,
                                        const struct link_sample *sample, const double *partners,
                                        cog_error *error);
/* Uses the height itself. */
struct link_strength link_strength_of_heights(void);
/* The logarithm of the odds of a link against a decoy, or its substitute; -INFINITY for none. */
float link_strength_of(const struct link_strength *strength, const struct link_view *view);
