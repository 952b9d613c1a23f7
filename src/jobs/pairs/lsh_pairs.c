#include "jobs/pairs/lsh_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "estimate/radius.h"
#include "run/report.h"
#include "search/lsh/lsh_join.h"
#include "search/lsh/lsh_plan.h"

struct lsh_side {
    struct signatures_view view;
    float *sums;
    size_t sums_stride;
};

static void free_side(struct lsh_side *side) {
    free((void *)side->view.data);
    free(side->sums);
}

struct lsh_pairs {
    struct pair_task *task;
    struct lsh_options options;
    struct lsh_side sides[2];
};

/* ---- Settings -------------------------------------------------------------------------------- */

/* Distances from hyperplanes stand behind the bits of sums only. */
static bool has_sums(const cog_pairs_options *options) {
    return options->sign.signature.kind != COG_SIGNATURE_MINHASH;
}

/* Whether keys are bands of whole values. */
static bool has_bands(const cog_signature_options *signature) {
    return signature->kind == COG_SIGNATURE_MINHASH && signature->value_bits > 1;
}

static cog_status check_signature(const cog_pairs_options *options, cog_error *error) {
    bool minhash = options->sign.signature.kind == COG_SIGNATURE_MINHASH;
    if (minhash == (options->measure == COG_MEASURE_JACCARD))
        return options->verify
                   ? COG_OK
                   : error_set(error, COG_ERR_USAGE,
                               "lsh checks every candidate by its true measure: leave out "
                               "--no-verify, or use the method flat");
    return error_set(error, COG_ERR_USAGE,
                     minhash
                         ? "minhash signatures do not tell a cosine: use rp, simhash or topsig, "
                           "or --measure jaccard"
                         : "keys tell a Jaccard coefficient only of minhash signatures: use "
                           "--signature minhash");
}

static cog_status check_bands(const cog_pairs_options *options, cog_error *error) {
    const cog_knobs *knobs = &options->knobs;
    const unsigned value_bits = options->sign.signature.value_bits;
    if (knob_or(knobs, LSH_KEY_BITS, 0) || knob_or(knobs, LSH_FLIPS, 0) ||
        knob_or(knobs, LSH_FLIP_SIDE, 0))
        return error_set(error, COG_ERR_USAGE,
                         "bands of minhash values of %u bits have no --key-bits and no flips: give "
                         "--tables and --band-values, or --value-bits 1",
                         value_bits);
    const struct lsh_options least = {.tables = (unsigned)knob_or(knobs, LSH_TABLES, 1),
                                      .band_values = (unsigned)knob_or(knobs, LSH_BAND_VALUES, 1),
                                      .value_bits = value_bits};
    return lsh_options_check(&least, options->sign.signature.bits, false, error);
}

static cog_status start_demand(const cog_pairs_options *options, struct lsh_demand *demand,
                               cog_error *error) {
    const cog_signature_options *signature = &options->sign.signature;
    *demand = (struct lsh_demand){.bits = signature->bits, .have_sums = has_sums(options)};
    return options_lsh(&options->knobs, signature->seed, &demand->given, error);
}

cog_status lsh_pairs_check(const cog_pairs_options *options, cog_error *error) {
    struct lsh_demand demand;
    cog_status status = check_signature(options, error);
    if (status != COG_OK)
        return status;
    if (has_bands(&options->sign.signature))
        return check_bands(options, error);
    if (knob_is_given(&options->knobs, LSH_BAND_VALUES))
        return error_set(error, COG_ERR_USAGE,
                         "bands are of minhash values of several bits: give --measure jaccard and "
                         "--value-bits 32, or leave out --band-values");
    status = start_demand(options, &demand, error);
    return status == COG_OK ? lsh_plan_check(&demand, error) : status;
}

