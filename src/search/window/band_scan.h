/* Distances along a band: every query of one sequence of rows is compared with a window of another
 * sequence (or the same one), and both ends of the window move forward from query to query.
 *
 * Wide windows are compared in tiles. Prepared rows are kept in a belt that moves along the band,
 * so each row is prepared once as a query and once as a row of windows. A block of queries is
 * compared only with the tiles that its windows touch. */
#pragma once

#include "base/error.h"
#include "hamming/hamming_tile.h"

/* Rows of a view in some order. Borrowed. */
struct row_sequence {
    const struct signatures_view *view;
    const uint32_t *rows;
    size_t count;
};

struct band {
    struct row_sequence queries, rows;
    const uint32_t *begins, *ends; /* query i is compared with positions [begins[i], ends[i]) of
                                    * rows; neither array ever decreases */
};

/* The working memory of one thread. Free with band_scanner_free. */
struct band_scanner {
    const struct hamming_tile *tile;
    size_t words, panel_bytes, width;
    uint8_t *queries; /* a panel */
    uint8_t *belt;    /* prepared panels of rows, from number belt_first on */
    bool *prepared;   /* which panels of the belt are filled */
    size_t belt_panels, belt_first;
    uint16_t limits[TILE_QUERIES]; /* the radius */
    uint8_t *staging; /* plain rows before they become panels, and which rows they are */
    struct row_sequence staged;
    size_t staged_first;
    uint8_t *comparison; /* scratch */
    struct hamming_hit *hits;
    uint16_t *distances;
    uint32_t *positions;
    size_t distance_capacity, position_capacity;
};
/* `width` is the usual number of rows in a window. Wider windows are processed in strips. */
cog_status band_scanner_create(struct band_scanner *scanner, unsigned bits, uint32_t radius_bits,
                               size_t width, cog_error *error);
/* Memory that it takes. */
size_t band_scanner_bytes(unsigned bits, size_t width);
void band_scanner_free(struct band_scanner *scanner);

/* Receives a pair of rows within the radius. */
typedef cog_status band_sink(void *context, uint32_t query_row, uint32_t row, uint32_t distance,
                             cog_error *error);

/* Scans queries [begin, end) of the band; every pair within the radius goes to the sink once. */
cog_status band_scan(struct band_scanner *scanner, const struct band *band, size_t begin,
                     size_t end, band_sink *sink, void *context, cog_error *error);
