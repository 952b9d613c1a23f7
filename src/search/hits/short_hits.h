/* Hits of searches with short signatures, and how psm and bphs run such searches.
 *
 * A method searches pieces of a list of queries; this module spreads the pieces over threads, puts
 * the hits in the order of the queries, turns positions of keys into rows, orders large batches so
 * that queries that read the same part of a table follow each other, and feeds a stored collection
 * that is larger than memory chunk by chunk. A hit has the query as `a` and the row as `b`.
 */
#pragma once

#include "search/keys/key_set.h"
#include "search/method.h"

/* Adds a hit for every row of key `position`, or only for the first row. */
cog_status short_hits_add_rows(struct match_list *hits, const struct key_rows *rows,
                               size_t position, uint32_t query, uint32_t distance, bool first_only,
                               cog_error *error);
/* In hits from number `first` on, `row` is the position of a key: replaces each by the rows of its
 * key, or by the first of them. */
cog_status short_hits_expand(struct match_list *hits, size_t first, const struct key_rows *rows,
                             bool first_only, cog_error *error);
/* Sorts the hits from number `first` on by query, then row. */
cog_status short_hits_sort(struct match_list *hits, size_t first, unsigned threads,
                           cog_error *error);

/* What psm and bphs are asked. */
struct short_search {
    unsigned radius_bits;
    bool first_only; /* one hit per query is enough, any one */
    bool batch;      /* take the queries in the order of their keys: pays for millions of queries */
    unsigned threads;
    /* psm only: */
    uint32_t penalty_bound; /* of a set of flips (probes.h); psm_learned_bound chooses one */
    size_t flips;  /* if not 0, ignore the bound and try each query's `flips` most probable sets */
    bool distinct; /* of equal stored signatures, only the first is a hit */
};

/* COG_ERR_USAGE unless the queries are short, as wide as the stored signatures, and the radius is
 * small enough. */
cog_status short_search_check(const struct signatures_view *queries, unsigned radius_bits,
                              unsigned stored_bits, cog_error *error);

enum { SHORT_PIECE_QUERIES = 2048 };

/* Searches queries [begin, end), at most SHORT_PIECE_QUERIES, and adds to `hits`. */
typedef cog_status short_search_piece(void *context, unsigned worker, size_t begin, size_t end,
                                      struct match_list *hits, cog_error *error);
/* Searches queries [0, queries) on all threads. Hits come in the order of the queries, whatever the
 * number of threads. */
cog_status short_hits_gather(struct match_list *hits, unsigned threads, size_t queries,
                             short_search_piece *search, void *context, cog_error *error);

/* Queries in the order of some bits of their keys. */
struct query_order {
    struct key_array keys, ordered; /* `ordered` is in order; its rows are numbers of queries */
    size_t rows;                    /* all queries, and the size of both arrays */
    unsigned threads;
};

/* Orders by the key bits from first_bit on, as many as one pass takes; equal queries keep their
 * order. */
cog_status query_order_by(struct query_order *order, unsigned first_bit, cog_error *error);
/* Removes the queries that have a hit from number `first` on. */
cog_status query_order_drop(struct query_order *order, const struct match_list *hits, size_t first,
                            cog_error *error);

/* Searches the queries of `order` and adds to `hits`: in a table of the chunk, or if `chunk` is
 * NULL in the table that the context has. May drop queries. */
typedef cog_status short_search_ordered(void *context, const struct signatures_view *chunk,
                                        struct query_order *order, struct match_list *hits,
                                        cog_error *error);
/* Searches all queries in order; hits come by query and row. If `stored` is not NULL, passes it in
 * chunks of chunk_rows, until the end or until no queries are left. */
cog_status short_search_chunks(const struct signatures_view *queries,
                               const struct signatures_view *stored, size_t chunk_rows,
                               unsigned threads, short_search_ordered *search, void *context,
                               struct match_list *hits, cog_error *error);

/* ---- Behind the descriptors of psm and bphs -------------------------------------------------- */

/* Tables that hold `copies` times the keys: their memory, that of building them next to the
 * signatures, and that of a streamed search, which builds tables of all rows. */
void short_predict(const struct method_size *size, double copies,
                   struct method_prediction *prediction);
/* What a request asks of both methods. */
struct short_search short_search_of(const struct method_search *asked);
/* The rows of a chunk of a streamed search: all, or the number whose tables fit asked->memory_bytes
 * next to the queries. Sets asked->chunks_out. */
size_t short_chunk_rows(struct method_search *asked, double copies);
/* Moves the hits, which come by query, to lists by distance, then row; frees them. Passes on a
 * status that is not COG_OK. COG_ERR_FORMAT if a row does not exist. */
cog_status short_hits_finish(struct match_list *hits, const struct method_search *asked,
                             cog_status status, struct hit_lists *lists, cog_error *error);
