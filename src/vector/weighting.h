/* Term weights: how much a term that occurs tf times says about a document of a given length. In: a
 * bag and the statistics of the collection. Out: a float per term. Nothing is kept but an optional
 * table of idf values. */
#pragma once

#include "vector/statistics.h"

enum weighting_scheme {
    WEIGHTING_BM25,   /* idf * tf (k1 + 1) / (tf + k1 (1 - b + b length / mean length)) */
    WEIGHTING_TFIDF,  /* idf * tf */
    WEIGHTING_TF,     /* tf */
    WEIGHTING_BINARY, /* 1 */
};

struct weighting {
    enum weighting_scheme scheme;
    double k1, b;
    uint32_t min_collection_frequency; /* rarer terms weigh nothing: 2 drops what occurs once */
};
void weighting_init(struct weighting *weighting, enum weighting_scheme scheme);

/* The idf of every small df of a collection: a logarithm per term would cost more than the rest of
 * its weight. Zero-initialise; idf_table_free releases. */
struct idf_table {
    double *values;
    uint32_t count;
};
cog_status idf_table_fill(struct idf_table *table, const struct statistics *statistics,
                          cog_error *error);
void idf_table_free(struct idf_table *table);

/* Whether the scheme needs statistics of the collection (df, cf, mean length). */
bool weighting_needs_statistics(const struct weighting *weighting);

/* The weights of a document's terms; a term that weighs nothing has 0. statistics may be NULL if
 * the scheme needs none, idf may be NULL. weights has room for bag->count. */
void weighting_apply(const struct weighting *weighting, const struct statistics *statistics,
                     const struct idf_table *idf, const struct bag_view *bag, float *weights);

/* idf = log(1 + (N - df + 0.5) / (df + 0.5)): above zero for every df, so that in a collection of
 * two documents a shared term still counts. */
double inverse_document_frequency(uint64_t documents, uint32_t document_frequency);
