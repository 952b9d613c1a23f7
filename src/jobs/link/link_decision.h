/* The decision: how likely each link is to be right, and which links a wanted precision lets in. It
 * is estimated from the collections at hand, without known links (docs/crosslingual.md, "The
 * decision", has the reasons).
 *
 * In: what is seen of the best link of every source document, and of its decoy. Links are ordered
 * by their strength (jobs/link/link_strength.h), and the decoys tell how strong wrong links are.
 * Out: a probability for each strength, the least strength of the links that are kept, and the
 * precision and recall to expect of them. Cost: a dozen sorts, and up to 150 passes. */
#pragma once

#include "jobs/link/link_strength.h"

struct link_expectation {
    double share, low, high; /* with its 95% interval */
};

/* Zero-initialise; link_decision_free releases. */
struct link_decision {
    struct link_strength strength;
    struct link_level {
        float strength, probability;
    } * levels;        /* of the links, both rising; the probability holds from its strength on */
    size_t count;      /* of levels */
    double null_share; /* of links that are wrong */
    double null_rate;  /* wrong links per unit of decoy weight */
    double spread;     /* relative standard error of the null rate */
};

/* `precision` is the one that will be asked for: of two estimates, the one that lets in more. */
cog_status link_decision_fit(struct link_decision *decision, const struct link_sample *sample,
                             double precision, cog_error *error);
void link_decision_free(struct link_decision *decision);
/* The probability that a link of this strength is right. */
double link_probability(const struct link_decision *decision, float strength);

/* The links that a precision lets in: as many of the strongest as have this precision together,
 * also if half a standard error more are wrong; without links that are wrong ten times as likely as
 * wanted of all, or more likely than not. */
struct link_choice {
    float least_strength;                      /* INFINITY if no link is let in */
    double least_probability;                  /* of a link of that strength */
    size_t kept;                               /* links of at least that strength */
    struct link_expectation precision, recall; /* of them; recall: of the right links found */
};
struct link_choice link_decision_choose(const struct link_decision *decision, double precision);
