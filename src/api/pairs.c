/* Similar pairs, and pairs of signatures: the public functions. They check arguments and call the
 * job. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "collection/options.h"
#include "input/npy.h"
#include "jobs/pairs/disk_pairs.h"
#include "jobs/pairs/index_pairs.h"
#include "jobs/pairs/pair_join.h"
#include "jobs/pairs/set_pairs.h"
#include "jobs/result_table.h"
#include "run/job.h"

void cog_pairs_options_init(cog_pairs_options *options, cog_measure measure) {
    *options = (cog_pairs_options){.measure = measure,
                                   .threshold = 0.8,
                                   .method = COG_METHOD_AUTO,
                                   .recall = 0.95,
                                   .verify = true};
    cog_sign_options_init(&options->sign,
                          measure == COG_MEASURE_COSINE ? COG_SIGNATURE_RP : COG_SIGNATURE_MINHASH);
    if (measure != COG_MEASURE_COSINE) {
        options->sign.signature.bits = 1024;
        options->sign.signature.value_bits = 1;
    }
}

/* What every search for pairs is given; measures index tables. */
static cog_status check_call(const void *input, const cog_pairs_options *options,
                             const void *result, cog_error *error) {
    TRY(check_given(input, "input", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "pairs", error));
    TRY(options_check_reserved(options->reserved, 4, "pairs", error));
    return check_enum(options->measure, COG_MEASURE_CONTAINMENT + 1, "measure", error);
}

void cog_pairs_free(cog_pairs *pairs) {
    if (!pairs)
        return;
    match_list_free(&pairs->matches);
    corpus_free(&pairs->corpora[0]);
    corpus_free(&pairs->corpora[1]);
    free(pairs);
}

/* ---- Documents ------------------------------------------------------------------------------- */

static cog_status run_by_sets(struct pair_task *task, cog_documents *const *documents,
                              struct match_list *matches, cog_error *error) {
    struct document_sets sets = {0};
    cog_status status = set_pairs_read(task, documents, &sets, error);
    THEN(status, set_pairs_join(task, &sets, matches, error));
    document_sets_close(&sets);
    return status;
}

static cog_status run_task(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error) {
    if (pairs_are_by_sets(&task->options))
        return run_by_sets(task, documents, matches, error);
    if (disk_pairs_needed(task, documents))
        return disk_pairs_find(task, documents, matches, error);
    cog_status status = pair_task_check_memory(task, documents, error);
    struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = corpus_read(&task->corpora[side], documents[side], &reading, task->run,
                             task->report, error);
    THEN(status, pair_task_prepare(task, error));
    return status == COG_OK ? pair_join_run(task, matches, error) : status;
}

cog_status cog_pairs_find(cog_documents *documents, cog_documents *against,
                          const cog_pairs_options *options, const cog_run_options *run,
                          cog_pairs **result, cog_report *report, cog_error *error) {
    cog_documents *const both[2] = {documents, against};
    struct pair_task task = {0};
    struct match_list matches = {0};
    TRY(check_call(documents, options, result, error));
    cog_status status = pair_join_init(&task, options, against ? 2 : 1, run, report, error);
    THEN(status, run_task(&task, both, &matches, error));
    return pairs_of_task(&task, status, &matches, result, error);
}

cog_status cog_pairs_find_in_index(cog_documents *documents, const cog_index *index,
                                   const cog_pairs_options *options, const cog_run_options *run,
                                   cog_pairs **result, cog_report *report, cog_error *error) {
    struct pair_task task = {0};
    struct match_list matches = {0};
    TRY(check_call(documents, options, result, error));
    TRY(check_given(index, "index", error));
    TRY(index_pairs_check(index, options, error));
    cog_status status = pair_join_init(&task, options, 2, run, report, error);
    THEN(status, index_pairs_find(&task, documents, index, &matches, error));
    return pairs_of_task(&task, status, &matches, result, error);
}

size_t cog_pairs_count(const cog_pairs *pairs) {
    return pairs->matches.count;
}

cog_pair cog_pairs_get(const cog_pairs *pairs, size_t index) {
    if (index >= pairs->matches.count)
        return (cog_pair){.distance = -1};
    const struct match *match = &pairs->matches.items[index];
    return (cog_pair){
        match->a, match->b, (double)match->similarity,
        pairs->has_distances && match->distance != DISTANCE_NONE ? (int)match->distance : -1};
}

