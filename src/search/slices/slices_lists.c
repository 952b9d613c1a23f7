#include "search/slices/slices_lists.h"

#include "base/memory.h"
#include "base/numbers.h"
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

/* ---- Lists by margins --------------------------------------------------------------------------
 */

enum {
    PROBE_FLIPS =
        4, /* bits of a set; more are never among the likeliest at these numbers of lists */
    PROBE_STEPS = 14, /* of bisection */
    PROBE_SAMPLE = 8, /* slices or more for each that is looked at to find the bound */
    PROBE_SLACK = 16, /* the bound may let a sixteenth fewer sets pass */
    LOG_SUMS_A_UNIT = 16,
};

/* The values of one slice as the query sees them: log-odds of the bits, and the cost of its own
 * value. */
struct slice_odds {
    struct probe_bits bits;
    uint32_t base; /* -log of the chance that no bit differs, in PROBE_PENALTY_ONE */
};

/* A bit of mean size has log-odds 1 against differing: so a bound means the same for every query,
 * and for neighbours as far as an approximate search is needed for, it is near what signs of
 * projections have. */
static double penalty_scale(const float *weights, unsigned bits) {
    double sum = 0;
    for (unsigned i = 0; i < bits; i++)
        sum += weights[i] < 0 ? -(double)weights[i] : (double)weights[i];
    return sum > 0 ? bits * (double)PROBE_PENALTY_ONE / sum : 0;
}

static uint32_t penalty_of(float weight, double scale) {
    double penalty = (weight < 0 ? -(double)weight : (double)weight) * scale;
    return penalty < PROBE_PENALTY_MAX ? (uint32_t)penalty : PROBE_PENALTY_MAX;
}

/* log(1 + exp(-x)) at steps of 1/16, with plain operations so that bounds are the same on every
 * CPU. */
static void fill_log_sums(double *sums) {
    const double step = 0.93941306281347578611971; /* exp(-1/16) */
    double power = 1;
    for (int i = 0; i < SLICE_LOG_SUMS; i++, power *= step)
        sums[i] = portable_log(1 + power) * PROBE_PENALTY_ONE;
}

static void slice_odds_init(struct slice_odds *odds, const struct slices_view *view, unsigned slice,
                            const float *weights, double scale, const double *log_sums) {
    uint32_t penalties[SLICE_WIDTH_MAX];
    unsigned width = slice_width(&view->layout, slice);
    unsigned first = slice_first_bit(&view->layout, slice);
    double base = 0;
    for (unsigned i = 0; i < width; i++) {
        penalties[i] = penalty_of(weights[first + i], scale);
        size_t place = penalties[i] / (PROBE_PENALTY_ONE / LOG_SUMS_A_UNIT);
        base += log_sums[place < SLICE_LOG_SUMS ? place : SLICE_LOG_SUMS - 1];
    }
    odds->base = (uint32_t)base;
    probe_bits_init(&odds->bits, penalties, width, PROBE_BOUND_NONE);
}

/* Sets of the slice that cost no more than the bound, base included; masks may be NULL to count. */
static size_t sets_within(const struct slice_odds *odds, uint32_t bound, uint32_t *masks,
                          size_t capacity) {
    if (bound < odds->base)
        return 0;
    return probes_within(&odds->bits, PROBE_FLIPS, bound - odds->base, masks, NULL, capacity);
}

/* The bound that lets about `probes` sets pass over all slices: bisection, on a sample of the
 * slices where there are many. */
static uint32_t bound_for(const struct slice_odds *odds, unsigned slices, size_t probes) {
    unsigned step = slices >= 4 * PROBE_SAMPLE ? 4 : 1, sampled = (slices + step - 1) / step;
    uint32_t low = 0, high = 2 * SLICE_WIDTH_MAX * PROBE_PENALTY_ONE;
    probes = probes * sampled / slices;
    for (int i = 0; i < PROBE_STEPS; i++) {
        uint32_t middle = low + (high - low) / 2;
        size_t count = 0;
        for (unsigned slice = 0; slice < slices && count <= probes; slice += step)
            count += sets_within(&odds[slice], middle, NULL, probes + 1 - count);
        if (count > probes)
            high = middle;
        else
            low = middle;
        if (count <= probes && count + probes / PROBE_SLACK >= probes)
            break;
    }
    return low;
}

static cog_status reserve_probes(struct slice_reading *reading, unsigned slices, size_t most,
                                 cog_error *error) {
    if (!memory_grow((void **)&reading->probe_masks, &reading->probe_capacity, most,
                     sizeof *reading->probe_masks) ||
        !memory_grow((void **)&reading->odds, &reading->odds_capacity, slices,
                     sizeof *reading->odds))
        return error_memory(error, most * sizeof *reading->probe_masks, "probes");
    return slice_reading_reserve(reading, most, error);
}

cog_status slice_reading_add_probes(struct slice_reading *reading, const struct slices_view *view,
                                    const uint8_t *query, const float *weights, size_t probes,
                                    cog_error *error) {
    unsigned slices = view->layout.count;
    size_t all = slice_layout_offsets(&view->layout);
    if (probes > all)
        probes = all;
    size_t most = 2 * probes; /* the sample may have had fewer sets than the others */
    TRY(reserve_probes(reading, slices, most, error));
    if (reading->log_sums[0] == 0)
        fill_log_sums(reading->log_sums);
    double scale = penalty_scale(weights, view->layout.bits);
    for (unsigned slice = 0; slice < slices; slice++)
        slice_odds_init(&reading->odds[slice], view, slice, weights, scale, reading->log_sums);
    uint32_t bound = bound_for(reading->odds, slices, probes);
    for (unsigned slice = 0; slice < slices; slice++) {
        const uint32_t *offsets = view->offsets + slice_first_offset(&view->layout, slice);
        uint32_t key = slice_query_key(view, query, slice);
        size_t count = sets_within(&reading->odds[slice], bound, reading->probe_masks, most);
        most -= count;
        for (size_t i = 0; i < count; i++)
            reading->lists[reading->count++] =
                (struct slice_list){offsets + (key ^ reading->probe_masks[i]), 0, slice};
    }
    return COG_OK;
}
