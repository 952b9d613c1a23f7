#include "search/hits/query_order.h"

#include "base/memory.h"

cog_status query_order_init(struct query_order *order, const struct signatures_view *view,
                            unsigned threads, cog_error *error) {
    *order = (struct query_order){.rows = view->rows};
    cog_status status = key_array_init(&order->keys, view->rows, view->bits / 64, true, error);
    THEN(status, key_array_init(&order->ordered, view->rows, view->bits / 64, true, error));
    THEN(status, key_array_load(&order->keys, 0, view, threads, error));
    if (status != COG_OK)
        query_order_free(order);
    return status;
}

cog_status query_order_by(struct query_order *order, unsigned first_bit, unsigned threads,
                          cog_error *error) {
    uint32_t starts[(1 << KEY_PARTITION_BITS_MAX) + 1];
    if (first_bit % 64 > 64 - KEY_PARTITION_BITS_MAX) /* the bits of a pass lie in one word */
        first_bit = first_bit / 64 * 64 + 64 - KEY_PARTITION_BITS_MAX;
    return key_partition(&order->ordered, &order->keys, first_bit, KEY_PARTITION_BITS_MAX, starts,
                         threads, error);
}

cog_status query_order_drop(struct query_order *order, const struct short_hits *hits, size_t first,
                            cog_error *error) {
    struct key_array *keys = &order->keys;
    bool *has_hit = memory_zeroed_array(order->rows, sizeof *has_hit);
    if (!has_hit)
        return error_memory(error, order->rows, "the queries that have a hit");
    for (size_t i = first; i < hits->count; i++)
        has_hit[hits->items[i].query] = true;
    size_t left = 0;
    for (size_t i = 0; i < keys->count; i++) {
        short_key_put(keys->keys, keys->words, left, short_key_at(keys->keys, keys->words, i));
        keys->rows[left] = keys->rows[i];
        left += !has_hit[keys->rows[i]];
    }
    keys->count = order->ordered.count = left;
    free(has_hit);
    return COG_OK;
}

void query_order_free(struct query_order *order) {
    order->keys.count = order->ordered.count = order->rows; /* as they were allocated */
    key_array_free(&order->keys);
    key_array_free(&order->ordered);
}
