/* The strength of a link: one number for how far it stands out, by which links are ordered.
 *
 * In: what is seen of links and of their decoys. A decoy is the link that the source document would
 * have if its target document were not there; if the link is right, the decoy is known to be wrong,
 * and it is wrong as links of documents without a partner are. Out: a weighted sum of a link's lead
 * over its rivals, its cosine, and how far the lengths of its documents are from those of other
 * links. The weights are learned in each run, by logistic regression of links against decoys, for
 * what tells right from wrong differs: among pages made from one template the lead is small and the
 * lengths decide, among speeches it is the other way round. Semi-supervised learning from decoys is
 * known from the identification of peptides (Käll and others 2007). Cost: linear, some ten passes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What is seen of a link: its cosine against those that its two documents have with others, and the
 * lengths of the documents. */
struct link_view {
    float margin; /* lead over the best rival of either document, above 0 if both prefer the link */
    float height; /* lead over the second best rival of either: a single near copy of the partner
                   * does not lower it */
    float cosine;
    float lengths; /* logarithm of the source document's length less that of the target's */
};

struct link_sample {
    size_t count;
    struct link_view *links;  /* by link */
    struct link_view *decoys; /* by link; -INFINITY: without its target, the source document would
                               * have no link */
};

/* Of the margin, the height, the cosine and the lengths. */
enum { LINK_FEATURES = 4 };
struct link_weights {
    bool is_known;
    double features[LINK_FEATURES], constant;
};

/* Links that both of their documents prefer, and the others. What tells right from wrong differs,
 * and the others outnumber them: one fit for all would be theirs. */
enum { LINK_PREFERRED, LINK_OTHERS, LINK_PARTS };
struct link_strength {
    bool is_learned;
    double usual_lengths; /* median of the links' lengths */
    struct link_weights parts[LINK_PARTS];
};
int link_part_of(const struct link_view *view);

/* Learns from links and decoys of each part. Each link counts by the probability that it is right,
 * its decoy by the probability that the source document has a partner. If preferred decoys are too
 * few to learn from, the margin itself is the strength of preferred links, and the others have
 * none; they have none either if there are too few of them. */
cog_status link_strength_learn(struct link_strength *strength, const struct link_sample *sample,
                               const double *right, const double *partners, cog_error *error);
/* The same for both parts together and without the margin: how likely the source document has a
 * partner, whether or not that has a near copy. The height itself if decoys are too few. */
cog_status link_strength_learn_partners(struct link_strength *strength,
                                        const struct link_sample *sample, const double *partners,
                                        cog_error *error);
/* The height itself. */
struct link_strength link_strength_of_heights(void);
/* Logarithm of the odds of a link against a decoy, or what stands for it; -INFINITY for none. */
float link_strength_of(const struct link_strength *strength, const struct link_view *view);
