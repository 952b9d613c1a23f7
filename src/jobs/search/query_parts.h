/* Queries in the form that each segment of an index needs.
 *
 * A segment has its own columns, and its signatures were made with the statistics of the index at
 * that time. So for each segment the queries have vectors over its columns, weighed by the current
 * statistics like its rows (a term that the segment does not have counts only in the length), and
 * signatures made with its statistics. In: a corpus of queries. Out: one item per segment, or one
 * for all if they do not differ. */
#pragma once

#include "collection/row_signer.h"
#include "jobs/index/index_job.h"

struct query_part {
    struct sparse_matrix vectors; /* empty for a query that is weighed later */
    bool is_weighed;
    struct signatures_view signatures;
    float *margins; /* or NULL */
};

/* Zero-initialise; query_parts_free releases. */
struct query_parts {
    struct query_part *items;
    size_t queries;
    size_t count;        /* segments, or 1 for all of them */
    bool has_vectors;    /* otherwise they are empty */
    bool are_borrowed;   /* signatures and margins belong to the caller */
    bool are_one_signed; /* signatures and margins of the first item serve all */
    /* For one query whose vectors are made on demand. */
    const cog_index *index; /* NULL: already made */
    const struct corpus *corpus;
    float *units; /* its terms' weights divided by their length */
    size_t unit_capacity;
    bool has_units;
};
void query_parts_free(struct query_parts *parts);

/* Uses given signatures for all segments; borrowed. */
cog_status query_parts_given(struct query_parts *parts, const struct signatures_view *signatures,
                             const float *margins, cog_error *error);
/* Makes the vectors of the corpus. query_parts_sign makes its signatures, with margins if
 * requested. */
cog_status query_parts_weigh(struct query_parts *parts, const cog_index *index,
                             const struct corpus *corpus, unsigned threads, cog_error *error);
/* The same for one query at a time; its vector for a segment is made by query_parts_vectors on
 * demand. Borrows index and corpus until the next query. */
cog_status query_parts_weigh_later(struct query_parts *parts, const cog_index *index,
                                   const struct corpus *corpus, cog_error *error);
/* The queries' vectors for a segment. Not thread-safe if they are made on demand. */
cog_status query_parts_vectors(const struct query_parts *parts, size_t part,
                               const struct sparse_matrix **vectors, cog_error *error);
/* Makes the vectors for all segments if they were postponed. */
cog_status query_parts_weigh_now(struct query_parts *parts, cog_error *error);
cog_status query_parts_sign(struct query_parts *parts, const cog_index *index,
                            const struct corpus *corpus, bool want_margins, unsigned threads,
                            cog_error *error);
/* The same for one query at a time, with a signer and scratch memory that the caller keeps between
 * queries; reuses the memory of *parts. */
cog_status query_parts_sign_one(struct query_parts *parts, const cog_index *index,
                                const struct corpus *corpus, bool want_margins,
                                const struct text_signer *signer,
                                struct text_signer_scratch *scratch, cog_error *error);
/* Copies some of the queries, in order. *copy must be zeroed. */
cog_status query_parts_select(const struct query_parts *parts, const uint32_t *queries,
                              size_t count, struct query_parts *copy, cog_error *error);

/* The input of a method for a segment; borrowed. */
struct method_rows query_parts_of(const struct query_parts *parts, size_t part);
/* The number of different signatures per query, which determines the cost of signing. */
size_t query_parts_signings(const cog_index *index);
