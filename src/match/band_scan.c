#include "match/band_scan.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    BLOCK_SHARE = 2,    /* larger blocks than an exhaustive join has: rows pass by less often */
    NARROW_WINDOW = 64, /* too little of a tile would be inside the band */
    PREFETCH_ROWS = 8,  /* rows between a prefetch and its copy */
    SELECT_SLACK = 16   /* entries that select() may write beyond the count */
};

cog_status band_scanner_create(struct band_scanner *scanner, unsigned bits, uint32_t radius_bits,
                               cog_error *error) {
    const struct hamming_tile *tile = hamming_tile();
    size_t block = BLOCK_SHARE * tile_queries_fitting(tile, bits);
    *scanner = (struct band_scanner){0};
    cog_status status = tile_queries_create(&scanner->queries, tile, bits, block, error);
    if (status == COG_OK)
        status = tile_scratch_create(&scanner->scratch, tile, bits, error);
    scanner->limits = memory_array(block, sizeof *scanner->limits);
    scanner->staging = memory_array(block, signature_stride_bytes(bits));
    if (status == COG_OK && (!scanner->limits || !scanner->staging))
        status = error_memory(error, block * signature_stride_bytes(bits), "the rows of a window");
    if (status != COG_OK) {
        band_scanner_free(scanner);
        return status;
    }
    for (size_t i = 0; i < block; i++)
        scanner->limits[i] = (uint16_t)(radius_bits < bits ? radius_bits : bits);
    return COG_OK;
}

void band_scanner_free(struct band_scanner *scanner) {
    tile_queries_free(&scanner->queries);
    tile_scratch_free(&scanner->scratch);
    free(scanner->limits);
    free(scanner->staging);
    free(scanner->distances);
    free(scanner->positions);
    *scanner = (struct band_scanner){0};
}

/* ---- Narrow windows: one query after the other ----------------------------------------------- */

static cog_status scan_query(struct band_scanner *scanner, const struct band *band, size_t query,
                             band_sink *sink, void *context, cog_error *error) {
    const struct hamming_kernels *kernels = hamming_kernels();
    const struct signatures_view *view = band->rows.view;
    const uint32_t *rows = band->rows.rows + band->begins[query];
    const uint32_t query_row = band->queries.rows[query];
    size_t count = band->ends[query] - band->begins[query];
    if (!memory_grow((void **)&scanner->distances, &scanner->distance_capacity, count,
                     sizeof *scanner->distances) ||
        !memory_grow((void **)&scanner->positions, &scanner->position_capacity,
                     count + SELECT_SLACK, sizeof *scanner->positions))
        return error_memory(error, count * sizeof *scanner->positions, "the rows of a window");
    kernels->gather(signature_row(band->queries.view, query_row), view->data, view->stride_bytes,
                    scanner->queries.words, rows, count, scanner->distances);
    size_t found =
        kernels->select(scanner->distances, count, scanner->limits[0], scanner->positions);
    cog_status status = COG_OK;
    for (size_t i = 0; i < found && status == COG_OK; i++) {
        uint32_t position = scanner->positions[i];
        status = sink(context, query_row, rows[position], scanner->distances[position], error);
    }
    return status;
}

/* ---- Wide windows: tiles --------------------------------------------------------------------- */

static struct signatures_view stage_rows(struct band_scanner *scanner,
                                         const struct row_sequence *sequence, size_t first,
                                         size_t count) {
    const struct signatures_view *view = sequence->view;
    const size_t row_bytes = scanner->queries.words * 8;
    for (size_t i = 0; i < count; i++) {
        if (first + i + PREFETCH_ROWS < sequence->count) {
            const uint8_t *ahead = signature_row(view, sequence->rows[first + i + PREFETCH_ROWS]);
            for (size_t byte = 0; byte < row_bytes; byte += 64)
                __builtin_prefetch(ahead + byte);
        }
        memcpy(scanner->staging + i * row_bytes, signature_row(view, sequence->rows[first + i]),
               row_bytes);
    }
    return (struct signatures_view){scanner->staging, count, view->bits, row_bytes};
}

