/* Nearest neighbours by bit columns.
 *
 * Counts over some of the columns, for the rows of the nearest clusters, choose the rows that get a
 * true distance; the rows next to the nearest of them get one too. More rows, columns and true
 * distances find more of the true neighbours. A sample has to measure how many are missed. */
#pragma once

#include "search/columns/bit_columns.h"
#include "search/hits/hit_lists.h"
#include "search/hits/query_batch.h"

struct columns_request {
    size_t k;         /* nearest rows wanted, 1 or more */
    double share;     /* of the rows, at least, in the nearest clusters; 1: all are counted */
    unsigned columns; /* to read */
    size_t
        verify; /* about this number of rows, at most twice it, get a true distance; at least k */
    double covered_recall; /* not 0, with weights: the answer's `covered` has this probability */
    const float *weights;  /* the query's margins, or NULL: columns of the largest are read */
};

/* Scratch of one thread. */
struct columns_searcher;

/* view and signatures are borrowed for the searcher's life and must have the same rows and bits. */
cog_status columns_searcher_create(const struct columns_view *view,
                                   const struct signatures_view *signatures,
                                   struct columns_searcher **searcher, cog_error *error);
cog_status columns_search(struct columns_searcher *searcher, const uint8_t *query,
                          const struct columns_request *request, struct query_answer *answer,
                          cog_error *error);
void columns_searcher_free(struct columns_searcher *searcher);

/* The same for many queries (query_batch_run). */
struct columns_batch {
    const struct columns_view *view;
    const struct signatures_view *signatures;
    struct columns_request request;
};
extern const struct query_searching columns_searching; /* its context is a columns_batch */
