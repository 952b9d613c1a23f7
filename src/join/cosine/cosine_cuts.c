#include "join/cosine/cosine_cuts.h"

#include <math.h>

#include "base/memory.h"

cog_status cosine_survey_add(struct cosine_survey *survey, const struct sparse_matrix *matrix,
                             cog_error *error) {
    if (!survey->counts) {
        survey->column_count = matrix->column_count;
        TAKE_ZEROED(survey->counts, (size_t)matrix->column_count + 1, "a cosine join", error);
    }
    for (uint64_t i = 0; i < matrix->offsets[matrix->rows]; i++)
        survey->counts[matrix->columns[i]]++;
    const struct cosine_extent extent = cosine_extent(matrix);
    if (extent.count > survey->extent.count)
        survey->extent.count = extent.count;
    if (extent.length > survey->extent.length)
        survey->extent.length = extent.length;
    survey->rows += matrix->rows;
    survey->entries += matrix->offsets[matrix->rows];
    return COG_OK;
}

void cosine_survey_free(struct cosine_survey *survey) {
    free(survey->counts);
    *survey = (struct cosine_survey){0};
}

void cosine_cuts_of(const struct cosine_survey *x, const struct cosine_survey *y,
                    struct cosine_cuts *cuts) {
    double all = 0, before = 0, pairs = (double)x->rows * (double)y->rows;
    uint32_t column = 0;
    for (uint32_t c = 0; c < x->column_count; c++)
        all += (double)x->counts[c] * (double)y->counts[c];
    for (int cut = 0; cut < COSINE_CUTS; cut++) {
        double share = ldexp(all, cut + 1 - COSINE_CUTS);
        for (; column < x->column_count && (before < share || cut + 1 == COSINE_CUTS); column++)
            before += (double)x->counts[column] * (double)y->counts[column];
        cuts->columns[cut] = column;
        cuts->products[cut] = pairs > 0 ? before / pairs : 0;
    }
}

cog_status cosine_cuts_find(const struct sparse_matrix *x, const struct sparse_matrix *y,
                            struct cosine_cuts *cuts, cog_error *error) {
    struct cosine_survey surveys[2] = {{0}};
    cog_status status = cosine_survey_add(&surveys[0], x, error);
    THEN(status, cosine_survey_add(&surveys[1], y, error));
    if (status == COG_OK)
        cosine_cuts_of(&surveys[0], &surveys[1], cuts);
    cosine_survey_free(&surveys[0]);
    cosine_survey_free(&surveys[1]);
    return status;
}

static double share_needed(double missing, double x_squares, double y_squares) {
    double lengths = sqrt(x_squares * y_squares);
    return missing <= 0 || lengths == 0 ? 0 : fmin(missing / lengths, 1);
}

void cosine_tails_needed(const struct sparse_matrix *x, size_t a, const struct sparse_matrix *y,
                         size_t b, double threshold, const struct cosine_cuts *cuts,
                         struct cosine_tails *needed) {
    uint64_t i = x->offsets[a + 1], j = y->offsets[b + 1];
    double dot = sparse_row_dot(x, a, y, b), tail = 0, x_squares = 0, y_squares = 0;
    double *met = &needed->cosines[COSINE_TAIL_MET];
    int cut = COSINE_CUTS - 1;
    *needed = (struct cosine_tails){0};
    while (i > x->offsets[a] || j > y->offsets[b]) {
        int64_t p = i > x->offsets[a] ? (int64_t)x->columns[i - 1] : -1;
        int64_t q = j > y->offsets[b] ? (int64_t)y->columns[j - 1] : -1;
        for (; cut >= 0 && (p > q ? p : q) < (int64_t)cuts->columns[cut]; cut--)
            needed->cosines[cut] = share_needed(threshold - (dot - tail), x_squares, y_squares);
        double u = p >= q ? (double)x->values[--i] : 0, v = q >= p ? (double)y->values[--j] : 0;
        x_squares += u * u;
        y_squares += v * v;
        tail += u * v;
        if (p == q)
            *met = fmax(*met, share_needed(threshold - (dot - tail), x_squares, y_squares));
    }
    for (; cut >= 0; cut--)
        needed->cosines[cut] = share_needed(threshold - (dot - tail), x_squares, y_squares);
}
