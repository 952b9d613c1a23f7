#include "search/psm/psm.h"

#include "base/memory.h"
#include "base/strings.h"

#define SECTION_QUANTILES CONTAINER_TAG('s', 'h', 'q', 'u')
#define SECTION_OWN_BOUNDS CONTAINER_TAG('s', 'h', 'b', 'o')
#define SECTION_BOUNDS CONTAINER_TAG('s', 'h', 'b', 'h')

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

cog_status psm_create(struct psm_index *index, const struct signatures_view *view,
                      const float *margins, const struct psm_learned *learned,
                      const struct bucket_settings *settings, unsigned threads, cog_error *error) {
    *index = (struct psm_index){0};
    if (!margins && !learned)
        return error_set(error, COG_ERR_USAGE,
                         "psm learns which bits are volatile from the sums behind them: give "
                         "--weights, or use bphs");
    TRY(short_key_check(view, settings->radius_bits, error));
    TRY(psm_build(index, view, psm_limits(settings, view->rows), threads, error));
    index->radius_bits = settings->radius_bits;
    cog_status status = COG_OK;
    if (margins && view->rows > 1)
        status = psm_learn(
            &(struct psm_training){index, view, margins, view, margins, settings->radius_bits},
            threads, &index->learned, error);
    else if (learned)
        index->learned = *learned;
    else
        status = error_set(error, COG_ERR_USAGE,
                           "psm learns from the weights of many rows: give at least two");
    if (status != COG_OK)
        psm_free(index);
    return status;
}

void psm_free(struct psm_index *index) {
    bucket_index_free(&index->stored);
}

cog_status psm_check_rows(const struct bucket_settings *settings, size_t rows, cog_error *error) {
    unsigned most = bucket_header_most(rows);
    if (settings->header_bits <= most)
        return COG_OK;
    return error_set(error, COG_ERR_USAGE,
                     "a header of %u bits has more buckets than there are rows: for %zu row%s give "
                     "at most %u",
                     settings->header_bits, rows, plural(rows, "", "s"), most);
}

struct bucket_limits psm_limits(const struct bucket_settings *settings, size_t rows) {
    struct bucket_limits limits = BUCKET_LIMITS_DEFAULT;
    unsigned most = bucket_header_most(rows);
    if (settings->header_bits > 0)
        limits.header_bits_min = limits.header_bits_max =
            settings->header_bits < most ? settings->header_bits : most;
    return limits;
}

cog_status psm_write(const struct psm_index *index, struct container_writer *writer,
                     cog_error *error) {
    const struct psm_learned *learned = &index->learned;
    struct bucket_description description = {
        BUCKETS_PSM, index->radius_bits, learned->pairs, learned->radius_bits, 0, 0};
    double quantiles[VOLATILITY_QUANTILES + 1];
    memcpy(quantiles, learned->volatility.quantiles, sizeof learned->volatility.quantiles);
    quantiles[VOLATILITY_QUANTILES] = learned->volatility.tail;
    TRY(bucket_index_write(&index->stored, &description, writer, error));
    TRY(container_writer_section(writer, SECTION_QUANTILES, quantiles, sizeof quantiles, error));
    TRY(container_writer_section(writer, SECTION_OWN_BOUNDS,
                                 learned->bounds[index->stored.tables[0].header_bits],
                                 sizeof learned->bounds[0], error));
    return container_writer_section(writer, SECTION_BOUNDS, learned->bounds, sizeof learned->bounds,
                                    error);
}

/* An older file has bounds of one header size only; they are used for all. */
static cog_status open_learned(struct psm_learned *learned, const struct container *container,
                               cog_error *error) {
    const size_t own_bytes = sizeof learned->bounds[0];
    struct bytes_view all;
    bool has_all = container_find(container, SECTION_BOUNDS, &all);
    const void *bounds =
        bucket_index_section(container, has_all ? SECTION_BOUNDS : SECTION_OWN_BOUNDS,
                             has_all ? sizeof learned->bounds : own_bytes, error);
    const double *quantiles = bucket_index_section(
        container, SECTION_QUANTILES, (VOLATILITY_QUANTILES + 1) * sizeof *quantiles, error);
    if (!bounds || !quantiles)
        return COG_ERR_FORMAT;
    for (unsigned header = 0; header <= BUCKET_HEADER_BITS_MAX; header++)
        memcpy(learned->bounds[header],
               (const uint8_t *)bounds + (has_all ? header * own_bytes : 0), own_bytes);
    return volatility_restore(&learned->volatility, quantiles, quantiles[VOLATILITY_QUANTILES],
                              error);
}

cog_status psm_open(struct psm_index *index, const struct container *container, unsigned bits,
                    bool *found, cog_error *error) {
    struct bucket_description description;
    *index = (struct psm_index){0};
    *found = bucket_index_describe(container, &description) && description.kind == BUCKETS_PSM;
    if (!*found)
        return COG_OK;
    if (description.radius_bits > SHORT_KEY_RADIUS_MAX)
        return bucket_index_damaged(container, error);
    index->radius_bits = (unsigned)description.radius_bits;
    index->learned.pairs = (size_t)description.learned_pairs;
    index->learned.radius_bits = (unsigned)description.learned_radius_bits;
    TRY(bucket_index_open(&index->stored, container, bits, 1, error));
    cog_status status = open_learned(&index->learned, container, error);
    if (status != COG_OK)
        psm_free(index);
    return status;
}

/* ---- The bound of a recall ------------------------------------------------------------------- */

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
