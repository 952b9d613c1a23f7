/* Joins of signatures step by step: settings, orders of bits, and pairs along a band. The public
 * functions. */
#include <stdlib.h>

#include "api/arrow_table.h"
#include "base/arguments.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "collection/options.h"
#include "estimate/interval.h"
#include "input/npy.h"
#include "join/cosine/cosine_join.h"
#include "plan/method_table.h"
#include "run/job.h"
#include "search/keys/bit_permutation.h"
#include "search/lsh/lsh_method.h"
#include "search/lsh/lsh_plan.h"
#include "search/window/band_scan.h"
#include "search/window/window_method.h"
#include "search/window/window_plan.h"

/* ---- Settings -------------------------------------------------------------------------------- */

static void plan_window(const struct method_join *join, size_t rows, size_t against_rows,
                        cog_join_plan *plan) {
    const double cosine = join->threshold;
    const struct window_targets targets = {.cosines = &cosine, .count = 1};
    struct window_setting setting = {.bits = join->bits,
                                     .tables = (unsigned)knob_or(&join->knobs, WINDOW_TABLES, 0),
                                     .window = knob_or(&join->knobs, WINDOW_ROWS, 0),
                                     .radius_bits = join_radius(join, (1 + join->recall) / 2)};
    plan->expected_recall = window_plan(&setting, rows + against_rows, &targets, join->recall);
    plan->tables = setting.tables;
    plan->window = setting.window;
    plan->shared_window = knob_or(&join->knobs, WINDOW_SHARED, 0);
    plan->radius_bits = setting.radius_bits;
    plan->comparisons =
        setting.tables * window_pairs(rows, against_rows, setting.window, plan->shared_window);
}

static cog_status plan_tables(struct method_join *join, size_t rows, size_t against_rows,
                              cog_join_plan *plan, cog_error *error) {
    TRY(lsh_method.plan_join(join, error));
    const struct lsh_options options = lsh_options_of(join);
    const double met = lsh_comparisons(&options, against_rows ? against_rows : rows);
    plan->tables = options.tables;
    plan->key_bits = options.key_bits;
    plan->flips = options.flips;
    plan->flip_mode = (cog_flip_mode)options.flip_mode;
    plan->flip_both = options.flip_both;
    plan->radius_bits = join_radius(join, LSH_RADIUS_RECALL);
    plan->margins_per_row = join->margins_out;
    plan->expected_recall = join->expected_out;
    plan->comparisons = (double)rows * met / (join->directed_out || against_rows ? 1 : 2);
    return COG_OK;
}

static void plan_flat(const struct method_join *join, size_t rows, size_t against_rows,
                      cog_join_plan *plan) {
    plan->radius_bits = join_radius(join, join->recall);
    plan->expected_recall = join->recall;
    plan->comparisons =
        against_rows ? (double)rows * (double)against_rows : (double)rows * ((double)rows - 1) / 2;
}

enum { PLAN_ROW_BITS_MOST = 48 };

cog_status cog_plan_join(const cog_pairs_options *options, uint64_t rows, uint64_t against_rows,
                         cog_join_plan *plan, cog_error *error) {
    TRY(check_given(options, "options", error));
    TRY(check_given(plan, "plan", error));
    TRY(options_check_reserved(options->reserved, 4, "pairs", error));
    if ((rows | against_rows) >> PLAN_ROW_BITS_MOST)
        return error_set(error, COG_ERR_USAGE, "%llu and %llu rows: give fewer than 2^%d",
                         (unsigned long long)rows, (unsigned long long)against_rows,
                         PLAN_ROW_BITS_MOST);
    const cog_signature_options *signature = &options->sign.signature;
    const struct search_method *method = method_of(options->method);
    struct signatures_view views[2] = {
        {NULL, rows, signature->bits, signature_stride_bytes(signature->bits)},
        {NULL, against_rows, signature->bits, signature_stride_bytes(signature->bits)}};
    struct method_join join = {.first = {.signatures = &views[0]},
                               .second = {.signatures = against_rows ? &views[1] : NULL},
                               .radius_bits = COG_RADIUS_NONE,
                               .threshold = options->threshold - COSINE_PRECISION,
                               .verify = true,
                               .bits = signature->bits,
                               .recall = options->recall,
                               .knobs = options->knobs,
                               .pairs = {.independent = -1},
                               .seed = signature->seed,
                               .threads = 1};
    if (options->measure != COG_MEASURE_COSINE || signature->kind == COG_SIGNATURE_MINHASH ||
        (method != &window_method && method != &lsh_method && options->method != COG_METHOD_FLAT))
        return error_about(error, COG_ERR_USAGE, "method",
                           "signatures join by the methods window, lsh and flat, and by cosines");
    if (!(options->threshold > 0 && options->threshold <= 1) ||
        !(options->recall > 0 && options->recall < 1))
        return error_set(error, COG_ERR_USAGE,
                         "a threshold of %g and a recall of %g: choose a threshold above 0 and at "
                         "most 1, and a recall between 0 and 1",
                         options->threshold, options->recall);
    TRY(method->check_join(&join, error));
    *plan = (cog_join_plan){.method = options->method, .threshold = join.threshold};
    if (method == &lsh_method)
        return plan_tables(&join, rows, against_rows, plan, error);
    if (method == &window_method)
        plan_window(&join, rows, against_rows, plan);
    else
        plan_flat(&join, rows, against_rows, plan);
    return COG_OK;
}

