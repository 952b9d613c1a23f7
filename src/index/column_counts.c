#include <stdlib.h>

#include "base/memory.h"
#include "hamming/hamming.h"

#define COLUMN_KERNELS column_kernels_portable
#include "index/column_kernels_loop.h"

enum {
    CHUNK_WORDS =
        1024,          /* of each column in one go: the planes of a chunk stay in the first cache */
    SAMPLE_EVERY = 16, /* vectors */
    SAMPLE_LEAST = 1 << 17, /* rows */
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

static size_t planes_bytes(const struct column_counts *counts) {
    return counts->planes.stride * COLUMN_PLANES_MAX * sizeof *counts->planes.words;
}

cog_status column_counts_init(struct column_counts *counts, const struct columns_view *view,
                              cog_error *error) {
    *counts = (struct column_counts){.view = view,
                                     .kernels = column_kernels_for(cpu_best_level()),
                                     .planes.stride = column_words(view->rows)};
    counts->planes.words = memory_large(planes_bytes(counts));
    return counts->planes.words ? COG_OK
                                : error_memory(error, planes_bytes(counts), "counts of columns");
}

void column_counts_free(struct column_counts *counts) {
    if (counts->planes.words)
        memory_large_free(counts->planes.words, planes_bytes(counts));
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

/* The columns that a query reads, whole groups of them; NULL where the last group has fewer. */
struct reading {
    const uint64_t *starts[HAMMING_MAX_BITS + COLUMN_GROUP];
    uint64_t flips[HAMMING_MAX_BITS + COLUMN_GROUP];
    unsigned count;
};

static void find_group(const struct reading *reading, unsigned first, size_t begin,
                       const uint64_t *group[COLUMN_GROUP]) {
    for (unsigned i = 0; i < COLUMN_GROUP; i++)
        group[i] = reading->starts[first + i] ? reading->starts[first + i] + begin : no_column;
}

/* Counts all columns in one chunk of the rows. */
static void count_chunk(const struct column_counts *counts, const struct reading *reading,
                        size_t begin, size_t words) {
    struct column_planes planes = counts->planes;
    planes.words += begin;
    for (unsigned p = 0; p < planes.count; p++)
        memset(planes.words + p * planes.stride, 0, words * sizeof *planes.words);
    for (unsigned first = 0; first < reading->count; first += COLUMN_GROUP) {
        const uint64_t *here[COLUMN_GROUP], *next[COLUMN_GROUP];
        find_group(reading, first, begin, here);
        if (first + COLUMN_GROUP < reading->count)
            find_group(reading, first + COLUMN_GROUP, begin, next);
        else
            find_group(reading, 0, begin + words, next);
        counts->kernels->add(here, reading->flips + first, next, words, &planes);
    }
}

void column_counts_fill(struct column_counts *counts, const uint8_t *query, const float *weights,
                        unsigned columns) {
    const struct columns_view *view = counts->view;
    uint16_t chosen[HAMMING_MAX_BITS];
    struct reading reading = {.count = 0};
    columns = columns < 1 ? 1 : columns < view->bits ? columns : view->bits;
    choose_columns(view, weights, columns, chosen);
    for (unsigned i = 0; i < columns; i++) {
        reading.starts[i] = view->words + chosen[i] * counts->planes.stride;
        reading.flips[i] = signature_bit(query, chosen[i]) ? UINT64_MAX : 0;
    }
    reading.count = (columns + COLUMN_GROUP - 1) / COLUMN_GROUP * COLUMN_GROUP;
    for (unsigned i = columns; i < reading.count; i++) {
        reading.starts[i] = NULL;
        reading.flips[i] = 0;
    }
    counts->columns = columns;
    counts->planes.count = planes_for(columns);
    for (size_t begin = 0; begin < counts->planes.stride; begin += CHUNK_WORDS) {
        size_t left = counts->planes.stride - begin;
        count_chunk(counts, &reading, begin, left < CHUNK_WORDS ? left : CHUNK_WORDS);
    }
}

/* ---- Choosing rows --------------------------------------------------------------------------- */

unsigned column_counts_threshold(const struct column_counts *counts, size_t most) {
    size_t words = counts->planes.stride,
           every = counts->view->rows < SAMPLE_LEAST ? 1 : SAMPLE_EVERY;
    size_t step = COLUMN_VECTOR_WORDS * every;
    double seen = (double)((words + step - 1) / step * COLUMN_VECTOR_WORDS * 64);
    double share = (double)most / (double)counts->view->rows;
    unsigned low = 0, high = counts->columns + 1; /* low passes or is the least; high does not */
    while (high - low > 1) {
        unsigned middle = low + (high - low) / 2;
        double within = (double)counts->kernels->count(&counts->planes, words, step, middle);
        if (within <= share * seen)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t column_counts_select(const struct column_counts *counts, unsigned threshold, uint32_t *rows,
                            size_t capacity) {
    size_t found =
        counts->kernels->select(&counts->planes, counts->planes.stride, threshold, rows, capacity);
    while (found && rows[found - 1] >= counts->view->rows)
        found--;
    return found;
}
