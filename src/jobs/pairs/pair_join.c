#include "jobs/pairs/pair_join.h"

#include <math.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "collection/options.h"
#include "jobs/pairs/few_terms.h"
#include "jobs/pairs/set_pairs.h"
#include "plan/method_choice.h"
#include "run/job.h"

static bool needs_signatures(const struct search_method *method) {
    return !(method->needs & NEEDS_VECTORS);
}

static struct method_join request(const struct pair_task *task) {
    const cog_pairs_options *options = &task->options;
    const cog_signature_options *signature = &options->sign.signature;
    return (struct method_join){.radius_bits = COG_RADIUS_NONE,
                                .threshold = options->threshold,
                                .is_jaccard = options->measure == COG_MEASURE_JACCARD,
                                .verify = options->verify,
                                .is_minhash = signature->kind == COG_SIGNATURE_MINHASH,
                                .bits = signature->bits,
                                .value_bits = signature->value_bits,
                                .recall = options->recall,
                                .knobs = options->knobs,
                                .pairs = {.independent = -1},
                                .seed = signature->seed,
                                .memory_bytes = pair_task_memory_left(task),
                                .threads = task->threads,
                                .report = task->report};
}

static cog_status check_certain(const struct search_method *method, double recall,
                                const char *instead, cog_error *error) {
    if (recall < 1 || method->certain & COG_ANSWERS_PAIRS)
        return COG_OK;
    return error_set(error, COG_ERR_USAGE,
                     "a recall of 1 is certain, and the method %s is not: use the method %s, or a "
                     "recall below 1",
                     method->name, instead);
}

static cog_status check_method(const struct pair_task *task, cog_error *error) {
    const struct search_method *method = method_of(task->options.method);
    const struct method_join join = request(task);
    if (task->options.measure == COG_MEASURE_CONTAINMENT && !pairs_are_by_sets(&task->options))
        return error_about(error, COG_ERR_USAGE, "method",
                           "containment is computed exactly: use the method exact");
    if (!method || !method->join)
        return error_set(error, COG_ERR_USAGE,
                         "the method %s finds no pairs: exact, lists, flat, lsh and window do",
                         method_name(task->options.method));
    TRY(check_certain(method, task->options.recall, "exact", error));
    return method->check_join ? method->check_join(&join, error) : COG_OK;
}

cog_status pair_join_init(struct pair_task *task, const cog_pairs_options *options, size_t sides,
                          const cog_run_options *run, cog_report *report, cog_error *error) {
    cog_method *method = &task->options.method;
    TRY(pair_task_init(task, options, sides, run, report, error));
    TRY(method_take_knobs(method, &options->knobs, COG_KNOB_PAIRS, error));
    if (*method == COG_METHOD_AUTO)
        *method = method_exhaustive(options->verify);
    TRY(check_method(task, error));
    return pairs_are_by_sets(&task->options)
               ? options_set_terms(&options->sign.terms, options->measure, &task->terms, error)
               : COG_OK;
}

/* ---- Settings -------------------------------------------------------------------------------- */

/* Keeps at most PLANNED_PAIRS_MAX pairs, evenly spaced. */
static void thin_out(struct match_list *truth) {
    const size_t step = truth->count / PLANNED_PAIRS_MAX + 1;
    size_t kept = 0;
    for (size_t i = 0; i < truth->count; i += step)
        truth->items[kept++] = truth->items[i];
    truth->count = kept;
}

static bool is_of_few_terms(const struct pair_task *task, const struct match *pair) {
    return few_terms_has(task, 0, pair->a) || (task->sides == 1 && few_terms_has(task, 0, pair->b));
}

/* Drops pairs that few_terms_join finds, as no plan needs to reach them, if enough others are left
 * to plan by. */
static void drop_few_terms(struct joining *joining) {
    const struct pair_task *task = joining->task;
    struct match_list *truth = &joining->truth;
    size_t kept = 0;
    if (!needs_signatures(joining->method) || !few_terms_matter(task))
        return;
    for (size_t i = 0; i < truth->count; i++)
        kept += !is_of_few_terms(task, &truth->items[i]);
    if (kept < PLANNED_PAIRS_MIN || kept == truth->count)
        return;
    kept = 0;
    for (size_t i = 0; i < truth->count; i++)
        if (!is_of_few_terms(task, &truth->items[i]))
            truth->items[kept++] = truth->items[i];
    truth->count = kept;
    joining->join.pairs.independent = fmin(joining->join.pairs.independent, (double)kept);
}

