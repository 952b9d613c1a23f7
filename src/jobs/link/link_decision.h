/* The decision: how likely each link is to be right, and which links a wanted precision lets in. It
 * is estimated from the collections at hand, without known links (docs/crosslingual.md, "The
 * decision", has the reasons).
 *
 * In: for the best link of every source document, and for its decoy, how far they stand out. The
 * decoy is the link that the source document would have if its target document were not there; if
 * the link is right, the decoy is known to be wrong, and it is wrong as links of documents without
 * a partner are. Out: a probability for each margin, the least margin of the links that are kept,
 * and the precision and recall to expect of them. Cost: four sorts, and up to 50 passes. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* How far a link stands out: its cosine against those that its two documents have with others. */
struct link_view {
    float margin; /* lead over the best rival of either document, above 0 if both prefer the link;
                   * decides */
    float height; /* lead over the second best rival of either: a single near copy of the partner
                   * does not lower it */
    float cosine;
};

struct link_sample {
    size_t count;
    struct link_view *links;  /* by link */
    struct link_view *decoys; /* by link; -INFINITY: without its target, the source document would
                               * have no link */
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
    double null_share; /* of links that are wrong, all with margins up to 0 among them */
    double null_rate;  /* wrong links per unit of decoy weight */
    double spread;     /* relative standard error of the null rate */
};

/* `precision` is the one that will be asked for: of two estimates, the one that lets in more. */
cog_status link_decision_fit(struct link_decision *decision, const struct link_sample *sample,
                             double precision, cog_error *error);
void link_decision_free(struct link_decision *decision);
/* The probability that a link of this margin is right; 0 if the margin is not above 0. */
double link_probability(const struct link_decision *decision, double margin);

/* The links that a precision lets in: as many of those with the largest margins as have this
 * precision together, without links that are more likely wrong than right. */
struct link_choice {
    float least_margin;                        /* INFINITY if no link is let in */
    size_t kept;                               /* links of at least that margin */
    struct link_expectation precision, recall; /* of them; recall: of the right links found */
};
struct link_choice link_decision_choose(const struct link_decision *decision, double precision);
