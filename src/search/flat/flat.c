#include "search/flat/flat.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming_tile.h"
#include "search/hits/hit_lists.h"

enum {
    SCAN_BYTES = 128 * 1024, /* rows scanned at once: they stay in cache for the next query */
    SCAN_MAX_ROWS = 4096,
    PIECES_PER_THREAD = 16,
};

struct search;

/* What one thread collects: a top-k for each query of the block, or everything within the radius.
 */
struct searcher {
    struct search *search;
    struct tile_scratch scratch;
    uint16_t *distances;
    uint32_t *positions;
    uint16_t *limits;
    struct topk *topks;
    unsigned number; /* of the worker */
};

struct search {
    const struct signatures_view *rows, *queries;
    const struct hamming_kernels *kernels;
    bool nearest; /* top-k; otherwise everything within radius_bits */
    size_t k;
    uint32_t radius_bits;
    unsigned threads;
    struct tile_queries block;
    size_t block_capacity;
    size_t block_first, block_count; /* queries at work now */
    size_t scan_rows;
    struct searcher *searchers;
    struct hit_sink sink;
    struct neighbour *nearest_hits; /* of one query */
};

/* ---- Taking candidates ----------------------------------------------------------------------- */

static uint16_t limit_of(const struct searcher *searcher, size_t query, size_t next_row) {
    const struct search *search = searcher->search;
    if (!search->nearest)
        return (uint16_t)search->radius_bits;
    int32_t limit = topk_limit(&searcher->topks[query], (uint32_t)next_row);
    return (uint16_t)(limit < 0 ? 0 : limit);
}

static cog_status take(struct searcher *searcher, size_t query, struct neighbour neighbour,
                       cog_error *error) {
    if (searcher->search->nearest) {
        topk_add(&searcher->topks[query], neighbour.row, neighbour.distance);
        return COG_OK;
    }
    struct match hit = {.a = (uint32_t)(searcher->search->block_first + query),
                        .b = neighbour.row,
                        .distance = neighbour.distance};
    return hit_sink_add(&searcher->search->sink, searcher->number, hit, error);
}

static cog_status take_hits(void *context, const struct tile_hits *found, cog_error *error) {
    struct searcher *searcher = context;
    for (size_t i = 0; i < found->count; i++) {
        struct neighbour neighbour = {(uint32_t)(found->first_row + found->hits[i].row),
                                      found->hits[i].distance};
        TRY(take(searcher, found->first_query + found->hits[i].query, neighbour, error));
    }
    for (size_t i = 0; i < found->count; i++) {
        size_t query = found->first_query + found->hits[i].query;
        searcher->limits[query] = limit_of(searcher, query, found->row_end);
    }
    return COG_OK;
}

/* ---- Pieces of rows -------------------------------------------------------------------------- */

static cog_status scan_piece(struct searcher *searcher, size_t begin, size_t end,
                             cog_error *error) {
    const struct search *search = searcher->search;
    const struct signatures_view *rows = search->rows;
    for (size_t row = begin; row < end; row += search->scan_rows) {
        size_t count = end - row < search->scan_rows ? end - row : search->scan_rows;
        for (size_t query = 0; query < search->block_count; query++) {
            search->kernels->scan(signature_row(search->queries, search->block_first + query),
                                  signature_row(rows, row), rows->stride_bytes,
                                  hamming_words(rows->bits), count, searcher->distances);
            size_t hits = search->kernels->select(
                searcher->distances, count, limit_of(searcher, query, row), searcher->positions);
            for (size_t i = 0; i < hits; i++) {
                uint32_t position = searcher->positions[i];
                struct neighbour neighbour = {(uint32_t)(row + position),
                                              searcher->distances[position]};
                TRY(take(searcher, query, neighbour, error));
            }
        }
    }
    return COG_OK;
}

static cog_status tile_piece(struct searcher *searcher, size_t begin, size_t end,
                             cog_error *error) {
    const struct search *search = searcher->search;
    for (size_t query = 0; query < search->block_count; query++)
        searcher->limits[query] = limit_of(searcher, query, begin);
    return tile_scan(&search->block, &searcher->scratch, search->rows, begin, end, searcher->limits,
                     take_hits, searcher, error);
}

static cog_status search_piece(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    struct search *search = context;
    struct searcher *searcher = &search->searchers[worker];
    return search->block.panels ? tile_piece(searcher, begin, end, error)
                                : scan_piece(searcher, begin, end, error);
}

/* ---- Blocks of queries ----------------------------------------------------------------------- */

/* Adds the nearest of all threads, for each query of the block. */
static cog_status merge_nearest(struct search *search, cog_error *error) {
    struct neighbour *found = search->nearest_hits;
    for (size_t query = 0; query < search->block_count; query++) {
        struct topk *best = &search->searchers[0].topks[query];
        for (unsigned worker = 1; worker < search->threads; worker++) {
            size_t count = topk_finish(&search->searchers[worker].topks[query], found);
            for (size_t i = 0; i < count; i++)
                topk_add(best, found[i].row, found[i].distance);
        }
        size_t count = topk_finish(best, found);
        for (size_t i = 0; i < count; i++) {
            struct match hit = {.a = (uint32_t)(search->block_first + query),
                                .b = found[i].row,
                                .distance = found[i].distance};
            TRY(hit_sink_add(&search->sink, 0, hit, error));
        }
    }
    return COG_OK;
}

