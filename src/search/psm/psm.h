/* Probabilistic simhash matching (PSM; Sood and Loguinov, CIKM 2011): finds the stored short
 * signatures within a radius of a query by flipping the bits of the query's header (its first bits)
 * that are likely to differ in a near-duplicate.
 *
 * In: 64- or 128-bit signatures; queries also have margins, which give the probability that a bit
 * differs. One copy of the collection is kept, in buckets of a cache line (bucket_table.h). A query
 * visits every set of flips whose penalty is at most a bound, so a query with many uncertain bits
 * makes more probes than one with few. Several queries are in flight at once to hide memory
 * latency. Recall depends on the bound; every reported hit is within the radius.
 *
 * psm.c holds the table and its bounds, psm_learn.c learning from a collection, psm_search.c the
 * search, psm_method.c the descriptor and the file format. The published form of the method is a
 * benchmark rival (bench/rivals/psm_published.h). */
#pragma once

#include "search/hits/short_hits.h"
#include "search/keys/bucket_index.h"
#include "search/probes/volatility.h"

enum {
    PSM_PROBES_MAX = 4096, /* per query: all sets of up to 3 bits of a header of 28 */
    PSM_RECALLS = 1001     /* recalls 0, 0.001, ..., 1 */
};

/* What psm learned from a collection: how much the margins of near-duplicates differ, and which
 * bound finds which share of the neighbours. A bound belongs to a header size, because a longer
 * header has more bits that can differ. Bounds are known for every size, so they stay right when an
 * index grows and its header with it. */
struct psm_learned {
    struct volatility volatility; /* of margins divided by their mean size */
    unsigned radius_bits;         /* of the pairs */
    size_t pairs; /* number of pairs learned from; 0: random pairs, and there are no bounds */
    uint32_t bounds[BUCKET_HEADER_BITS_MAX + 1][PSM_RECALLS]; /* by header bits and recall */
};

/* Free with psm_free. */
struct psm_index {
    struct bucket_index stored; /* one table */
    struct psm_learned learned; /* set when built or opened by psm_method */
    unsigned radius_bits;
};

/* Borrowed by every call. */
struct psm_queries {
    struct signatures_view signatures;
    const float *margins; /* rows x bits */
    const struct volatility *volatility;
    bool relative; /* the volatility is for margins divided by the query's mean size */
};

/* The first margins of a query, in the unit of the volatility: in place, or written to `units`. */
const float *psm_query_margins(const struct psm_queries *queries, size_t query,
                               float units[PROBE_BITS_MAX]);
/* The bits of a query's header with their penalties, without bits above the bound. */
void psm_query_bits(const struct psm_queries *queries, size_t query, unsigned header_bits,
                    uint32_t bound, struct probe_bits *bits);

/* ---- The index ------------------------------------------------------------------------------- */

/* Builds the table; nothing is learned. */
cog_status psm_build(struct psm_index *index, const struct signatures_view *view,
                     struct bucket_limits limits, unsigned threads, cog_error *error);
void psm_free(struct psm_index *index);

/* ---- Learning -------------------------------------------------------------------------------- */

/* Training: a sample of `asked` looks for its neighbours in the index. */
struct psm_training {
    const struct psm_index *index; /* of the rows of `stored` */
    const struct signatures_view *stored;
    const float *stored_margins;         /* rows x bits; NULL: not known */
    const struct signatures_view *asked; /* may be `stored`: rows then look for other rows */
    const float *asked_margins;
    unsigned radius_bits;
};

/* Needs two asked rows. With fewer than 100 pairs within the radius, differences of random pairs
 * are used instead. Takes about as long as 20,000 searches without a bound. */
cog_status psm_learn(const struct psm_training *training, unsigned threads,
                     struct psm_learned *learned, cog_error *error);

/* The bound that finds the wanted share of the neighbours in a table with this header: as learned,
 * or, for another radius or if there were too few pairs, by psm_bound_for_recall. */
cog_status psm_learned_bound(const struct psm_learned *learned, const struct psm_queries *queries,
                             unsigned header_bits, unsigned radius_bits, double recall,
                             uint32_t *bound, cog_error *error);
/* The same from the volatility alone: the share that it predicts, averaged over `sample` evenly
 * spaced queries. */
cog_status psm_bound_for_recall(const struct psm_queries *queries, unsigned header_bits,
                                unsigned radius_bits, double recall, size_t sample, uint32_t *bound,
                                cog_error *error);

/* ---- Searching ------------------------------------------------------------------------------- */

/* Adds the hits, sorted by query; with `batch`, by query and row. Misses hits whose header differs
 * in a set of bits above the bound. */
cog_status psm_search(const struct psm_index *index, const struct psm_queries *queries,
                      const struct short_search *search, struct match_list *hits, cog_error *error);

/* A stored collection that is searched in tables of chunk_rows signatures, one after the other: for
 * a mapped file larger than memory. */
struct psm_chunks {
    const struct signatures_view *stored;
    size_t chunk_rows;
    struct bucket_limits limits; /* of a table */
    double recall; /* if not 0, volatility and bounds are learned from what the queries find in the
                    * first chunk */
};

/* As psm_search; hits are sorted by query and row. If one hit is enough, a query is dropped after
 * the first chunk that has one. */
cog_status psm_search_chunks(const struct psm_chunks *chunks, const struct psm_queries *queries,
                             const struct short_search *search, struct match_list *hits,
                             cog_error *error);
