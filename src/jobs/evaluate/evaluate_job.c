/* Signatures against true cosines: a sample of documents, all its pairs, every kind and seed. */
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "collection/corpus.h"
#include "collection/text_signer.h"
#include "hamming/hamming.h"
#include "jobs/evaluate/signature_error.h"
#include "run/job.h"
#include "run/report.h"

enum { PAIR_GRAIN = 16 };

struct evaluation {
    struct corpus corpus;
    struct statistics *statistics;
    struct sparse_matrix vectors; /* of the sample */
    uint32_t *sample;             /* rows of the corpus */
    size_t sample_count;
    float *cosines; /* of all pairs i < j, by i, then j */
    const cog_sign_options *options;
    unsigned threads;
    /* Of the kind and seed at hand. */
    struct signature_options signature;
    uint8_t *signatures;
    struct signature_error *partial; /* one for each piece of PAIR_GRAIN rows, added up in order */
};

/* Documents with a vector, drawn without replacement and sorted. */
static cog_status draw_sample(struct evaluation *evaluation, const struct sparse_matrix *vectors,
                              size_t wanted, uint64_t seed, cog_error *error) {
    size_t count = 0;
    evaluation->sample = memory_array(vectors->rows, sizeof *evaluation->sample);
    if (!evaluation->sample)
        return error_memory(error, vectors->rows * sizeof *evaluation->sample, "the sample");
    for (size_t row = 0; row < vectors->rows; row++)
        if (vectors->offsets[row + 1] > vectors->offsets[row])
            evaluation->sample[count++] = (uint32_t)row;
    struct random random = random_seeded(seed);
    for (size_t i = 0; i < count && i < wanted; i++) {
        size_t other = i + random_below(&random, count - i);
        uint32_t row = evaluation->sample[other];
        evaluation->sample[other] = evaluation->sample[i];
        evaluation->sample[i] = row;
    }
    evaluation->sample_count = count < wanted ? count : wanted;
    if (evaluation->sample_count < 2)
        return error_set(error, COG_ERR_INPUT,
                         "fewer than two documents have enough terms to compare");
    return COG_OK;
}

/* All documents as vectors, the sample's as signatures, and the cosines of its pairs. */
static cog_status check_memory(const cog_documents *documents, size_t wanted,
                               const cog_run_options *run, cog_report *report, cog_error *error) {
    enum { TEXT_BYTES = 40 }; /* of a document that has enough terms to be drawn */
    double text_bytes = (double)ingest_text_bytes(documents), sample = (double)wanted;
    if (sample > text_bytes / TEXT_BYTES)
        sample = text_bytes / TEXT_BYTES;
    return memory_budget_check(MEMORY_BASE_BYTES + text_bytes * MEMORY_OF_TERMS +
                                   sample * (sample / 2 * sizeof(float) + SIGNATURE_MAX_BITS / 8),
                               run, report, error);
}

static cog_status prepare(struct evaluation *evaluation, cog_documents *documents, size_t wanted,
                          const cog_run_options *run, cog_report *report, cog_error *error) {
    struct term_options terms;
    struct weighting weighting;
    struct sparse_matrix all = {0};
    const struct corpus *corpus = &evaluation->corpus;
    const uint8_t *const selected[1] = {NULL};
    cog_status status = options_terms(&evaluation->options->terms, &terms, error);
    THEN(status, options_weighting(&evaluation->options->weights, &weighting, error));
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    THEN(status, corpus_read(&evaluation->corpus, documents, &reading, run, report, error));
    THEN(status,
         corpus_statistics(&corpus, 1, evaluation->threads, &evaluation->statistics, error));
    THEN(status, corpus_vectors(&corpus, 1, evaluation->statistics, &weighting, 1, selected,
                                evaluation->threads, &all, error));
    THEN(status, draw_sample(evaluation, &all, wanted, evaluation->options->signature.seed, error));
    if (status == COG_OK && !sparse_matrix_select(&all, evaluation->sample,
                                                  evaluation->sample_count, &evaluation->vectors))
        status = error_memory(error, evaluation->sample_count, "the sample");
    sparse_matrix_free(&all);
    return status;
}

/* Signs the sample on this thread; *seconds is what it took. */
static cog_status sign_sample(struct evaluation *evaluation, const cog_signature_options *kind,
                              double *seconds, cog_error *error) {
    cog_sign_options options = *evaluation->options;
    cog_statistics statistics = {evaluation->statistics, {0}};
    struct text_signer text_signer = {0};
    struct text_signer_scratch scratch = {0};
    size_t stride = signature_stride_bytes(kind->bits);
    options.signature = *kind;
    cog_status status = options_signature(kind, &evaluation->signature, error);
    THEN(status, options_record_terms(&options.terms, &statistics.terms, error));
    THEN(status, text_signer_init(&text_signer, &options, &statistics, error));
    THEN(status, text_signer_scratch_init(&scratch, &text_signer, error));
    size_t term_count;
    uint64_t start = clock_ns();
    for (size_t i = 0; i < evaluation->sample_count && status == COG_OK; i++) {
        struct bag_view bag = corpus_bag(&evaluation->corpus, evaluation->sample[i]);
        status =
            text_signer_sign_bag(&text_signer, &scratch, &bag, evaluation->signatures + i * stride,
                                 NULL, &term_count, error);
    }
    *seconds += clock_seconds_since(start);
    text_signer_scratch_reset(&scratch);
    text_signer_reset(&text_signer);
    settings_free(&statistics.terms);
    return status;
}

