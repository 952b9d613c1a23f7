/* Signatures by columns: bit b of all rows together. A query that reads some of the columns, and
 * counts for each row in how many it differs there, knows the rows that may be near for a part of
 * the bytes of a scan; and it may choose which: where the numbers behind its bits are known, those
 * of the greatest size are the ones that a neighbour shares.
 *
 * For neighbours as far as texts on one subject are (two fifths of the bits differ), no short key
 * is shared often enough for lists to find them, and columns do. Counts are kept as bit planes,
 * plane p holding bit p of the counts of 64 rows in a word, and columns are added 15 at a time with
 * full adders. */
#ifndef COGNATE_INDEX_BIT_COLUMNS_H
#define COGNATE_INDEX_BIT_COLUMNS_H

#include "base/cpu.h"
#include "base/error.h"
#include "hamming/hamming.h"

enum {
    COLUMN_GROUP = 15,       /* columns that are added together: their sum has 4 bits */
    COLUMN_VECTOR_WORDS = 8, /* columns are padded to a multiple of these */
    COLUMN_PLANES_MAX = 13,  /* counts below 8192 */
};

/* Borrowed, from bit_columns or a file. Row r of column b is bit r % 64 of words[b *
 * column_words(rows) + r / 64]; bits beyond the rows are zero. */
struct columns_view {
    const uint64_t *words;
    size_t rows;
    unsigned bits;
};

static inline size_t column_words(size_t rows) {
    return (rows + 511) / 512 * COLUMN_VECTOR_WORDS;
}

static inline size_t columns_size_bytes(const struct columns_view *view) {
    return view->bits * column_words(view->rows) * sizeof(uint64_t);
}

/* Zero-initialise; bit_columns_free releases. */
struct bit_columns {
    struct columns_view view;
    uint64_t *words;
};
/* O(rows * bits / 64 * 6) operations; rows below 2^32. */
cog_status bit_columns_build(struct bit_columns *columns, const struct signatures_view *signatures,
                             unsigned threads, cog_error *error);
void bit_columns_free(struct bit_columns *columns);
/* Whether the columns are those of the signatures; the error names the first row that is not. */
cog_status columns_check(const struct columns_view *view, const struct signatures_view *signatures,
                         cog_error *error);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Counts as bit planes: plane p begins at words + p * stride. */
struct column_planes {
    uint64_t *words;
    size_t stride;
    unsigned count;
};

/* All work on runs of words that are a multiple of COLUMN_VECTOR_WORDS. */
struct column_kernels {
    /* Adds COLUMN_GROUP columns, each XORed with its flip, to the planes, or overwrites them where
     * these are fresh. `next` is read ahead for the next call. */
    void (*add)(const uint64_t *const *columns, const uint64_t *flips, const uint64_t *const *next,
                size_t words, const struct column_planes *planes, bool fresh);
    /* How many rows count the threshold or less. */
    uint64_t (*count)(const struct column_planes *planes, size_t words, unsigned threshold);
    /* Which rows do, counted from first_row, rising; stops at the capacity. */
    size_t (*select)(const struct column_planes *planes, size_t words, unsigned threshold,
                     size_t first_row, uint32_t *rows, size_t capacity);
};
/* Those of a level, or the portable ones. */
const struct column_kernels *column_kernels_for(enum cpu_level level);

extern const struct column_kernels column_kernels_portable;
#if defined(__x86_64__)
extern const struct column_kernels column_kernels_avx2, column_kernels_avx512;
#endif

/* ---- Counting -------------------------------------------------------------------------------- */

/* The columns that a query reads, in whole groups; starts are NULL where the last group has fewer.
 */
struct column_reading {
    const uint64_t *starts[HAMMING_MAX_BITS + COLUMN_GROUP];
    uint64_t flips[HAMMING_MAX_BITS + COLUMN_GROUP];
    unsigned count;
};

/* The counts of one query; only those of some rows are ever kept. Zero-initialise;
 * column_counts_init makes it usable, column_counts_free releases. */
struct column_counts {
    const struct columns_view *view;
    const struct column_kernels *kernels;
    struct column_planes planes;
    struct column_reading reading;
    unsigned columns; /* that are counted */
};
cog_status column_counts_init(struct column_counts *counts, const struct columns_view *view,
                              cog_error *error);
void column_counts_free(struct column_counts *counts);

/* From here on it is counted in `columns` columns (1 to all) how often each row differs from the
 * query: in those of the greatest weights, or in evenly spread ones for weights NULL. Whole groups
 * take the least time. */
void column_counts_start(struct column_counts *counts, const uint8_t *query, const float *weights,
                         unsigned columns);
/* The greatest threshold that about `most` rows do not exceed, by a sample of the rows. */
unsigned column_counts_threshold(struct column_counts *counts, size_t most);
/* Rows whose count is the threshold or less, rising; stops at the capacity. */
size_t column_counts_select(struct column_counts *counts, unsigned threshold, uint32_t *rows,
                            size_t capacity);

#endif
