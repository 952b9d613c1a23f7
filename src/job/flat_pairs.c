#include "job/flat_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "evaluate/interval.h"
#include "hamming/hamming.h"
#include "job/report.h"
#include "match/cosine_join.h"
#include "match/flat_join.h"
#include "match/jaccard_join.h"
#include "plan/radius.h"

enum { SIGN_GRAIN = 256, SAMPLE_ROWS = 1000 };

/* ---- Signatures of the rows
 * ---------------------------------------------------------------------- */

struct row_signing {
    const struct corpus *corpus;
    struct text_signer text_signer;
    uint8_t *signatures;
    size_t stride_bytes;
};

static cog_status sign_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    const struct row_signing *signing = context;
    struct text_signer_scratch scratch;
    cog_status status = text_signer_scratch_init(&scratch, &signing->text_signer, error);
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        struct bag_view bag = corpus_bag(signing->corpus, row);
        struct term_list terms = {.hashes = (uint64_t *)bag.hashes, .count = bag.count};
        size_t term_count;
        status = text_signer_sign(&signing->text_signer, &scratch, &terms, &bag,
                                  signing->signatures + row * signing->stride_bytes, NULL,
                                  &term_count, error);
    }
    text_signer_scratch_reset(&scratch);
    return status;
}

static cog_status sign_corpus(const struct pair_task *task, const struct corpus *corpus,
                              struct signatures_view *view, cog_error *error) {
    struct row_signing signing = {.corpus = corpus};
    cog_statistics statistics = {task->statistics, {0}};
    unsigned bits = task->options.sign.signature.bits;
    signing.stride_bytes = signature_stride_bytes(bits);
    cog_status status = options_record_terms(&task->options.sign.terms, &statistics.terms, error);
    if (status == COG_OK)
        status = text_signer_init(&signing.text_signer, &task->options.sign, &statistics, error);
    if (status == COG_OK) {
        signing.signatures = memory_array(corpus->rows, signing.stride_bytes);
        if (!signing.signatures)
            status = error_memory(error, corpus->rows * signing.stride_bytes, "signatures");
    }
    if (status == COG_OK)
        status = parallel_for(task->threads, corpus->rows, SIGN_GRAIN, sign_rows, &signing, error);
    *view = (struct signatures_view){signing.signatures, corpus->rows, bits, signing.stride_bytes};
    text_signer_reset(&signing.text_signer);
    settings_free(&statistics.terms);
    return status;
}

/* ---- Candidates and their verification
 * ------------------------------------------------------------ */

static cog_status find_radius(const struct pair_task *task, uint32_t *radius, cog_error *error) {
    const cog_signature_options *signature = &task->options.sign.signature;
    double p;
    if (task->options.measure == COG_MEASURE_COSINE) {
        if (signature->kind == COG_SIGNATURE_MINHASH)
            return error_set(
                error, COG_ERR_USAGE,
                "minhash signatures do not tell a cosine: use rp, simhash or topsig, or "
                "--measure jaccard");
        p = bit_flip_probability_cosine(task->options.threshold);
    } else {
        if (signature->kind != COG_SIGNATURE_MINHASH || signature->value_bits != 1)
            return error_set(
                error, COG_ERR_USAGE,
                "distances tell a Jaccard coefficient only for minhash values of one bit: "
                "use --signature minhash --value-bits 1");
        p = bit_flip_probability_jaccard(task->options.threshold);
    }
    *radius = radius_for_recall(signature->bits, p, task->options.recall);
    return COG_OK;
}

static bool has_terms(const struct pair_task *task, size_t side, uint32_t row) {
    if (task->options.measure == COG_MEASURE_JACCARD)
        return task->sets[side].sizes[row] > 0;
    return task->vectors[side].offsets[row + 1] > task->vectors[side].offsets[row];
}

/* Keeps the candidates whose true measure reaches the threshold; without verification, those that
 * have terms at all. */
static void verify_matches(const struct pair_task *task, struct match_list *matches) {
    size_t kept = 0;
    for (size_t i = 0; i < matches->count; i++) {
        struct match match = matches->items[i];
        if (!has_terms(task, 0, match.a) || !has_terms(task, task->sides - 1, match.b))
            continue;
        if (task->options.verify) {
            double similarity = pair_task_similarity(task, match.a, match.b);
            if (similarity < task->options.threshold)
                continue;
            match.similarity = (float)similarity;
        } else if (task->options.measure == COG_MEASURE_JACCARD) {
            match.similarity =
                1 - 2 * (float)match.distance / (float)task->options.sign.signature.bits;
        }
        matches->items[kept++] = match;
    }
    matches->count = kept;
}

/* ---- Measured recall
 * ------------------------------------------------------------------------------- */

