#include "search/psm/psm.h"

#include "base/memory.h"

enum { MODEL_QUERIES = 1000 };

const float *psm_query_margins(const struct psm_queries *queries, size_t query,
                               float units[PROBE_BITS_MAX]) {
    unsigned bits = queries->signatures.bits;
    const float *margins = queries->margins + query * bits;
    if (!queries->relative)
        return margins;
    float factor = volatility_unit(margins, bits);
    for (unsigned i = 0; i < PROBE_BITS_MAX; i++)
        units[i] = margins[i] * factor;
    return units;
}

void psm_query_bits(const struct psm_queries *queries, size_t query, unsigned header_bits,
                    uint32_t bound, struct probe_bits *bits) {
    float units[PROBE_BITS_MAX];
    volatility_bits(queries->volatility, psm_query_margins(queries, query, units), header_bits,
                    bound, bits);
}

/* ---- The index ------------------------------------------------------------------------------- */

cog_status psm_build(struct psm_index *index, const struct signatures_view *view,
                     struct bucket_limits limits, unsigned threads, cog_error *error) {
    struct key_set set;
    *index = (struct psm_index){0};
    TRY(short_key_check(view, 0, error));
    TRY(key_set_build(&set, view, threads, error));
    cog_status status = bucket_index_init(&index->stored, 1, error);
    THEN(status, bucket_table_build(index->stored.tables, &set.keys, limits, true, error));
    index->stored.rows = set.rows;
    set.rows = (struct key_rows){0};
    key_set_free(&set);
    if (status != COG_OK)
        psm_free(index);
    return status;
}

void psm_free(struct psm_index *index) {
    bucket_index_free(&index->stored);
}

/* ---- The bound of a recall ------------------------------------------------------------------- */

cog_status psm_bound_for_recall(const struct psm_queries *queries, unsigned header_bits,
                                unsigned radius_bits, double recall, size_t sample, uint32_t *bound,
                                cog_error *error) {
    size_t rows = queries->signatures.rows;
    if (sample > rows)
        sample = rows;
    struct probe_recall *expected;
    TAKE_ZEROED(expected, 1, "the expected recall", error);
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

cog_status psm_learned_bound(const struct psm_learned *learned, const struct psm_queries *queries,
                             unsigned header_bits, unsigned radius_bits, double recall,
                             uint32_t *bound, cog_error *error) {
    if (learned->pairs > 0 && radius_bits == learned->radius_bits && recall < 1) {
        *bound = learned->bounds[header_bits][(size_t)(recall * (PSM_RECALLS - 1) + 0.999)];
        return COG_OK;
    }
    return psm_bound_for_recall(queries, header_bits, radius_bits, recall, MODEL_QUERIES, bound,
                                error);
}
