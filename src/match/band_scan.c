#include "match/band_scan.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    BLOCK_QUERIES = 32,
    ROWS_AT_ONCE = 1024,           /* that a block meets in one comparison */
    RING_CACHE_BYTES = 1200 << 10, /* of prepared rows: most of a second-level cache */
    RING_PANELS_MIN = 8,
    NARROW_WINDOW = 8,  /* too little of a tile would be inside the band */
    PREFETCH_ROWS = 64, /* rows between a prefetch and its copy: two blocks */
    SELECT_SLACK = 16   /* entries that select() may write beyond the count */
};

static const size_t NO_PANEL = SIZE_MAX;

/* What the windows of a block and of the next touch, as far as the cache holds it. */
static size_t ring_panels(const struct hamming_tile *tile, size_t words, size_t width) {
    size_t fitting = RING_CACHE_BYTES / tile->rows_bytes(words);
    size_t wanted = (width + 2 * BLOCK_QUERIES) / tile->panel_rows + 3;
    if (fitting > wanted)
        fitting = wanted;
    return fitting < RING_PANELS_MIN ? RING_PANELS_MIN : fitting;
}

size_t band_scanner_bytes(unsigned bits, size_t width) {
    const struct hamming_tile *tile = hamming_tile_for(width);
    const size_t words = hamming_words(bits);
    return ring_panels(tile, words, width) * tile->rows_bytes(words) +
           2 * tile->queries_bytes(words) +
           BLOCK_QUERIES * ROWS_AT_ONCE * sizeof(struct hamming_hit);
}

static cog_status allocate(struct band_scanner *scanner, unsigned bits, cog_error *error) {
    const size_t row_bytes = signature_stride_bytes(bits);
    for (int i = 0; i < 2; i++)
        scanner->query_panels[i] = memory_large(scanner->tile->queries_bytes(scanner->words));
    scanner->writer.masks = memory_array(BLOCK_QUERIES, row_bytes);
    scanner->ring = memory_large(scanner->ring_panels * scanner->panel_bytes);
    scanner->panels = memory_array(scanner->ring_panels, sizeof *scanner->panels);
    scanner->hits = memory_array(BLOCK_QUERIES * ROWS_AT_ONCE, sizeof *scanner->hits);
    scanner->staging = memory_array(TILE_ROWS, row_bytes);
    if (!scanner->query_panels[0] || !scanner->query_panels[1] || !scanner->writer.masks ||
        !scanner->ring || !scanner->panels || !scanner->hits || !scanner->staging)
        return error_memory(error, scanner->ring_panels * scanner->panel_bytes,
                            "the rows of a window");
    return COG_OK;
}

cog_status band_scanner_create(struct band_scanner *scanner, unsigned bits, uint32_t radius_bits,
                               size_t width, cog_error *error) {
    const struct hamming_tile *tile = hamming_tile_for(width);
    *scanner = (struct band_scanner){.tile = tile, .words = hamming_words(bits)};
    scanner->panel_bytes = tile->rows_bytes(scanner->words);
    scanner->ring_panels = ring_panels(tile, scanner->words, width);
    cog_status status = allocate(scanner, bits, error);
    if (status != COG_OK) {
        band_scanner_free(scanner);
        return status;
    }
    for (size_t i = 0; i < BLOCK_QUERIES; i++)
        scanner->limits[i] = (uint16_t)(radius_bits < bits ? radius_bits : bits);
    return COG_OK;
}

