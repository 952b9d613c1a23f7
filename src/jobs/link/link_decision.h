/* The decision: how likely each link is to be right, and which links a wanted precision lets in. It
 * is estimated from the collections at hand, without known links (docs/crosslingual.md, "The
 * decision", has the reasons).
 *
 * In: for every link and for its decoy how far they stand out. The decoy of a link is the link that
 * its source document would have if its target document were not there; if the link is right, the
 * decoy is known to be wrong. Out: a probability for each link, the least margin of the links that
 * are kept, and the precision and recall to expect of them. Cost: a sort, and up to 50 passes. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* How far a link stands out: its cosine against those that its two documents have with others. */
struct link_view {
    float margin; /* the smaller one of both documents' leads over their next best; decides */
    float height; /* the sum of both documents' leads over the mean of their ten next */
};

struct link_sample {
    size_t count;
    struct link_view *links;  /* by link */
    struct link_view *decoys; /* by link; a margin of NAN: without its target, the source document
                               * would have no link */
};

struct link_expectation {
    double share, low, high; /* with its 95% interval */
};

/* Zero-initialise; link_decision_free releases. */
struct link_decision {
    struct link_level {
        float margin, probability;
    } * levels;        /* of the links, both rising; the probability holds from its margin on */
    size_t count;      /* of levels */
    double null_share; /* of links that are wrong */
    double null_rate;  /* wrong links per unit of decoy weight */
    double spread;     /* relative standard error of the null rate */
};

cog_status link_decision_fit(struct link_decision *decision, const struct link_sample *sample,
                             cog_error *error);
void link_decision_free(struct link_decision *decision);
/* The probability that a link of this margin is right. */
double link_probability(const struct link_decision *decision, double margin);

/* The links that a precision lets in: as many of those with the largest margins as have this
 * precision together, without links that are more likely wrong than right. */
struct link_choice {
    float least_margin;                        /* INFINITY if no link is let in */
    size_t kept;                               /* links of at least that margin */
    struct link_expectation precision, recall; /* of them; recall: of the right links found */
};
struct link_choice link_decision_choose(const struct link_decision *decision, double precision);
