#include "hamming/hamming_tile.h"

#include <pthread.h>

#include "base/memory.h"

static const struct hamming_tile *const tiles[CPU_LEVEL_COUNT] =
    CPU_TABLE(&hamming_tile_portable, &hamming_tile_popcnt, &hamming_tile_avx2,
              &hamming_tile_avx512, &hamming_tile_neon);

/* The matrix unit belongs to the AVX-512 level; lower levels do not use it. */
static const struct hamming_tile *matrix_tile(void) {
#if defined(__x86_64__)
    if (cpu_supports(CPU_AVX512) && hamming_tile_amx_available())
        return &hamming_tile_amx;
#endif
    return NULL;
}

static const struct hamming_tile *chosen;
static pthread_once_t choose_once = PTHREAD_ONCE_INIT;

static void choose(void) {
    enum cpu_level level = cpu_best_level();
    chosen = level == CPU_AVX512 ? matrix_tile() : NULL;
    if (!chosen)
        chosen = tiles[level];
}

const struct hamming_tile *hamming_tile(void) {
    pthread_once(&choose_once, choose);
    return chosen;
}

const struct hamming_tile *hamming_tile_for(size_t queries_per_row) {
    const struct hamming_tile *tile = hamming_tile();
    for (int level = cpu_best_level(); queries_per_row < tile->least_queries_per_row; level--)
        tile = tiles[level];
    return tile;
}

size_t hamming_tile_methods(const struct hamming_tile *methods[HAMMING_TILE_METHODS]) {
    size_t count = 0;
    for (int level = 0; level < CPU_LEVEL_COUNT; level++)
        if (cpu_supports((enum cpu_level)level))
            methods[count++] = tiles[level];
    if (matrix_tile())
        methods[count++] = matrix_tile();
    return count;
}

/* ---- Scanning -------------------------------------------------------------------------------- */

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

static size_t scan_panels(const struct hamming_tile *tile) {
    return (TILE_SCAN_ROWS + tile->panel_rows - 1) / tile->panel_rows;
}

cog_status tile_scratch_create(struct tile_scratch *scratch, const struct hamming_tile *tile,
                               unsigned bits, cog_error *error) {
    const size_t words = hamming_words(bits);
    scratch->rows_bytes = scan_panels(tile) * tile->rows_bytes(words);
    scratch->comparison_bytes = hamming_tile_scratch_bytes(tile, words);
    scratch->rows = memory_large(scratch->rows_bytes);
    scratch->comparison = memory_large(scratch->comparison_bytes);
    scratch->hits = memory_array(TILE_QUERIES * TILE_SCAN_ROWS, sizeof *scratch->hits);
    if (scratch->rows && scratch->comparison && scratch->hits)
        return COG_OK;
    const size_t rows_bytes = scratch->rows_bytes;
    tile_scratch_free(scratch);
    return error_memory(error, rows_bytes, "a block of rows");
}

void tile_scratch_free(struct tile_scratch *scratch) {
    memory_large_free(scratch->rows, scratch->rows_bytes);
    memory_large_free(scratch->comparison, scratch->comparison_bytes);
    free(scratch->hits);
    *scratch = (struct tile_scratch){0};
}

/* Rows [row, row + count) of the view as panels one after the other. */
static void prepare_rows(const struct tile_queries *queries, const struct signatures_view *rows,
                         size_t row, size_t count, uint8_t *panels) {
    const struct hamming_tile *tile = queries->tile;
    for (size_t first = 0; first < count; first += tile->panel_rows) {
        size_t size = count - first < tile->panel_rows ? count - first : tile->panel_rows;
        tile->prepare_rows(signature_row(rows, row + first), rows->stride_bytes, queries->words,
                           size, panels);
        panels += tile->rows_bytes(queries->words);
    }
}

/* All queries with prepared rows [row, row + row_count). */
static cog_status compare_rows(const struct tile_queries *queries, struct tile_scratch *scratch,
                               size_t row, size_t row_count, const uint16_t *limits,
                               tile_sink *sink, void *context, cog_error *error) {
    const struct hamming_tile *tile = queries->tile;
    const size_t panel_bytes = tile->queries_bytes(queries->words);
    for (size_t q = 0; q < queries->count; q += TILE_QUERIES) {
        size_t query_count = queries->count - q < TILE_QUERIES ? queries->count - q : TILE_QUERIES;
        struct hamming_comparison comparison = {
            .queries = queries->panels + q / TILE_QUERIES * panel_bytes,
            .rows = scratch->rows,
            .words = queries->words,
            .query_count = query_count,
            .row_count = row_count,
            .limits = limits + q,
            .scratch = scratch->comparison,
        };
        struct tile_hits found = {.hits = scratch->hits,
                                  .count = tile->compare(&comparison, scratch->hits),
                                  .first_query = q,
                                  .first_row = row,
                                  .row_end = row + row_count};
        if (found.count)
            TRY(sink(context, &found, error));
    }
    return COG_OK;
}

/* Begins with few rows, so that later comparisons profit from a sink that lowers limits. */
cog_status tile_scan(const struct tile_queries *queries, struct tile_scratch *scratch,
                     const struct signatures_view *rows, size_t begin, size_t end,
                     const uint16_t *limits, tile_sink *sink, void *context, cog_error *error) {
    size_t at_once = queries->tile->panel_rows;
    for (size_t row = begin; row < end;) {
        size_t row_count = end - row < at_once ? end - row : at_once;
        prepare_rows(queries, rows, row, row_count, scratch->rows);
        TRY(compare_rows(queries, scratch, row, row_count, limits, sink, context, error));
        row += row_count;
        at_once = 2 * at_once < TILE_SCAN_ROWS ? 2 * at_once : TILE_SCAN_ROWS;
    }
    return COG_OK;
}
