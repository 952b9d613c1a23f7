/* Hits of searches with short signatures, and the driver of psm and bphs searches.
 *
 * A method searches pieces of a list of queries. This module distributes the pieces over threads,
 * returns the hits in query order, converts key positions to rows, sorts large batches so that
 * queries that read the same part of a table follow each other, and feeds a stored collection
 * larger than memory chunk by chunk. In a hit, `a` is the query and `b` the row. */
#pragma once

#include "search/keys/key_set.h"
#include "search/method.h"

/* Adds a hit for every row of key `position`, or only for the first row. */
cog_status short_hits_add_rows(struct match_list *hits, const struct key_rows *rows,
                               size_t position, uint32_t query, uint32_t distance, bool first_only,
                               cog_error *error);
/* In hits from number `first` on, `row` is the position of a key: replaces each hit by one hit per
 * row of the key, or by its first row only. */
cog_status short_hits_expand(struct match_list *hits, size_t first, const struct key_rows *rows,
                             bool first_only, cog_error *error);
/* Sorts the hits from number `first` on by query, then row. */
cog_status short_hits_sort(struct match_list *hits, size_t first, unsigned threads,
                           cog_error *error);

/* A request to psm or bphs. */
struct short_search {
    unsigned radius_bits;
    bool first_only; /* one hit per query is enough, any one */
    bool batch;      /* process the queries in key order: pays for millions of queries */
    unsigned threads;
    /* psm only: */
    uint32_t penalty_bound; /* for a set of flips (probes.h); psm_learned_bound chooses one */
    size_t flips;  /* if not 0, ignore the bound and try each query's `flips` most probable sets */
    bool distinct; /* of equal stored signatures, only the first is a hit */
};

/* COG_ERR_USAGE unless the queries are short, have the width of the stored signatures, and the
 * radius is small enough. */
cog_status short_search_check(const struct signatures_view *queries, unsigned radius_bits,
                              unsigned stored_bits, cog_error *error);

enum { SHORT_PIECE_QUERIES = 2048 };

/* Searches queries [begin, end), at most SHORT_PIECE_QUERIES, and adds to `hits`. */
typedef cog_status short_search_piece(void *context, unsigned worker, size_t begin, size_t end,
                                      struct match_list *hits, cog_error *error);
/* Searches queries [0, queries) on all threads. Hits come in query order for any number of threads.
 */
cog_status short_hits_gather(struct match_list *hits, unsigned threads, size_t queries,
                             short_search_piece *search, void *context, cog_error *error);

/* Queries sorted by some bits of their keys. */
struct query_order {
    struct key_array keys, ordered; /* `ordered` is sorted; its rows are query numbers */
    size_t rows;                    /* all queries, and the size of both arrays */
    unsigned threads;
};

/* Sorts by the key bits from first_bit on, as many as one pass can take; equal queries keep their
 * order. */
cog_status query_order_by(struct query_order *order, unsigned first_bit, cog_error *error);
/* Removes the queries that have a hit from number `first` on. */
cog_status query_order_drop(struct query_order *order, const struct match_list *hits, size_t first,
                            cog_error *error);

/* Searches the queries of `order` in a table of the chunk, or, if `chunk` is NULL, in the table of
 * the context; adds to `hits`. May drop queries. */
typedef cog_status short_search_ordered(void *context, const struct signatures_view *chunk,
                                        struct query_order *order, struct match_list *hits,
                                        cog_error *error);
/* Searches all queries in order; hits are sorted by query and row. If `stored` is not NULL, passes
 * it in chunks of chunk_rows until the end or until no queries are left. */
cog_status short_search_chunks(const struct signatures_view *queries,
                               const struct signatures_view *stored, size_t chunk_rows,
                               unsigned threads, short_search_ordered *search, void *context,
                               struct match_list *hits, cog_error *error);

/* ---- Behind the descriptors of psm and bphs -------------------------------------------------- */

/* Predicts tables that hold the keys `copies` times: their memory, the memory of building them next
 * to the signatures, and that of a streamed search, which builds tables of all rows. */
void short_predict(const struct method_size *size, double copies,
                   struct method_prediction *prediction);
/* Converts a request to the common part of both methods. */
struct short_search short_search_of(const struct method_search *asked);
/* Rows per chunk of a streamed search: all, or the number whose tables fit asked->memory_bytes next
 * to the queries. Sets asked->chunks_out. */
size_t short_chunk_rows(struct method_search *asked, double copies);
/* Moves the hits, sorted by query, to lists sorted by distance, then row; frees them. Passes on a
 * status other than COG_OK. COG_ERR_FORMAT if a row does not exist. */
cog_status short_hits_finish(struct match_list *hits, const struct method_search *asked,
                             cog_status status, struct hit_lists *lists, cog_error *error);
