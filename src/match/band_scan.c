#include "match/band_scan.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    RING_PANELS = 128,  /* of rows: windows up to 4000 rows or more prepare each once */
    BAND_QUERIES = 64,  /* a panel of queries; more leave less of a tile inside the band */
    NARROW_WINDOW = 64, /* too little of a tile would be inside the band */
    PREFETCH_ROWS = 8,  /* rows between a prefetch and its copy */
    STAGING_ROWS = TILE_QUERIES > TILE_ROWS ? TILE_QUERIES : TILE_ROWS,
    SELECT_SLACK = 16 /* entries that select() may write beyond the count */
};

cog_status band_scanner_create(struct band_scanner *scanner, unsigned bits, uint32_t radius_bits,
                               cog_error *error) {
    *scanner = (struct band_scanner){.tile = hamming_tile(), .words = hamming_words(bits)};
    for (int i = 0; i < TILE_QUERIES; i++)
        scanner->limits[i] = (uint16_t)(radius_bits < bits ? radius_bits : bits);
    scanner->query_bytes = scanner->tile->queries_bytes(scanner->words);
    scanner->panel_bytes = scanner->tile->rows_bytes(scanner->words);
    scanner->size_bytes = scanner->query_bytes + RING_PANELS * scanner->panel_bytes;
    scanner->query_panel = memory_large(scanner->size_bytes);
    scanner->ring = scanner->query_panel + scanner->query_bytes;
    scanner->staging = memory_array(STAGING_ROWS, scanner->words * 8);
    scanner->ring_panels = memory_array(RING_PANELS, sizeof *scanner->ring_panels);
    scanner->hits = memory_array(TILE_QUERIES * TILE_ROWS, sizeof *scanner->hits);
    if (scanner->query_panel && scanner->staging && scanner->ring_panels && scanner->hits)
        return COG_OK;
    size_t size_bytes = scanner->size_bytes;
    band_scanner_free(scanner);
    return error_memory(error, size_bytes, "the rows of a window");
}

void band_scanner_free(struct band_scanner *scanner) {
    memory_large_free(scanner->query_panel, scanner->size_bytes);
    free(scanner->staging);
    free(scanner->ring_panels);
    free(scanner->hits);
    free(scanner->distances);
    free(scanner->positions);
    *scanner = (struct band_scanner){0};
}

/* ---- Narrow windows: one query after the other
 * ---------------------------------------------------
 */

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
                    scanner->words, rows, count, scanner->distances);
    size_t found =
        kernels->select(scanner->distances, count, scanner->limits[0], scanner->positions);
    cog_status status = COG_OK;
    for (size_t i = 0; i < found && status == COG_OK; i++) {
        uint32_t position = scanner->positions[i];
        status = sink(context, query_row, rows[position], scanner->distances[position], error);
    }
    return status;
}

/* ---- Wide windows: tiles -----------------------------------------------------------------------
 */

static void stage_rows(struct band_scanner *scanner, const struct row_sequence *sequence,
                       size_t first, size_t count) {
    const struct signatures_view *view = sequence->view;
    for (size_t i = 0; i < count; i++) {
        if (first + i + PREFETCH_ROWS < sequence->count) {
            const uint8_t *ahead = signature_row(view, sequence->rows[first + i + PREFETCH_ROWS]);
            for (size_t byte = 0; byte < scanner->words * 8; byte += 64)
                __builtin_prefetch(ahead + byte);
        }
        memcpy(scanner->staging + i * scanner->words * 8,
               signature_row(view, sequence->rows[first + i]), scanner->words * 8);
    }
}

static const uint8_t *row_panel(struct band_scanner *scanner, const struct row_sequence *rows,
                                size_t panel) {
    size_t slot = panel % RING_PANELS;
    uint8_t *data = scanner->ring + slot * scanner->panel_bytes;
    if (scanner->ring_panels[slot] != panel) {
        size_t first = panel * scanner->tile->panel_rows, left = rows->count - first;
        size_t count = left < scanner->tile->panel_rows ? left : scanner->tile->panel_rows;
        stage_rows(scanner, rows, first, count);
        scanner->tile->prepare_rows(scanner->staging, scanner->words * 8, scanner->words, count,
                                    data);
        scanner->ring_panels[slot] = panel;
    }
    return data;
}

static cog_status take_hits(const struct band_scanner *scanner, const struct band *band,
                            size_t first_query, size_t first_row, size_t hit_count, band_sink *sink,
                            void *context, cog_error *error) {
    cog_status status = COG_OK;
    for (size_t i = 0; i < hit_count && status == COG_OK; i++) {
        size_t query = first_query + scanner->hits[i].query;
        size_t row = first_row + scanner->hits[i].row;
        if (row >= band->begins[query] && row < band->ends[query])
            status = sink(context, band->queries.rows[query], band->rows.rows[row],
                          scanner->hits[i].distance, error);
    }
    return status;
}

static cog_status scan_panel(struct band_scanner *scanner, const struct band *band, size_t query,
                             size_t query_count, band_sink *sink, void *context, cog_error *error) {
    size_t begin = band->begins[query], end = band->ends[query + query_count - 1];
    if (begin >= end)
        return COG_OK;
    stage_rows(scanner, &band->queries, query, query_count);
    scanner->tile->prepare_queries(scanner->staging, scanner->words * 8, scanner->words,
                                   query_count, scanner->query_panel);
    const size_t panel_rows = scanner->tile->panel_rows;
    cog_status status = COG_OK;
    for (size_t panel = begin / panel_rows; panel * panel_rows < end && status == COG_OK; panel++) {
        size_t first_row = panel * panel_rows, left = band->rows.count - first_row;
        struct hamming_comparison comparison = {
            .queries = scanner->query_panel,
            .rows = row_panel(scanner, &band->rows, panel),
            .words = scanner->words,
            .query_count = query_count,
            .row_count = left < panel_rows ? left : panel_rows,
            .limits = scanner->limits,
        };
        size_t count = scanner->tile->compare(&comparison, scanner->hits);
        status = take_hits(scanner, band, query, first_row, count, sink, context, error);
    }
    return status;
}

cog_status band_scan(struct band_scanner *scanner, const struct band *band, size_t begin,
                     size_t end, band_sink *sink, void *context, cog_error *error) {
    uint64_t pairs = 0;
    for (size_t query = begin; query < end; query++)
        pairs += band->ends[query] - band->begins[query];
    size_t narrow = scanner->tile->worthwhile_queries;
    narrow = narrow < NARROW_WINDOW ? NARROW_WINDOW : narrow;
    cog_status status = COG_OK;
    if (pairs < (end - begin) * narrow) {
        for (size_t query = begin; query < end && status == COG_OK; query++)
            if (band->begins[query] < band->ends[query])
                status = scan_query(scanner, band, query, sink, context, error);
        return status;
    }
    for (size_t slot = 0; slot < RING_PANELS; slot++)
        scanner->ring_panels[slot] = SIZE_MAX;
    for (size_t query = begin; query < end && status == COG_OK; query += BAND_QUERIES) {
        size_t count = end - query < BAND_QUERIES ? end - query : BAND_QUERIES;
        status = scan_panel(scanner, band, query, count, sink, context, error);
    }
    return status;
}
