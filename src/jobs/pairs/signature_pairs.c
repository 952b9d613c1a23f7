/* Pairs of signatures that exist already. */
#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "input/npy.h"
#include "jobs/pairs/pairs_handle.h"
#include "plan/sampled_truth.h"
#include "run/report.h"
#include "search/flat/flat_join.h"
#include "search/multisort/multisort_join.h"
#include "search/window/window_join.h"
#include "search/window/window_method.h"
#include "search/window/window_plan.h"

/* What a join of signatures is about. */
struct signature_task {
    const struct signatures_view *first, *second; /* second may be NULL */
    uint32_t radius_bits;
    const cog_pairs_options *options;
    const cog_run_options *run;
    cog_report *report;
};

static unsigned threads_of(const struct signature_task *task) {
    return task->run ? task->run->threads : 0;
}

static uint64_t budget_of(const struct signature_task *task) {
    return task->run ? task->run->memory_bytes : 0;
}

uint32_t cog_radius_of_cosine(double threshold, unsigned bits) {
    uint32_t radius = 0;
    while (radius < bits && hamming_cosine(radius + 1, bits) >= threshold)
        radius++;
    return radius;
}

/* Blocks that must agree need short signatures, a small radius, and enough rows to pay for sorting.
 */
enum { BLOCKS_MAX_RADIUS = 8, BLOCKS_MIN_ROWS = 20000 };

static bool blocks_pay(const struct signatures_view *a, const struct signatures_view *b,
                       uint32_t radius_bits) {
    size_t rows = a->rows + (b ? b->rows : 0);
    return (a->bits == 64 || a->bits == 128) && radius_bits <= BLOCKS_MAX_RADIUS &&
           rows >= BLOCKS_MIN_ROWS;
}

/* As many matches as the budget has room for, once as they are found and once sorted. */
static void limit_matches(const struct signature_task *task, struct match_list *matches) {
    matches->limit = (size_t)(budget_of(task) / (2 * sizeof(struct match)));
}

static cog_status join_by_blocks(const struct signature_task *task, struct match_list *matches,
                                 cog_error *error) {
    struct multisort_options options = {.radius_bits = task->radius_bits,
                                        .threads = threads_of(task),
                                        .memory_bytes = budget_of(task)};
    report_text(task->report, "method", "blocks");
    limit_matches(task, matches);
    cog_status status = multisort_join(task->first, task->second, &options, matches, error);
    report_exact(task->report);
    return status;
}

static cog_status join_all(const struct signature_task *task, struct match_list *matches,
                           cog_error *error) {
    uint64_t comparisons = 0;
    limit_matches(task, matches);
    cog_status status = flat_join(task->first, task->second, task->radius_bits, threads_of(task),
                                  matches, &comparisons, error);
    report_text(task->report, "method", "flat");
    report_number(task->report, "comparisons", (double)comparisons);
    report_exact(task->report);
    return status;
}

/* ---- Sliding windows ------------------------------------------------------------------------- */

static struct truth_rows truth_of(const struct signature_task *task) {
    return (struct truth_rows){
        .signatures = {task->first, task->second ? task->second : task->first},
        .radius_bits = task->radius_bits,
        .count = task->first->rows,
        .self = !task->second,
        .seed = task->options->sign.signature.seed,
        .threads = threads_of(task)};
}

/* The recall is stated for the pairs that a sample has, or, where it has few, for pairs at the
 * radius among rows that are evenly spread. */
static cog_status plan_windows(const struct signature_task *task, struct window_setting *setting,
                               cog_error *error) {
    const struct truth_rows sampled = truth_of(task);
    size_t rows = task->first->rows + (task->second ? task->second->rows : 0), around = 0;
    uint32_t distances[PLANNED_PAIRS_MAX], places[SHARING_SAMPLE];
    double sharing[WINDOW_PREFIX_MAX + 1], independent = 0, recall = task->options->recall;
    struct window_targets targets = {0};
    struct match_list pairs = {0};
    cog_status status = truth_to_plan_by(&sampled, &pairs, &independent, error);
    if (status == COG_OK && pairs.count) {
        for (size_t i = 0; i < pairs.count; i++)
            distances[i] = pairs.items[i].distance;
        for (size_t i = 0; i < pairs.count; i += pairs.count / SHARING_SAMPLE + 1)
            places[around++] = pairs.items[i].a;
        targets = (struct window_targets){
            .distances = distances, .count = pairs.count, .sharing = sharing};
        recall = truth_planned_recall((1 + 3 * recall) / 4, independent);
        status = window_measure_sharing(task->first, task->second,
                                        knob_or(&task->options->knobs, WINDOW_SHARED, 0), places,
                                        around, sharing, error);
    }
    report_number(task->report, "planned_by_pairs", (double)pairs.count);
    match_list_free(&pairs);
    if (status == COG_OK)
        report_number(task->report, "expected_recall",
                      window_plan(setting, rows, &targets, recall));
    return status;
}

