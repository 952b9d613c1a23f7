/* Similar pairs as a job: from documents or signatures to a list with ids. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "hamming/signatures.h"
#include "job/pairs_handle.h"
#include "job/recall_report.h"
#include "job/report.h"
#include "job/result_table.h"
#include "job/signature_handle.h"
#include "match/flat_join.h"
#include "match/multisort_join.h"

void cog_pairs_free(cog_pairs *pairs) {
    if (!pairs)
        return;
    match_list_free(&pairs->matches);
    corpus_free(&pairs->corpora[0]);
    corpus_free(&pairs->corpora[1]);
    free(pairs);
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
    report_number(task->report, "peak_memory_bytes", (double)memory_peak_bytes());
}

cog_status pairs_of_task(struct pair_task *task, cog_status status, struct match_list *matches,
                         cog_pairs **result, cog_error *error) {
    cog_pairs *pairs = status == COG_OK ? malloc(sizeof *pairs) : NULL;
    if (status == COG_OK && !pairs)
        status = error_memory(error, sizeof *pairs, "pairs");
    if (pairs) {
        take_task(pairs, task, matches);
        *result = pairs;
    }
    match_list_free(matches);
    pair_task_free(task);
    return status;
}

static cog_status run_task(struct pair_task *task, cog_documents *const *documents,
                           struct match_list *matches, cog_error *error) {
    cog_status status = pair_task_check_memory(task, documents, error);
    struct corpus_options reading = {.terms = &task->terms, .want_frequencies = true};
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = corpus_read(&task->corpora[side], documents[side], &reading, task->run,
                             task->report, error);
    if (status == COG_OK)
        status = pair_task_prepare(task, error);
    return status == COG_OK ? pair_task_join(task, matches, error) : status;
}

cog_status cog_pairs_find(cog_documents *documents, cog_documents *against,
                          const cog_pairs_options *options, const cog_run_options *run,
                          cog_pairs **result, cog_report *report, cog_error *error) {
    cog_documents *const both[2] = {documents, against};
    struct pair_task task = {0};
    struct match_list matches = {0};
    cog_status status = pair_task_init(&task, options, against ? 2 : 1, run, report, error);
    if (status == COG_OK)
        status = run_task(&task, both, &matches, error);
    return pairs_of_task(&task, status, &matches, result, error);
}

size_t cog_pairs_count(const cog_pairs *pairs) {
    return pairs->matches.count;
}

cog_pair cog_pairs_get(const cog_pairs *pairs, size_t index) {
    const struct match *match = &pairs->matches.items[index];
    return (cog_pair){match->a, match->b, (double)match->similarity,
                      pairs->has_distances ? (int)match->distance : -1};
}

bool cog_pairs_are_estimates(const cog_pairs *pairs) {
    return pairs->estimates;
}

const char *cog_pairs_id(const cog_pairs *pairs, int side, uint32_t row, size_t *size) {
    struct bytes_view id = {NULL, 0};
    if (pairs->has_ids)
        id = corpus_id(&pairs->corpora[pairs->sides == 2 ? side : 0], row);
    *size = id.size;
    return id.data;
}

static void fill_pair(const void *context, size_t index, struct result_cell *cells) {
    const cog_pairs *pairs = context;
    cog_pair pair = cog_pairs_get(pairs, index);
    const uint32_t rows[2] = {pair.a, pair.b};
    for (int side = 0; side < 2; side++) {
        cells[side].number = rows[side];
        cells[side].text.data = cog_pairs_id(pairs, side, rows[side], &cells[side].text.size);
    }
    cells[2].number = pair.similarity;
    cells[3].number = pair.distance;
}

cog_status cog_pairs_write(const cog_pairs *pairs, cog_output_format format, const char *path,
                           cog_error *error) {
    const struct result_column columns[] = {
        {"a", RESULT_ID},
        {"b", RESULT_ID},
        {pairs->estimates ? "estimate" : "similarity", RESULT_REAL},
        {"distance", RESULT_DISTANCE}};
    struct result_table table = {columns, 4, pairs->matches.count, fill_pair, pairs};
    return result_table_write(&table, format, path, error);
}

/* ---- Signatures ------------------------------------------------------------------------------ */

uint32_t cog_radius_of_cosine(double threshold, unsigned bits) {
    uint32_t radius = 0;
    while (radius < bits && cos(M_PI * (radius + 1) / bits) >= threshold)
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

static cog_status join_signatures(const struct signatures_view *a, const struct signatures_view *b,
                                  uint32_t radius_bits, cog_method method,
                                  const cog_run_options *run, struct match_list *matches,
                                  cog_report *report, cog_error *error) {
    unsigned threads = run ? run->threads : 0;
    if (method == COG_METHOD_AUTO && blocks_pay(a, b, radius_bits)) {
        struct multisort_options options = {.radius_bits = radius_bits,
                                            .threads = threads,
                                            .memory_bytes = run ? run->memory_bytes : 0};
        report_text(report, "method", "blocks");
        return multisort_join(a, b, &options, matches, error);
    }
    uint64_t comparisons = 0;
    matches->limit = run ? (size_t)(run->memory_bytes / (2 * sizeof(struct match))) : 0;
    cog_status status =
        b ? flat_join_between(a, b, radius_bits, threads, matches, &comparisons, error)
          : flat_join_self(a, radius_bits, threads, matches, &comparisons, error);
    report_text(report, "method", "flat");
    report_number(report, "comparisons", (double)comparisons);
    return status;
}

cog_status cog_pairs_find_signatures(const cog_signatures *signatures,
                                     const cog_signatures *against, uint32_t radius_bits,
                                     cog_method method, const cog_run_options *run,
                                     cog_pairs **result, cog_report *report, cog_error *error) {
    const struct signatures_view *a = signatures_view_of(signatures);
    const struct signatures_view *b = against ? signatures_view_of(against) : NULL;
    if (b && a->bits != b->bits)
        return error_set(error, COG_ERR_USAGE, "signatures of %u and of %u bits do not compare",
                         a->bits, b->bits);
    if (method != COG_METHOD_AUTO && method != COG_METHOD_FLAT)
        return error_set(error, COG_ERR_USAGE,
                         "signatures have no vectors: use --method auto or flat");
    cog_pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs)
        return error_memory(error, sizeof *pairs, "pairs");
    uint64_t start = clock_ns();
    pairs->sides = b ? 2 : 1;
    pairs->estimates = pairs->has_distances = true;
    uint32_t radius = radius_bits < a->bits ? radius_bits : a->bits;
    struct job_watch watch;
    job_watch_begin(&watch, run);
    cog_status status = join_signatures(a, b, radius, method, run, &pairs->matches, report, error);
    job_watch_end(&watch);
    if (status != COG_OK) {
        cog_pairs_free(pairs);
        return status;
    }
    report_stage(report, "joining", clock_seconds_since(start));
    report_number(report, "documents", (double)(a->rows + (b ? b->rows : 0)));
    report_number(report, "bits", a->bits);
    report_number(report, "radius_bits", radius);
    report_number(report, "matches", (double)pairs->matches.count);
    report_exact(report);
    report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
    *result = pairs;
    return COG_OK;
}
