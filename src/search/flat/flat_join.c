#include "search/flat/flat_join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming_tile.h"

/* Rows that a block of queries meets before it is prepared anew. */
enum { CHUNK_ROWS = 16384 };

struct join;

struct joiner {
    struct join *join;
    struct tile_queries block;
    size_t block_first;
    struct tile_scratch scratch;
    unsigned number; /* of the worker */
};

struct join {
    const struct signatures_view *first, *second;
    bool self;
    uint32_t radius_bits;
    unsigned threads;
    size_t block_rows, chunks; /* queries in a block, chunks of the second collection */
    uint16_t *limits;
    struct joiner *joiners;
    struct hit_sink sink;
    uint64_t *comparisons; /* atomic */
};

static cog_status take_hits(void *context, const struct tile_hits *found, cog_error *error) {
    struct joiner *joiner = context;
    for (size_t i = 0; i < found->count; i++) {
        struct match match = {
            (uint32_t)(joiner->block_first + found->first_query + found->hits[i].query),
            (uint32_t)(found->first_row + found->hits[i].row), found->hits[i].distance, 0};
        if (!joiner->join->self || match.a < match.b)
            TRY(hit_sink_add(&joiner->join->sink, joiner->number, match, error));
    }
    return COG_OK;
}

/* Piece numbers run over the chunks of the first block of queries, then of the second... */
static cog_status join_piece(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    struct join *join = context;
    struct joiner *joiner = &join->joiners[worker];
    for (size_t piece = begin; piece < end; piece++) {
        size_t first = piece / join->chunks * join->block_rows;
        size_t row = piece % join->chunks * CHUNK_ROWS;
        size_t left = join->first->rows - first, rows_left = join->second->rows - row;
        size_t queries = left < join->block_rows ? left : join->block_rows;
        size_t row_end = row + (rows_left < CHUNK_ROWS ? rows_left : CHUNK_ROWS);
        if (join->self && row < first)
            row = first;
        if (row >= row_end)
            continue;
        if (joiner->block.count == 0 || joiner->block_first != first)
            tile_queries_load(&joiner->block, join->first, first, queries);
        joiner->block_first = first;
        TRY(tile_scan(&joiner->block, &joiner->scratch, join->second, row, row_end, join->limits,
                      take_hits, joiner, error));
        __atomic_fetch_add(join->comparisons, (uint64_t)queries * (row_end - row),
                           __ATOMIC_RELAXED);
    }
    return COG_OK;
}

static cog_status join_prepare(struct join *join, struct match_list *matches, cog_error *error) {
    const struct hamming_tile *tile = hamming_tile();
    const unsigned bits = join->first->bits;
    join->block_rows = tile_queries_fitting(tile, bits);
    join->chunks = (join->second->rows + CHUNK_ROWS - 1) / CHUNK_ROWS;
    TRY(hit_sink_init(&join->sink, join->threads, error));
    hit_sink_share(&join->sink, matches);
    TAKE(join->limits, join->block_rows, "a join", error);
    for (size_t i = 0; i < join->block_rows; i++)
        join->limits[i] = (uint16_t)join->radius_bits;
    TAKE_ZEROED(join->joiners, join->threads, "threads", error);
    for (unsigned worker = 0; worker < join->threads; worker++) {
        struct joiner *joiner = &join->joiners[worker];
        joiner->join = join;
        joiner->number = worker;
        TRY(tile_queries_create(&joiner->block, tile, bits, join->block_rows, error));
        TRY(tile_scratch_create(&joiner->scratch, tile, bits, error));
    }
    return COG_OK;
}

static void join_free(struct join *join) {
    for (unsigned worker = 0; join->joiners && worker < join->threads; worker++) {
        tile_queries_free(&join->joiners[worker].block);
        tile_scratch_free(&join->joiners[worker].scratch);
    }
    FREE(join->joiners, join->limits);
    hit_sink_free(&join->sink);
}

cog_status flat_join(const struct signatures_view *first, const struct signatures_view *second,
                     uint32_t radius_bits, unsigned threads, struct match_list *matches,
                     uint64_t *comparisons, cog_error *error) {
    uint64_t unwatched;
    struct join join = {.first = first,
                        .second = second ? second : first,
                        .self = second == NULL,
                        .radius_bits = radius_bits < first->bits ? radius_bits : first->bits,
                        .threads = threads_resolve(threads),
                        .comparisons = comparisons ? comparisons : &unwatched};
    TRY(signatures_check(first, second, error));
    *join.comparisons = 0;
    cog_status status = join_prepare(&join, matches, error);
    size_t blocks = (first->rows + join.block_rows - 1) / join.block_rows;
    THEN(status, parallel_for(join.threads, blocks * join.chunks, 1, join_piece, &join, error));
    THEN(status, hit_sink_pairs(&join.sink, first->bits, matches, error));
    join_free(&join);
    return status;
}