static double plan_bands(struct lsh_pairs *pairs) {
    const cog_pairs_options *options = &pairs->task->options;
    const cog_signature_options *signature = &options->sign.signature;
    pairs->options =
        (struct lsh_options){.value_bits = signature->value_bits,
                             .band_values = (unsigned)knob_or(&options->knobs, LSH_BAND_VALUES, 0),
                             .tables = (unsigned)knob_or(&options->knobs, LSH_TABLES, 0)};
    return band_plan(options->threshold, options->recall, signature->value_bits,
                     signature->bits / signature->value_bits, &pairs->options.band_values,
                     &pairs->options.tables);
}

static double threshold_cosine(const struct pair_task *task) {
    return pair_task_cosine(task, task->options.threshold);
}

/* Signatures of some rows, and of each the first sums_stride numbers behind them. */
static cog_status sign_rows(const struct pair_task *task, size_t number,
                            const struct compared_rows *rows, size_t sums_stride,
                            struct lsh_side *side, cog_error *error) {
    side->sums_stride = sums_stride;
    if (sums_stride) {
        side->sums = memory_array(rows->count, sums_stride * sizeof *side->sums);
        if (!side->sums)
            return error_memory(error, rows->count * sums_stride * sizeof *side->sums, "sums");
    }
    return pair_task_sign(task, number, rows, &side->view, side->sums, sums_stride, error);
}

/* The rows of true pairs, with signatures and sums: the pairs' first rows, and their second ones.
 */
struct known_pairs {
    struct lsh_side sides[2];
    struct lsh_collection collections[2];
};

static cog_status sign_known(const struct pair_task *task, const struct match_list *truth,
                             struct known_pairs *known, cog_error *error) {
    const size_t sums_stride = has_sums(&task->options) ? task->options.sign.signature.bits : 0;
    uint32_t numbers[PLANNED_PAIRS_MAX];
    struct compared_rows rows = {numbers, truth->count};
    cog_status status = COG_OK;
    for (size_t number = 0; number < 2 && status == COG_OK; number++) {
        struct lsh_side *side = &known->sides[number];
        for (size_t i = 0; i < truth->count; i++)
            numbers[i] = number ? truth->items[i].b : truth->items[i].a;
        status = sign_rows(task, number ? task->sides - 1 : 0, &rows, sums_stride, side, error);
        known->collections[number] = (struct lsh_collection){&side->view, side->sums, sums_stride};
    }
    return status;
}

/* Most true pairs are nearer than the threshold: the recall is stated for those that a sample has,
 * or, where it has few, for pairs at the threshold. */
static cog_status plan_for(const struct pair_task *task, struct lsh_demand *demand,
                           const struct match_list *truth, struct lsh_options *options,
                           double *expected, cog_error *error) {
    const double at_threshold = threshold_cosine(task);
    struct known_pairs known = {0};
    cog_status status = truth->count ? sign_known(task, truth, &known, error) : COG_OK;
    demand->targets = truth->count
                          ? (struct lsh_targets){.known = known.collections, .count = truth->count}
                          : (struct lsh_targets){.cosines = &at_threshold, .count = 1};
    THEN(status, lsh_plan(demand, options, expected, error));
    free_side(&known.sides[0]);
    free_side(&known.sides[1]);
    return status;
}

static cog_status plan_bits(struct lsh_pairs *pairs, double *expected, cog_error *error) {
    const struct pair_task *task = pairs->task;
    struct lsh_demand demand;
    struct match_list truth = {0};
    double independent = 0;
    cog_status status = start_demand(&task->options, &demand, error);
    demand.kind = task->sides == 1 ? LSH_JOIN_SELF : LSH_JOIN_CROSS;
    demand.rows = task->compared[task->sides - 1].count;
    demand.threads = task->threads;
    const struct truth_rows rows = pair_task_truth(task);
    THEN(status, truth_to_plan_by(&rows, &truth, &independent, error));
    demand.recall = truth_planned_recall(task->options.recall, independent);
    report_number(task->report, "planned_by_pairs", (double)truth.count);
    THEN(status, plan_for(task, &demand, &truth, &pairs->options, expected, error));
    match_list_free(&truth);
    return status;
}

