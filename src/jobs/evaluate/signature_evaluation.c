#include "jobs/evaluate/signature_evaluation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/threads.h"
#include "collection/corpus.h"
#include "collection/row_signer.h"
#include "hamming/hamming.h"
#include "run/job.h"

enum { ROWS_PER_PIECE = 16 };

/* ---- Errors of estimates --------------------------------------------------------------------- */

enum {
    ERROR_CLASSES = 3
}; /* all pairs, pairs above 0.1, pairs above 0.2 (Ture et al. 2011, Table 1) */
static const double class_limits[ERROR_CLASSES] = {-1, 0.1, 0.2};

/* Sums over pairs of documents. Zero-initialise. */
struct error_sums {
    double error[ERROR_CLASSES];  /* of the estimates */
    double theory[ERROR_CLASSES]; /* expected for random projection */
    uint64_t pairs[ERROR_CLASSES];
};

/* The expected error of the cosine estimated from D random signs for a pair at the angle theta: the
 * share of differing bits is about normal around p = theta / pi with deviation sqrt(p (1 - p) / D),
 * the cosine's slope there is pi sin(theta), and the mean of the absolute value of a normal is
 * sqrt(2 / pi) deviations. */
static double expected_error(double cosine, unsigned bits) {
    double bounded = cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
    double theta = acos(bounded), p = theta / M_PI;
    return sqrt(2 / M_PI) * M_PI * sin(theta) * sqrt(p * (1 - p) / bits);
}

static void add_pair(struct error_sums *sums, double cosine, double estimate, unsigned bits) {
    double error = fabs(estimate - cosine), theory = expected_error(cosine, bits);
    for (int group = 0; group < ERROR_CLASSES && cosine > class_limits[group]; group++) {
        sums->error[group] += error;
        sums->theory[group] += theory;
        sums->pairs[group]++;
    }
}

static void add_sums(struct error_sums *sums, const struct error_sums *other) {
    for (int group = 0; group < ERROR_CLASSES; group++) {
        sums->error[group] += other->error[group];
        sums->theory[group] += other->theory[group];
        sums->pairs[group] += other->pairs[group];
    }
}

/* ---- The sample ------------------------------------------------------------------------------ */

struct evaluation {
    struct corpus corpus;
    struct statistics *statistics;
    struct sparse_matrix vectors; /* of the sampled documents */
    uint32_t *sample;             /* rows of the corpus */
    size_t sample_count;
    float *cosines; /* of all pairs i < j, sorted by i, then j */
    const cog_sign_options *options;
    struct job *job;
    /* For the current kind and seed. */
    struct signature_options signature;
    uint8_t *signatures;
    struct error_sums *partial; /* one per piece of rows, summed in order */
};

