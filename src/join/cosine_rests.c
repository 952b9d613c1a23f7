#include "join/cosine_rests.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static uint32_t *count_columns(const struct sparse_matrix *matrix) {
    uint32_t *counts = memory_zeroed_array((size_t)matrix->column_count + 1, sizeof *counts);
    for (uint64_t i = 0; counts && i < matrix->offsets[matrix->rows]; i++)
        counts[matrix->columns[i]]++;
    return counts;
}

cog_status cosine_cuts_find(const struct sparse_matrix *x, const struct sparse_matrix *y,
                            struct cosine_cuts *cuts, cog_error *error) {
    uint32_t *x_counts = count_columns(x), *y_counts = count_columns(y), column = 0;
    double all = 0, before = 0, pairs = (double)x->rows * (double)y->rows;
    if (!x_counts || !y_counts) {
        free(x_counts);
        free(y_counts);
        return error_memory(error, 2 * (size_t)x->column_count * sizeof *x_counts, "a cosine join");
    }
    for (uint32_t c = 0; c < x->column_count; c++)
        all += (double)x_counts[c] * (double)y_counts[c];
    for (int cut = 0; cut < COSINE_CUTS; cut++) {
        double share = ldexp(all, cut + 1 - COSINE_CUTS);
        for (; column < x->column_count && (before < share || cut + 1 == COSINE_CUTS); column++)
            before += (double)x_counts[column] * (double)y_counts[column];
        cuts->columns[cut] = column;
        cuts->products[cut] = pairs > 0 ? before / pairs : 0;
    }
    free(x_counts);
    free(y_counts);
    return COG_OK;
}

static double share_needed(double missing, double x_squares, double y_squares) {
    double lengths = sqrt(x_squares * y_squares);
    return missing <= 0 || lengths == 0 ? 0 : fmin(missing / lengths, 1);
}

void cosine_rests_needed(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                         size_t b, double threshold, const struct cosine_cuts *cuts,
                         struct cosine_rests *needed) {
    uint64_t i = x->offsets[a + 1], j = y->offsets[b + 1];
    double dot = sparse_row_dot(x, a, y, b), rest = 0, x_squares = 0, y_squares = 0;
    double *met = &needed->cosines[COSINE_REST_MET];
    int cut = COSINE_CUTS - 1;
    *needed = (struct cosine_rests){0};
    while (i > x->offsets[a] || j > y->offsets[b]) {
        int64_t p = i > x->offsets[a] ? (int64_t)x->columns[i - 1] : -1;
        int64_t q = j > y->offsets[b] ? (int64_t)y->columns[j - 1] : -1;
        for (; cut >= 0 && (p > q ? p : q) < (int64_t)cuts->columns[cut]; cut--)
            needed->cosines[cut] = share_needed(threshold - (dot - rest), x_squares, y_squares);
        double u = p >= q ? (double)x->values[--i] : 0, v = q >= p ? (double)y->values[--j] : 0;
        x_squares += u * u;
        y_squares += v * v;
        rest += u * v;
        if (p == q)
            *met = fmax(*met, share_needed(threshold - (dot - rest), x_squares, y_squares));
    }
    for (; cut >= 0; cut--)
        needed->cosines[cut] = share_needed(threshold - (dot - rest), x_squares, y_squares);
}