static cog_status join_windows(const struct signature_task *task, struct match_list *matches,
                               cog_error *error) {
    const cog_knobs *given = &task->options->knobs;
    struct window_setting setting = {task->first->bits, (unsigned)knob_or(given, WINDOW_TABLES, 0),
                                     knob_or(given, WINDOW_ROWS, 0), task->radius_bits};
    cog_status status = plan_windows(task, &setting, error);
    if (status != COG_OK)
        return status;
    struct window_options options = {.tables = setting.tables,
                                     .window = setting.window,
                                     .chunk_rows = knob_or(given, WINDOW_CHUNK, 0),
                                     .radius_bits = task->radius_bits,
                                     .seed = task->options->sign.signature.seed,
                                     .threads = threads_of(task),
                                     .memory_bytes = budget_of(task),
                                     .shared_window = knob_or(given, WINDOW_SHARED, 0)};
    struct window_work work = {0};
    matches->limit = (size_t)(budget_of(task) / (2 * sizeof(struct match)));
    status = window_join(task->first, task->second, &options, matches, &work, error);
    report_text(task->report, "method", "window");
    report_number(task->report, "tables", setting.tables);
    report_number(task->report, "window_rows", (double)setting.window);
    report_number(task->report, "pieces_on_disk", (double)work.pieces);
    report_number(task->report, "comparisons", (double)work.comparisons);
    const struct truth_rows rows = truth_of(task);
    THEN(status,
         recall_measure(&rows, matches, task->options->recall, "flat", task->report, error));
    return status;
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status join_signatures(const struct signature_task *task, struct match_list *matches,
                                  cog_error *error) {
    cog_method method = task->options->method;
    if (method == COG_METHOD_WINDOW)
        return join_windows(task, matches, error);
    return method == COG_METHOD_AUTO && blocks_pay(task->first, task->second, task->radius_bits)
               ? join_by_blocks(task, matches, error)
               : join_all(task, matches, error);
}

static cog_status check_task(const struct signature_task *task, cog_error *error) {
    cog_method method = task->options->method;
    if (task->second && task->first->bits != task->second->bits)
        return error_set(error, COG_ERR_USAGE, "signatures of %u and of %u bits do not compare",
                         task->first->bits, task->second->bits);
    if (method != COG_METHOD_AUTO && method != COG_METHOD_FLAT && method != COG_METHOD_WINDOW)
        return error_set(error, COG_ERR_USAGE,
                         "signatures have no vectors: use --method auto, flat or window");
    if (method == COG_METHOD_WINDOW && task->options->recall >= 1)
        return error_set(error, COG_ERR_USAGE,
                         "a recall of 1 is certain, and windows are not: use --method flat, or a "
                         "recall below 1");
    return COG_OK;
}

cog_status cog_pairs_find_signatures(const cog_signatures *signatures,
                                     const cog_signatures *against, uint32_t radius_bits,
                                     const cog_pairs_options *options, const cog_run_options *run,
                                     cog_pairs **result, cog_report *report, cog_error *error) {
    struct signature_task task = {&signatures->file.view,
                                  against ? &against->file.view : NULL,
                                  radius_bits,
                                  options,
                                  run,
                                  report};
    cog_status status = check_task(&task, error);
    if (status != COG_OK)
        return status;
    if (task.radius_bits > task.first->bits)
        task.radius_bits = task.first->bits;
    cog_pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs)
        return error_memory(error, sizeof *pairs, "pairs");
    uint64_t start = clock_ns();
    pairs->sides = against ? 2 : 1;
    pairs->estimates = pairs->has_distances = true;
    struct job job;
    job_begin(&job, run, report);
    status = join_signatures(&task, &pairs->matches, error);
    job_end(&job);
    if (status != COG_OK) {
        cog_pairs_free(pairs);
        return status;
    }
    size_t rows = task.first->rows + (task.second ? task.second->rows : 0);
    report_stage(report, "joining", clock_seconds_since(start));
    report_number(report, "documents", (double)rows);
    report_number(report, "bits", task.first->bits);
    report_number(report, "radius_bits", task.radius_bits);
    report_number(report, "matches", (double)pairs->matches.count);
    report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
    *result = pairs;
    return COG_OK;
}
