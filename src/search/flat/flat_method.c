#include "search/flat/flat_method.h"

#include "hamming/hamming.h"
#include "search/flat/flat.h"
#include "search/flat/flat_join.h"

enum {
    EFFORT_STEPS = 12,  /* of candidates for true cosines: distances need no effort */
    BATCH_QUERIES = 16, /* are compared by tiles */
};

/* Measured on processors with AVX2: a byte of the rows, for one query alone and in a tile. */
static const double SCAN_BYTE_NS = 0.08, TILE_BYTE_NS = 0.02;

static void predict(const struct method_size *size, const cog_knobs *knobs,
                    struct method_prediction *prediction) {
    (void)knobs;
    prediction->recall = 1;
    prediction->comparisons = (double)size->rows * (double)size->queries;
    prediction->search_bytes =
        size->k ? flat_search_bytes(size->queries, size->bits, size->k, size->threads) : 0;
    prediction->query_ns = (double)size->rows * (double)signature_stride_bytes(size->bits) *
                           (size->queries < BATCH_QUERIES ? SCAN_BYTE_NS : TILE_BYTE_NS);
}

static cog_status search(const void *tables, struct method_search *asked, struct hit_lists *hits,
                         cog_error *error) {
    (void)tables;
    asked->is_exact_out = true;
    asked->compared_out = (uint64_t)asked->rows.signatures->rows * asked->queries.signatures->rows;
    return asked->k ? flat_search_topk(asked->rows.signatures, asked->queries.signatures, asked->k,
                                       asked->threads, hits, error)
                    : flat_search_radius(asked->rows.signatures, asked->queries.signatures,
                                         asked->radius_bits, asked->threads, hits, error);
}

static cog_status join_rows(struct method_join *join, struct match_list *pairs, cog_error *error) {
    uint32_t radius_bits = join_radius(join, join->recall);
    uint64_t comparisons = 0;
    cog_status status = flat_join(join->first.signatures, join_second(join), radius_bits,
                                  join->threads, pairs, &comparisons, error);
    if (join->threshold > 0)
        report_number(join->report, "radius_bits", radius_bits);
    report_number(join->report, "comparisons", (double)comparisons);
    join->is_exact_out = radius_bits == join->bits || join->threshold == 0;
    return status;
}

const struct search_method flat_method = {
    .name = "flat",
    .summary = "compares all signatures, then verifies near rows",
    .answers = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .certain = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .bits_min = 1,
    .bits_max = HAMMING_MAX_BITS,
    .bits_step = 1,
    .predict = predict,
    .search = search,
    .effort_steps = EFFORT_STEPS,
    .usual_effort = 1,
    .check_join = join_check_signatures,
    .join = join_rows,
};
