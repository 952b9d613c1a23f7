#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "search/probes/volatility.h"
#include "search/slices/slices.h"

unsigned slice_width_for(size_t rows, unsigned bits) {
    unsigned log2_rounded = 0;
    while (log2_rounded < 40 && (double)rows >= 1.4142135 * (double)((uint64_t)1 << log2_rounded))
        log2_rounded++;
    unsigned width = log2_rounded > 8 ? log2_rounded - 4 : 4;
    if (width > SLICE_WIDTH_MAX)
        width = SLICE_WIDTH_MAX;
    return width < bits ? width : bits;
}

struct slice_layout slice_layout_of(unsigned bits, unsigned width) {
    unsigned count = (bits + width - 1) / width;
    return (struct slice_layout){bits, count, bits / count, bits % count};
}

size_t slice_layout_offsets(const struct slice_layout *layout) {
    return slice_first_offset(layout, layout->count);
}

/* Slices whose keys are taken in one visit of a row. A row is a cache line or two, so visiting it
 * for one slice at a time would read the collection once per slice. */
enum { SLICES_TOGETHER = 4, ROW_BLOCK = 4096, SCATTER_AHEAD = 16 };

struct build {
    struct slice_lists *lists;
    const struct signatures_view *signatures;
    uint32_t *keys; /* for each worker SLICES_TOGETHER times rows */
};

static uint32_t *slice_offsets(const struct build *build, unsigned slice) {
    return build->lists->offsets + slice_first_offset(&build->lists->view.layout, slice);
}

/* Keys of one slice for a block of rows, counted into offsets[key + 1]. */
static void take_keys(const struct build *build, unsigned slice, size_t begin, size_t end,
                      uint32_t *keys) {
    const struct slice_layout *layout = &build->lists->view.layout;
    const struct signatures_view *signatures = build->signatures;
    unsigned first = slice_first_bit(layout, slice), width = slice_width(layout, slice);
    uint32_t *counts = slice_offsets(build, slice) + 1;
    for (size_t row = begin; row < end; row++) {
        uint32_t key = (uint32_t)signature_bits(signature_row(signatures, row),
                                                signatures->stride_bytes, first, width);
        keys[row] = key;
        counts[key]++;
    }
}

/* Turns counts into starts, scatters the rows, and leaves the offsets: during the scatter the entry
 * of a value runs from its start to its end, which is the start of the next, so the array ends up
 * shifted. */
static void scatter_rows(const struct build *build, unsigned slice, const uint32_t *keys) {
    const struct slice_layout *layout = &build->lists->view.layout;
    size_t rows = build->signatures->rows, values = (size_t)1 << slice_width(layout, slice);
    uint32_t *offsets = slice_offsets(build, slice), *heads = offsets + 1, start = 0;
    for (size_t value = 0; value < values; value++) {
        uint32_t count = heads[value];
        heads[value] = start;
        start += count;
    }
    uint32_t *postings = build->lists->postings + slice * rows;
    for (size_t row = 0; row < rows; row++) {
        /* Stores are made in order, so one that misses the cache holds up all behind it. */
        if (row + SCATTER_AHEAD < rows)
            __builtin_prefetch(&postings[heads[keys[row + SCATTER_AHEAD]]], 1);
        postings[heads[keys[row]]++] = (uint32_t)row;
    }
}

static cog_status build_slices(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)error;
    const struct build *build = context;
    size_t rows = build->signatures->rows;
    uint32_t *keys = build->keys + worker * SLICES_TOGETHER * rows;
    for (size_t row = 0; row < rows; row += ROW_BLOCK)
        for (size_t slice = begin; slice < end; slice++)
            take_keys(build, (unsigned)slice, row, row + ROW_BLOCK < rows ? row + ROW_BLOCK : rows,
                      keys + (slice - begin) * rows);
    for (size_t slice = begin; slice < end; slice++)
        scatter_rows(build, (unsigned)slice, keys + (slice - begin) * rows);
    return COG_OK;
}

static size_t postings_bytes(const struct slice_lists *lists) {
    return lists->view.layout.count * lists->view.rows * sizeof *lists->postings;
}

static size_t offsets_bytes(const struct slice_lists *lists) {
    return slice_layout_offsets(&lists->view.layout) * sizeof *lists->offsets;
}

double slice_lists_build_bytes(size_t rows, unsigned bits, unsigned width, unsigned threads) {
    struct slice_layout layout = slice_layout_of(bits, width ? width : slice_width_for(rows, bits));
    unsigned keyed = SLICES_TOGETHER * threads_resolve(threads);
    if (keyed > layout.count) /* of a worker's room for keys, only what it fills is taken */
        keyed = layout.count;
    return ((double)slice_layout_offsets(&layout) + (double)rows * (double)(layout.count + keyed)) *
           sizeof(uint32_t);
}

