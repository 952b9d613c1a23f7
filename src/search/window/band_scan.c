#include "search/window/band_scan.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    BLOCK_QUERIES = TILE_QUERIES,
    ROWS_AT_ONCE = 2048,           /* that a block is compared with at once */
    BELT_CACHE_BYTES = 1200 << 10, /* of prepared rows: most of a second-level cache */
    BELT_WINDOWS = 2,              /* on the belt, which then moves once per window */
    BELT_PANELS_MIN = 8,
    WIDTH_MIN = 64,    /* below, an occasional wide window would need too many strips */
    NARROW_WINDOW = 8, /* too little of a tile would be inside the band */
};

/* The panels of the windows of a block and of the next, as far as they fit the cache. */
static size_t belt_panels(const struct hamming_tile *tile, size_t words, size_t width) {
    size_t fitting = BELT_CACHE_BYTES / tile->rows_bytes(words);
    size_t wanted = BELT_WINDOWS * ((width + 2 * BLOCK_QUERIES) / tile->panel_rows + 3);
    if (fitting > wanted)
        fitting = wanted;
    return fitting < BELT_PANELS_MIN ? BELT_PANELS_MIN : fitting;
}

/* Of a block in one comparison: a query is compared with at most the rows of a window. */
static size_t hits_at_most(const struct hamming_tile *tile, size_t width) {
    return tile->band_queries * (width < ROWS_AT_ONCE ? width : ROWS_AT_ONCE);
}

static size_t usable_width(size_t width) {
    return width < WIDTH_MIN ? WIDTH_MIN : width;
}

size_t band_scanner_bytes(unsigned bits, size_t width) {
    const struct hamming_tile *tile = hamming_tile_for(width);
    const size_t words = hamming_words(bits);
    return belt_panels(tile, words, width) * (tile->rows_bytes(words) + sizeof(bool)) +
           tile->queries_bytes(words) + hamming_tile_scratch_bytes(tile, words) +
           BLOCK_QUERIES * signature_stride_bytes(bits) +
           hits_at_most(tile, usable_width(width)) * sizeof(struct hamming_hit);
}

static cog_status allocate(struct band_scanner *scanner, unsigned bits, cog_error *error) {
    const struct hamming_tile *tile = scanner->tile;
    scanner->queries = memory_large(tile->queries_bytes(scanner->words));
    scanner->belt = memory_large(scanner->belt_panels * scanner->panel_bytes);
    scanner->prepared = memory_zeroed_array(scanner->belt_panels, sizeof *scanner->prepared);
    scanner->comparison = memory_large(hamming_tile_scratch_bytes(tile, scanner->words));
    scanner->hits = memory_array(hits_at_most(tile, scanner->width), sizeof *scanner->hits);
    scanner->staging = memory_array(BLOCK_QUERIES, signature_stride_bytes(bits));
    if (!scanner->queries || !scanner->belt || !scanner->prepared || !scanner->comparison ||
        !scanner->hits || !scanner->staging)
        return error_memory(error, scanner->belt_panels * scanner->panel_bytes,
                            "the rows of a window");
    return COG_OK;
}

cog_status band_scanner_create(struct band_scanner *scanner, unsigned bits, uint32_t radius_bits,
                               size_t width, cog_error *error) {
    const struct hamming_tile *tile = hamming_tile_for(width);
    *scanner = (struct band_scanner){
        .tile = tile, .words = hamming_words(bits), .width = usable_width(width)};
    scanner->panel_bytes = tile->rows_bytes(scanner->words);
    scanner->belt_panels = belt_panels(tile, scanner->words, width);
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
    const struct hamming_tile *tile = scanner->tile;
    if (!tile)
        return;
    memory_large_free(scanner->queries, tile->queries_bytes(scanner->words));
    memory_large_free(scanner->belt, scanner->belt_panels * scanner->panel_bytes);
    memory_large_free(scanner->comparison, hamming_tile_scratch_bytes(tile, scanner->words));
    FREE(scanner->prepared, scanner->hits, scanner->staging, scanner->distances,
         scanner->positions);
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
    GROW(scanner->distances, scanner->distance_capacity, count, "the rows of a window", error);
    GROW(scanner->positions, scanner->position_capacity, count, "the rows of a window", error);
    kernels->gather(signature_row(band->queries.view, query_row), view->data, view->stride_bytes,
                    scanner->words, rows, count, scanner->distances);
    size_t found =
        kernels->select(scanner->distances, count, scanner->limits[0], scanner->positions);
    for (size_t i = 0; i < found; i++) {
        uint32_t position = scanner->positions[i];
        TRY(sink(context, query_row, rows[position], scanner->distances[position], error));
    }
    return COG_OK;
}

/* ---- Wide windows: tiles --------------------------------------------------------------------- */

