#include "jobs/sign/sign_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/ingest.h"
#include "collection/statistics_job.h"
#include "collection/text_signer.h"
#include "hamming/hamming.h"
#include "input/npy.h"
#include "run/job.h"

enum { SHORT_DOCUMENT_TERMS = 5 };

struct sign_job {
    struct text_signer text_signer;
    struct text_signer_scratch *scratches; /* one a worker */
    unsigned worker_count;
    struct npy_writer *signatures, *weights;
    struct output *ids;
    uint64_t documents, empty_documents, short_documents;
    const cog_run_options *run;
    cog_report *report;
    struct bag_spool *spool; /* NULL where the input is read for signing */
    struct progress progress;
    uint64_t total_documents;
};

static size_t packed_bytes(const struct text_signer *text_signer) {
    return (signer_options(text_signer->signer)->bits + 7) / 8;
}

/* What a batch of documents became. */
struct signed_batch {
    struct buffer signatures, weights, ids;
    size_t documents, empty, short_documents;
};

static void *signed_batch_create(void *context) {
    (void)context;
    return calloc(1, sizeof(struct signed_batch));
}

static void signed_batch_reset(struct signed_batch *batch) {
    buffer_free(&batch->signatures);
    buffer_free(&batch->weights);
    buffer_free(&batch->ids);
}

static void signed_batch_free(void *result) {
    signed_batch_reset(result);
    free(result);
}

static cog_status sign_terms(struct sign_job *job, unsigned worker, struct signed_batch *batch,
                             struct bytes_view id, const struct term_list *terms_in_order,
                             const struct bag_view *bag, cog_error *error) {
    unsigned bits = signer_options(job->text_signer.signer)->bits;
    size_t weight_bytes = job->weights ? bits * sizeof(float) : 0, terms = 0;
    if (!buffer_reserve(&batch->signatures, signature_stride_bytes(bits)) ||
        !buffer_reserve(&batch->weights, weight_bytes))
        return error_memory(error, weight_bytes, "signatures");
    uint8_t *signature = (uint8_t *)batch->signatures.data + batch->signatures.size;
    float *sums =
        job->weights ? (float *)(void *)(batch->weights.data + batch->weights.size) : NULL;
    TRY(text_signer_sign(&job->text_signer, &job->scratches[worker], terms_in_order, bag, signature,
                         sums, &terms, error));
    batch->signatures.size += packed_bytes(&job->text_signer);
    batch->weights.size += weight_bytes;
    batch->documents++;
    batch->empty += terms == 0;
    batch->short_documents += terms > 0 && terms < SHORT_DOCUMENT_TERMS;
    if (job->ids && !(escape_append(&batch->ids, id) && buffer_append(&batch->ids, "\n", 1)))
        return error_memory(error, id.size, "ids");
    return COG_OK;
}

static cog_status sign_document(void *context, unsigned worker, void *result,
                                const struct ingested *item, cog_error *error) {
    return sign_terms(context, worker, result, item->document->id, item->terms, &item->bag, error);
}

static cog_status write_batch(void *context, void *result, cog_error *error) {
    struct sign_job *job = context;
    struct signed_batch *batch = result;
    cog_status status =
        npy_writer_append(job->signatures, batch->signatures.data, batch->documents, error);
    if (status == COG_OK && job->weights)
        status = npy_writer_append(job->weights, batch->weights.data, batch->documents, error);
    if (status == COG_OK && job->ids)
        status = output_write(job->ids, batch->ids.data, batch->ids.size, error);
    job->documents += batch->documents;
    job->empty_documents += batch->empty;
    job->short_documents += batch->short_documents;
    buffer_reset(&batch->signatures);
    buffer_reset(&batch->weights);
    buffer_reset(&batch->ids);
    batch->documents = batch->empty = batch->short_documents = 0;
    return status;
}

static cog_status open_outputs(struct sign_job *job, const cog_sign_outputs *outputs,
                               cog_error *error) {
    unsigned bits = signer_options(job->text_signer.signer)->bits;
    cog_status status =
        npy_writer_open(outputs->signatures, NPY_UINT8, bits / 8, &job->signatures, error);
    if (status == COG_OK && outputs->weights)
        status = npy_writer_open(outputs->weights, NPY_FLOAT32, bits, &job->weights, error);
    if (status == COG_OK && outputs->ids)
        status = output_open(outputs->ids, &job->ids, error);
    return status;
}

