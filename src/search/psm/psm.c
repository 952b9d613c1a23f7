#include "search/psm/psm.h"

#include "base/memory.h"
#include "search/hits/query_order.h"
#include "search/psm/psm_search.h"

cog_status psm_build(struct psm_index *index, const struct signatures_view *view,
                     struct line_limits limits, unsigned threads, cog_error *error) {
    *index = (struct psm_index){0};
    cog_status status = short_key_check(view, 0, error);
    if (status != COG_OK)
        return status;
    struct key_set set;
    status = key_set_build(&set, view, threads, error);
    if (status != COG_OK)
        return status;
    status = line_table_build(&index->table, &set.keys, limits, true, error);
    if (status == COG_OK) {
        index->rows = set.rows;
        set.rows = (struct key_rows){0};
    }
    key_set_free(&set);
    return status;
}

void psm_free(struct psm_index *index) {
    line_table_free(&index->table);
    key_rows_free(&index->rows);
}

const float *psm_query_weights(const struct psm_queries *queries, size_t query,
                               float units[PROBE_BITS_MAX]) {
    unsigned bits = queries->signatures.bits;
    const float *weights = queries->weights + query * bits;
    if (!queries->relative)
        return weights;
    float factor = volatility_unit(weights, bits);
    for (unsigned i = 0; i < PROBE_BITS_MAX; i++)
        units[i] = weights[i] * factor;
    return units;
}

void psm_query_bits(const struct psm_queries *queries, size_t query, unsigned header_bits,
                    uint32_t bound, struct probe_bits *bits) {
    float units[PROBE_BITS_MAX];
    const float *weights = psm_query_weights(queries, query, units);
    uint32_t penalties[PROBE_BITS_MAX];
    for (unsigned i = 0; i < header_bits; i++)
        penalties[i] = volatility_penalty(queries->volatility, weights[i]);
    probe_bits_init(bits, penalties, header_bits, bound);
}

cog_status psm_bound_for_recall(const struct psm_queries *queries, unsigned header_bits,
                                unsigned radius_bits, double recall, size_t sample, uint32_t *bound,
                                cog_error *error) {
    size_t rows = queries->signatures.rows;
    if (sample > rows)
        sample = rows;
    struct probe_recall *expected = memory_zeroed_array(1, sizeof *expected);
    if (!expected)
        return error_memory(error, sizeof *expected, "the expected recall");
    cog_status status = COG_OK;
    for (size_t i = 0; i < sample && status == COG_OK; i++) {
        struct probe_bits bits;
        psm_query_bits(queries, i * (rows / sample), header_bits, PROBE_BOUND_NONE, &bits);
        status = probe_recall_add(expected, &bits, radius_bits, error);
    }
    if (status == COG_OK)
        *bound = probe_recall_bound(expected, recall);
    free(expected);
    return status;
}

cog_status psm_check_queries(const struct psm_queries *queries, const struct psm_search *search,
                             unsigned stored_bits, cog_error *error) {
    cog_status status = short_key_check(&queries->signatures, search->radius_bits, error);
    if (status == COG_OK && queries->signatures.bits != stored_bits)
        return error_set(error, COG_ERR_USAGE,
                         "queries of %u bits do not fit stored signatures of %u bits",
                         queries->signatures.bits, stored_bits);
    return status;
}

cog_status psm_search(const struct psm_index *index, const struct psm_queries *queries,
                      const struct psm_search *search, struct short_hits *hits, cog_error *error) {
    cog_status status = psm_check_queries(queries, search, index->table.key_bits, error);
    if (status != COG_OK)
        return status;
    struct psm_list all = {NULL, queries->signatures.rows};
    if (!search->batch)
        return psm_search_list(index, queries, search, all, hits, error);
    struct query_order order;
    size_t before = hits->count;
    status = query_order_init(&order, &queries->signatures, search->threads, error);
    if (status != COG_OK)
        return status;
    status = query_order_by(&order, 0, search->threads, error);
    all.queries = order.ordered.rows;
    THEN(status, psm_search_list(index, queries, search, all, hits, error));
    query_order_free(&order);
    THEN(status, short_hits_sort(hits, before, search->threads, error));
    return status;
}