/* The band, or a strip of it. */
struct strip {
    const struct band *band;
    size_t skip, width; /* rows of each window that are skipped, and that are compared */
    band_sink *sink;
    void *context;
};

/* A block of queries with the rows that each of them is compared with. */
struct block {
    const struct strip *strip;
    struct hamming_ahead ahead; /* the next queries */
    const uint8_t *panel;
    size_t first_query, query_count;
    uint32_t begins[BLOCK_QUERIES], ends[BLOCK_QUERIES];
};

/* Whether rows [first, first + count) of the sequence are staged. */
static bool are_staged(const struct band_scanner *scanner, const struct row_sequence *sequence,
                       size_t first, size_t count) {
    return scanner->staged.view == sequence->view && scanner->staged.rows == sequence->rows &&
           first >= scanner->staged_first &&
           first + count <= scanner->staged_first + scanner->staged.count;
}

/* Plain copies of rows [first, first + count) of the sequence. */
static const uint8_t *stage_rows(struct band_scanner *scanner, const struct row_sequence *sequence,
                                 size_t first, size_t count) {
    const struct signatures_view *view = sequence->view;
    const size_t row_bytes = scanner->words * 8;
    uint8_t *restrict to = scanner->staging;
    if (are_staged(scanner, sequence, first, count)) /* as queries, in a join with themselves */
        return scanner->staging + (first - scanner->staged_first) * row_bytes;
    scanner->staged = (struct row_sequence){view, sequence->rows, count};
    scanner->staged_first = first;
    for (size_t i = 0; i < count; i++, to += row_bytes) {
        const uint8_t *from = signature_row(view, sequence->rows[first + i]);
        size_t byte = 0;
        for (; byte + 64 <= row_bytes; byte += 64)
            memcpy(to + byte, from + byte, 64);
        for (; byte < row_bytes; byte += 8)
            memcpy(to + byte, from + byte, 8);
    }
    return scanner->staging;
}

static bool is_on_belt(const struct band_scanner *scanner, size_t panel) {
    return panel >= scanner->belt_first && panel - scanner->belt_first < scanner->belt_panels;
}

/* Moves the belt so that panel `first` comes to its beginning. */
static void move_belt(struct band_scanner *scanner, size_t first) {
    const size_t places = scanner->belt_panels;
    const size_t dropped = is_on_belt(scanner, first) ? first - scanner->belt_first : places;
    const size_t kept = places - dropped;
    memmove(scanner->belt, scanner->belt + dropped * scanner->panel_bytes,
            kept * scanner->panel_bytes);
    memmove(scanner->prepared, scanner->prepared + dropped, kept * sizeof *scanner->prepared);
    memset(scanner->prepared + kept, 0, dropped * sizeof *scanner->prepared);
    scanner->belt_first = first;
}

static uint8_t *panel_on_belt(const struct band_scanner *scanner, size_t panel) {
    return scanner->belt + (panel - scanner->belt_first) * scanner->panel_bytes;
}

/* Panel p has rows [p * panel_rows, (p + 1) * panel_rows) of the sequence. */
static void prepare_row_panel(struct band_scanner *scanner, const struct row_sequence *sequence,
                              size_t panel) {
    const struct hamming_tile *tile = scanner->tile;
    const size_t first = panel * tile->panel_rows, left = sequence->count - first;
    const size_t count = left < tile->panel_rows ? left : tile->panel_rows;
    bool *prepared = &scanner->prepared[panel - scanner->belt_first];
    if (*prepared)
        return;
    tile->prepare_rows(stage_rows(scanner, sequence, first, count), scanner->words * 8,
                       scanner->words, count, panel_on_belt(scanner, panel));
    *prepared = true;
}

/* Compares the block with prepared panels [panel, panel + count), which lie one after the other. */
static cog_status compare_panels(struct band_scanner *scanner, struct block *block, size_t panel,
                                 size_t count, cog_error *error) {
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
        .rows = panel_on_belt(scanner, panel),
        .words = scanner->words,
        .query_count = block->query_count,
        .row_count = row_count,
        .limits = scanner->limits,
        .begins = begins,
        .ends = ends,
        .ahead = &block->ahead,
        .scratch = scanner->comparison,
    };
    size_t found = scanner->tile->compare(&comparison, scanner->hits);
    for (size_t i = 0; i < found; i++) {
        struct hamming_hit hit = scanner->hits[i];
        TRY(strip->sink(strip->context, band->queries.rows[block->first_query + hit.query],
                        band->rows.rows[first_row + hit.row], hit.distance, error));
    }
    return COG_OK;
}