static cog_status take_hits(const struct band_scanner *scanner, const struct band *band,
                            size_t first_query, size_t first_row, size_t hit_count, band_sink *sink,
                            void *context, cog_error *error) {
    const struct hamming_hit *hits = scanner->scratch.hits;
    cog_status status = COG_OK;
    for (size_t i = 0; i < hit_count && status == COG_OK; i++) {
        size_t query = first_query + hits[i].query, row = first_row + hits[i].row;
        if (row >= band->begins[query] && row < band->ends[query])
            status = sink(context, band->queries.rows[query], band->rows.rows[row],
                          hits[i].distance, error);
    }
    return status;
}

/* The prepared rows against queries [low, high) of the block, which begins at first_query. */
static cog_status compare_rows(struct band_scanner *scanner, const struct band *band,
                               size_t first_query, size_t low, size_t high, size_t row,
                               size_t row_count, band_sink *sink, void *context, cog_error *error) {
    const struct hamming_tile *tile = scanner->queries.tile;
    const size_t panel_bytes = tile->queries_bytes(scanner->queries.words);
    cog_status status = COG_OK;
    for (size_t q = low / TILE_QUERIES * TILE_QUERIES; q < high && status == COG_OK;
         q += TILE_QUERIES) {
        struct hamming_comparison comparison = {
            .queries = scanner->queries.panels + q / TILE_QUERIES * panel_bytes,
            .rows = scanner->scratch.rows,
            .words = scanner->queries.words,
            .query_count = high - q < TILE_QUERIES ? high - q : TILE_QUERIES,
            .row_count = row_count,
            .limits = scanner->limits,
        };
        size_t count = tile->compare(&comparison, scanner->scratch.hits);
        status = take_hits(scanner, band, first_query + q, row, count, sink, context, error);
    }
    return status;
}

static cog_status scan_block(struct band_scanner *scanner, const struct band *band, size_t query,
                             size_t query_count, band_sink *sink, void *context, cog_error *error) {
    const struct hamming_tile *tile = scanner->queries.tile;
    const uint32_t *begins = band->begins + query, *ends = band->ends + query;
    struct signatures_view staged = stage_rows(scanner, &band->queries, query, query_count);
    tile_queries_load(&scanner->queries, &staged, 0, query_count);
    size_t low = 0, high = 0, end = ends[query_count - 1];
    cog_status status = COG_OK;
    for (size_t row = begins[0]; row < end && status == COG_OK; row += tile->panel_rows) {
        size_t row_count = end - row < tile->panel_rows ? end - row : tile->panel_rows;
        while (low < query_count && ends[low] <= row)
            low++;
        while (high < query_count && begins[high] < row + row_count)
            high++;
        if (low >= high)
            continue;
        staged = stage_rows(scanner, &band->rows, row, row_count);
        tile->prepare_rows(staged.data, staged.stride_bytes, scanner->queries.words, row_count,
                           scanner->scratch.rows);
        status =
            compare_rows(scanner, band, query, low, high, row, row_count, sink, context, error);
    }
    return status;
}

cog_status band_scan(struct band_scanner *scanner, const struct band *band, size_t begin,
                     size_t end, band_sink *sink, void *context, cog_error *error) {
    uint64_t pairs = 0;
    for (size_t query = begin; query < end; query++)
        pairs += band->ends[query] - band->begins[query];
    size_t narrow = scanner->queries.tile->worthwhile_queries;
    narrow = narrow < NARROW_WINDOW ? NARROW_WINDOW : narrow;
    bool wide = pairs >= (end - begin) * narrow;
    size_t step = wide ? scanner->queries.capacity : 1;
    cog_status status = COG_OK;
    for (size_t query = begin; query < end && status == COG_OK; query += step) {
        size_t count = end - query < step ? end - query : step;
        status = wide ? scan_block(scanner, band, query, count, sink, context, error)
                      : scan_query(scanner, band, query, sink, context, error);
    }
    return status;
}
