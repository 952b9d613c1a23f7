#include "jobs/pairs/pair_task.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "join/cosine/cosine_join.h"
#include "join/sets/set_join.h"
#include "run/job.h"

cog_status pair_task_init(struct pair_task *task, const cog_pairs_options *options, size_t sides,
                          const cog_run_options *run, cog_report *report, cog_error *error) {
    task->options = *options;
    task->sides = sides;
    task->given_threshold = options->threshold;
    task->run = run;
    task->report = report;
    task->threads = threads_resolve(run ? run->threads : 0);
    job_begin(&task->job, run, report);
    TRY(check_share(options->threshold, "threshold", error));
    TRY(check_share(options->recall, "recall", error));
    TRY(check_enum(options->sign.signature.kind, COG_SIGNATURE_MINHASH + 1, "kind of signature",
                   error));
    if (options->measure == COG_MEASURE_COSINE)
        task->options.threshold -= COSINE_PRECISION;
    TRY(options_terms(&options->sign.terms, &task->terms, error));
    return options_weighting(&options->sign.weights, &task->weighting, error);
}

void pair_task_free(struct pair_task *task) {
    if (task->same_corpus)
        task->corpora[1] = (struct corpus){0};
    for (int side = 0; side < 2; side++) {
        corpus_free(&task->corpora[side]);
        sparse_matrix_free(&task->vectors[side]);
        set_collection_free(&task->sets[side]);
        free(task->compared[side].numbers);
    }
    document_sets_close(&task->truth_sets);
    statistics_free(task->statistics);
    job_end(&task->job);
}

/* Bytes of memory per byte of input text, measured on the sets named in docs/results.md and rounded
 * up: distinct terms with frequencies, vectors, vocabulary. N-grams are nearly all distinct, and
 * each has an entry in the vocabulary. */
static double memory_factor(const struct pair_task *task) {
    return task->options.measure == COG_MEASURE_COSINE && task->terms.ngram == 1 ? MEMORY_OF_TERMS
                                                                                 : 9;
}

double pair_task_memory_bytes(const struct pair_task *task, cog_documents *const *documents) {
    double text_bytes = 0;
    for (size_t side = 0; side < task->sides; side++)
        text_bytes += (double)ingest_text_bytes(documents[side]);
    return MEMORY_BASE_BYTES + text_bytes * memory_factor(task);
}

cog_status pair_task_check_memory(struct pair_task *task, cog_documents *const *documents,
                                  cog_error *error) {
    task->announced_bytes = pair_task_memory_bytes(task, documents);
    return memory_budget_check(task->announced_bytes, task->run, task->report, error);
}

uint64_t pair_task_held_bytes(const struct pair_task *task) {
    uint64_t held = task->statistics ? statistics_memory_bytes(task->statistics) : 0;
    for (size_t side = 0; side < task->sides; side++) {
        const struct sparse_matrix *vectors = &task->vectors[side];
        const struct set_collection *sets = &task->sets[side];
        held += side && task->same_corpus ? 0 : corpus_memory_bytes(&task->corpora[side]);
        held +=
            vectors->columns && !task->has_lent_vectors ? vectors->offsets[vectors->rows] * 8 : 0;
        held += sets->offsets ? sets->offsets[sets->rows] * 4 : 0;
    }
    return held;
}

cog_status pair_task_take_memory(struct pair_task *task, uint64_t method_bytes, cog_error *error) {
    double needed = MEMORY_BASE_BYTES + (double)(pair_task_held_bytes(task) + method_bytes);
    if (needed > 1.1 * task->announced_bytes)
        memory_budget_announce(needed, task->run, task->report);
    return memory_budget_keep(needed, task->run, error);
}