static cog_status plan(struct lsh_pairs *pairs, cog_error *error) {
    cog_report *report = pairs->task->report;
    double expected = 0;
    if (has_bands(&pairs->task->options.sign.signature)) {
        expected = plan_bands(pairs);
    } else {
        TRY(plan_bits(pairs, &expected, error));
    }
    report_number(report, "key_bits", pairs->options.key_bits);
    report_number(report, "band_values", pairs->options.band_values);
    report_number(report, "tables", pairs->options.tables);
    report_number(report, "flips", pairs->options.flips);
    report_number(report, "expected_recall", expected);
    return COG_OK;
}

/* ---- Signatures ------------------------------------------------------------------------------ */

/* Of a row, behind its bits. */
static size_t kept_sums(const struct lsh_pairs *pairs) {
    return pairs->options.flip_mode >= LSH_FLIP_DISTANCE ? lsh_bits_used(&pairs->options) : 0;
}

/* Signatures of both sides, the sums behind them, and the tables of the last. */
static cog_status take_memory(const struct lsh_pairs *pairs, cog_error *error) {
    struct pair_task *task = pairs->task;
    uint64_t row_bytes = signature_stride_bytes(task->options.sign.signature.bits) +
                         kept_sums(pairs) * sizeof(float);
    uint64_t bytes = lsh_tables_memory_bytes(&pairs->options, task->compared[task->sides - 1].count,
                                             task->threads);
    for (size_t side = 0; side < task->sides; side++)
        bytes += task->compared[side].count * row_bytes;
    return pair_task_take_memory(task, bytes, error);
}

static cog_status sign_side(const struct lsh_pairs *pairs, size_t number, struct lsh_side *side,
                            cog_error *error) {
    const struct pair_task *task = pairs->task;
    return sign_rows(task, number, &task->compared[number], kept_sums(pairs), side, error);
}

/* ---- The join -------------------------------------------------------------------------------- */

/* A radius that next to no true pair exceeds spares most candidates the measure. Values of several
 * bits have no distances that tell. */
static uint32_t filter_radius(const struct pair_task *task) {
    const cog_signature_options *signature = &task->options.sign.signature;
    if (has_bands(signature))
        return signature->bits;
    double p = bit_flip_probability_cosine(threshold_cosine(task));
    return radius_for_recall(signature->bits, p, 0.9999);
}

static cog_status join_sides(struct lsh_pairs *pairs, struct match_list *matches,
                             cog_error *error) {
    struct pair_task *task = pairs->task;
    struct pair_check check = pair_task_check(task);
    const struct match_sieve sieve = {pair_check_keep, &check};
    check.scattered = true;
    matches->sieve = &sieve;
    struct lsh_work work = {0};
    matches->limit = pair_task_max_matches(task);
    struct lsh_collection collections[2];
    for (int side = 0; side < 2; side++)
        collections[side] = (struct lsh_collection){
            &pairs->sides[side].view, pairs->sides[side].sums, pairs->sides[side].sums_stride};
    cog_status status =
        lsh_join(&collections[0], task->sides == 2 ? &collections[1] : NULL, &pairs->options,
                 filter_radius(task), task->threads, matches, &work, error);
    matches->sieve = NULL;
    if (status != COG_OK)
        return status;
    pair_task_name_rows(task, matches);
    report_number(task->report, "candidates", (double)work.entries);
    report_number(task->report, "comparisons", (double)work.comparisons);
    report_number(task->report, "comparisons_a_query", work.comparisons_a_query);
    report_number(task->report, "table_bytes", (double)work.table_bytes);
    task->has_distances = true;
    return COG_OK;
}

cog_status lsh_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error) {
    struct lsh_pairs pairs = {.task = task};
    cog_status status = plan(&pairs, error);
    THEN(status, take_memory(&pairs, error));
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = sign_side(&pairs, side, &pairs.sides[side], error);
    THEN(status, join_sides(&pairs, matches, error));
    free_side(&pairs.sides[0]);
    free_side(&pairs.sides[1]);
    return status == COG_OK ? pair_task_measure(task, matches, error) : status;
}