static cog_status search_blocks(struct search *search, cog_error *error) {
    const size_t rows = search->rows->rows, queries = search->queries->rows;
    size_t unit = search->block.panels ? TILE_ROWS : search->scan_rows;
    size_t grain = rows / ((size_t)search->threads * PIECES_PER_THREAD) / unit * unit + unit;
    for (size_t first = 0; first < queries; first += search->block_capacity) {
        search->block_first = first;
        search->block_count =
            queries - first < search->block_capacity ? queries - first : search->block_capacity;
        if (search->block.panels)
            tile_queries_load(&search->block, search->queries, first, search->block_count);
        TRY(parallel_for(search->threads, rows, grain, search_piece, search, error));
        TRY(search->nearest ? merge_nearest(search, error) : COG_OK);
    }
    return COG_OK;
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static cog_status searcher_create(struct searcher *searcher, struct search *search,
                                  cog_error *error) {
    searcher->search = search;
    TAKE(searcher->distances, search->scan_rows, "an exhaustive search", error);
    TAKE(searcher->positions, search->scan_rows, "an exhaustive search", error);
    TAKE_ZEROED(searcher->limits, search->block_capacity, "an exhaustive search", error);
    if (search->block.panels)
        TRY(tile_scratch_create(&searcher->scratch, search->block.tile, search->rows->bits, error));
    if (!search->nearest)
        return COG_OK;
    TAKE_ZEROED(searcher->topks, search->block_capacity, "the nearest neighbours", error);
    for (size_t query = 0; query < search->block_capacity; query++)
        TRY(topk_init(&searcher->topks[query], search->k, search->rows->bits, error));
    return COG_OK;
}

static void searcher_free(struct searcher *searcher) {
    for (size_t query = 0; searcher->topks && query < searcher->search->block_capacity; query++)
        topk_free(&searcher->topks[query]);
    FREE(searcher->topks, searcher->distances, searcher->positions, searcher->limits);
    tile_scratch_free(&searcher->scratch);
}

static cog_status search_prepare(struct search *search, cog_error *error) {
    const struct hamming_tile *tile = hamming_tile();
    const unsigned bits = search->rows->bits;
    search->kernels = hamming_kernels();
    search->scan_rows = SCAN_BYTES / search->rows->stride_bytes;
    if (search->scan_rows > SCAN_MAX_ROWS)
        search->scan_rows = SCAN_MAX_ROWS;
    search->scan_rows = search->scan_rows < 32 ? 32 : search->scan_rows / 32 * 32;
    size_t fitting = tile_queries_fitting(tile, bits);
    search->block_capacity = search->queries->rows < fitting ? search->queries->rows : fitting;
    if (search->queries->rows >= tile->worthwhile_queries)
        TRY(tile_queries_create(&search->block, tile, bits, search->block_capacity, error));
    TAKE_ZEROED(search->searchers, search->threads, "threads", error);
    for (unsigned worker = 0; worker < search->threads; worker++) {
        search->searchers[worker].number = worker;
        TRY(searcher_create(&search->searchers[worker], search, error));
    }
    return TAKEN(search->nearest_hits, search->k, "neighbours", error);
}

static void search_free(struct search *search) {
    for (unsigned worker = 0; search->searchers && worker < search->threads; worker++)
        searcher_free(&search->searchers[worker]);
    FREE(search->searchers, search->nearest_hits);
    hit_sink_free(&search->sink);
    tile_queries_free(&search->block);
}

/* Threads that have work: a piece of rows is a tile at least. */
static unsigned threads_for(size_t rows, unsigned threads) {
    size_t pieces = rows / TILE_ROWS + 1;
    threads = threads_resolve(threads);
    return threads < pieces ? threads : (unsigned)pieces;
}

static cog_status search_whole(struct search *search, struct hit_lists *hits, cog_error *error) {
    TRY(signatures_check(search->rows, search->queries, error));
    search->threads = threads_for(search->rows->rows, search->threads);
    cog_status status = hit_sink_init(&search->sink, search->threads, error);
    if (status == COG_OK && search->queries->rows && search->rows->rows) {
        status = search_prepare(search, error);
        THEN(status, search_blocks(search, error));
    }
    THEN(status, hit_sink_finish(&search->sink, search->queries->rows,
                                 search->nearest ? HITS_AS_ADDED : HITS_BY_DISTANCE, hits, error));
    search_free(search);
    return status;
}

double flat_search_bytes(size_t queries, unsigned bits, size_t k, unsigned threads) {
    size_t block = tile_queries_fitting(hamming_tile(), bits);
    return (double)(queries < block ? queries : block) * topk_bytes(k, bits) *
           threads_resolve(threads);
}

cog_status flat_search_topk(const struct signatures_view *rows,
                            const struct signatures_view *queries, size_t k, unsigned threads,
                            struct hit_lists *hits, cog_error *error) {
    struct search search = {.rows = rows,
                            .queries = queries,
                            .nearest = true,
                            .k = k < rows->rows ? k : rows->rows,
                            .threads = threads};
    return search_whole(&search, hits, error);
}

cog_status flat_search_radius(const struct signatures_view *rows,
                              const struct signatures_view *queries, uint32_t radius_bits,
                              unsigned threads, struct hit_lists *hits, cog_error *error) {
    struct search search = {.rows = rows,
                            .queries = queries,
                            .radius_bits = radius_bits < rows->bits ? radius_bits : rows->bits,
                            .threads = threads};
    return search_whole(&search, hits, error);
}
