/* Chooses which sentences of two linked documents are compared. In: the sentences' vectors. Out:
 * cells, each a sentence of either document (or two adjacent ones) with their cosine. The number of
 * cells is linear in the number of sentences, so no document is too long.
 *
 * A sentence is compared with two kinds of sentences of the other document:
 *
 * - Sentences that share its rare terms. A term that occurs in more than SENTENCE_LIST_MOST
 *   sentences of the other document is skipped: it says little about them, and its posting list
 *   would grow with the document. The SENTENCE_CANDIDATES sentences with the largest sums over the
 *   other terms are compared, in any order, so passages that have moved are found.
 * - Sentences at its own place. Candidates that prefer each other and have the same order in both
 *   documents are anchors. A sentence is compared with SENTENCE_WINDOW sentences on either side of
 *   its places relative to the anchors before and after it, and on the line between them. Short
 *   sentences without a rare word ("Thank you.") are found here.
 *
 * Sentences of a document with at most SENTENCE_FULL sentences are compared with all others. */
#pragma once

#include "base/error.h"
#include "vector/sparse.h"

enum { SENTENCE_LIST_MOST = 64, SENTENCE_CANDIDATES = 8, SENTENCE_WINDOW = 6, SENTENCE_FULL = 32 };

/* Two linked documents: the sentences of side s are the rows begins[s] to begins[s] + counts[s] of
 * vectors[s]. Borrowed. */
struct sentence_sides {
    const struct sparse_matrix *vectors; /* two, with the same columns */
    size_t begins[2];
    uint32_t counts[2];
};

struct sentence_cell {
    uint32_t from, to; /* sentences, counted from the beginning of their documents */
    float cosine;
    uint8_t from_more, to_more; /* 1: the next sentence also belongs to the cell */
};

/* The cells of one pair of documents, sorted by `from`, then `to`. Zero-initialise; reusable;
 * sentence_cells_free releases. */
struct sentence_cells {
    struct sentence_cell *items;
    size_t count, capacity;
    size_t *row_starts; /* by sentence of the source, plus one: its first cell */
    size_t row_capacity;
};
void sentence_cells_free(struct sentence_cells *cells);

/* Working memory of one thread. Zero-initialise; sentence_finder_free releases. */
struct sentence_finder {
    uint32_t column_count;
    float *dense; /* by column: the current source sentence; 0 between calls */
    struct sentence_list {
        uint32_t count, start, filled; /* of postings; all 0 between calls */
    } * lists;                         /* by column */
    struct sentence_posting {
        uint32_t row;
        float value;
    } * postings;
    float *sums; /* by target sentence; 0 between calls */
    uint32_t *touched;
    float *gains, *bests; /* by cell; by sentence of both sides: its largest cosine */
    size_t posting_capacity, sum_capacity, touched_capacity, gain_capacity, best_capacity;
    struct sentence_cells candidates;
    struct sentence_chain *chain;
};
cog_status sentence_finder_init(struct sentence_finder *finder, uint32_t column_count,
                                cog_error *error);
void sentence_finder_free(struct sentence_finder *finder);

/* Fills the cells. `all`: compares every sentence with every other, which costs the product of
 * their numbers; for tests. */
cog_status sentence_cells_find(struct sentence_finder *finder, const struct sentence_sides *sides,
                               bool all, struct sentence_cells *cells, cog_error *error);
/* Adds a cell to the last row, or starts the next row; row_starts needs one more row than there are
 * sentences. */
cog_status sentence_cells_add(struct sentence_cells *cells, struct sentence_cell cell,
                              cog_error *error);
cog_status sentence_cells_begin_row(struct sentence_cells *cells, uint32_t row, cog_error *error);