cog_status slice_lists_build(struct slice_lists *lists, const struct signatures_view *signatures,
                             unsigned width, unsigned threads, cog_error *error) {
    *lists = (struct slice_lists){0};
    if (width == 0)
        width = slice_width_for(signatures->rows, signatures->bits);
    if (signatures->bits == 0 || width > signatures->bits || width > SLICE_WIDTH_MAX)
        return error_set(error, COG_ERR_USAGE,
                         "slices of %u bits do not fit signatures of %u bits; 1 to %u do", width,
                         signatures->bits,
                         signatures->bits < SLICE_WIDTH_MAX ? signatures->bits : SLICE_WIDTH_MAX);
    if (signatures->rows > UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "%zu rows; a segment holds up to 2^32 - 1",
                         signatures->rows);
    threads = threads_resolve(threads);
    lists->view.layout = slice_layout_of(signatures->bits, width);
    lists->view.rows = signatures->rows;
    lists->offsets = memory_large(offsets_bytes(lists));
    lists->postings = memory_large(postings_bytes(lists) + 1);
    uint32_t *keys = memory_array(signatures->rows * SLICES_TOGETHER + 1, threads * sizeof *keys);
    cog_status status = COG_OK;
    if (!lists->offsets || !lists->postings || !keys)
        status = error_memory(error, offsets_bytes(lists) + postings_bytes(lists), "slice lists");
    struct build build = {lists, signatures, keys};
    THEN(status, parallel_for(threads, lists->view.layout.count, SLICES_TOGETHER, build_slices,
                              &build, error));
    free(keys);
    lists->view.offsets = lists->offsets;
    lists->view.postings = lists->postings;
    if (status != COG_OK)
        slice_lists_free(lists);
    return status;
}

void slice_lists_free(struct slice_lists *lists) {
    if (lists->offsets)
        memory_large_free(lists->offsets, offsets_bytes(lists));
    if (lists->postings)
        memory_large_free(lists->postings, postings_bytes(lists) + 1);
    *lists = (struct slice_lists){0};
}

static cog_status check_list(const struct slices_view *view, unsigned slice, size_t value,
                             const uint32_t *offsets, cog_error *error) {
    const uint32_t *postings = view->postings + slice * view->rows;
    bool fits = offsets[value] <= offsets[value + 1] && offsets[value + 1] <= view->rows;
    for (size_t i = offsets[value]; fits && i < offsets[value + 1]; i++)
        fits = postings[i] < view->rows && (i == offsets[value] || postings[i - 1] < postings[i]);
    return fits ? COG_OK
                : error_set_at(error, COG_ERR_FORMAT, value,
                               "list %zu of slice %u is damaged; build the index again", value,
                               slice);
}

cog_status slices_check(const struct slices_view *view, cog_error *error) {
    for (unsigned slice = 0; slice < view->layout.count; slice++) {
        const uint32_t *offsets = view->offsets + slice_first_offset(&view->layout, slice);
        size_t values = (size_t)1 << slice_width(&view->layout, slice);
        if (offsets[0] != 0 || offsets[values] != view->rows)
            return error_set_at(error, COG_ERR_FORMAT, slice,
                                "the offsets of slice %u do not cover the rows; build the index "
                                "again",
                                slice);
        for (size_t value = 0; value < values; value++)
            TRY(check_list(view, slice, value, offsets, error));
    }
    return COG_OK;
}

/* ---- Lists by rings -------------------------------------------------------------------------- */

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
        GROW(ball->masks, ball->capacity, count + ring, "probes of a slice", error);
        probes_ring(d, ball->masks + count, ring);
        ball->ring_ends[d] = (uint32_t)(count + ring);
    }
    return COG_OK;
}

static cog_status reserve_lists(struct slice_reading *reading, size_t extra, cog_error *error) {
    GROW(reading->lists, reading->capacity, reading->count + extra, "the lists of a query", error);
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
        TRY(ball_extend(ball, width, end[slice], error));
        TRY(reserve_lists(reading, ball->ring_ends[end[slice] - 1], error));
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
    FREE(reading->lists, reading->balls[0].masks, reading->balls[1].masks, reading->probe_masks,
         reading->odds);
    *reading = (struct slice_reading){0};
}

/* ---- Lists by margins ------------------------------------------------------------------------ */

enum {
    PROBE_FLIPS = 4,  /* bits of a set: larger sets are never among the likeliest lists */
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
        penalties[i] = volatility_mean_penalty(weights[first + i], scale);
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
    GROW(reading->probe_masks, reading->probe_capacity, most, "probes", error);
    GROW(reading->odds, reading->odds_capacity, slices, "probes", error);
    return reserve_lists(reading, most, error);
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
    double scale = volatility_mean_scale(weights, view->layout.bits);
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