static cog_status commit_outputs(struct sign_job *job, cog_error *error) {
    cog_status status = job->weights ? npy_writer_commit(job->weights, error) : COG_OK;
    if (status == COG_OK && job->ids)
        status = output_commit(job->ids, error);
    return status == COG_OK ? npy_writer_commit(job->signatures, error) : status;
}

static cog_status create_scratches(struct sign_job *job, cog_error *error) {
    job->worker_count = threads_resolve(job->run ? job->run->threads : 0);
    job->scratches = memory_zeroed_array(job->worker_count, sizeof *job->scratches);
    if (!job->scratches)
        return error_memory(error, job->worker_count * sizeof *job->scratches, "workers");
    cog_status status = COG_OK;
    for (unsigned i = 0; i < job->worker_count && status == COG_OK; i++)
        status = text_signer_scratch_init(&job->scratches[i], &job->text_signer, error);
    return status;
}

static void sign_job_close(struct sign_job *job) {
    for (unsigned i = 0; job->scratches && i < job->worker_count; i++)
        text_signer_scratch_reset(&job->scratches[i]);
    free(job->scratches);
    text_signer_reset(&job->text_signer);
    bag_spool_free(job->spool);
    npy_writer_close(job->signatures);
    npy_writer_close(job->weights);
    output_close(job->ids);
}

static void report_signing(const struct sign_job *job, cog_report *report) {
    report_number(report, "documents", (double)job->documents);
    report_number(report, "empty_documents", (double)job->empty_documents);
    report_number(report, "short_documents", (double)job->short_documents);
    report_number(report, "bits", signer_options(job->text_signer.signer)->bits);
    if (job->empty_documents)
        report_notice(report, "%llu document%s no terms; %s nothing",
                      (unsigned long long)job->empty_documents,
                      plural(job->empty_documents, " has", "s have"),
                      plural(job->empty_documents, "its signature says", "their signatures say"));
    if (job->short_documents && weighting_needs_statistics(&job->text_signer.weighting))
        report_notice(report, "%llu document%s fewer than %d terms: too short for weights",
                      (unsigned long long)job->short_documents,
                      plural(job->short_documents, " has", "s have"), SHORT_DOCUMENT_TERMS);
}

/* Skipped records are named once: by the statistics pass where there is one. */
static cog_status sign_input(struct sign_job *job, cog_documents *documents,
                             const struct term_options *terms, bool named_before,
                             cog_error *error) {
    struct ingest_plan plan = {.terms = terms,
                               .want_bags = text_signer_wants_bags(&job->text_signer),
                               .result_create = signed_batch_create,
                               .result_free = signed_batch_free,
                               .work = sign_document,
                               .deliver = write_batch,
                               .context = job,
                               .stage = "signing"};
    return ingest_run(documents, &plan, job->run, job->report, named_before, error);
}

/* ---- From the spool -------------------------------------------------------------------------- */

struct spool_batch {
    struct buffer bags;
    struct signed_batch result;
};

static cog_status produce_bags(void *context, void *batch, bool *end, cog_error *error) {
    struct sign_job *job = context;
    return bag_spool_read(job->spool, &((struct spool_batch *)batch)->bags, end, error);
}

static cog_status sign_bags(void *context, unsigned worker, void *batch, cog_error *error) {
    struct spool_batch *spooled = batch;
    static const struct term_list no_terms;
    cog_status status = COG_OK;
    for (size_t at = 0; at < spooled->bags.size && status == COG_OK;) {
        struct bytes_view id;
        struct bag_view bag;
        bag_spool_decode(&spooled->bags, &at, &id, &bag);
        status = sign_terms(context, worker, &spooled->result, id, &no_terms, &bag, error);
    }
    return status;
}

static cog_status write_spooled(void *context, void *batch, cog_error *error) {
    struct sign_job *job = context;
    TRY(write_batch(job, &((struct spool_batch *)batch)->result, error));
    return progress_report(&job->progress, job->documents, error);
}

