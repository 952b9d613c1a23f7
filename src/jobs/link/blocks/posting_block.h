/* A block of target documents stored by term, and the documents that it proposes to a source
 * document: those with the largest sums of products over the source document's most useful terms
 * (link_lists.h). What a block proposes depends on the block alone, so blocks may be asked on
 * different machines. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

struct posting {
    uint32_t row; /* of the block */
    float value;
};

/* Zero-initialise; posting_block_free releases, also after an error. */
struct posting_block {
    const uint32_t *frequencies; /* by column: number of target documents with it, of all blocks */
    struct sparse_matrix rows;   /* borrowed */
    uint32_t *starts;            /* of the postings of each column */
    struct posting *postings;
};

/* Makes room for blocks with up to `entries` entries, fewer than 4 billion. */
cog_status posting_block_take(struct posting_block *block, size_t columns, size_t entries,
                              cog_error *error);
void posting_block_fill(struct posting_block *block, const struct sparse_matrix *rows);
void posting_block_free(struct posting_block *block);

/* How many documents are proposed to a source document, in all and by a block. */
struct proposal_limits {
    size_t blocks;
    size_t most;  /* of a block */
    size_t share; /* those in all divided by the number of blocks */
};
struct proposal_limits proposal_limits_of(size_t wanted, size_t blocks);

/* A document of the block with its sum of products. */
struct proposal {
    uint32_t row;
    float sum;
};

/* Scratch memory of a thread, and the proposals of the source document that asked last. The
 * arrays of numbers are zero between source documents. Zero-initialise. */
struct asking {
    float *sums;               /* by row of the block */
    uint32_t *met;             /* rows with a sum, in the order of their first products */
    float *dense;              /* the source document by column */
    struct proposal *proposed; /* a heap with the smallest sum on top */
    size_t proposed_count, most;
};

/* For blocks of up to `rows` rows. */
cog_status asking_take(struct asking *asking, size_t rows, size_t columns, size_t most,
                       cog_error *error);
void asking_free(struct asking *asking);
/* The smallest worth of the terms that fit into a document's budget of products; terms of the
 * greatest worth are always included. */
uint32_t asking_least_worth(const uint32_t *frequencies, const struct sparse_matrix *matrix,
                            size_t row, double budget);
/* Proposes the documents of the block with the largest sums over the terms of at least this worth.
 */
void asking_propose(struct asking *asking, const struct posting_block *block,
                    const struct sparse_matrix *matrix, size_t row, uint32_t worth);

/* Sorts proposals by descending sum. */
void proposals_sort(struct proposal *proposals, size_t count);
/* How many of the sorted proposals of a block are kept. A block proposes more than its share to
 * allow for chance. From the second block on, a proposal must come near the sum that the last of a
 * block's share had in the previous blocks, on average. `bar`: the total of these sums; 0 before
 * the first block. */
size_t proposals_kept(const struct proposal_limits *limits, size_t block,
                      const struct proposal *proposals, size_t count, float *bar);