cog_status pair_task_sign(const struct pair_task *task, size_t side,
                          const struct compared_rows *rows, struct signatures_view *view,
                          float *margins, size_t margins_per_row, cog_error *error) {
    const cog_sign_options *sign = &task->options.sign;
    if (task->on_disk)
        return task->on_disk->sign(task->on_disk->context, side, rows, view, margins,
                                   margins_per_row, error);
    if (!task->projected) {
        struct signable_rows of_corpus = {
            .corpus = &task->corpora[side], .numbers = rows->numbers, .count = rows->count};
        return corpus_sign(&of_corpus, sign, task->statistics, task->threads, view, margins,
                           margins_per_row, error);
    }
    struct signable_rows of_vectors = {
        .matrix = &task->vectors[side], .numbers = rows->numbers, .count = rows->count};
    struct signature_options signature;
    TRY(options_signature(&sign->signature, &signature, error));
    return vector_sign(&of_vectors, &signature, task->threads, view, margins, margins_per_row,
                       error);
}

void pair_task_name_rows(const struct pair_task *task, struct match_list *matches) {
    for (size_t i = 0; i < matches->count && task->compared[0].numbers; i++) {
        matches->items[i].a = task->compared[0].numbers[matches->items[i].a];
        matches->items[i].b = task->compared[task->sides - 1].numbers[matches->items[i].b];
    }
}

/* ---- Vectors and rows ------------------------------------------------------------------------ */

static size_t corpora_of(const struct pair_task *task) {
    return task->same_corpus ? 1 : task->sides;
}

cog_status pair_task_prepare(struct pair_task *task, cog_error *error) {
    const struct corpus *corpora[2] = {&task->corpora[0], &task->corpora[1]};
    uint64_t start = clock_ns();
    progress_show("weighing");
    cog_status status =
        corpus_statistics(corpora, corpora_of(task), task->threads, &task->statistics, error);
    if (status != COG_OK)
        return status;
    if (task->options.measure == COG_MEASURE_JACCARD) {
        status = corpus_sets(corpora, task->sides, task->statistics, task->selected, task->threads,
                             task->sets, error);
    } else {
        status =
            corpus_vectors(corpora, task->sides,
                           task->given_statistics ? task->given_statistics : task->statistics,
                           &task->weighting, task->selected, task->threads, task->vectors, error);
    }
    report_stage(task->report, "weighing", clock_seconds_since(start));
    report_number(task->report, "vocabulary_terms",
                  (double)statistics_term_count(task->statistics));
    return status;
}

uint64_t pair_task_memory_left(const struct pair_task *task) {
    uint64_t budget = task->run ? task->run->memory_bytes : 0;
    uint64_t held = pair_task_held_bytes(task);
    return budget > held ? budget - held : budget ? 1 : 0;
}

/* The part of the budget that a join of sets may use: at least the few megabytes that it needs. */
static uint64_t pair_task_set_join_bytes(const struct pair_task *task) {
    enum { LEAST_BYTES = 8 << 20 };
    const uint64_t left = pair_task_memory_left(task);
    return left && left < LEAST_BYTES ? LEAST_BYTES : left;
}

size_t pair_task_max_matches(const struct pair_task *task) {
    const uint64_t left = pair_task_memory_left(task);
    return left ? (size_t)(left / (2 * sizeof(struct match))) + 1 : 0;
}

/* Whether a row has terms to be compared. */
static bool has_terms(const struct pair_task *task, size_t side, size_t row) {
    if (task->options.measure == COG_MEASURE_JACCARD)
        return task->sets[side].sizes[row] > 0;
    return task->vectors[side].offsets[row + 1] > task->vectors[side].offsets[row];
}

cog_status pair_task_list_rows(struct pair_task *task, cog_error *error) {
    for (size_t side = 0; side < task->sides; side++) {
        struct compared_rows *compared = &task->compared[side];
        size_t rows = task->corpora[side].rows;
        compared->count = 0;
        TAKE(compared->numbers, rows, "rows", error);
        for (size_t row = 0; row < rows; row++)
            if (has_terms(task, side, row))
                compared->numbers[compared->count++] = (uint32_t)row;
    }
    return COG_OK;
}

cog_status pair_task_store_sets(struct pair_task *task, cog_error *error) {
    TRY(document_sets_open(&task->truth_sets, "-", error));
    for (size_t side = 0; side < task->sides; side++)
        TRY(corpus_add_sets(&task->corpora[side], NULL, &task->truth_sets, error));
    return COG_OK;
}

