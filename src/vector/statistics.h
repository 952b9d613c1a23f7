/* Statistics of a collection, and the term weights that follow from them.
 *
 * Statistics are the number of documents, their total length, and for each term its document
 * frequency (df) and collection frequency (cf). They are collected in one pass by many threads,
 * merged, saved, and used for later batches and on other machines. Terms are identified only by
 * their hash: 16 bytes per slot, at most three quarters of the slots used. A weight says how much a
 * term that occurs tf times contributes to a document of a given length: a bag goes in, a float per
 * term comes out. */
#pragma once

#include "base/error.h"
#include "store/settings.h"
#include "vector/bag.h"

struct statistics;
cog_status statistics_create(struct statistics **statistics, cog_error *error);
/* Copies the statistics, which must not change meanwhile. */
cog_status statistics_clone(const struct statistics *statistics, struct statistics **copy,
                            cog_error *error);
void statistics_free(struct statistics *statistics);

/* Additions of one thread, grouped by shard, so that locks and cache misses are paid once per
 * batch. Flush before reading the statistics. */
struct statistics_batch;
cog_status statistics_batch_create(struct statistics *statistics, struct statistics_batch **batch,
                                   cog_error *error);
/* A term of frequency 0 is not counted (bag_round_expected). */
cog_status statistics_batch_add(struct statistics_batch *batch, const struct bag_view *bag,
                                cog_error *error);
cog_status statistics_batch_flush(struct statistics_batch *batch, cog_error *error);
void statistics_batch_free(struct statistics_batch *batch);

/* Adds the counts of `other` to `statistics`. */
cog_status statistics_merge(struct statistics *statistics, const struct statistics *other,
                            cog_error *error);

uint64_t statistics_document_count(const struct statistics *statistics);
uint64_t statistics_total_length(const struct statistics *statistics);
uint64_t statistics_term_count(const struct statistics *statistics);
uint64_t statistics_memory_bytes(const struct statistics *statistics);
/* Mean number of terms per document; 1 for an empty collection, so that it can be a divisor. */
double statistics_mean_length(const struct statistics *statistics);

struct term_counts {
    uint32_t document_frequency; /* both saturate at UINT32_MAX */
    uint32_t collection_frequency;
};
/* Zeros for an unknown term. */
struct term_counts statistics_find(const struct statistics *statistics, uint64_t hash);
/* Prefetches the slot of a term that is about to be looked up. */
void statistics_prefetch(const struct statistics *statistics, uint64_t hash);

/* Iterates over all terms in ascending order of hash, the same on every machine. Set `statistics`,
 * zero the rest, and call term_cursor_next until it returns false; then, or earlier,
 * term_cursor_end. */
struct term_cursor {
    const struct statistics *statistics;
    uint64_t hash; /* of the current term */
    struct term_counts counts;
    struct counted_term *sorted; /* the terms of a shard */
    size_t at, count;
    unsigned shard;
    cog_status status;
};
bool term_cursor_next(struct term_cursor *cursor, cog_error *error);
/* Releases the cursor. Returns `status` unless it is COG_OK and the cursor failed. */
cog_status term_cursor_end(struct term_cursor *cursor, cog_status status);

/* Adds one term with its counts (loading, merging), or documents without terms. */
cog_status statistics_add_term(struct statistics *statistics, uint64_t hash,
                               struct term_counts counts, cog_error *error);
void statistics_add_documents(struct statistics *statistics, uint64_t documents,
                              uint64_t total_length);

/* Subtracts counts that were added before. A term that no document has any more becomes unknown
 * again. Saturated counts (UINT32_MAX) stay. */
void statistics_remove_term(struct statistics *statistics, uint64_t hash,
                            struct term_counts counts);
void statistics_remove_documents(struct statistics *statistics, uint64_t documents,
                                 uint64_t total_length);

/* Statistics as a file (docs/format.md, kind `stat`). Settings record how the terms were made; the
 * caller compares them. */
cog_status statistics_save(const struct statistics *statistics, const struct settings *settings,
                           const char *path, cog_error *error);
/* The same bytes into a buffer. */
cog_status statistics_save_memory(const struct statistics *statistics,
                                  const struct settings *settings, struct buffer *bytes,
                                  cog_error *error);
/* Reads and verifies the whole file. settings must be zeroed; the caller frees both. */
cog_status statistics_load(const char *path, struct statistics **statistics,
                           struct settings *settings, cog_error *error);
/* The same for bytes in memory. */
cog_status statistics_load_memory(const void *data, size_t size, struct statistics **statistics,
                                  struct settings *settings, cog_error *error);

/* ---- Weights --------------------------------------------------------------------------------- */

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

/* The idf of every small df of a collection, because a logarithm per term would cost more than the
 * rest of its weight. Zero-initialise; idf_table_free releases. */
struct idf_table {
    double *values;
    uint32_t count;
};
cog_status idf_table_fill(struct idf_table *table, const struct statistics *statistics,
                          cog_error *error);
void idf_table_free(struct idf_table *table);

/* Whether the scheme needs statistics of the collection (df, cf, mean length). */
bool weighting_needs_statistics(const struct weighting *weighting);
/* The least frequency in the collection of a term that counts: min_collection_frequency for schemes
 * with statistics, else 1. */
uint32_t weighting_least_frequency(const struct weighting *weighting);

/* The idf of a term that occurs `frequency` times in the document; 0 if it is too rare to count. A
 * term unknown to the statistics (df 0) counts as the rarest: as if only this document had it. */
double weighting_idf(const struct weighting *weighting, uint64_t documents,
                     const struct idf_table *idf, struct term_counts counts, double frequency);
/* The effect of a document's length on its frequencies. */
static inline double weighting_saturation(const struct weighting *weighting, double mean_length,
                                          uint64_t length) {
    return weighting->k1 * (1 - weighting->b + weighting->b * ((double)length / mean_length));
}
static inline float weighting_weight(const struct weighting *weighting, double idf,
                                     double frequency, double saturation) {
    switch (weighting->scheme) {
    case WEIGHTING_BM25:
        return (float)(idf * (frequency * (weighting->k1 + 1) / (frequency + saturation)));
    case WEIGHTING_TFIDF:
        return (float)(idf * frequency);
    case WEIGHTING_TF:
        return (float)frequency;
    default:
        return 1;
    }
}

/* The weights of a document's terms; 0 for terms that do not count. `statistics` may be NULL if the
 * scheme needs none; `idf` may be NULL. `weights` has room for bag->count. */
void weighting_apply(const struct weighting *weighting, const struct statistics *statistics,
                     const struct idf_table *idf, const struct bag_view *bag, float *weights);
