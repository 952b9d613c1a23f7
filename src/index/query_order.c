#include "index/query_order.h"

#include "base/threads.h"
#include "index/key_sort.h"

struct load_job {
    const struct signatures_view *view;
    const uint32_t *list;
    struct key_array *keys;
};

static cog_status load_queries(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    struct load_job *job = context;
    for (size_t i = begin; i < end; i++) {
        size_t query = job->list ? job->list[i] : i;
        short_key_put(job->keys->keys, job->keys->words, i, short_key_of_row(job->view, query));
        job->keys->rows[i] = (uint32_t)query;
    }
    return COG_OK;
}

cog_status query_order_fill(const struct signatures_view *view, const uint32_t *list, size_t count,
                            unsigned first_bit, unsigned threads, uint32_t *order,
                            cog_error *error) {
    uint32_t starts[(1 << KEY_PARTITION_BITS_MAX) + 1];
    struct key_array keys = {0}, ordered = {0};
    unsigned words = view->bits / 64;
    if (first_bit % 64 > 64 - KEY_PARTITION_BITS_MAX) /* the bits of a pass lie in one word */
        first_bit = first_bit / 64 * 64 + 64 - KEY_PARTITION_BITS_MAX;
    cog_status status = key_array_init(&keys, count, words, true, error);
    if (status == COG_OK)
        status = key_array_init(&ordered, count, words, true, error);
    if (status == COG_OK) {
        struct load_job job = {view, list, &keys};
        parallel_for(threads, count, 1 << 16, load_queries, &job, NULL);
        status = key_partition(&ordered, &keys, first_bit, KEY_PARTITION_BITS_MAX, starts, threads,
                               error);
    }
    if (status == COG_OK && count > 0)
        memcpy(order, ordered.rows, count * sizeof *order);
    key_array_free(&keys);
    key_array_free(&ordered);
    return status;
}