size_t cog_pairs_read(const cog_pairs *pairs, size_t first, size_t count, cog_pair *items) {
    size_t read = 0;
    for (; read < count && first + read < pairs->matches.count; read++)
        items[read] = cog_pairs_get(pairs, first + read);
    return read;
}

bool cog_pairs_are_estimates(const cog_pairs *pairs) {
    return pairs->estimates;
}

/* The collection that has the row; NULL if none has. */
static const struct corpus *corpus_of_row(const cog_pairs *pairs, int side, uint32_t row) {
    const struct corpus *corpus = &pairs->corpora[pairs->sides == 2 && side == 1];
    return (side == 0 || side == 1) && row < corpus->rows ? corpus : NULL;
}

const char *cog_pairs_id(const cog_pairs *pairs, int side, uint32_t row, size_t *size) {
    struct bytes_view id = {NULL, 0};
    const struct corpus *corpus = corpus_of_row(pairs, side, row);
    if (pairs->has_ids && corpus)
        id = corpus_id(corpus, row);
    *size = id.size;
    return id.data;
}

uint64_t cog_pairs_position(const cog_pairs *pairs, int side, uint32_t row) {
    if (!pairs->has_ids)
        return row; /* of signatures */
    const struct corpus *corpus = corpus_of_row(pairs, side, row);
    return corpus ? corpus->items[row].record : 0;
}

cog_status cog_pairs_write(const cog_pairs *pairs, cog_output_format format, const char *path,
                           cog_error *error) {
    TRY(check_given(pairs, "pairs", error));
    TRY(check_given(path, "path", error));
    enum { RELEASED_AT_ONCE = 1 << 17 };
    const struct result_column columns[] = {
        {"a", RESULT_ID},
        {"b", RESULT_ID},
        {pairs->estimates ? "estimate" : "similarity", RESULT_REAL},
        {"distance", RESULT_DISTANCE}};
    struct result_table table = {0};
    TRY(check_enum(format, COG_OUTPUT_NPY + 1, "output format", error));
    cog_status status =
        result_table_open(&table, columns, 4, pairs->matches.count, format, path, error);
    for (size_t i = 0; i < pairs->matches.count && status == COG_OK; i++) {
        cog_pair pair = cog_pairs_get(pairs, i);
        struct result_cell cells[] = {{.number = pair.a},
                                      {.number = pair.b},
                                      {.number = pair.similarity},
                                      {.number = pair.distance}};
        cells[0].text.data = cog_pairs_id(pairs, 0, pair.a, &cells[0].text.size);
        cells[1].text.data = cog_pairs_id(pairs, 1, pair.b, &cells[1].text.size);
        status = result_table_add(&table, cells, error);
        if (i % RELEASED_AT_ONCE == 0)
            match_list_release(&pairs->matches, i);
    }
    return result_table_close(&table, status, error);
}

/* ---- Signatures ------------------------------------------------------------------------------ */

uint32_t cog_radius_of_cosine(double threshold, unsigned bits) {
    uint32_t radius = 0;
    while (radius < bits && hamming_cosine(radius + 1, bits) >= threshold)
        radius++;
    return radius;
}

cog_status cog_pairs_find_signatures(const cog_signatures *signatures,
                                     const cog_signatures *against, uint32_t radius_bits,
                                     const cog_pairs_options *options, const cog_run_options *run,
                                     cog_pairs **result, cog_report *report, cog_error *error) {
    TRY(check_call(signatures, options, result, error));
    const struct signatures_view *first = &signatures->file.view;
    const struct signatures_view *second = against ? &against->file.view : NULL;
    struct match_list matches = {0};
    struct job job;
    radius_bits = radius_bits < first->bits ? radius_bits : first->bits;
    job_begin(&job, run, report);
    job_stage(&job, "joining");
    cog_status status =
        pair_join_signatures(first, second, radius_bits, options, run, &matches, report, error);
    job_end(&job);
    cog_pairs *pairs = NULL;
    THEN(status, TAKEN(pairs, 1, "pairs", error));
    if (status != COG_OK) {
        match_list_free(&matches);
        return status;
    }
    *pairs = (cog_pairs){
        .matches = matches, .sides = second ? 2 : 1, .estimates = true, .has_distances = true};
    *result = pairs;
    report_number(report, "documents", (double)(first->rows + (second ? second->rows : 0)));
    report_number(report, "bits", first->bits);
    report_number(report, "radius_bits", radius_bits);
    report_number(report, "matches", (double)matches.count);
    return COG_OK;
}
