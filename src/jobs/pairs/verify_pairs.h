/* The true measure of given pairs of documents. In: one or two collections, and pairs of positions
 * in them. Out: a similarity per pair, NaN if a row does not exist. The documents are read once;
 * all threads compare. Cosines and plain Jaccard coefficients are those of cog_pairs_find, the
 * others those of cog_dedup. */
#pragma once

#include "base/error.h"

struct given_pairs {
    const int64_t *a, *b;
    size_t count;
};

cog_status verify_pairs(cog_documents *const documents[2], const struct given_pairs *pairs,
                        const cog_verify_options *options, const cog_run_options *run,
                        double *similarities, cog_report *report, cog_error *error);
