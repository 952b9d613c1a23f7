/* How many of the true pairs a method will find, before it runs: the sliding window, and locality
 * sensitive hashing with its flips and bands. */
#pragma once

#include "search/lsh/lsh_tables.h"

/* ---- Sliding window -------------------------------------------------------------------------- */

struct window_setting {
    unsigned bits;        /* D */
    unsigned tables;      /* Q */
    size_t window;        /* B */
    uint32_t radius_bits; /* T */
};

/* A correction of the model of Ture et al. 2011 (equations 4 and 5). Three things differ from it.
 * All tables are made of the same D bits: given the distance d of two rows, the first bit in which
 * they differ in a random order follows from drawing without replacement, and only then are tables
 * independent. Rows crowd: how many share a prefix with a row comes from measured distances, not
 * from C / 2^n. And the window is where it is: two rows that differ first in bit l are as far apart
 * as the rows between them, and equal rows as those that equal them too, in all tables alike.
 *
 * crowd[l] is the expected number of rows that share the first l bits of a random order with a row
 * whose distances to all rows (or a sample, with `scale` rows for each) have this histogram. */
enum { WINDOW_PREFIX_MAX = 64 };
void window_crowd(const uint32_t *histogram, unsigned bits, double scale,
                  double crowd[WINDOW_PREFIX_MAX + 1]);
/* found[d], d = 0 .. radius_bits: probability that a row at distance d comes into the window in at
 * least one table. */
void window_found(const struct window_setting *setting, const double *crowd, double *found);
/* The recall at a cosine: found[] over the binomial distribution of the distance. */
double window_recall(const struct window_setting *setting, const double *found, double cosine);

/* The pairs that are to be found: at these cosines, or of signatures at these distances within the
 * radius, or (both NULL) at the radius itself; and how rows crowd around them, or (NULL) evenly
 * spread. */
struct window_targets {
    const double *cosines;
    const uint32_t *distances;
    size_t count;
    const double *crowd;
};

/* Tables and window for a stated recall of the targets with the fewest comparisons; what is given
 * (not 0) stays. Returns the expected recall, which may be less than stated where the radius alone
 * keeps it below. */
double window_plan(struct window_setting *setting, size_t rows,
                   const struct window_targets *targets, double recall);

/* ---- Locality sensitive hashing -------------------------------------------------------------- */

/* Two rows whose bits agree with this probability share a key in at least one of the tables, no
 * flips: tables have half-keys in common. With 1/2, the share of all rows that a query meets. */
double lsh_recall_plain(double agreement, unsigned key_bits, unsigned tables);

/* The pairs that are to be found: their cosines, at which pairs with normal sums are drawn; or,
 * where they are known, the signatures and sums of their rows. All rows of a collection share the
 * hyperplanes of its seed, and where very many pairs lie close together, so that a few hyperplanes
 * decide about them all, recall is far from what it is for all seeds together. */
struct lsh_targets {
    const double *cosines;
    size_t count;
    const struct lsh_collection
        *known; /* two, the i-th rows of which are the i-th target; or NULL */
};

/* The same with flips, for the targets in turn: `samples` pairs of rows are keyed as the join does
 * it, or all targets where their rows are known. Inside one collection either row may find the
 * other. Repeats exactly, on any number of threads. */
enum lsh_join_kind { LSH_JOIN_CROSS, LSH_JOIN_SELF };
cog_status lsh_recall_simulated(const struct lsh_options *options, enum lsh_join_kind kind,
                                const struct lsh_targets *targets, size_t samples, unsigned threads,
                                double *recall, cog_error *error);

/* Candidates a query among so many unrelated rows. */
double lsh_comparisons(const struct lsh_options *options, size_t rows);

/* Settings for a stated recall of the targets (one at the threshold, where no others are known): K
 * from the number of rows, then L and F with the fewest comparisons; flips need sums. Where `bits`
 * are too few for the recall, keys get shorter. What is given stays; if the recall is out of reach
 * because of that, the plan comes as near as it can. *recall is what is expected. */
struct lsh_demand {
    enum lsh_join_kind kind;
    size_t rows;
    unsigned bits; /* of a signature */
    unsigned threads;
    bool have_sums;
    double recall;
    struct lsh_targets targets;
    struct lsh_options given; /* of key_bits, tables and flips, what is 0 is chosen */
};
cog_status lsh_plan(const struct lsh_demand *demand, struct lsh_options *options, double *recall,
                    cog_error *error);
/* COG_ERR_USAGE where what is given is impossible whatever is chosen for the rest: by the bits,
 * sums and options of the demand alone. */
cog_status lsh_plan_check(const struct lsh_demand *demand, cog_error *error);

/* Minhash: two sets at this similarity agree in all values of at least one band. Values of v bits
 * agree by chance in one of 2^v. */
double band_recall(double similarity, unsigned value_bits, unsigned band_values, unsigned bands);
/* Bands and values a band for a stated recall at the threshold with the fewest candidates below it;
 * as many bands as there can be where no choice reaches the recall. What is given (not 0) stays.
 * Returns the expected recall. */
double band_plan(double threshold, double recall, unsigned value_bits, unsigned value_count,
                 unsigned *band_values, unsigned *bands);
