#include "hamming/tile_scan.h"

#include "base/memory.h"

enum { CACHE_BYTES = 512 * 1024, MIN_PANELS = 1, MAX_PANELS = 8 };

size_t tile_queries_fitting(const struct hamming_tile *tile, unsigned bits) {
    size_t panels = CACHE_BYTES / tile->queries_bytes(hamming_words(bits));
    if (panels < MIN_PANELS)
        panels = MIN_PANELS;
    return (panels > MAX_PANELS ? MAX_PANELS : panels) * TILE_QUERIES;
}

cog_status tile_queries_create(struct tile_queries *queries, const struct hamming_tile *tile,
                               unsigned bits, size_t capacity, cog_error *error) {
    *queries =
        (struct tile_queries){.tile = tile, .words = hamming_words(bits), .capacity = capacity};
    size_t panels = capacity / TILE_QUERIES + (capacity % TILE_QUERIES != 0);
    if (size_multiply(panels, tile->queries_bytes(queries->words), &queries->size_bytes))
        queries->panels = memory_large(queries->size_bytes);
    return queries->panels ? COG_OK
                           : error_memory(error, queries->size_bytes, "a block of queries");
}

void tile_queries_load(struct tile_queries *queries, const struct signatures_view *view,
                       size_t first, size_t count) {
    const size_t panel_bytes = queries->tile->queries_bytes(queries->words);
    queries->count = count;
    for (size_t q = 0; q < count; q += TILE_QUERIES) {
        size_t size = count - q < TILE_QUERIES ? count - q : TILE_QUERIES;
        queries->tile->prepare_queries(signature_row(view, first + q), view->stride_bytes,
                                       queries->words, size,
                                       queries->panels + q / TILE_QUERIES * panel_bytes);
    }
}

void tile_queries_free(struct tile_queries *queries) {
    memory_large_free(queries->panels, queries->size_bytes);
    *queries = (struct tile_queries){0};
}

cog_status tile_scratch_create(struct tile_scratch *scratch, const struct hamming_tile *tile,
                               unsigned bits, cog_error *error) {
    const size_t size_bytes = tile->rows_bytes(hamming_words(bits));
    scratch->size_bytes = size_bytes;
    scratch->rows = memory_large(size_bytes);
    scratch->hits = memory_array(TILE_QUERIES * TILE_ROWS, sizeof *scratch->hits);
    if (scratch->rows && scratch->hits)
        return COG_OK;
    tile_scratch_free(scratch);
    return error_memory(error, size_bytes, "a block of rows");
}

void tile_scratch_free(struct tile_scratch *scratch) {
    memory_large_free(scratch->rows, scratch->size_bytes);
    free(scratch->hits);
    *scratch = (struct tile_scratch){0};
}

cog_status tile_scan(const struct tile_queries *queries, struct tile_scratch *scratch,
                     const struct signatures_view *rows, size_t begin, size_t end,
                     const uint16_t *limits, tile_sink *sink, void *context, cog_error *error) {
    const struct hamming_tile *tile = queries->tile;
    const size_t panel_bytes = tile->queries_bytes(queries->words);
    for (size_t row = begin; row < end; row += tile->panel_rows) {
        size_t row_count = end - row < tile->panel_rows ? end - row : tile->panel_rows;
        tile->prepare_rows(signature_row(rows, row), rows->stride_bytes, queries->words, row_count,
                           scratch->rows);
        for (size_t q = 0; q < queries->count; q += TILE_QUERIES) {
            size_t query_count =
                queries->count - q < TILE_QUERIES ? queries->count - q : TILE_QUERIES;
            struct hamming_comparison comparison = {
                .queries = queries->panels + q / TILE_QUERIES * panel_bytes,
                .rows = scratch->rows,
                .words = queries->words,
                .query_count = query_count,
                .row_count = row_count,
                .limits = limits + q,
            };
            size_t count = tile->compare(&comparison, scratch->hits);
            if (!count)
                continue;
            cog_status status = sink(context, q, row, scratch->hits, count, error);
            if (status != COG_OK)
                return status;
        }
    }
    return COG_OK;
}
