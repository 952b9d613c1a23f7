/* Bit columns: signatures stored transposed, so that bit b of every row is contiguous.
 *
 * A query reads only some of the columns and counts, for each row, how many of those bits differ.
 * Rows with few differences become candidates; only candidates get a full distance. If the query's
 * margins are known, it reads the columns with the largest margins first: a neighbour is least
 * likely to differ there.
 *
 * Use it when neighbours are far apart (about 40% of the bits differ, as in two texts on one
 * subject). No short key is then shared often enough for posting lists to work.
 *
 * Layout: rows are stored cluster by cluster, and a query scans only the clusters nearest to it. A
 * column is cut into groups of 512 rows (one cache line); the lines of a group are adjacent. Counts
 * are bit-sliced: plane p holds bit p of the counts of 64 rows. Sixteen columns are added at a
 * time. */
#pragma once

#include "base/cpu.h"
#include "base/error.h"
#include "hamming/hamming.h"
#include "search/columns/row_clusters.h"

enum {
    COLUMN_GROUP_ROWS = CLUSTER_GROUP,
    COLUMN_GROUP_WORDS = COLUMN_GROUP_ROWS / 64, /* per column of a group */
    COLUMN_BLOCK = 16,                           /* columns added together */
    COLUMN_PLANES_MAX = 13,                      /* counts below 8192 */
};

/* Borrowed, from bit_columns or a file. The row at place p of the cluster order is bit p % 64 of
 * word p / 64 % 8 in each column of group p / 512; places without a row have zero bits. Columns of
 * a group are in the order of column_step. */
struct columns_view {
    const uint64_t *words;
    struct clusters_view clusters;
};

static inline size_t columns_size_bytes(size_t groups, unsigned bits) {
    return groups * bits * COLUMN_GROUP_WORDS * sizeof(uint64_t);
}

/* The step s between columns: the smallest number coprime to `bits` that is at least the golden
 * section of `bits`. Columns 0, 1, 2 ... are bits 0, s, 2 s ... modulo `bits`, so that any number
 * of first columns is spread evenly. */
unsigned column_step(unsigned bits);

/* Zero-initialise; bit_columns_free releases. */
struct bit_columns {
    struct columns_view view;
    struct row_clusters clusters;
    uint64_t *words;
};
/* Clusters the rows (rows^1.5 comparisons), then takes O(rows * bits / 64 * 6) operations; fewer
 * than 2^32 rows. */
cog_status bit_columns_build(struct bit_columns *columns, const struct signatures_view *signatures,
                             unsigned threads, cog_error *error);
void bit_columns_free(struct bit_columns *columns);
/* Checks that clusters and columns match the signatures; the error names the first mismatch. */
cog_status columns_check(const struct columns_view *view, const struct signatures_view *signatures,
                         cog_error *error);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* The columns that a query reads, relative to the start of a group: first blocks of columns that
 * are not flipped, then flipped blocks, then the rest. */
struct column_reading {
    uint32_t words[HAMMING_MAX_BITS]; /* the offset of each column */
    uint64_t flips[HAMMING_MAX_BITS]; /* XOR mask of each column: the query's bit 64 times */
    uint16_t bits[HAMMING_MAX_BITS];  /* of the signature */
    unsigned count, planes;
    unsigned plain, flipped; /* columns in whole blocks */
};

/* Planes belong to one group and have COLUMN_GROUP_WORDS words each. */
struct column_kernels {
    /* Counts the differences of the rows of a group, and prefetches the same lines of another
     * group. */
    void (*count)(const uint64_t *group, const uint64_t *ahead,
                  const struct column_reading *reading, uint64_t *planes);
    /* The number of rows whose count is at most the threshold. */
    unsigned (*within)(const uint64_t *planes, unsigned plane_count, unsigned threshold);
    /* The places of these rows, counted from `first`, ascending; stops at the capacity. */
    size_t (*select)(const uint64_t *planes, unsigned plane_count, unsigned threshold,
                     uint32_t first, uint32_t *places, size_t capacity);
    /* Products of a query's weights (at most CLUSTER_WEIGHT_MAX in size, zero after the last bit)
     * with the shares of clusters. */
    void (*scores)(const uint8_t *shares, const int8_t *weights, size_t stride, size_t clusters,
                   int32_t *scores);
};
/* The kernels of a level, or the portable ones. */
const struct column_kernels *column_kernels_for(enum cpu_level level);

extern const struct column_kernels column_kernels_portable;
extern const struct column_kernels column_kernels_avx2, column_kernels_avx512;

/* ---- Choosing groups ------------------------------------------------------------------------- */

/* The groups that a query reads. Zero-initialise; call group_choice_init before use;
 * group_choice_free releases. */
struct group_choice {
    uint32_t *groups; /* ascending */
    uint16_t *leans;  /* of each group: how much larger a count may be than in the farthest group */
    size_t count;
    int32_t *scores; /* of the clusters */
};
cog_status group_choice_init(struct group_choice *choice, const struct clusters_view *clusters,
                             cog_error *error);
void group_choice_free(struct group_choice *choice);
/* Chooses the groups of the nearest clusters that together have `wanted` rows. Nearness is the
 * product of a cluster's shares with the query's bits as +1 and -1, or with its weights. If all
 * groups are chosen, all leans are 0. */
void group_choice_make(struct group_choice *choice, const struct clusters_view *clusters,
                       const struct column_kernels *kernels, const uint8_t *query,
                       const float *weights, size_t wanted);

/* ---- Counting -------------------------------------------------------------------------------- */

/* The counts of one query. Zero-initialise; call column_counts_init before use; column_counts_free
 * releases. */
struct column_counts {
    const struct columns_view *view;
    const struct column_kernels *kernels;
    struct group_choice choice;
    struct column_reading reading;
    uint64_t *planes; /* of each chosen group */
    uint16_t *places; /* position of each bit among the columns */
};
cog_status column_counts_init(struct column_counts *counts, const struct columns_view *view,
                              cog_error *error);
void column_counts_free(struct column_counts *counts);

/* Counts, for each row, in how many of `columns` columns (1 to all) it differs from the query.
 * Reads the columns with the largest weights, or the first ones if weights is NULL, and the rows of
 * the nearest clusters, at least `rows` of them. */
void column_counts_make(struct column_counts *counts, const uint8_t *query, const float *weights,
                        unsigned columns, size_t rows);
/* The largest threshold that at most `most` of the counted places are within, or the smallest
 * possible one. It applies to the farthest groups, and is negative if none of their rows is wanted.
 */
int column_counts_threshold(const struct column_counts *counts, size_t most);
/* The places of the rows whose count is at most the threshold plus the lean of their group,
 * ascending; stops at the capacity. */
size_t column_counts_select(const struct column_counts *counts, int threshold, uint32_t *places,
                            size_t capacity);
