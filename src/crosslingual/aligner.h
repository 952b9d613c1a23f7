/* Word translation probabilities from parallel text by expectation maximisation, in both directions
 * at once.
 *
 * IBM Model 1 (Brown et al. 1993) comes first. Then follows a model in which words align near the
 * diagonal (Dyer, Chahuneau, Smith, "A simple, fast, and effective reparameterization of IBM Model
 * 2", 2013) and a link counts the product of both directions' posteriors (Liang, Taskar, Klein,
 * "Alignment by agreement", 2006).
 *
 * In: a corpus and the table of its word pairs. Out: probabilities in the table, the same for any
 * number of threads. An iteration costs one table access per word pair of the text. */
#pragma once

#include "crosslingual/pair_table.h"
#include "run/job.h"

struct aligner_options {
    unsigned model1_iterations;
    unsigned agreement_iterations;
    double null_probability; /* probability that a word has no counterpart */
    double diagonal;         /* how fast the position prior decays: exp(-diagonal * distance) */
    unsigned threads;
    struct progress *progress; /* in iterations; may be NULL */
};
void aligner_options_init(struct aligner_options *options);

/* Leaves the probabilities of both directions in the table's entries. */
cog_status aligner_run(const struct pair_corpus *corpus, struct pair_table *table,
                       const struct aligner_options *options, cog_error *error);