/* ---- Orders of bits -------------------------------------------------------------------------- */

static cog_status check_bytes(unsigned bits, cog_error *error) {
    return bits % 8 == 0 ? COG_OK
                         : error_set(error, COG_ERR_USAGE,
                                     "signatures of %u bits: give a multiple of 8", bits);
}

cog_status cog_permute_signatures(const cog_signatures *signatures, uint64_t seed,
                                  unsigned first_table, unsigned tables, const cog_run_options *run,
                                  uint8_t *permuted, cog_error *error) {
    TRY(check_given(signatures, "signatures", error));
    TRY(check_given(permuted, "permuted", error));
    const struct signatures_view *view = &signatures->file.view;
    struct bit_permutation *permutations;
    TRY(check_bytes(view->bits, error));
    TAKE_ZEROED(permutations, (size_t)tables + 1, "permutations", error);
    cog_status status = COG_OK;
    for (unsigned t = 0; t < tables && status == COG_OK; t++)
        status = bit_permutation_create(&permutations[t], view->bits, seed,
                                        (uint64_t)first_table + t, error);
    THEN(status, permuted_rows_gather(view, permutations, tables,
                                      threads_resolve(run ? run->threads : 0), permuted, error));
    for (unsigned t = 0; t < tables; t++)
        bit_permutation_free(&permutations[t]);
    free(permutations);
    return status;
}

/* ---- Bands ----------------------------------------------------------------------------------- */

struct band_run {
    const struct band *band;
    struct band_scanner *scanners; /* one per worker */
    struct match_list *found;      /* likewise */
    size_t chunk_rows;
};

static cog_status take_hit(void *context, uint32_t query, uint32_t row, uint32_t distance,
                           cog_error *error) {
    return match_list_add(context, (struct match){.a = query, .b = row, .distance = distance},
                          error);
}

static cog_status scan_chunks(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    const struct band_run *run = context;
    cog_status status = COG_OK;
    for (size_t chunk = begin; chunk < end && status == COG_OK; chunk++) {
        size_t first = chunk * run->chunk_rows, left = run->band->queries.count - first;
        status = band_scan(&run->scanners[worker], run->band, first,
                           first + (left < run->chunk_rows ? left : run->chunk_rows), take_hit,
                           &run->found[worker], error);
    }
    return status;
}

/* All lists in one, sorted. */
static cog_status join_lists(struct match_list *lists, unsigned count, cog_error *error) {
    for (unsigned i = 1; i < count; i++)
        for (size_t k = 0; k < lists[i].count; k++)
            TRY(match_list_add(&lists[0], lists[i].items[k], error));
    match_list_sort(&lists[0]);
    return COG_OK;
}