/* Where the pairs of row i with later rows start. */
static size_t first_pair(const struct evaluation *evaluation, size_t i) {
    return i * (2 * evaluation->sample_count - i - 1) / 2;
}

static cog_status multiply_rows(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    (void)error;
    struct evaluation *evaluation = context;
    const struct sparse_matrix *m = &evaluation->vectors;
    for (size_t i = begin; i < end; i++) {
        float *cosines = evaluation->cosines + first_pair(evaluation, i);
        for (size_t j = i + 1; j < m->rows; j++)
            cosines[j - i - 1] = (float)sparse_row_dot(m, i, m, j);
    }
    return COG_OK;
}

static cog_status compute_cosines(struct evaluation *evaluation, cog_error *error) {
    size_t pairs = first_pair(evaluation, evaluation->sample_count);
    evaluation->cosines = memory_array(pairs, sizeof *evaluation->cosines);
    if (!evaluation->cosines)
        return error_memory(error, pairs * sizeof *evaluation->cosines, "the sample's cosines");
    return parallel_for(evaluation->threads, evaluation->sample_count, PAIR_GRAIN, multiply_rows,
                        evaluation, error);
}

static cog_status compare_rows(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    (void)worker;
    (void)error;
    struct evaluation *evaluation = context;
    size_t stride = signature_stride_bytes(evaluation->signature.bits);
    for (size_t i = begin; i < end; i++) {
        const float *cosines = evaluation->cosines + first_pair(evaluation, i);
        for (size_t j = i + 1; j < evaluation->sample_count; j++) {
            double estimate =
                signature_estimate(&evaluation->signature, evaluation->signatures + i * stride,
                                   evaluation->signatures + j * stride);
            signature_error_add(&evaluation->partial[i / PAIR_GRAIN], (double)cosines[j - i - 1],
                                estimate, evaluation->signature.bits);
        }
    }
    return COG_OK;
}

static cog_status evaluate_kind(struct evaluation *evaluation, const cog_signature_options *kind,
                                unsigned seeds, cog_signature_error *result, cog_error *error) {
    struct signature_error sums = {0};
    size_t pieces = evaluation->sample_count / PAIR_GRAIN + 1;
    double seconds = 0;
    cog_status status = COG_OK;
    for (unsigned seed = 0; seed < seeds && status == COG_OK; seed++) {
        cog_signature_options seeded = *kind;
        seeded.seed += seed;
        memset(evaluation->partial, 0, pieces * sizeof *evaluation->partial);
        status = sign_sample(evaluation, &seeded, &seconds, error);
        THEN(status, parallel_for(evaluation->threads, evaluation->sample_count, PAIR_GRAIN,
                                  compare_rows, evaluation, error));
        for (size_t i = 0; i < pieces; i++)
            signature_error_merge(&sums, &evaluation->partial[i]);
    }
    *result = (cog_signature_error){.signature = *kind};
    for (int i = 0; i < ERROR_CLASSES; i++) {
        double pairs = sums.pairs[i] ? (double)sums.pairs[i] : 1;
        result->error[i] = sums.error[i] / pairs;
        result->theory[i] = sums.theory[i] / pairs;
        result->pairs[i] = sums.pairs[i] / seeds;
    }
    result->milliseconds = seconds * 1000 / seeds / (double)evaluation->sample_count;
    return status;
}

cog_status cog_evaluate_signatures(cog_documents *documents, const cog_sign_options *options,
                                   const cog_signature_options *kinds, size_t kind_count,
                                   size_t sample, unsigned seeds, const cog_run_options *run,
                                   cog_signature_error *results, cog_report *report,
                                   cog_error *error) {
    struct evaluation evaluation = {.options = options};
    evaluation.threads = threads_resolve(run ? run->threads : 0);
    cog_status status =
        seeds ? COG_OK : error_set(error, COG_ERR_USAGE, "no seeds to average over");
    struct job job;
    job_begin(&job, run, report);
    THEN(status, check_memory(documents, sample, run, report, error));
    THEN(status, prepare(&evaluation, documents, sample, run, report, error));
    if (status == COG_OK) {
        evaluation.signatures = memory_array(evaluation.sample_count, SIGNATURE_MAX_BITS / 8);
        evaluation.partial =
            memory_array(evaluation.sample_count / PAIR_GRAIN + 1, sizeof *evaluation.partial);
        if (!evaluation.signatures || !evaluation.partial)
            status = error_memory(error, evaluation.sample_count * SIGNATURE_MAX_BITS / 8,
                                  "the sample's signatures");
    }
    THEN(status, compute_cosines(&evaluation, error));
    for (size_t i = 0; i < kind_count && status == COG_OK; i++)
        status = evaluate_kind(&evaluation, &kinds[i], seeds, &results[i], error);
    job_end(&job);
    report_number(report, "sample", (double)evaluation.sample_count);
    report_number(report, "seeds", seeds);
    report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
    corpus_free(&evaluation.corpus);
    statistics_free(evaluation.statistics);
    sparse_matrix_free(&evaluation.vectors);
    free(evaluation.sample);
    free(evaluation.cosines);
    free(evaluation.signatures);
    free(evaluation.partial);
    return status;
}
