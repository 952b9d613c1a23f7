#include "join/pair_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

enum { MATCHES_A_PIECE = 1024 };

struct checking {
    const struct pair_check *check;
    struct match *items;
    float *dense; /* one row by column for each worker; zero between pieces */
};

static size_t row_of(const struct pair_check *check, int side, uint32_t number) {
    return check->rows[side] ? check->rows[side][number] : number;
}

/* Marks pairs below the threshold by setting their similarity to NAN. */
static cog_status check_piece(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)error;
    const struct checking *checking = context;
    const struct pair_check *check = checking->check;
    const struct sparse_matrix *x = check->vectors[0], *y = check->vectors[1];
    const bool spread = x && !check->scattered;
    float *dense = spread ? checking->dense + (size_t)worker * x->column_count : NULL;
    struct match *items = checking->items;
    for (size_t i = begin; i < end; i++) {
        size_t a = row_of(check, 0, items[i].a), b = row_of(check, 1, items[i].b);
        if (spread && (i == begin || items[i].a != items[i - 1].a)) {
            if (i > begin)
                sparse_clear(x, row_of(check, 0, items[i - 1].a), dense);
            sparse_spread(x, a, dense);
        }
        double value = spread ? sparse_dense_dot(dense, y, b)
                       : x    ? sparse_row_dot(x, a, y, b)
                              : set_jaccard(check->sets[0], a, check->sets[1], b);
        items[i].similarity = value >= check->threshold ? (float)value : NAN;
    }
    if (spread && end > begin)
        sparse_clear(x, row_of(check, 0, items[end - 1].a), dense);
    return COG_OK;
}

static cog_status check_items(const struct pair_check *check, unsigned threads, struct match *items,
                              size_t *count, cog_error *error) {
    struct checking checking = {.check = check, .items = items};
    size_t kept = 0,
           columns = check->vectors[0] && !check->scattered ? check->vectors[0]->column_count : 0;
    TAKE_ZEROED(checking.dense, threads * columns + 1, "true cosines", error);
    cog_status status =
        threads > 1 ? parallel_for(threads, *count, MATCHES_A_PIECE, check_piece, &checking, error)
                    : check_piece(&checking, 0, 0, *count, error);
    for (size_t i = 0; i < *count && status == COG_OK; i++)
        if (!isnan(items[i].similarity))
            items[kept++] = items[i];
    *count = kept;
    free(checking.dense);
    return status;
}

cog_status pair_check_run(const struct pair_check *check, struct match_list *matches,
                          cog_error *error) {
    return check_items(check, threads_resolve(check->threads), matches->items, &matches->count,
                       error);
}

cog_status pair_check_keep(void *context, struct match *items, size_t *count, cog_error *error) {
    const struct pair_check *check = context;
    if (!check->scattered)
        match_list_sort(&(struct match_list){.items = items, .count = *count});
    return check_items(check, 1, items, count, error);
}