static cog_status check_band(const struct band *band, size_t *widest, cog_error *error) {
    *widest = 1;
    for (size_t i = 0; i < band->queries.count; i++) {
        const bool falls =
            i > 0 && (band->begins[i] < band->begins[i - 1] || band->ends[i] < band->ends[i - 1]);
        if (falls || band->begins[i] > band->ends[i] || band->ends[i] > band->rows.count)
            return error_set(error, COG_ERR_USAGE,
                             "query %zu meets rows %u to %u of %zu: begins and ends must not fall, "
                             "and lie among the rows",
                             i, band->begins[i], band->ends[i], band->rows.count);
        if (band->ends[i] - band->begins[i] > *widest)
            *widest = band->ends[i] - band->begins[i];
    }
    return COG_OK;
}

static cog_status scan_band(const struct band *band, unsigned bits, uint32_t radius_bits,
                            unsigned threads, struct ArrowArrayStream *stream, cog_error *error) {
    enum { CHUNK_ROWS = 4096, WIDTH_MAX = 1 << 14 };
    struct band_run run = {.band = band, .chunk_rows = CHUNK_ROWS};
    size_t widest;
    TRY(check_band(band, &widest, error));
    cog_status status = TAKEN_ZEROED(run.scanners, threads, "a band", error);
    THEN(status, TAKEN_ZEROED(run.found, threads, "a band", error));
    for (unsigned i = 0; i < threads && status == COG_OK; i++)
        status = band_scanner_create(&run.scanners[i], bits, radius_bits,
                                     widest < WIDTH_MAX ? widest : WIDTH_MAX, error);
    const size_t count = band->queries.count;
    THEN(status, parallel_for(threads, count / CHUNK_ROWS + (count % CHUNK_ROWS != 0), 1,
                              scan_chunks, &run, error));
    THEN(status, join_lists(run.found, threads, error));
    if (status == COG_OK) {
        struct arrow_table table = {.rows = run.found[0].count};
        arrow_table_hits(&table, run.found[0].items);
        status = arrow_table_finish(&table, stream, error);
    }
    for (unsigned i = 0; i < threads; i++) {
        if (run.scanners)
            band_scanner_free(&run.scanners[i]);
        if (run.found)
            match_list_free(&run.found[i]);
    }
    FREE(run.scanners, run.found);
    return status;
}

cog_status cog_band_pairs(const cog_signatures *queries, const cog_signatures *rows,
                          const uint32_t *begins, const uint32_t *ends, uint32_t radius_bits,
                          const cog_run_options *run, struct ArrowArrayStream *stream,
                          cog_error *error) {
    TRY(check_given(queries, "queries", error));
    TRY(check_given(begins, "begins", error));
    TRY(check_given(ends, "ends", error));
    TRY(check_given(stream, "stream", error));
    const struct signatures_view *first = &queries->file.view;
    const struct signatures_view *second = rows ? &rows->file.view : first;
    const size_t most = first->rows > second->rows ? first->rows : second->rows;
    TRY(signatures_check(first, rows ? second : NULL, error));
    if (most > UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "more than 4294967295 rows: give parts");
    uint32_t *places;
    TAKE(places, most + 1, "a band", error);
    for (size_t i = 0; i < most; i++)
        places[i] = (uint32_t)i;
    const struct band band = {.queries = {first, places, first->rows},
                              .rows = {second, places, second->rows},
                              .begins = begins,
                              .ends = ends};
    cog_status status =
        scan_band(&band, first->bits, radius_bits < first->bits ? radius_bits : first->bits,
                  threads_resolve(run ? run->threads : 0), stream, error);
    free(places);
    return status;
}

/* ---- Recall ---------------------------------------------------------------------------------- */

cog_status cog_measured_share(const uint64_t *hits, const uint64_t *trials, size_t rows,
                              double *share, double *low, double *high, cog_error *error) {
    struct share_tally tally = {0};
    TRY(check_given(hits, "hits", error));
    TRY(check_given(trials, "trials", error));
    TRY(check_given(share, "share", error));
    TRY(check_given(low, "low", error));
    TRY(check_given(high, "high", error));
    for (size_t i = 0; i < rows; i++) {
        if (hits[i] > trials[i])
            return error_set(error, COG_ERR_USAGE, "row %zu has %llu hits of %llu trials", i,
                             (unsigned long long)hits[i], (unsigned long long)trials[i]);
        share_tally_add(&tally, hits[i], trials[i]);
    }
    const struct measured_share measured = measured_share(&tally);
    *share = tally.trials ? measured.share : 0;
    *low = measured.low;
    *high = measured.high;
    return COG_OK;
}
