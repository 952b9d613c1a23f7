/* Block-permuted Hamming search (BPHS), exact: every stored short signature within a radius of a
 * query. A table of line buckets for each choice of g of G blocks; only the first table knows rows,
 * so further tables cost their keys alone. With G >= g + radius a query visits one bucket a table.
 * With fewer blocks it also flips header bits, up to the number that the pigeonhole leaves, which
 * trades memory for probes.
 *
 * The form of the paper (sorted copies, binary search) is bphs_published.h. */
#pragma once

#include "search/bphs/block_layout.h"
#include "search/hits/short_hits.h"
#include "search/keys/line_table.h"

enum { BPHS_PROBES_MAX = 8192 /* of one query, in all tables */ };

struct bphs_index {
    struct block_layout layout;
    struct line_table tables[BLOCK_CHOICES_MAX];
    struct key_rows rows; /* positions of table 0 */
    /* The bits that address table e, in the order of bits of table t > e: number t (t - 1) / 2 + e.
     */
    short_key earlier[BLOCK_CHOICES_MAX * (BLOCK_CHOICES_MAX - 1) / 2];
    uint32_t *masks[BLOCK_CHOICES_MAX]; /* flips of a table's header */
    size_t mask_counts[BLOCK_CHOICES_MAX];
};

struct bphs_search {
    unsigned radius_bits; /* at most the index's */
    bool first_only;
    bool batch; /* takes the queries in the order of their blocks: pays for a batch of millions */
    unsigned threads;
};

/* radius_bits is the greatest radius that searches may ask for. blocks and chosen: G and g. */
cog_status bphs_build(struct bphs_index *index, const struct signatures_view *view, unsigned blocks,
                      unsigned chosen, unsigned radius_bits, unsigned threads, cog_error *error);
/* For tables that lie in a file: the layout of an empty index first, then, when its tables have
 * their shapes, how they are addressed. */
cog_status bphs_lay_out(struct bphs_index *index, unsigned key_bits, unsigned blocks,
                        unsigned chosen, unsigned radius_bits, cog_error *error);
cog_status bphs_address_tables(struct bphs_index *index, cog_error *error);
void bphs_free(struct bphs_index *index);
/* Tables, without the row numbers. */
size_t bphs_bytes(const struct bphs_index *index);

/* Adds the hits, by query and row. */
cog_status bphs_search(const struct bphs_index *index, const struct signatures_view *queries,
                       const struct bphs_search *search, struct short_hits *hits, cog_error *error);

/* The same in tables of chunk_rows stored signatures, one chunk after the other, with the tables of
 * one in memory at a time: for a mapped file larger than memory. Where one hit is enough, a query
 * is dropped after it. */
cog_status bphs_search_chunks(const struct signatures_view *stored, size_t chunk_rows,
                              unsigned blocks, unsigned chosen,
                              const struct signatures_view *queries,
                              const struct bphs_search *search, struct short_hits *hits,
                              cog_error *error);
