/* Block-permuted Hamming search (BPHS; Manku, Jain and Das Sarma, WWW 2007), exact: finds every
 * stored short signature within a radius of a query.
 *
 * In: 64- or 128-bit signatures. There is one bucket table per choice of g of G blocks
 * (block_layout.h). Only the first table has row numbers, so each further table costs only its
 * keys. If G >= g + radius, a query visits one bucket per table. With fewer blocks it also flips
 * header bits, as many as the pigeonhole principle requires: less memory, more probes.
 *
 * bphs.c holds the tables, bphs_search.c the search, bphs_method.c the descriptor and the file
 * format. The published form (sorted copies, binary search) is a benchmark rival
 * (bench/rivals/bphs_published.h). */
#pragma once

#include "search/bphs/block_layout.h"
#include "search/hits/short_hits.h"
#include "search/keys/bucket_index.h"

enum { BPHS_PROBES_MAX = 8192 /* per query, in all tables */ };

/* Free with bphs_free. */
struct bphs_index {
    struct block_layout layout;
    struct bucket_index stored; /* a table per choice of blocks */
    /* The header bits of table e, in the bit order of table t > e, at number t (t - 1) / 2 + e. */
    short_key earlier[BLOCK_CHOICES_MAX * (BLOCK_CHOICES_MAX - 1) / 2];
    uint32_t *masks[BLOCK_CHOICES_MAX]; /* sets of flips of each table's header */
    size_t mask_counts[BLOCK_CHOICES_MAX];
};

/* radius_bits is the largest radius that searches may use; blocks and chosen are G and g. */
cog_status bphs_build(struct bphs_index *index, const struct signatures_view *view, unsigned blocks,
                      unsigned chosen, unsigned radius_bits, unsigned threads, cog_error *error);
void bphs_free(struct bphs_index *index);

/* Sets up the addressing of an opened index, after its tables have their shapes. */
cog_status bphs_address_tables(struct bphs_index *index, cog_error *error);

/* Adds the hits, sorted by query and row. */
cog_status bphs_search(const struct bphs_index *index, const struct signatures_view *queries,
                       const struct short_search *search, struct match_list *hits,
                       cog_error *error);

/* The same in tables of chunk_rows stored signatures, one chunk after the other, for a mapped file
 * larger than memory. If one hit is enough, a query is dropped after its first hit. */
cog_status bphs_search_chunks(const struct signatures_view *stored, size_t chunk_rows,
                              unsigned blocks, unsigned chosen,
                              const struct signatures_view *queries,
                              const struct short_search *search, struct match_list *hits,
                              cog_error *error);