/* Compares the block with the panels that some query wants, in runs of adjacent panels. */
static cog_status scan_panels(struct band_scanner *scanner, struct block *block, cog_error *error) {
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
        bool wanted = low < high, fits = is_on_belt(scanner, panel);
        if (run && (!wanted || !fits || run == most)) {
            status = compare_panels(scanner, block, panel - run, run, error);
            run = 0;
        }
        if (!wanted)
            continue;
        if (!fits) /* windows far apart: collections with uneven distributions */
            move_belt(scanner, panel);
        prepare_row_panel(scanner, &block->strip->band->rows, panel);
        run++;
    }
    size_t end = (last_row + panel_rows - 1) / panel_rows;
    return status == COG_OK && run ? compare_panels(scanner, block, end - run, run, error) : status;
}

/* The queries of the next block, from `first` on. */
static struct hamming_ahead next_queries(const struct band_scanner *scanner,
                                         const struct row_sequence *queries, size_t first) {
    const size_t left = queries->count - first, most = scanner->tile->band_queries;
    return (struct hamming_ahead){.data = queries->view->data,
                                  .stride_bytes = queries->view->stride_bytes,
                                  .row_bytes = scanner->words * 8,
                                  .rows = queries->rows + first,
                                  .count = left < most ? left : most};
}

/* Prepares the queries of a block. In a self-join, prepared rows serve as queries if the method
 * prepares both alike and the belt does not move away from them before the block is done. */
static const uint8_t *prepare_block(struct band_scanner *scanner, const struct band *band,
                                    size_t first, size_t count, bool belt_stays) {
    const struct hamming_tile *tile = scanner->tile;
    const size_t first_panel = first / tile->panel_rows;
    const size_t last_panel = (first + count - 1) / tile->panel_rows;
    if (belt_stays && tile->prepare_queries == tile->prepare_rows &&
        band->queries.view == band->rows.view && band->queries.rows == band->rows.rows &&
        first % tile->panel_rows == 0 && is_on_belt(scanner, first_panel) &&
        is_on_belt(scanner, last_panel)) {
        for (size_t panel = first_panel; panel <= last_panel; panel++)
            prepare_row_panel(scanner, &band->rows, panel);
        return panel_on_belt(scanner, first_panel);
    }
    tile->prepare_queries(stage_rows(scanner, &band->queries, first, count), scanner->words * 8,
                          scanner->words, count, scanner->queries);
    return scanner->queries;
}

/* Compares queries [first, first + count) with their windows. */
static cog_status scan_block(struct band_scanner *scanner, const struct strip *strip, size_t first,
                             size_t count, cog_error *error) {
    const struct band *band = strip->band;
    const size_t panel_rows = scanner->tile->panel_rows;
    struct block block = {.strip = strip, .first_query = first, .query_count = count};
    block.ahead = next_queries(scanner, &band->queries, first + count);
    for (size_t i = 0; i < count; i++) {
        size_t begin = band->begins[first + i] + strip->skip, end = band->ends[first + i];
        block.begins[i] = (uint32_t)(begin < end ? begin : end);
        block.ends[i] = (uint32_t)(begin + strip->width < end ? begin + strip->width : end);
    }
    if (block.begins[0] >= block.ends[count - 1])
        return COG_OK;
    size_t first_panel = block.begins[0] / panel_rows;
    size_t last_panel = (block.ends[count - 1] - 1) / panel_rows;
    if (!is_on_belt(scanner, first_panel) || !is_on_belt(scanner, last_panel))
        move_belt(scanner, first_panel);
    block.panel = prepare_block(scanner, band, first, count, is_on_belt(scanner, last_panel));
    return scan_panels(scanner, &block, error);
}

static cog_status scan_strip(struct band_scanner *scanner, const struct strip *strip, size_t begin,
                             size_t end, cog_error *error) {
    memset(scanner->prepared, 0, scanner->belt_panels * sizeof *scanner->prepared);
    scanner->staged = (struct row_sequence){0};
    const size_t most = scanner->tile->band_queries;
    for (size_t query = begin; query < end; query += most)
        TRY(scan_block(scanner, strip, query, end - query < most ? end - query : most, error));
    return COG_OK;
}

/* Windows that do not fit the belt or the hits are scanned in strips of equal width; every strip is
 * a band. */
static cog_status scan_tiles(struct band_scanner *scanner, const struct band *band, size_t begin,
                             size_t end, size_t widest, band_sink *sink, void *context,
                             cog_error *error) {
    const size_t panel_rows = scanner->tile->panel_rows;
    size_t fitting = scanner->belt_panels * panel_rows - BLOCK_QUERIES - 2 * panel_rows;
    if (fitting > scanner->width)
        fitting = scanner->width;
    size_t strips = (widest + fitting - 1) / fitting;
    struct strip strip = {.band = band, .sink = sink, .context = context};
    strip.width = (widest + strips - 1) / strips;
    for (; strip.skip < widest; strip.skip += strip.width)
        TRY(scan_strip(scanner, &strip, begin, end, error));
    return COG_OK;
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
    for (size_t query = begin; query < end; query++)
        TRY(scan_query(scanner, band, query, sink, context, error));
    return COG_OK;
}