static int by_row(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Distinct rows of the first collection, sorted; all of them where there are few. */
static size_t sample_rows(size_t rows, uint64_t seed, uint32_t sample[SAMPLE_ROWS]) {
    if (rows <= SAMPLE_ROWS) {
        for (size_t i = 0; i < rows; i++)
            sample[i] = (uint32_t)i;
        return rows;
    }
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < SAMPLE_ROWS; i++)
        sample[i] = (uint32_t)random_below(&random, rows);
    qsort(sample, SAMPLE_ROWS, sizeof *sample, by_row);
    size_t distinct = 1;
    for (size_t i = 1; i < SAMPLE_ROWS; i++)
        if (sample[i] != sample[distinct - 1])
            sample[distinct++] = sample[i];
    return distinct;
}

static bool is_listed(const struct match_list *matches, uint32_t a, uint32_t b) {
    size_t low = 0, high = matches->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct match *match = &matches->items[middle];
        if (match->a < a || (match->a == a && match->b < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low < matches->count && matches->items[low].a == a && matches->items[low].b == b;
}

/* The true matches of the sampled rows with all others, by the exact join. */
static cog_status find_truth(const struct pair_task *task, const uint32_t *sample, size_t rows,
                             struct match_list *truth, cog_error *error) {
    struct join_options options = {task->options.threshold, task->threads, NULL};
    size_t other = task->sides - 1;
    struct sparse_matrix vectors = {0};
    struct set_collection sets = {0};
    cog_status status;
    if (task->options.measure == COG_MEASURE_COSINE)
        status = sparse_matrix_select(&task->vectors[0], sample, rows, &vectors)
                     ? cosine_join_cross(&vectors, &task->vectors[other], &options, truth, error)
                     : error_memory(error, rows, "the recall sample");
    else
        status = set_collection_select(&task->sets[0], sample, rows, &sets)
                     ? jaccard_join_cross(&sets, &task->sets[other], &options, truth, error)
                     : error_memory(error, rows, "the recall sample");
    sparse_matrix_free(&vectors);
    set_collection_free(&sets);
    return status;
}

static cog_status measure_recall(const struct pair_task *task, const struct match_list *matches,
                                 cog_error *error) {
    uint32_t sample[SAMPLE_ROWS];
    struct match_list truth = {0};
    size_t rows = sample_rows(task->corpora[0].rows, task->options.sign.signature.seed, sample);
    cog_status status = find_truth(task, sample, rows, &truth, error);
    uint64_t hits = 0, trials = 0;
    for (size_t i = 0; i < truth.count; i++) {
        uint32_t a = sample[truth.items[i].a], b = truth.items[i].b;
        if (task->sides == 1 && a == b)
            continue;
        bool swap = task->sides == 1 && b < a;
        trials++;
        hits += is_listed(matches, swap ? b : a, swap ? a : b);
    }
    match_list_free(&truth);
    if (status != COG_OK)
        return status;
    struct measured_share recall = measured_share(hits, trials);
    report_number(task->report, "measured_recall", recall.share);
    report_number(task->report, "measured_recall_low", recall.low);
    report_number(task->report, "measured_recall_high", recall.high);
    report_number(task->report, "recall_sample_rows", (double)rows);
    report_number(task->report, "recall_sample_pairs", (double)trials);
    report_notice(task->report,
                  "recall %.3f (95%%: %.3f to %.3f, %llu true pairs of %zu sampled rows)",
                  recall.share, recall.low, recall.high, (unsigned long long)trials, rows);
    return COG_OK;
}

cog_status flat_pairs_join(struct pair_task *task, struct match_list *matches, cog_error *error) {
    struct signatures_view views[2] = {{0}};
    uint32_t radius = 0;
    uint64_t comparisons = 0;
    cog_status status = find_radius(task, &radius, error);
    for (size_t side = 0; side < task->sides && status == COG_OK; side++)
        status = sign_corpus(task, &task->corpora[side], &views[side], error);
    if (status == COG_OK && task->sides == 2)
        status = flat_join_between(&views[0], &views[1], radius, task->threads, matches,
                                   &comparisons, error);
    else if (status == COG_OK)
        status = flat_join_self(&views[0], radius, task->threads, matches, &comparisons, error);
    free((void *)views[0].data);
    free((void *)views[1].data);
    if (status != COG_OK)
        return status;
    report_number(task->report, "radius_bits", radius);
    report_number(task->report, "comparisons", (double)comparisons);
    report_number(task->report, "candidates", (double)matches->count);
    task->has_distances = true;
    task->estimates = !task->options.verify;
    verify_matches(task, matches);
    return measure_recall(task, matches, error);
}
