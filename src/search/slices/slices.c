#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
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

/* Slices whose keys are taken from a row in one visit: a row is a cache line or two, and visiting
 * it for each slice alone would read the collection once a slice. */
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
        for (size_t value = 0; value < values; value++) {
            TRY(check_list(view, slice, value, offsets, error));
        }
    }
    return COG_OK;
}
