#include "search/slices/slices_lists.h"

#include "base/memory.h"
#include "search/probes/probes.h"

enum { OFFSETS_AHEAD = 48 }; /* lists */

double slice_ball_lists(unsigned width, unsigned reach) {
    double ring = 1, lists = 0;
    for (unsigned d = 0; d < reach && d <= width; d++) {
        lists += ring;
        ring = ring * (width - d) / (d + 1);
    }
    return lists;
}

/* Makes the rings below `rings` of a slice of `width` bits available. */
static cog_status ball_extend(struct slice_ball *ball, unsigned width, unsigned rings,
                              cog_error *error) {
    if (ball->width != width)
        ball->rings = 0;
    ball->width = width;
    for (; ball->rings < rings; ball->rings++) {
        unsigned d = ball->rings;
        size_t count = d ? ball->ring_ends[d - 1] : 0;
        size_t ring = (size_t)(slice_ball_lists(width, d + 1) + 0.5) - count;
        if (!memory_grow((void **)&ball->masks, &ball->capacity, count + ring, sizeof *ball->masks))
            return error_memory(error, (count + ring) * sizeof *ball->masks, "probes of a slice");
        probes_ring(d, ball->masks + count, ring);
        ball->ring_ends[d] = (uint32_t)(count + ring);
    }
    return COG_OK;
}

cog_status slice_reading_reserve(struct slice_reading *reading, size_t extra, cog_error *error) {
    if (!memory_grow((void **)&reading->lists, &reading->capacity, reading->count + extra,
                     sizeof *reading->lists))
        return error_memory(error, (reading->count + extra) * sizeof *reading->lists,
                            "the lists of a query");
    return COG_OK;
}

void slice_reading_reset(struct slice_reading *reading) {
    reading->count = 0;
    reading->postings = 0;
}

cog_status slice_reading_add_rings(struct slice_reading *reading, const struct slices_view *view,
                                   const uint8_t *query, const uint8_t *begin, const uint8_t *end,
                                   cog_error *error) {
    for (unsigned slice = 0; slice < view->layout.count; slice++) {
        unsigned first = begin ? begin[slice] : 0;
        if (first >= end[slice])
            continue;
        unsigned width = slice_width(&view->layout, slice);
        struct slice_ball *ball = &reading->balls[width - view->layout.narrow_width];
        cog_status status = ball_extend(ball, width, end[slice], error);
        THEN(status, slice_reading_reserve(reading, ball->ring_ends[end[slice] - 1], error));
        if (status != COG_OK)
            return status;
        const uint32_t *offsets = view->offsets + slice_first_offset(&view->layout, slice);
        uint32_t key = slice_query_key(view, query, slice);
        for (size_t i = first ? ball->ring_ends[first - 1] : 0; i < ball->ring_ends[end[slice] - 1];
             i++)
            reading->lists[reading->count++] =
                (struct slice_list){offsets + (key ^ ball->masks[i]), 0, slice};
    }
    return COG_OK;
}

void slice_reading_locate(struct slice_reading *reading, const struct slices_view *view,
                          size_t begin) {
    struct slice_list *lists = reading->lists;
    size_t kept = begin;
    for (size_t i = begin; i < reading->count; i++) {
        if (i + OFFSETS_AHEAD < reading->count)
            __builtin_prefetch(lists[i + OFFSETS_AHEAD].at);
        struct slice_list list = lists[i];
        uint32_t first = list.at[0], end = list.at[1];
        if (first >= end || end > view->rows)
            continue;
        list.at = view->postings + list.slice * view->rows + first;
        list.count = end - first;
        reading->postings += list.count;
        lists[kept++] = list;
    }
    reading->count = kept;
}

void slice_reading_free(struct slice_reading *reading) {
    free(reading->lists);
    free(reading->balls[0].masks);
    free(reading->balls[1].masks);
    free(reading->probe_masks);
    free(reading->odds);
    *reading = (struct slice_reading){0};
}
