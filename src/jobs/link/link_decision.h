/* The decision: how likely each link is to be right, and which links to keep for a wanted
 * precision. Estimated from the given collections, without known links (reasons in
 * docs/crosslingual.md, "The decision").
 *
 * In: views of the best link of every source document, and of its decoy. Links are ordered by
 * strength (jobs/link/link_strength.h); the decoys show how strong wrong links are. Out: a
 * probability for each strength, the minimum strength of the links to keep, and their expected
 * precision and recall. Cost: a dozen sorts, and up to 150 passes. */
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
    } * levels;   /* of the links, both ascending; the probability holds from its strength on */
    size_t count; /* of levels */
    double null_share; /* share of links that are wrong */
    double null_rate;  /* wrong links per unit of decoy weight */
    double spread;     /* relative standard error of the null rate */
};

/* `precision` is the precision that will be requested: of two estimates, the one that admits more
 * links is used. */
cog_status link_decision_fit(struct link_decision *decision, const struct link_sample *sample,
                             double precision, cog_error *error);
void link_decision_free(struct link_decision *decision);
/* The probability that a link of this strength is right. */
double link_probability(const struct link_decision *decision, float strength);

/* The links to keep for a precision: the largest number of the strongest links that together have
 * this precision, even if half a standard error more of them are wrong, and without links that are
 * more than ten times as likely to be wrong as wanted on average, or more likely wrong than right.
 */
struct link_choice {
    float least_strength;     /* INFINITY if no link is kept */
    double least_probability; /* of a link of that strength */
    size_t kept;              /* number of links of at least that strength */
    struct link_expectation precision,
        recall; /* of the kept links; recall: share of the right links that are kept */
};
struct link_choice link_decision_choose(const struct link_decision *decision, double precision);