/* A truth_rows.find: joins the sampled rows with the compared rows of the last side. */
static cog_status find_by_sets(void *context, const uint32_t *sample, size_t count,
                               struct match_list *truth, cog_error *error) {
    const struct pair_task *task = context;
    const struct compared_rows *others = &task->compared[task->sides - 1];
    const size_t first = task->sides == 2 ? task->corpora[0].rows : 0;
    const struct set_join_options options = {.mode = SET_JOIN_PAIRS,
                                             .measure = {false, task->options.threshold},
                                             .reference = count,
                                             .memory_bytes = pair_task_set_join_bytes(task),
                                             .near_path = "-"};
    struct set_join_result result = {.pairs.limit = truth->limit};
    struct job job;
    uint32_t *order;
    TAKE(order, count + others->count, "a sample of sets", error);
    memcpy(order, sample, count * sizeof *order);
    for (size_t i = 0; i < others->count; i++)
        order[count + i] = (uint32_t)(first + others->numbers[i]);
    job_begin(&job, task->run, NULL);
    cog_status status = set_join_run(&task->truth_sets.file, order, count + others->count, &options,
                                     &job, &result, error);
    job_end(&job);
    for (size_t i = 0; i < result.pairs.count; i++) {
        struct match match = result.pairs.items[i];
        match.b = others->numbers[match.b - count];
        THEN(status, match_list_add(truth, match, error));
    }
    if (status == COG_OK)
        match_list_sort(truth);
    set_join_result_free(&result);
    free(order);
    return status;
}

struct truth_rows pair_task_truth(const struct pair_task *task) {
    const size_t last = task->sides - 1;
    struct truth_rows rows = {.threshold = task->options.threshold,
                              .numbers = task->compared[0].numbers,
                              .count = task->compared[0].count,
                              .self = task->sides == 1,
                              .same_rows = task->same_corpus,
                              .seed = task->options.sign.signature.seed,
                              .threads = task->threads,
                              .side_rows = task->corpora[last].rows};
    if (task->on_disk) {
        rows.find = task->on_disk->find;
        rows.context = task->on_disk->context;
    } else if (task->options.measure == COG_MEASURE_JACCARD) {
        rows.find = find_by_sets;
        rows.context = (void *)task;
    } else {
        rows.vectors[0] = &task->vectors[0];
        rows.vectors[1] = &task->vectors[last];
    }
    return rows;
}

struct pair_check pair_task_check(const struct pair_task *task) {
    const size_t last = task->sides - 1;
    const bool cosine = task->options.measure == COG_MEASURE_COSINE;
    return (struct pair_check){
        .rows = {task->compared[0].numbers, task->compared[last].numbers},
        .vectors = {cosine ? &task->vectors[0] : NULL, cosine ? &task->vectors[last] : NULL},
        .sets = {&task->sets[0], &task->sets[last]},
        .threshold = task->options.threshold,
        .threads = task->threads};
}

double pair_task_similarity(const struct pair_task *task, uint32_t a, uint32_t b) {
    size_t other = task->sides - 1;
    return task->options.measure == COG_MEASURE_COSINE
               ? sparse_row_dot(&task->vectors[0], a, &task->vectors[other], b)
               : set_jaccard(&task->sets[0], a, &task->sets[other], b);
}

static void take_task(cog_pairs *pairs, struct pair_task *task, struct match_list *matches) {
    *pairs = (cog_pairs){.matches = *matches,
                         .sides = (int)task->sides,
                         .estimates = task->estimates,
                         .has_distances = task->has_distances,
                         .has_ids = true};
    *matches = (struct match_list){0};
    memcpy(pairs->corpora, task->corpora, sizeof pairs->corpora);
    memset(task->corpora, 0, sizeof task->corpora);
}

cog_status pairs_of_task(struct pair_task *task, cog_status status, struct match_list *matches,
                         cog_pairs **result, cog_error *error) {
    cog_pairs *pairs = NULL;
    THEN(status, TAKEN(pairs, 1, "pairs", error));
    if (status == COG_OK) {
        take_task(pairs, task, matches);
        *result = pairs;
    }
    match_list_free(matches);
    pair_task_free(task);
    return status;
}
