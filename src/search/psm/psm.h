/* Probabilistic simhash matching (PSM): near-duplicates of a query among stored short signatures,
 * found by flipping the bits of the query's header (its first bits) that its weights show to be
 * volatile. One copy of the collection in cache-line buckets; every set of flips whose penalty is
 * below a bound is visited, so a query with many volatile bits gets more probes than one with few;
 * the probes of several queries are in flight at once.
 *
 * The form of the paper (VOSH, offsets, one query at a time) is psm_published.h. */
#pragma once

#include "search/hits/short_hits.h"
#include "search/keys/line_table.h"
#include "search/probes/volatility.h"

enum { PSM_PROBES_MAX = 4096 /* of one query: all sets of up to 3 bits of a header of 28 */ };

struct psm_index {
    struct line_table table;
    struct key_rows rows;
};

/* Borrowed by every call. */
struct psm_queries {
    struct signatures_view signatures;
    const float *weights; /* rows x bits: what lies behind each bit */
    const struct volatility *volatility;
    bool relative; /* to their mean size: the volatility knows weights in these units */
};

/* The first weights of a query as the volatility knows them: in place, or in `units`. */
const float *psm_query_weights(const struct psm_queries *queries, size_t query,
                               float units[PROBE_BITS_MAX]);

/* The volatile bits of a query's header, those above the bound left out. */
void psm_query_bits(const struct psm_queries *queries, size_t query, unsigned header_bits,
                    uint32_t bound, struct probe_bits *bits);

struct psm_search {
    unsigned radius_bits;
    uint32_t penalty_bound; /* of a set of flips, see probes.h; psm_bound_for_recall chooses one */
    size_t flips;    /* not 0: the bound does not count, each query tries its so many most probable
                        flips (VOSH, below PSM_PROBES_MAX) */
    bool first_only; /* any one hit a query is enough */
    bool batch; /* takes the queries in the order of their keys: pays for a batch of millions */
    unsigned threads;
    bool distinct; /* of equal stored signatures only the first is a hit */
};

/* LINE_LIMITS_DEFAULT, or other headers and sizes of the table. */
cog_status psm_build(struct psm_index *index, const struct signatures_view *view,
                     struct line_limits limits, unsigned threads, cog_error *error);
void psm_free(struct psm_index *index);

/* The bound at which queries like these find the wanted fraction of the neighbours that the
 * volatility expects, averaged over `sample` of them, evenly spaced. */
cog_status psm_bound_for_recall(const struct psm_queries *queries, unsigned header_bits,
                                unsigned radius_bits, double recall, size_t sample, uint32_t *bound,
                                cog_error *error);

/* Adds the hits, by query; with `batch` by query and row. Every reported hit is within the radius;
 * a hit whose header differs in a set of bits above the bound is missed. */
cog_status psm_search(const struct psm_index *index, const struct psm_queries *queries,
                      const struct psm_search *search, struct short_hits *hits, cog_error *error);
