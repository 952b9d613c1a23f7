#include <stdlib.h>

#include "base/memory.h"
#include "hamming/hamming.h"

#define COLUMN_KERNELS column_kernels_portable
#include "index/column_kernels_loop.h"

enum {
    CHUNK_WORDS = 512, /* of each column in one go: the counts of a chunk stay in the first cache */
    PIECE_WORDS = 64,  /* of the sample */
    SAMPLE_EVERY = 16, /* pieces */
    SAMPLE_LEAST = 1 << 17, /* rows; of fewer all are the sample */
};

const struct column_kernels *column_kernels_for(enum cpu_level level) {
#if defined(__x86_64__)
    if (level == CPU_AVX512)
        return &column_kernels_avx512;
    if (level == CPU_AVX2)
        return &column_kernels_avx2;
#endif
    (void)level;
    return &column_kernels_portable;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static size_t sample_step(const struct column_counts *counts) {
    return PIECE_WORDS * (counts->view->rows < SAMPLE_LEAST ? 1 : SAMPLE_EVERY);
}

static size_t sample_words(const struct column_counts *counts) {
    size_t step = sample_step(counts);
    return (column_words(counts->view->rows) + step - 1) / step * PIECE_WORDS;
}

cog_status column_counts_init(struct column_counts *counts, const struct columns_view *view,
                              cog_error *error) {
    counts->view = view;
    counts->kernels = column_kernels_for(cpu_best_level());
    size_t sample = sample_words(counts);
    counts->planes.stride = sample > CHUNK_WORDS ? sample : CHUNK_WORDS;
    counts->planes.words =
        memory_array(counts->planes.stride, COLUMN_PLANES_MAX * sizeof *counts->planes.words);
    return counts->planes.words ? COG_OK
                                : error_memory(error, counts->planes.stride, "counts of columns");
}

void column_counts_free(struct column_counts *counts) {
    free(counts->planes.words);
    *counts = (struct column_counts){0};
}

/* ---- Choosing columns ------------------------------------------------------------------------ */

/* The size of a number as an integer of the same order. */
static uint32_t size_order(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits & 0x7fffffff;
}

/* The `wanted` columns of the greatest weights; among equal ones the first. */
static void choose_weighted(const float *weights, unsigned bits, unsigned wanted,
                            uint16_t *chosen) {
    uint32_t low = 0, high = 0x7fffffff; /* more than wanted are >= low, no more are >= high */
    for (unsigned above = 0; high - low > 1 && above != wanted;) {
        uint32_t middle = low + (high - low) / 2;
        above = 0;
        for (unsigned bit = 0; bit < bits; bit++)
            above += size_order(weights[bit]) >= middle;
        if (above > wanted)
            low = middle;
        else
            high = middle;
    }
    unsigned count = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        if (size_order(weights[bit]) >= high)
            chosen[count++] = (uint16_t)bit;
    for (unsigned bit = 0; bit < bits && count < wanted; bit++)
        if (size_order(weights[bit]) == low)
            chosen[count++] = (uint16_t)bit;
}

static void choose_columns(const struct columns_view *view, const float *weights, unsigned wanted,
                           uint16_t *chosen) {
    if (weights)
        choose_weighted(weights, view->bits, wanted, chosen);
    else
        for (unsigned i = 0; i < wanted; i++)
            chosen[i] = (uint16_t)(i * view->bits / wanted);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static unsigned planes_for(unsigned columns) {
    unsigned planes = 4;
    while (columns >> planes)
        planes++;
    return planes;
}

/* What a column that is missing in the last group reads. */
static const uint64_t no_column[CHUNK_WORDS];

static void find_group(const struct column_reading *reading, unsigned first, size_t begin,
                       const uint64_t *group[COLUMN_GROUP]) {
    for (unsigned i = 0; i < COLUMN_GROUP; i++)
        group[i] = reading->starts[first + i] ? reading->starts[first + i] + begin : no_column;
}

/* Counts in words begin to begin + words - 1 of the columns; the planes hold the counts from their
 * word `to` on. The words from `ahead` on are read ahead. */
static void count_words(const struct column_counts *counts, size_t begin, size_t words, size_t to,
                        size_t ahead) {
    const struct column_reading *reading = &counts->reading;
    struct column_planes planes = counts->planes;
    planes.words += to;
    for (unsigned first = 0; first < reading->count; first += COLUMN_GROUP) {
        const uint64_t *here[COLUMN_GROUP], *next[COLUMN_GROUP];
        bool last = first + COLUMN_GROUP == reading->count;
        find_group(reading, first, begin, here);
        find_group(reading, last ? 0 : first + COLUMN_GROUP, last ? ahead : begin, next);
        counts->kernels->add(here, reading->flips + first, next, words, &planes, first == 0);
    }
}

void column_counts_start(struct column_counts *counts, const uint8_t *query, const float *weights,
                         unsigned columns) {
    const struct columns_view *view = counts->view;
    struct column_reading *reading = &counts->reading;
    uint16_t chosen[HAMMING_MAX_BITS];
    columns = columns < 1 ? 1 : columns < view->bits ? columns : view->bits;
    choose_columns(view, weights, columns, chosen);
    reading->count = (columns + COLUMN_GROUP - 1) / COLUMN_GROUP * COLUMN_GROUP;
    for (unsigned i = 0; i < reading->count; i++) {
        bool exists = i < columns;
        reading->starts[i] = exists ? view->words + chosen[i] * column_words(view->rows) : NULL;
        reading->flips[i] = exists && signature_bit(query, chosen[i]) ? UINT64_MAX : 0;
    }
    counts->columns = columns;
    counts->planes.count = planes_for(columns);
}

/* ---- Choosing rows --------------------------------------------------------------------------- */

unsigned column_counts_threshold(struct column_counts *counts, size_t most) {
    size_t words = column_words(counts->view->rows), step = sample_step(counts), sampled = 0;
    for (size_t begin = 0; begin < words; begin += step) {
        size_t size = words - begin < PIECE_WORDS ? words - begin : PIECE_WORDS;
        count_words(counts, begin, size, sampled, begin + step < words ? begin + step : 0);
        sampled += size;
    }
    double wanted = (double)most * (double)sampled * 64 / (double)counts->view->rows;
    unsigned low = 0, high = counts->columns + 1; /* low passes or is the least; high does not */
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        if ((double)counts->kernels->count(&counts->planes, sampled, middle) <= wanted)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t column_counts_select(struct column_counts *counts, unsigned threshold, uint32_t *rows,
                            size_t capacity) {
    size_t words = column_words(counts->view->rows), found = 0;
    for (size_t begin = 0; begin < words && found < capacity; begin += CHUNK_WORDS) {
        size_t size = words - begin < CHUNK_WORDS ? words - begin : CHUNK_WORDS;
        count_words(counts, begin, size, 0, begin + size);
        found += counts->kernels->select(&counts->planes, size, threshold, begin * 64, rows + found,
                                         capacity - found);
    }
    while (found && rows[found - 1] >= counts->view->rows)
        found--;
    return found;
}
