/* Word translation probabilities from parallel text by expectation maximisation, in both directions
 * at once: IBM Model 1 (Brown et al. 1993), then a model in which words align near the diagonal
 * (Dyer, Chahuneau, Smith, "A simple, fast, and effective reparameterization of IBM Model 2", 2013)
 * and in which a link counts as far as both directions believe in it: the product of the posteriors
 * (Liang, Taskar, Klein, "Alignment by agreement", 2006). The result is the same for any number of
 * threads. */
#pragma once

#include "crosslingual/pair_table.h"

struct aligner_options {
    unsigned model1_iterations;
    unsigned agreement_iterations;
    double null_probability; /* that a word has no counterpart */
    double diagonal;         /* how fast the position prior falls: exp(-diagonal * distance) */
    unsigned threads;
    /* Called after each iteration with their number so far; may be NULL. */
    cog_status (*progress)(void *context, uint64_t iterations, cog_error *error);
    void *progress_context;
};
void aligner_options_init(struct aligner_options *options);

/* Leaves the probabilities of both directions in the table's entries. */
cog_status aligner_run(const struct pair_corpus *corpus, struct pair_table *table,
                       const struct aligner_options *options, cog_error *error);
