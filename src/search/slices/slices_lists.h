/* The lists that a query reads: which they are, found and prefetched as one sequence over all
 * slices. The part of slice search between the request and the scores. */
#pragma once

#include "search/slices/slices.h"

/* The query's own value of a slice. */
static inline uint32_t slice_query_key(const struct slices_view *view, const uint8_t *query,
                                       unsigned slice) {
    return (uint32_t)signature_bits(query, signature_stride_bytes(view->layout.bits),
                                    slice_first_bit(&view->layout, slice),
                                    slice_width(&view->layout, slice));
}

/* `at` is the place of the list's offsets until slice_reading_locate, then its first row. */
struct slice_list {
    const uint32_t *at;
    uint32_t count;
    uint32_t slice;
};

/* Values up to some bits away from any value: XOR masks of a slice, ring by ring, rising within a
 * ring so that neighbours in memory are read together. */
struct slice_ball {
    uint32_t *masks;
    size_t capacity;
    unsigned width, rings;                   /* rings 0 .. rings - 1 are there */
    uint32_t ring_ends[SLICE_WIDTH_MAX + 2]; /* masks up to ring d end at ring_ends[d] */
};

enum { SLICE_LOG_SUMS = 129 };
struct slice_odds;

/* Zero-initialise; slice_reading_free releases. */
struct slice_reading {
    struct slice_list *lists;
    size_t count, capacity;
    uint64_t postings;          /* in lists, after slice_reading_locate */
    struct slice_ball balls[2]; /* of narrow and of wide slices */
    uint32_t *probe_masks;      /* scratch of slice_reading_add_probes, as what follows */
    size_t probe_capacity;
    struct slice_odds *odds;
    size_t odds_capacity;
    double log_sums[SLICE_LOG_SUMS];
};

/* Forgets all lists, keeps the memory. */
void slice_reading_reset(struct slice_reading *reading);
/* Appends for each slice s the lists at begin[s] <= d < end[s] bits from the query (begin NULL: 0).
 */
cog_status slice_reading_add_rings(struct slice_reading *reading, const struct slices_view *view,
                                   const uint8_t *query, const uint8_t *begin, const uint8_t *end,
                                   cog_error *error);
/* Appends about `probes` lists, the most probable ones over all slices when the chance of a bit to
 * differ falls with its weight. */
cog_status slice_reading_add_probes(struct slice_reading *reading, const struct slices_view *view,
                                    const uint8_t *query, const float *weights, size_t probes,
                                    cog_error *error);
/* Makes room for that many more lists. */
cog_status slice_reading_reserve(struct slice_reading *reading, size_t extra, cog_error *error);
/* Looks the lists up from number `begin` on, and drops empty and impossible ones. */
void slice_reading_locate(struct slice_reading *reading, const struct slices_view *view,
                          size_t begin);
/* Lists in the rings below `reach` of a slice of `width` bits. */
double slice_ball_lists(unsigned width, unsigned reach);
void slice_reading_free(struct slice_reading *reading);
