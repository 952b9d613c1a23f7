#include "index/query_order.h"

#include "index/key_set.h"

cog_status query_order_init(struct query_order *order, const struct signatures_view *view,
                            unsigned threads, cog_error *error) {
    *order = (struct query_order){0};
    cog_status status = key_array_init(&order->keys, view->rows, view->bits / 64, true, error);
    if (status == COG_OK)
        status = key_array_init(&order->ordered, view->rows, view->bits / 64, true, error);
    if (status == COG_OK)
        key_array_load(&order->keys, 0, view, threads);
    else
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

void query_order_free(struct query_order *order) {
    key_array_free(&order->keys);
    key_array_free(&order->ordered);
}
