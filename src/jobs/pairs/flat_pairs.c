#include "jobs/pairs/flat_pairs.h"

#include <stdlib.h>

#include "collection/corpus_sign.h"
#include "estimate/radius.h"
#include "run/report.h"
#include "search/flat/flat_join.h"
#include "search/window/window_join.h"
#include "search/window/window_method.h"
#include "search/window/window_plan.h"

/* ---- Candidates and their verification ------------------------------------------------------- */

cog_status flat_pairs_check(const cog_pairs_options *options, cog_error *error) {
    const cog_signature_options *signature = &options->sign.signature;
    bool minhash = signature->kind == COG_SIGNATURE_MINHASH;
    if (options->measure == COG_MEASURE_COSINE && minhash)
        return error_set(error, COG_ERR_USAGE,
                         "minhash signatures do not tell a cosine: use rp, simhash or topsig, or "
                         "--measure jaccard");
    if (options->measure == COG_MEASURE_JACCARD && (!minhash || signature->value_bits != 1))
        return error_set(error, COG_ERR_USAGE,
                         "distances tell a Jaccard coefficient only for minhash values of one bit: "
                         "use --signature minhash --value-bits 1");
    return COG_OK;
}

static uint32_t find_radius(const struct pair_task *task, double recall) {
    const double threshold = task->options.threshold;
    return radius_for_recall(task->options.sign.signature.bits,
                             task->options.measure == COG_MEASURE_COSINE
                                 ? bit_flip_probability_cosine(threshold)
                                 : bit_flip_probability_jaccard(threshold),
                             recall);
}

/* Joins of signatures estimate cosines. */
static void estimate_jaccard(const struct pair_task *task, struct match_list *matches) {
    const float bits = (float)task->options.sign.signature.bits;
    for (size_t i = 0; i < matches->count; i++)
        matches->items[i].similarity = 1 - 2 * (float)matches->items[i].distance / bits;
}

cog_status flat_pairs_verify(const struct pair_task *task, struct match_list *matches,
                             cog_error *error) {
    struct pair_check check = pair_task_check(task);
    check.rows[0] = check.rows[1] = NULL;
    return pair_check_run(&check, matches, error);
}

/* Candidates are verified as they come, so that no more of them are in memory than a batch. */
struct verification {
    struct pair_check check;
    uint64_t candidates; /* atomic */
};

static cog_status verify_batch(void *context, struct match *items, size_t *count,
                               cog_error *error) {
    struct verification *verification = context;
    __atomic_fetch_add(&verification->candidates, *count, __ATOMIC_RELAXED);
    return pair_check_keep(&verification->check, items, count, error);
}

/* ---- Joins of signatures --------------------------------------------------------------------- */

static cog_status join_all(const struct pair_task *task, const struct signatures_view *views,
                           uint32_t radius, struct match_list *matches, uint64_t *comparisons,
                           cog_error *error) {
    return flat_join(&views[0], task->sides == 2 ? &views[1] : NULL, radius, task->threads, matches,
                     comparisons, error);
}

