#include "match/pair_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

enum { MATCHES_A_PIECE = 1024 };

struct checking {
    const struct pair_check *check;
    struct match_list *matches;
    float *dense; /* a row by column for each worker; zero between pieces */
};

static double measure_sets(const struct pair_check *check, const struct match *match) {
    return set_jaccard(check->sets[0], match->a, check->sets[1], match->b);
}

/* Pairs that do not reach the threshold are marked: their similarity becomes NAN. */
static cog_status check_piece(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)error;
    const struct checking *checking = context;
    const struct pair_check *check = checking->check;
    const struct sparse_matrix *x = check->vectors[0], *y = check->vectors[1];
    float *dense = x ? checking->dense + (size_t)worker * x->column_count : NULL;
    struct match *items = checking->matches->items;
    for (size_t i = begin; i < end; i++) {
        if (x && (i == begin || items[i].a != items[i - 1].a)) {
            if (i > begin)
                sparse_clear(x, items[i - 1].a, dense);
            sparse_spread(x, items[i].a, dense);
        }
        double value = x ? sparse_dense_dot(dense, y, items[i].b) : measure_sets(check, &items[i]);
        items[i].similarity = value >= check->threshold ? (float)value : NAN;
    }
    if (x && end > begin)
        sparse_clear(x, items[end - 1].a, dense);
    return COG_OK;
}

cog_status pair_check_run(const struct pair_check *check, struct match_list *matches,
                          cog_error *error) {
    struct checking checking = {.check = check, .matches = matches};
    unsigned threads = threads_resolve(check->threads);
    size_t columns = check->vectors[0] ? check->vectors[0]->column_count : 0, kept = 0;
    checking.dense = memory_zeroed_array(threads * columns + 1, sizeof *checking.dense);
    if (!checking.dense)
        return error_memory(error, threads * columns * sizeof *checking.dense, "true cosines");
    cog_status status =
        parallel_for(threads, matches->count, MATCHES_A_PIECE, check_piece, &checking, error);
    for (size_t i = 0; i < matches->count && status == COG_OK; i++)
        if (!isnan(matches->items[i].similarity))
            matches->items[kept++] = matches->items[i];
    matches->count = kept;
    free(checking.dense);
    return status;
}