/* Samples documents with a vector without replacement, and sorts them. */
static cog_status draw_sample(struct evaluation *evaluation, const struct sparse_matrix *vectors,
                              size_t wanted, uint64_t seed, cog_error *error) {
    size_t count = 0;
    TAKE(evaluation->sample, vectors->rows, "the sample", error);
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

/* Checks the memory for all documents as vectors, the sample's signatures, and the cosines of its
 * pairs. */
static cog_status check_memory(const struct job *job, const cog_documents *documents, size_t wanted,
                               cog_error *error) {
    enum { TEXT_BYTES = 40 }; /* of a document with enough terms to be sampled */
    double text_bytes = (double)ingest_text_bytes(documents), sample = (double)wanted;
    if (sample > text_bytes / TEXT_BYTES)
        sample = text_bytes / TEXT_BYTES;
    return job_check_memory(job,
                            MEMORY_BASE_BYTES + text_bytes * MEMORY_OF_TERMS +
                                sample * (sample / 2 * sizeof(float) + SIGNATURE_MAX_BITS / 8),
                            error);
}

static cog_status prepare(struct evaluation *evaluation, cog_documents *documents, size_t wanted,
                          cog_error *error) {
    struct term_options terms;
    struct weighting weighting;
    struct sparse_matrix all = {0};
    const struct corpus *corpus = &evaluation->corpus;
    const uint8_t *const selected[1] = {NULL};
    cog_status status = options_terms(&evaluation->options->terms, &terms, error);
    THEN(status, options_weighting(&evaluation->options->weights, &weighting, error));
    struct corpus_options reading = {.terms = &terms, .want_frequencies = true};
    THEN(status, corpus_read(&evaluation->corpus, documents, &reading, &evaluation->job->run,
                             evaluation->job->report, error));
    THEN(status,
         corpus_statistics(&corpus, 1, evaluation->job->threads, &evaluation->statistics, error));
    THEN(status, corpus_vectors(&corpus, 1, evaluation->statistics, &weighting, selected,
                                evaluation->job->threads, &all, error));
    THEN(status, draw_sample(evaluation, &all, wanted, evaluation->options->signature.seed, error));
    if (status == COG_OK && !sparse_matrix_select(&all, evaluation->sample,
                                                  evaluation->sample_count, &evaluation->vectors))
        status = error_memory(error, evaluation->sample_count, "the sample");
    sparse_matrix_free(&all);
    return status;
}

/* Signs the sample on this thread and adds the time to *seconds. */
static cog_status sign_sample(struct evaluation *evaluation, const cog_signature_options *kind,
                              double *seconds, cog_error *error) {
    cog_sign_options options = *evaluation->options;
    struct signable_rows rows = {.corpus = &evaluation->corpus,
                                 .numbers = evaluation->sample,
                                 .count = evaluation->sample_count};
    struct text_signer text_signer = {0};
    options.signature = *kind;
    cog_status status = options_signature(kind, &evaluation->signature, error);
    THEN(status, text_signer_init(&text_signer, &options, evaluation->statistics, error));
    uint64_t start = clock_ns();
    THEN(status, rows_sign(&text_signer, &rows, 1, evaluation->signatures, NULL, 0, error));
    *seconds += clock_seconds_since(start);
    text_signer_reset(&text_signer);
    return status;
}

/* The index of the first pair of row i with a later row. */
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
    TAKE(evaluation->cosines, pairs, "the sample's cosines", error);
    return parallel_for(evaluation->job->threads, evaluation->sample_count, ROWS_PER_PIECE,
                        multiply_rows, evaluation, error);
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
            add_pair(&evaluation->partial[i / ROWS_PER_PIECE], (double)cosines[j - i - 1], estimate,
                     evaluation->signature.bits);
        }
    }
    return COG_OK;
}

static cog_status evaluate_kind(struct evaluation *evaluation, const cog_signature_options *kind,
                                unsigned seeds, cog_signature_error *result, cog_error *error) {
    struct error_sums sums = {0};
    size_t pieces = evaluation->sample_count / ROWS_PER_PIECE + 1;
    double seconds = 0;
    cog_status status = COG_OK;
    for (unsigned seed = 0; seed < seeds && status == COG_OK; seed++) {
        cog_signature_options seeded = *kind;
        seeded.seed += seed;
        memset(evaluation->partial, 0, pieces * sizeof *evaluation->partial);
        status = sign_sample(evaluation, &seeded, &seconds, error);
        THEN(status, parallel_for(evaluation->job->threads, evaluation->sample_count,
                                  ROWS_PER_PIECE, compare_rows, evaluation, error));
        for (size_t i = 0; i < pieces; i++)
            add_sums(&sums, &evaluation->partial[i]);
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

cog_status evaluate_signatures(struct job *job, cog_documents *documents,
                               const cog_sign_options *options, const cog_signature_options *kinds,
                               size_t kind_count, size_t sample, unsigned seeds,
                               cog_signature_error *results, cog_error *error) {
    struct evaluation evaluation = {.options = options, .job = job};
    cog_status status = check_memory(job, documents, sample, error);
    THEN(status, prepare(&evaluation, documents, sample, error));
    THEN(status, TAKEN(evaluation.signatures, evaluation.sample_count * SIGNATURE_MAX_BITS / 8,
                       "the sample's signatures", error));
    THEN(status, TAKEN(evaluation.partial, evaluation.sample_count / ROWS_PER_PIECE + 1,
                       "the sample's signatures", error));
    THEN(status, compute_cosines(&evaluation, error));
    for (size_t i = 0; i < kind_count && status == COG_OK; i++)
        status = evaluate_kind(&evaluation, &kinds[i], seeds, &results[i], error);
    report_number(job->report, "sample", (double)evaluation.sample_count);
    report_number(job->report, "seeds", seeds);
    corpus_free(&evaluation.corpus);
    statistics_free(evaluation.statistics);
    sparse_matrix_free(&evaluation.vectors);
    FREE(evaluation.sample, evaluation.cosines, evaluation.signatures, evaluation.partial);
    return status;
}