/* Where a row stands among the compared ones. */
static size_t row_place(const struct compared_rows *compared, uint32_t row) {
    size_t low = 0, high = compared->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compared->numbers[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static cog_status find_sharing(const struct pair_task *task, const struct signatures_view *views,
                               const struct match_list *pairs,
                               double sharing[WINDOW_PREFIX_MAX + 1], cog_error *error) {
    uint32_t places[SHARING_SAMPLE];
    size_t step = pairs->count / SHARING_SAMPLE + 1, count = 0;
    for (size_t i = 0; i < pairs->count; i += step)
        places[count++] = (uint32_t)row_place(&task->compared[0], pairs->items[i].a);
    return window_measure_sharing(&views[0], task->sides == 2 ? &views[1] : NULL,
                                  knob_or(&task->options.knobs, WINDOW_SHARED, 0), places, count,
                                  sharing, error);
}

/* The recall is stated for the pairs that a sample has, or, where it has few or there are no
 * vectors yet, for pairs at the threshold among rows that are evenly spread. */
static cog_status plan_windows(const struct pair_task *task, const struct signatures_view *views,
                               struct window_setting *setting, cog_error *error) {
    enum { COSINES = 32 };
    double cosines[COSINES] = {pair_task_cosine(task, task->options.threshold)};
    double sharing[WINDOW_PREFIX_MAX + 1] = {0}, recall = task->options.recall;
    double independent = 0;
    struct window_targets targets = {.cosines = cosines, .count = 1};
    struct match_list pairs = {0};
    const struct truth_rows rows = pair_task_truth(task);
    cog_status status =
        task->on_disk ? COG_OK : truth_to_plan_by(&rows, &pairs, &independent, error);
    if (status == COG_OK && pairs.count) {
        for (size_t i = 0; i < COSINES; i++)
            cosines[i] = pair_task_cosine(
                task, (double)pairs.items[(2 * i + 1) * pairs.count / (2 * COSINES)].similarity);
        targets = (struct window_targets){.cosines = cosines, .count = COSINES, .sharing = sharing};
        /* A quarter of what may be missed is left to the model, which has one sharing for all. */
        recall = truth_planned_recall((1 + 3 * recall) / 4, independent);
        status = find_sharing(task, views, &pairs, sharing, error);
    }
    report_number(task->report, "planned_by_pairs", (double)pairs.count);
    match_list_free(&pairs);
    if (status != COG_OK)
        return status;
    double expected = window_plan(setting, views[0].rows + views[1].rows, &targets, recall);
    report_number(task->report, "tables", setting->tables);
    report_number(task->report, "window_rows", (double)setting->window);
    report_number(task->report, "expected_recall", expected);
    return COG_OK;
}

/* What a window join may take, rows included; 0 where there is no budget. */
static uint64_t window_memory(const struct pair_task *task) {
    uint64_t budget = task->run ? task->run->memory_bytes : 0;
    uint64_t held = task->on_disk ? 0 : pair_task_held_bytes(task);
    return budget > held ? budget - held : budget ? 1 : 0;
}

static cog_status join_windows(const struct pair_task *task, const struct signatures_view *views,
                               uint32_t radius, struct match_list *matches, uint64_t *comparisons,
                               cog_error *error) {
    const cog_knobs *given = &task->options.knobs;
    struct window_setting setting = {views[0].bits, (unsigned)knob_or(given, WINDOW_TABLES, 0),
                                     knob_or(given, WINDOW_ROWS, 0), radius};
    cog_status status = plan_windows(task, views, &setting, error);
    if (status != COG_OK)
        return status;
    struct window_options options = {.tables = setting.tables,
                                     .window = setting.window,
                                     .chunk_rows = knob_or(given, WINDOW_CHUNK, 0),
                                     .radius_bits = radius,
                                     .seed = task->options.sign.signature.seed,
                                     .threads = task->threads,
                                     .memory_bytes = window_memory(task),
                                     .shared_window = knob_or(given, WINDOW_SHARED, 0)};
    struct window_work work = {0};
    status = window_join(&views[0], task->sides == 2 ? &views[1] : NULL, &options, matches, &work,
                         error);
    *comparisons = work.comparisons;
    return status;
}

typedef cog_status signature_join(const struct pair_task *task, const struct signatures_view *views,
                                  uint32_t radius, struct match_list *matches,
                                  uint64_t *comparisons, cog_error *error);

/* Candidates, or what the list's sieve leaves of them. */
static cog_status propose(const struct pair_task *task, signature_join *join,
                          const struct signatures_view *views, double radius_recall,
                          uint32_t *radius, struct match_list *matches, cog_error *error) {
    uint64_t comparisons = 0;
    *radius = find_radius(task, radius_recall);
    matches->limit = pair_task_max_matches(task);
    TRY(join(task, views, *radius, matches, &comparisons, error));
    pair_task_name_rows(task, matches);
    report_number(task->report, "radius_bits", *radius);
    report_number(task->report, "comparisons", (double)comparisons);
    return COG_OK;
}

static cog_status propose_and_verify(const struct pair_task *task, signature_join *join,
                                     const struct signatures_view *views, double radius_recall,
                                     uint32_t *radius, struct match_list *matches,
                                     cog_error *error) {
    struct verification verification = {.check = pair_task_check(task)};
    const struct match_sieve sieve = {verify_batch, &verification};
    matches->sieve = task->options.verify ? &sieve : NULL;
    cog_status status = propose(task, join, views, radius_recall, radius, matches, error);
    matches->sieve = NULL;
    report_number(task->report, "candidates",
                  task->options.verify ? (double)verification.candidates : (double)matches->count);
    return status;
}

static uint64_t signature_bytes(const struct pair_task *task) {
    uint64_t stride = signature_stride_bytes(task->options.sign.signature.bits), bytes = 0;
    for (size_t side = 0; side < task->sides; side++)
        bytes += task->compared[side].count * stride;
    return bytes;
}

static cog_status join_by(struct pair_task *task, signature_join *join, double radius_recall,
                          struct match_list *matches, cog_error *error) {
    struct signatures_view views[2] = {{0}};
    uint32_t radius = 0;
    cog_status status = pair_task_take_memory(task, signature_bytes(task), error);
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = pair_task_sign(task, side, &task->compared[side], &views[side], NULL, 0, error);
    THEN(status, propose_and_verify(task, join, views, radius_recall, &radius, matches, error));
    free((void *)views[0].data);
    free((void *)views[1].data);
    if (status != COG_OK)
        return status;
    task->has_distances = true;
    task->estimates = !task->options.verify;
    if (!task->options.verify && task->options.measure == COG_MEASURE_JACCARD)
        estimate_jaccard(task, matches);
    /* All pairs were candidates, and the true measure decided. */
    if (status == COG_OK && join == join_all && radius == task->options.sign.signature.bits &&
        task->options.verify) {
        report_exact(task->report);
        return COG_OK;
    }
    return status == COG_OK ? pair_task_measure(task, matches, error) : status;
}

/* Two chances to miss a pair, radius and window, share what may be missed. */
static double window_radius_recall(const struct pair_task *task) {
    return (1 + task->options.recall) / 2;
}

cog_status window_pairs_propose(const struct pair_task *task, const struct signatures_view *views,
                                struct match_list *matches, cog_error *error) {
    uint32_t radius;
    cog_status status =
        propose(task, join_windows, views, window_radius_recall(task), &radius, matches, error);
    report_number(task->report, "candidates", (double)matches->count);
    return status;
}

cog_status flat_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error) {
    return join_by(task, join_all, task->options.recall, matches, error);
}

cog_status window_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error) {
    return join_by(task, join_windows, window_radius_recall(task), matches, error);
}
