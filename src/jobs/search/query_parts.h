/* Queries as each segment of an index wants them.
 *
 * A segment has columns of its own, and its signatures were made by the statistics that the index
 * had at that time. So the queries have, for each segment, vectors over its columns (weighed by the
 * statistics of now, as its rows are; a term that the segment does not have counts in the length
 * alone) and signatures made by its statistics. In: a corpus of queries. Out: one item per segment,
 * or one for all where they do not differ. */
#pragma once

#include "collection/row_signer.h"
#include "jobs/index/index_job.h"

struct query_part {
    struct sparse_matrix vectors; /* of one query that is weighed later, perhaps none yet */
    bool is_weighed;
    struct signatures_view signatures;
    float *margins; /* or NULL */
};

/* Zero-initialise; query_parts_free releases. */
struct query_parts {
    struct query_part *items;
    size_t queries;
    size_t count;        /* segments, or 1 for all of them */
    bool has_vectors;    /* else they are empty */
    bool are_borrowed;   /* signatures and margins are the caller's */
    bool are_one_signed; /* signatures and margins of the first serve all */
    /* Of one query whose vectors are made when somebody asks for them. */
    const cog_index *index; /* NULL: they are made */
    const struct corpus *corpus;
    float *units; /* weights of its terms over their length */
    size_t unit_capacity;
    bool has_units;
};
void query_parts_free(struct query_parts *parts);

/* Signatures that are given: the same for all segments. Borrowed. */
cog_status query_parts_given(struct query_parts *parts, const struct signatures_view *signatures,
                             const float *margins, cog_error *error);
/* Vectors of the corpus, or signatures with margins if these are wanted. */
cog_status query_parts_weigh(struct query_parts *parts, const cog_index *index,
                             const struct corpus *corpus, unsigned threads, cog_error *error);
/* The same for one query after the other; its vector for a segment is made when
 * query_parts_vectors asks for it. Borrows index and corpus until the next one. */
cog_status query_parts_weigh_later(struct query_parts *parts, const cog_index *index,
                                   const struct corpus *corpus, cog_error *error);
/* The queries' vectors for a segment. One thread at a time if they are made now. */
cog_status query_parts_vectors(const struct query_parts *parts, size_t part,
                               const struct sparse_matrix **vectors, cog_error *error);
/* The vectors for all segments, if they were to be made later. */
cog_status query_parts_weigh_now(struct query_parts *parts, cog_error *error);
cog_status query_parts_sign(struct query_parts *parts, const cog_index *index,
                            const struct corpus *corpus, bool want_margins, unsigned threads,
                            cog_error *error);
/* The same for one query after the other, with a signer and scratch memory that the caller keeps
 * between them; the room that *parts has is used again. */
cog_status query_parts_sign_one(struct query_parts *parts, const cog_index *index,
                                const struct corpus *corpus, bool want_margins,
                                const struct text_signer *signer,
                                struct text_signer_scratch *scratch, cog_error *error);
/* Copies of some of the queries, in their order. *copy must be zeroed. */
cog_status query_parts_select(const struct query_parts *parts, const uint32_t *queries,
                              size_t count, struct query_parts *copy, cog_error *error);

/* What a method is asked with for a segment; borrowed. */
struct method_rows query_parts_of(const struct query_parts *parts, size_t part);
/* The number of different signatures of a query: what signing them costs. */
size_t query_parts_signings(const cog_index *index);
