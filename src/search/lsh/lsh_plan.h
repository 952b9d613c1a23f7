/* How many of the true pairs hash tables will find, before they are built, and the settings for a
 * wanted recall: number and length of keys, flips, bands of minhash values. In: pairs that are to
 * be found, by their cosines or by the signatures and margins of their rows. Out: options and the
 * recall expected of them. Everything is borrowed. A plan simulates about 1,000 pairs for each of
 * up to a hundred settings: some 50 ms. */
#pragma once

#include "search/lsh/lsh_tables.h"

/* Two rows whose bits agree with this probability share a key in at least one of the tables, no
 * flips: tables have half-keys in common. With 1/2, the share of all rows that a query meets. */
double lsh_recall_plain(double agreement, unsigned key_bits, unsigned tables);

/* The pairs that are to be found: their cosines, at which pairs with normal margins are drawn; or,
 * where they are known, the signatures and margins of their rows. All rows of a collection share
 * the hyperplanes of its seed, and where very many pairs lie close together, so that a few
 * hyperplanes decide about them all, recall is far from what it is for all seeds together. */
struct lsh_targets {
    const double *cosines;
    size_t count;
    const struct method_rows *known; /* two, the i-th rows of which are the i-th target; or NULL */
};

/* The same with flips, for the targets in turn: `samples` pairs of rows are keyed as the join does
 * it, or all targets where their rows are known. Inside one collection either row may find the
 * other. Repeats exactly, on any number of threads. */
enum lsh_join_kind { LSH_JOIN_CROSS, LSH_JOIN_SELF };
cog_status lsh_recall_simulated(const struct lsh_options *options, enum lsh_join_kind kind,
                                const struct lsh_targets *targets, size_t samples, unsigned threads,
                                double *recall, cog_error *error);

/* Candidates per query among `rows` unrelated rows. */
double lsh_comparisons(const struct lsh_options *options, size_t rows);

/* Settings for a stated recall of the targets (one at the threshold, where no others are known): K
 * from the number of rows, then L and F with the fewest comparisons; flips need margins. Where
 * `bits` are too few for the recall, keys get shorter. What is given stays; if the recall is out of
 * reach because of that, the plan comes as near as it can. *recall is what is expected. */
struct lsh_demand {
    enum lsh_join_kind kind;
    size_t rows;
    unsigned bits; /* of a signature */
    unsigned threads;
    bool have_margins;
    double recall;
    struct lsh_targets targets;
    struct lsh_options given; /* of key_bits, tables and flips, what is 0 is chosen */
};
cog_status lsh_plan(const struct lsh_demand *demand, struct lsh_options *options, double *recall,
                    cog_error *error);
/* COG_ERR_USAGE where what is given is impossible whatever is chosen for the rest: by the bits,
 * margins and options of the demand alone. */
cog_status lsh_plan_check(const struct lsh_demand *demand, cog_error *error);

/* Minhash: two sets at this similarity agree in all values of at least one band. Values of v bits
 * agree by chance in one of 2^v. */
double band_recall(double similarity, unsigned value_bits, unsigned band_values, unsigned bands);
/* Bands and values per band for a stated recall at the threshold with the fewest candidates below
 * it; as many bands as there can be where no choice reaches the recall. What is given (not 0)
 * stays. Returns the expected recall. */
double band_plan(double threshold, double recall, unsigned value_bits, unsigned value_count,
                 unsigned *band_values, unsigned *bands);
