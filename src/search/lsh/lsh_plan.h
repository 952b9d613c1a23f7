/* Chooses the settings of hash tables for a wanted recall (number and length of keys, flips, bands
 * of minhash values) by predicting the share of true pairs that they will find.
 *
 * In: the pairs to be found, by their cosines or by the signatures and margins of their rows. Out:
 * options and the expected recall. Everything is borrowed. A plan simulates about 1,000 pairs for
 * each of up to a hundred settings, which takes some 50 ms. */
#pragma once

#include "search/lsh/lsh_tables.h"

/* The probability that two rows share a key in at least one table, without flips, if each of their
 * bits agrees with probability `agreement`. Takes into account that tables share half-keys. For an
 * agreement of 1/2 it is the share of all rows that become candidates of a query. */
double lsh_recall_plain(double agreement, unsigned key_bits, unsigned tables);

/* The pairs to be found: their cosines, at which pairs with normal margins are drawn; or, if known,
 * the signatures and margins of their rows. Known rows predict better: all rows of a collection
 * share the hyperplanes of one seed, and if many pairs lie close together, a few hyperplanes decide
 * about all of them. */
struct lsh_targets {
    const double *cosines;
    size_t count;
    const struct method_rows *known; /* two; row i of both is target i; or NULL */
};

/* The same with flips: computes the keys of `samples` pairs of rows as the join does, spread over
 * the targets, or of all targets if their rows are known. Inside one collection, either row may
 * find the other. The result is the same for any number of threads. */
enum lsh_join_kind { LSH_JOIN_CROSS, LSH_JOIN_SELF };
cog_status lsh_recall_simulated(const struct lsh_options *options, enum lsh_join_kind kind,
                                const struct lsh_targets *targets, size_t samples, unsigned threads,
                                double *recall, cog_error *error);

/* Candidates per query among `rows` unrelated rows. */
double lsh_comparisons(const struct lsh_options *options, size_t rows);

/* Chooses settings for a wanted recall of the targets (if none are known, one at the threshold): K
 * follows from the number of rows, then L and F minimise the comparisons. Flips need margins. If
 * `bits` is too small for the recall, keys get shorter. Given settings stay; if they put the recall
 * out of reach, the plan comes as near as it can. *recall is the expected recall. */
struct lsh_demand {
    enum lsh_join_kind kind;
    size_t rows;
    unsigned bits; /* of a signature */
    unsigned threads;
    bool have_margins;
    double recall;
    struct lsh_targets targets;
    struct lsh_options given; /* key_bits, tables and flips are chosen if 0 */
};
cog_status lsh_plan(const struct lsh_demand *demand, struct lsh_options *options, double *recall,
                    cog_error *error);
/* COG_ERR_USAGE if the given options are impossible whatever is chosen for the rest. Uses only the
 * bits, margins and options of the demand. */
cog_status lsh_plan_check(const struct lsh_demand *demand, cog_error *error);

/* Minhash: the probability that two sets of this similarity agree in all values of at least one
 * band. Values of v bits agree by chance with probability 2^-v. */
double band_recall(double similarity, unsigned value_bits, unsigned band_values, unsigned bands);
/* Bands and values per band for a wanted recall at the threshold, with the fewest candidates below
 * it. If no choice reaches the recall, takes the most bands possible. Given values (not 0) stay.
 * Returns the expected recall. */
double band_plan(double threshold, double recall, unsigned value_bits, unsigned value_count,
                 unsigned *band_values, unsigned *bands);