/* Samples true pairs, as rows of the collection. A recall of 1 needs no plan, and bands of minhash
 * values have a formula. */
static cog_status sample_pairs(struct joining *joining, const struct truth_rows *rows,
                               cog_error *error) {
    struct method_join *join = &joining->join;
    struct match_list *truth = &joining->truth;
    const size_t most = joining->method->planned_rows;
    cog_status status = COG_OK;
    if (most == 0 || (join->is_minhash && join->value_bits > 1))
        return COG_OK;
    join->pairs.independent = 0;
    if (most < TRUTH_ROWS_MAX && join->recall < 1)
        status = truth_of_rows(rows, most, truth, error);
    else if (join->recall < 1)
        status = truth_to_plan_by(rows, truth, &join->pairs.independent, error);
    if (joining->task)
        drop_few_terms(joining);
    thin_out(truth);
    join->pairs.items = truth->items;
    join->pairs.count = truth->count;
    report_number(join->report, "planned_by_pairs", (double)truth->count);
    return status;
}

/* Signs some rows, with the first margins_per_row margins of each. */
static cog_status sign_rows(const struct pair_task *task, size_t side,
                            const struct compared_rows *rows, size_t margins_per_row,
                            struct signatures_view *view, float **margins,
                            struct method_rows *signed_rows, cog_error *error) {
    if (margins_per_row) {
        *margins = memory_array(rows->count, margins_per_row * sizeof **margins);
        if (!*margins)
            return error_memory(error, rows->count * margins_per_row * sizeof **margins, "margins");
    }
    TRY(pair_task_sign(task, side, rows, view, *margins, margins_per_row, error));
    signed_rows->signatures = view;
    signed_rows->margins = *margins;
    signed_rows->margins_per_row = margins_per_row;
    return COG_OK;
}

/* Signs the first and the second rows of the true pairs, with all margins. */
static cog_status sign_pairs(struct joining *joining, cog_error *error) {
    const struct pair_task *task = joining->task;
    const size_t margins = joining->join.is_minhash ? 0 : joining->join.bits;
    uint32_t numbers[PLANNED_PAIRS_MAX];
    const struct compared_rows rows = {numbers, joining->truth.count};
    for (size_t number = 0; number < 2; number++) {
        for (size_t i = 0; i < rows.count; i++)
            numbers[i] = number ? joining->truth.items[i].b : joining->truth.items[i].a;
        TRY(sign_rows(task, number ? task->sides - 1 : 0, &rows, margins,
                      &joining->pair_views[number], &joining->pair_margins[number],
                      &joining->join.pairs.rows[number], error));
    }
    return COG_OK;
}

/* The position of a row among the compared ones. */
static uint32_t place_of(const struct compared_rows *compared, uint32_t row) {
    size_t low;
    FIND_FIRST_NOT(low, 0, compared->count - 1, compared->numbers[low] < row);
    return (uint32_t)low;
}