void band_scanner_free(struct band_scanner *scanner) {
    if (!scanner->tile)
        return;
    for (int i = 0; i < 2; i++)
        memory_large_free(scanner->query_panels[i], scanner->tile->queries_bytes(scanner->words));
    free(scanner->writer.masks);
    memory_large_free(scanner->ring, scanner->ring_panels * scanner->panel_bytes);
    free(scanner->panels);
    free(scanner->hits);
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

/* ---- Wide windows: tiles --------------------------------------------------------------------- */

/* The band, or a strip of it. */
struct strip {
    const struct band *band;
    size_t skip, width; /* rows of each window that are left out, and that are met */
    band_sink *sink;
    void *context;
};

/* A block of queries with the rows that each of them meets. */
struct block {
    const struct strip *strip;
    size_t first_query, query_count;
    const uint8_t *panel;
    uint32_t begins[BLOCK_QUERIES], ends[BLOCK_QUERIES];
};

/* Plain copies of rows [first, first + count) of the sequence. */
static void stage_rows(struct band_scanner *scanner, const struct row_sequence *sequence,
                       size_t first, size_t count) {
    const struct signatures_view *view = sequence->view;
    const size_t row_bytes = scanner->words * 8;
    uint8_t *restrict to = scanner->staging;
    if (scanner->staged.view == view && scanner->staged.rows == sequence->rows &&
        scanner->staged_first == first && scanner->staged.count == count)
        return; /* of one collection, queries soon become rows of windows */
    scanner->staged = (struct row_sequence){view, sequence->rows, count};
    scanner->staged_first = first;
    for (size_t i = 0; i < count; i++, to += row_bytes) {
        if (first + i + PREFETCH_ROWS < sequence->count) {
            const uint8_t *ahead = signature_row(view, sequence->rows[first + i + PREFETCH_ROWS]);
            for (size_t byte = 0; byte < row_bytes; byte += 64)
                __builtin_prefetch(ahead + byte);
        }
        const uint8_t *from = signature_row(view, sequence->rows[first + i]);
        size_t byte = 0;
        for (; byte + 64 <= row_bytes; byte += 64)
            memcpy(to + byte, from + byte, 64);
        for (; byte < row_bytes; byte += 8)
            memcpy(to + byte, from + byte, 8);
    }
}

/* Queries [first, first + count) become a panel, which may be left unfinished. */
static void begin_queries(struct band_scanner *scanner, const struct row_sequence *queries,
                          size_t first, size_t count, uint8_t *panel) {
    const struct hamming_tile *tile = scanner->tile;
    const size_t row_bytes = scanner->words * 8;
    stage_rows(scanner, queries, first, count);
    if (!tile->begin_queries) {
        tile->prepare_queries(scanner->staging, row_bytes, scanner->words, count, panel);
        return;
    }
    tile->finish(&scanner->writer);
    scanner->writer.panel = panel;
    tile->begin_queries(scanner->staging, row_bytes, scanner->words, count, &scanner->writer);
}

/* Panel p has rows [p * panel_rows, (p + 1) * panel_rows) of the sequence. */
static void prepare_row_panel(struct band_scanner *scanner, const struct row_sequence *sequence,
                              size_t panel) {
    const struct hamming_tile *tile = scanner->tile;
    size_t slot = panel % scanner->ring_panels, first = panel * tile->panel_rows;
    if (scanner->panels[slot] == panel)
        return;
    size_t left = sequence->count - first;
    size_t count = left < tile->panel_rows ? left : tile->panel_rows;
    stage_rows(scanner, sequence, first, count);
    tile->prepare_rows(scanner->staging, scanner->words * 8, scanner->words, count,
                       scanner->ring + slot * scanner->panel_bytes);
    scanner->panels[slot] = panel;
}

/* Compares the block with prepared panels [panel, panel + count), which lie one after the other. */
static cog_status compare_panels(struct band_scanner *scanner, const struct block *block,
                                 size_t panel, size_t count, cog_error *error) {
    const struct strip *strip = block->strip;
    const struct band *band = strip->band;
    const size_t first_row = panel * scanner->tile->panel_rows;
    size_t row_count = count * scanner->tile->panel_rows;
    if (row_count > band->rows.count - first_row)
        row_count = band->rows.count - first_row;
    uint32_t begins[BLOCK_QUERIES], ends[BLOCK_QUERIES]; /* counted from first_row */
    for (size_t i = 0; i < block->query_count; i++) {
        begins[i] = block->begins[i] > first_row ? block->begins[i] - (uint32_t)first_row : 0;
        ends[i] = block->ends[i] > first_row ? block->ends[i] - (uint32_t)first_row : 0;
    }
    struct hamming_comparison comparison = {
        .queries = block->panel,
        .rows = scanner->ring + panel % scanner->ring_panels * scanner->panel_bytes,
        .words = scanner->words,
        .query_count = block->query_count,
        .row_count = row_count,
        .limits = scanner->limits,
        .begins = begins,
        .ends = ends,
        .writer = scanner->tile->begin_queries ? &scanner->writer : NULL,
    };
    size_t found = scanner->tile->compare(&comparison, scanner->hits);
    cog_status status = COG_OK;
    for (size_t i = 0; i < found && status == COG_OK; i++) {
        struct hamming_hit hit = scanner->hits[i];
        status = strip->sink(strip->context, band->queries.rows[block->first_query + hit.query],
                             band->rows.rows[first_row + hit.row], hit.distance, error);
    }
    return status;
}

/* The panels that some query of the block wants, in runs that lie together. */
static cog_status scan_block(struct band_scanner *scanner, const struct block *block,
                             cog_error *error) {
    const size_t panel_rows = scanner->tile->panel_rows, most = ROWS_AT_ONCE / panel_rows;
    const size_t count = block->query_count, last_row = block->ends[count - 1];
    size_t low = 0, high = 0, run = 0;
    cog_status status = COG_OK;
    for (size_t panel = block->begins[0] / panel_rows;
         panel * panel_rows < last_row && status == COG_OK; panel++) {
        while (low < count && block->ends[low] <= panel * panel_rows)
            low++;
        while (high < count && block->begins[high] < (panel + 1) * panel_rows)
            high++;
        bool wanted = low < high, wraps = panel % scanner->ring_panels == 0;
        if (run && (!wanted || wraps || run == most)) {
            status = compare_panels(scanner, block, panel - run, run, error);
            run = 0;
        }
        if (wanted)
            prepare_row_panel(scanner, &block->strip->band->rows, panel);
        run += wanted;
    }
    size_t end = (last_row + panel_rows - 1) / panel_rows;
    return status == COG_OK && run ? compare_panels(scanner, block, end - run, run, error) : status;
}

/* Block number `number` of queries [begin, end); its panel is begun. False where it meets no rows.
 */
static bool begin_block(struct band_scanner *scanner, const struct strip *strip, size_t begin,
                        size_t end, size_t number, struct block *block) {
    const struct band *band = strip->band;
    size_t query = begin + number * BLOCK_QUERIES;
    if (query >= end)
        return false;
    *block = (struct block){.strip = strip, .first_query = query};
    block->query_count = end - query < BLOCK_QUERIES ? end - query : BLOCK_QUERIES;
    for (size_t i = 0; i < block->query_count; i++) {
        size_t first = band->begins[query + i] + strip->skip, last = band->ends[query + i];
        block->begins[i] = (uint32_t)(first < last ? first : last);
        block->ends[i] = (uint32_t)(first + strip->width < last ? first + strip->width : last);
    }
    if (block->begins[0] >= block->ends[block->query_count - 1])
        return false;
    uint8_t *panel = scanner->query_panels[number % 2];
    begin_queries(scanner, &band->queries, query, block->query_count, panel);
    block->panel = panel;
    return true;
}

/* While a block is compared, the queries of the next one are prepared. The last of the rows that
 * they meet are often the same, and best taken together. */
static cog_status scan_strip(struct band_scanner *scanner, const struct strip *strip, size_t begin,
                             size_t end, cog_error *error) {
    const size_t blocks = (end - begin + BLOCK_QUERIES - 1) / BLOCK_QUERIES;
    struct block current, next;
    cog_status status = COG_OK;
    for (size_t i = 0; i < scanner->ring_panels; i++)
        scanner->panels[i] = NO_PANEL;
    scanner->staged = (struct row_sequence){0};
    bool meets = begin_block(scanner, strip, begin, end, 0, &current);
    for (size_t number = 0; number < blocks && status == COG_OK; number++) {
        if (scanner->tile->finish)
            scanner->tile->finish(&scanner->writer);
        bool next_meets = begin_block(scanner, strip, begin, end, number + 1, &next);
        if (next_meets)
            prepare_row_panel(scanner, &strip->band->rows,
                              (next.ends[next.query_count - 1] - 1) / scanner->tile->panel_rows);
        if (meets)
            status = scan_block(scanner, &current, error);
        meets = next_meets;
        current = next;
    }
    return status;
}

/* Windows that do not fit the ring are met in strips of equal width: every strip is a band. */
static cog_status scan_tiles(struct band_scanner *scanner, const struct band *band, size_t begin,
                             size_t end, size_t widest, band_sink *sink, void *context,
                             cog_error *error) {
    const size_t panel_rows = scanner->tile->panel_rows;
    size_t fitting = scanner->ring_panels * panel_rows - BLOCK_QUERIES - 2 * panel_rows;
    size_t strips = (widest + fitting - 1) / fitting;
    struct strip strip = {.band = band, .sink = sink, .context = context};
    strip.width = (widest + strips - 1) / strips;
    cog_status status = COG_OK;
    for (; strip.skip < widest && status == COG_OK; strip.skip += strip.width)
        status = scan_strip(scanner, &strip, begin, end, error);
    return status;
}

cog_status band_scan(struct band_scanner *scanner, const struct band *band, size_t begin,
                     size_t end, band_sink *sink, void *context, cog_error *error) {
    uint64_t pairs = 0;
    size_t widest = 0;
    for (size_t query = begin; query < end; query++) {
        size_t width = band->ends[query] - band->begins[query];
        pairs += width;
        widest = width > widest ? width : widest;
    }
    if (pairs && pairs >= (end - begin) * NARROW_WINDOW)
        return scan_tiles(scanner, band, begin, end, widest, sink, context, error);
    cog_status status = COG_OK;
    for (size_t query = begin; query < end && status == COG_OK; query++)
        status = scan_query(scanner, band, query, sink, context, error);
    return status;
}
