/* Statistics of a collection: how many documents, how long, and for each term in how many documents
 * it occurs (df) and how often (cf). Collected in one pass by many threads, merged, saved, and used
 * for later batches and on other machines. Terms are known only by their hash: 16 bytes per slot,
 * at most three quarters of the slots used. */
#pragma once

#include "base/error.h"
#include "store/settings.h"
#include "vector/bag.h"

struct statistics;
cog_status statistics_create(struct statistics **statistics, cog_error *error);
void statistics_free(struct statistics *statistics);

/* Additions of one thread, gathered by shard so that locks and cache misses are paid once per
 * batch. Flush before the statistics are read. */
struct statistics_batch;
cog_status statistics_batch_create(struct statistics *statistics, struct statistics_batch **batch,
                                   cog_error *error);
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
/* Mean number of terms per document; 1 for an empty collection, so that one can divide by it. */
double statistics_mean_length(const struct statistics *statistics);

struct term_counts {
    uint32_t document_frequency; /* both stop at UINT32_MAX */
    uint32_t collection_frequency;
};
/* Zeroes for an unknown term. */
struct term_counts statistics_find(const struct statistics *statistics, uint64_t hash);
/* Brings the place of a term that is about to be looked up into the cache. */
void statistics_prefetch(const struct statistics *statistics, uint64_t hash);

/* All terms in rising order of hash, the same order on every machine. Set `statistics`, zero the
 * rest, and call term_cursor_next until it is false; then, or earlier, term_cursor_end. */
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
/* Releases; returns `status` unless it is COG_OK and the cursor failed. */
cog_status term_cursor_end(struct term_cursor *cursor, cog_status status);

/* Adds one term with its counts (loading, merging), and documents without terms. */
cog_status statistics_add_term(struct statistics *statistics, uint64_t hash,
                               struct term_counts counts, cog_error *error);
void statistics_add_documents(struct statistics *statistics, uint64_t documents,
                              uint64_t total_length);

/* Statistics as a file (docs/format.md, kind `stat`). Settings record how the terms were made; the
 * caller compares them. */
cog_status statistics_save(const struct statistics *statistics, const struct settings *settings,
                           const char *path, cog_error *error);
/* Reads and verifies the whole file. settings must be zeroed; the caller frees both. */
cog_status statistics_load(const char *path, struct statistics **statistics,
                           struct settings *settings, cog_error *error);