/* Lets the method choose its settings for the number of rows. */
static cog_status plan(struct joining *joining, cog_error *error) {
    struct pair_task *task = joining->task;
    struct method_join *join = &joining->join;
    for (size_t side = 0; side < task->sides; side++) {
        if (!joining->views[side].data)
            joining->views[side] = (struct signatures_view){
                NULL, task->compared[side].count, join->bits, signature_stride_bytes(join->bits)};
        (side ? &join->second : &join->first)->signatures = &joining->views[side];
    }
    if (joining->method->plan_join) {
        if (joining->truth.count) {
            TRY(sign_pairs(joining, error));
        }
        TRY(joining->method->plan_join(join, error));
    }
    for (size_t i = 0; i < joining->truth.count; i++) {
        struct match *pair = &joining->truth.items[i];
        pair->a = place_of(&task->compared[0], pair->a);
        pair->b = place_of(&task->compared[task->sides - 1], pair->b);
    }
    return COG_OK;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static cog_status sign_sides(struct joining *joining, cog_error *error) {
    struct pair_task *task = joining->task;
    struct method_join *join = &joining->join;
    const uint64_t row_bytes =
        signature_stride_bytes(join->bits) + join->margins_out * sizeof(float);
    uint64_t bytes = join->table_bytes_out;
    for (size_t side = 0; side < task->sides; side++)
        bytes += task->compared[side].count * row_bytes;
    TRY(pair_task_take_memory(task, bytes, error));
    for (size_t side = 0; side < task->sides; side++)
        TRY(sign_rows(task, side, &task->compared[side], join->margins_out, &joining->views[side],
                      &joining->margins[side], side ? &join->second : &join->first, error));
    return COG_OK;
}

static void take_vectors(struct joining *joining) {
    const struct pair_task *task = joining->task;
    for (size_t side = 0; side < task->sides; side++) {
        struct method_rows *rows = side ? &joining->join.second : &joining->join.first;
        rows->vectors = &task->vectors[side];
    }
}

void joining_free(struct joining *joining) {
    for (size_t side = 0; side < 2; side++) {
        FREE((void *)joining->pair_views[side].data, joining->margins[side],
             joining->pair_margins[side]);
    }
    match_list_free(&joining->truth);
}

/* ---- Joins ----------------------------------------------------------------------------------- */

/* Verifies candidates as they are found, so at most a batch of them is in memory. */
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

/* Joins of signatures estimate cosines; this converts distances to Jaccard estimates. */
static void estimate_jaccard(const struct method_join *join, struct match_list *matches) {
    const float bits = (float)join->bits;
    for (size_t i = 0; i < matches->count; i++)
        matches->items[i].similarity = 1 - 2 * (float)matches->items[i].distance / bits;
}

static cog_status join_signed(struct joining *joining, struct match_list *matches,
                              cog_error *error) {
    struct pair_task *task = joining->task;
    struct verification verification = {.check = pair_task_check(task)};
    const struct match_sieve sieve = {verify_batch, &verification};
    /* Methods with hash tables count candidates themselves, and few of their candidates share a
     * row. */
    verification.check.scattered = joining->method->plan_join != NULL;
    matches->sieve = task->options.verify ? &sieve : NULL;
    cog_status status = joining->method->join(&joining->join, matches, error);
    matches->sieve = NULL;
    if (status != COG_OK)
        return status;
    pair_task_name_rows(task, matches);
    if (!joining->method->plan_join)
        report_number(task->report, "candidates",
                      task->options.verify ? (double)verification.candidates
                                           : (double)matches->count);
    if (!task->options.verify && joining->join.is_jaccard)
        estimate_jaccard(&joining->join, matches);
    task->has_distances = true;
    task->estimates = !task->options.verify;
    joining->join.is_exact_out &= task->options.verify;
    return COG_OK;
}

/* Adds the pairs of rows with few terms, some of which signatures miss. */
static cog_status add_few_terms(const struct pair_task *task, struct match_list *matches,
                                cog_error *error) {
    struct match_list few = {.limit = matches->limit};
    cog_status status = few_terms_join(task, &few, error);
    THEN(status, match_list_move(matches, &few, error));
    if (status == COG_OK)
        match_list_sort_distinct(matches);
    match_list_free(&few);
    return status;
}

cog_status joining_plan(struct joining *joining, struct pair_task *task, cog_error *error) {
    const struct truth_rows rows = pair_task_truth(task);
    *joining = (struct joining){
        .task = task, .method = method_of(task->options.method), .join = request(task)};
    TRY(sample_pairs(joining, &rows, error));
    return needs_signatures(joining->method) ? plan(joining, error) : COG_OK;
}

static cog_status join_compared(struct pair_task *task, struct match_list *matches,
                                cog_error *error) {
    const struct truth_rows rows = pair_task_truth(task);
    struct joining joining;
    cog_status status = joining_plan(&joining, task, error);
    matches->limit = pair_task_max_matches(task);
    if (needs_signatures(joining.method)) {
        THEN(status, sign_sides(&joining, error));
        THEN(status, join_signed(&joining, matches, error));
        if (!joining.join.is_exact_out && few_terms_matter(task))
            THEN(status, add_few_terms(task, matches, error));
        free((void *)joining.views[0].data);
        free((void *)joining.views[1].data);
    } else {
        take_vectors(&joining);
        THEN(status, joining.method->join(&joining.join, matches, error));
    }
    joining_free(&joining);
    if (status == COG_OK && joining.join.is_exact_out)
        report_exact(task->report);
    else if (status == COG_OK)
        status = recall_measure(&rows, matches, task->options.recall, "exact", task->report, error);
    return status;
}

cog_status pair_join_run(struct pair_task *task, struct match_list *matches, cog_error *error) {
    uint64_t start = clock_ns();
    progress_show("joining");
    report_text(task->report, "method", method_name(task->options.method));
    report_number(task->report, "threshold", task->given_threshold);
    cog_status status = pair_task_list_rows(task, error);
    if (task->options.measure == COG_MEASURE_JACCARD)
        THEN(status, pair_task_store_sets(task, error));
    THEN(status, join_compared(task, matches, error));
    report_number(task->report, "matches", (double)matches->count);
    report_stage(task->report, "joining", clock_seconds_since(start));
    return status;
}

cog_status pair_join_propose(struct pair_task *task, struct signatures_view views[2],
                             uint32_t radius_bits, struct match_list *matches, cog_error *error) {
    const struct truth_rows rows = pair_task_truth(task);
    struct joining joining = {
        .task = task, .method = method_of(task->options.method), .join = request(task)};
    cog_status status = COG_OK;
    joining.join.radius_bits = radius_bits;
    if (needs_signatures(joining.method)) {
        joining.views[0] = views[0];
        joining.views[1] = views[1];
        status = plan(&joining, error);
        if (joining.join.margins_out) {
            for (size_t side = 0; side < 2; side++) {
                free((void *)views[side].data);
                joining.views[side].data = views[side].data = NULL;
            }
            THEN(status, sign_sides(&joining, error));
            views[0] = joining.views[0];
            views[1] = joining.views[1];
        }
    } else {
        take_vectors(&joining);
        status = sample_pairs(&joining, &rows, error);
    }
    THEN(status, joining.method->join(&joining.join, matches, error));
    if (status == COG_OK && needs_signatures(joining.method)) {
        pair_task_name_rows(task, matches);
        report_number(task->report, "candidates", (double)matches->count);
    }
    joining_free(&joining);
    return status;
}

/* ---- Signatures that exist ------------------------------------------------------------------- */

static cog_status choose_method(const cog_pairs_options *options, const struct method_join *join,
                                const struct search_method **method, cog_error *error) {
    const struct signatures_view *second = join_second(join);
    if (second && join->bits != second->bits)
        return error_set(
            error, COG_ERR_USAGE,
            "signatures of %u and of %u bits cannot be compared; use the same number of bits",
            join->bits, second->bits);
    cog_method asked = options->method;
    TRY(method_take_knobs(&asked, &options->knobs, COG_KNOB_PAIRS, error));
    *method = asked == COG_METHOD_AUTO ? method_to_join_signatures(join) : method_of(asked);
    if (!*method || !(*method)->join || !needs_signatures(*method) || (*method)->plan_join)
        return error_about(error, COG_ERR_USAGE, "method",
                           "signatures have no vectors: use the method auto, flat or window");
    return check_certain(*method, options->recall, "flat", error);
}

cog_status pair_join_signatures(const struct signatures_view *first,
                                const struct signatures_view *second, uint32_t radius_bits,
                                const cog_pairs_options *options, const cog_run_options *run,
                                struct match_list *matches, cog_report *report, cog_error *error) {
    const uint64_t seed = options->sign.signature.seed;
    const unsigned threads = run ? run->threads : 0;
    struct joining joining = {.join = {.first = {.signatures = first},
                                       .second = {.signatures = second},
                                       .radius_bits = radius_bits,
                                       .bits = first->bits,
                                       .recall = options->recall,
                                       .knobs = options->knobs,
                                       .seed = seed,
                                       .memory_bytes = run ? run->memory_bytes : 0,
                                       .threads = threads,
                                       .report = report}};
    const struct truth_rows rows = {.signatures = {first, second ? second : first},
                                    .radius_bits = radius_bits,
                                    .count = first->rows,
                                    .self = !second,
                                    .seed = seed,
                                    .threads = threads};
    TRY(choose_method(options, &joining.join, &joining.method, error));
    report_text(report, "method", joining.method->name);
    /* The number that the budget allows, with room for an unsorted and a sorted copy. */
    matches->limit = (size_t)(joining.join.memory_bytes / (2 * sizeof(struct match)));
    cog_status status = sample_pairs(&joining, &rows, error);
    THEN(status, joining.method->join(&joining.join, matches, error));
    joining_free(&joining);
    if (status == COG_OK && joining.join.is_exact_out)
        report_exact(report);
    else if (status == COG_OK)
        status = recall_measure(&rows, matches, options->recall, "flat", report, error);
    return status;
}