static cog_status sign_spool(struct sign_job *job, cog_error *error) {
    size_t count = job->worker_count == 1 ? 1 : 2 * (size_t)job->worker_count + 1;
    struct spool_batch *batches = memory_zeroed_array(count, sizeof *batches);
    void **slots = memory_zeroed_array(count, sizeof *slots);
    cog_status status = COG_OK;
    uint64_t start = clock_ns();
    if (!batches || !slots)
        status = error_memory(error, count * sizeof *batches, "batches");
    for (size_t i = 0; status == COG_OK && i < count; i++)
        slots[i] = &batches[i];
    bag_spool_rewind(job->spool);
    progress_start(&job->progress, job->run, "signing", job->total_documents);
    struct pipeline pipeline = {produce_bags, sign_bags, write_spooled, job, slots, count};
    THEN(status, pipeline_run(&pipeline, job->worker_count, error));
    THEN(status, progress_finish(&job->progress, error));
    for (size_t i = 0; batches && i < count; i++) {
        buffer_free(&batches[i].bags);
        signed_batch_reset(&batches[i].result);
    }
    free(batches);
    free(slots);
    report_stage(job->report, "signing", clock_seconds_since(start));
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* What .npy files cannot hold is refused before any work. */
static cog_status check_outputs(const cog_signature_options *signature,
                                const cog_sign_outputs *outputs, cog_error *error) {
    struct signature_options checked;
    cog_status status = options_signature(signature, &checked, error);
    if (status == COG_OK && signature->bits % 8)
        status = error_set(error, COG_ERR_USAGE,
                           "signatures of %u bit%s do not fill whole bytes: choose a multiple of 8",
                           signature->bits, plural(signature->bits, "", "s"));
    if (status == COG_OK && outputs->weights && signature->kind == COG_SIGNATURE_MINHASH)
        status = error_set(error, COG_ERR_USAGE, "minhash has no sums behind its bits to write");
    return status;
}

/* Documents pass through, a few batches at a time; what grows is the vocabulary. */
static cog_status check_memory(const struct sign_job *job, const cog_documents *documents,
                               const struct term_options *terms, bool collects, cog_error *error) {
    enum { THREAD_BYTES = 6 << 20, COLLECTING_THREAD_BYTES = 16 << 20 };
    double threads = threads_resolve(job->run ? job->run->threads : 0);
    double needed =
        MEMORY_BASE_BYTES + threads * (collects ? COLLECTING_THREAD_BYTES : THREAD_BYTES);
    if (collects)
        needed += memory_of_statistics((double)ingest_text_bytes(documents), terms->ngram);
    return memory_budget_check(needed, job->run, job->report, error);
}

/* Collects statistics where signing needs them and has none, and keeps the bags if the disk has
 * room. */
static cog_status prepare(struct sign_job *job, cog_documents *documents,
                          const cog_sign_options *options, const struct term_options *terms,
                          const cog_sign_outputs *outputs, const cog_statistics **statistics,
                          cog_statistics **collected, cog_error *error) {
    struct weighting weighting;
    cog_status status = options_weighting(&options->weights, &weighting, error);
    bool collects = !*statistics && weighting_needs_statistics(&weighting);
    THEN(status, check_memory(job, documents, terms, collects, error));
    if (status != COG_OK || !collects)
        return status;
    ingest_keep_pipes(documents); /* in case the spool finds no room */
    if (bag_spool_create(outputs->signatures, &job->spool, NULL) != COG_OK)
        job->spool = NULL;
    status = statistics_collect(documents, &options->terms, job->run, job->spool, collected,
                                job->report, error);
    *statistics = *collected;
    if (job->spool && !bag_spool_is_complete(job->spool)) {
        bag_spool_free(job->spool);
        job->spool = NULL;
    }
    if (status == COG_OK)
        job->total_documents = cog_statistics_documents(*collected);
    return status;
}

cog_status sign_documents(cog_documents *documents, const cog_sign_options *options,
                          const cog_statistics *statistics, const cog_sign_outputs *outputs,
                          const cog_run_options *run, cog_report *report, cog_error *error) {
    struct sign_job job = {.run = run, .report = report};
    struct term_options terms;
    cog_statistics *collected = NULL;
    cog_status status = options_terms(&options->terms, &terms, error);
    THEN(status, check_outputs(&options->signature, outputs, error));
    THEN(status,
         prepare(&job, documents, options, &terms, outputs, &statistics, &collected, error));
    THEN(status, text_signer_init(&job.text_signer, options, statistics, error));
    THEN(status, create_scratches(&job, error));
    THEN(status, open_outputs(&job, outputs, error));
    THEN(status, job.spool ? sign_spool(&job, error)
                           : sign_input(&job, documents, &terms, collected != NULL, error));
    THEN(status, commit_outputs(&job, error));
    if (status == COG_OK) {
        report_signing(&job, report);
        report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
    }
    sign_job_close(&job);
    cog_statistics_free(collected);
    return status;
}
