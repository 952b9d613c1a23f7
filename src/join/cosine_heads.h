/* Joins by heads: the products of the columns before a cut (cosine_rests.h) for all pairs, tile by
 * tile, and of these pairs the ones that may reach a threshold by what their rests can add. Adding
 * up short lists into sums that stay in the first-level cache costs a fraction of a nanosecond a
 * pair, which is less than meeting a pair in lists and remembering it, as soon as one in twenty is
 * met. */
#pragma once

#include "join/cosine_rests.h"
#include "join/cosine_tiles.h"

/* Rows to judge a join by, evenly spread over both sides. */
enum { COSINE_SAMPLE_ROWS = 1024 };
struct cosine_sample {
    uint32_t rows[2][COSINE_SAMPLE_ROWS];
    struct cosine_rows queries, collection;
    double product_ns; /* what the true product of a pair takes */
};
void cosine_sample_draw(struct cosine_sample *sample, const struct cosine_rows *queries,
                        const struct cosine_rows *collection);

/* A join at a threshold, lowered by cosine_float_error. */
struct cosine_heads_task {
    struct cosine_rows queries, collection;
    struct cosine_cuts cuts;
    const struct cosine_rests *rests; /* NULL: the worst */
    float threshold;
};

/* The cut at which the join is cheapest, by a sample of the rows, and what it costs in nanoseconds
 * a pair of rows. */
struct cosine_heads_choice {
    int cut;
    double pair_ns;
};
cog_status cosine_heads_choose(const struct cosine_heads_task *task,
                               const struct cosine_sample *sample,
                               struct cosine_heads_choice *choice, cog_error *error);

/* What the rests add at most: the product of two of these. Zero-initialise; cosine_heads_free
 * releases, also after an error. */
struct cosine_heads {
    uint32_t column_end;
    float threshold;
    float *query_rests, *row_rests; /* by position */
};
cog_status cosine_heads_create(struct cosine_heads *heads, const struct cosine_heads_task *task,
                               int cut, cog_error *error);
void cosine_heads_free(struct cosine_heads *heads);

/* Rows of a tile of the heads' products, from row `from` of the tile on, that may reach the
 * threshold with the tile's query. Returns how many. *met grows by the rows that share a column of
 * the heads with the query, or are in reach without one. */
size_t cosine_heads_reach(const struct cosine_heads *heads, const struct cosine_tile *tile,
                          size_t from, uint32_t rows[COSINE_TILE_ROWS], uint64_t *met);
