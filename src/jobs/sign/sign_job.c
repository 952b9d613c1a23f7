#include "jobs/sign/sign_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/ingest.h"
#include "collection/row_signer.h"
#include "collection/statistics_job.h"
#include "hamming/hamming.h"
#include "input/npy.h"
#include "run/job.h"

struct signing {
    struct ingest *ingest; /* NULL while signing bags from the spool */
    struct text_signer text_signer;
    struct text_signer_scratch *scratches; /* one per worker */
    struct npy_writer *signatures, *weights;
    struct output *ids;
    const cog_sign_buffers *buffers; /* instead of files; NULL for files */
    uint64_t documents, empty_documents;
    struct job *job;
    struct bag_spool *spool; /* NULL if the input is read for signing */
    struct progress progress;
    uint64_t total_documents;
};

static size_t packed_bytes(const struct text_signer *text_signer) {
    return (signer_options(text_signer->signer)->bits + 7) / 8;
}

/* The results of a batch of documents. */
struct signed_batch {
    struct buffer signatures, weights, ids, term_counts;
    size_t documents, empty;
};

static void signed_batch_reset(struct signed_batch *batch) {
    buffer_free(&batch->signatures);
    buffer_free(&batch->weights);
    buffer_free(&batch->ids);
    buffer_free(&batch->term_counts);
}

static bool wants_margins(const struct signing *work) {
    return work->buffers ? work->buffers->margins != NULL : work->weights != NULL;
}

static cog_status sign_terms(struct signing *work, unsigned worker, struct signed_batch *batch,
                             struct bytes_view id, const struct term_list *terms_in_order,
                             const struct bag_view *bag, cog_error *error) {
    unsigned bits = signer_options(work->text_signer.signer)->bits;
    size_t weight_bytes = wants_margins(work) ? bits * sizeof(float) : 0, terms = 0;
    if (!buffer_reserve(&batch->signatures, signature_stride_bytes(bits)) ||
        !buffer_reserve(&batch->weights, weight_bytes))
        return error_memory(error, weight_bytes, "signatures");
    uint8_t *signature = (uint8_t *)batch->signatures.data + batch->signatures.size;
    float *sums =
        weight_bytes ? (float *)(void *)(batch->weights.data + batch->weights.size) : NULL;
    TRY(text_signer_sign(&work->text_signer, &work->scratches[worker], terms_in_order, bag,
                         signature, sums, &terms, error));
    batch->signatures.size += packed_bytes(&work->text_signer);
    batch->weights.size += weight_bytes;
    batch->documents++;
    batch->empty += terms == 0;
    if (work->ids && !(escape_append(&batch->ids, id) && buffer_append(&batch->ids, "\n", 1)))
        return error_memory(error, id.size, "ids");
    uint32_t counted = (uint32_t)terms;
    if (work->buffers && !buffer_append(&batch->term_counts, &counted, sizeof counted))
        return error_memory(error, sizeof counted, "counts of terms");
    return COG_OK;
}

static cog_status sign_batch(void *context, unsigned worker, void *batch, cog_error *error) {
    struct signing *work = context;
    bool bags = text_signer_wants_bags(&work->text_signer);
    for (;;) {
        struct ingested item;
        TRY(ingest_next(work->ingest, worker, batch, &item, error));
        if (!item.document)
            return COG_OK;
        if (bags)
            TRY(ingest_count(work->ingest, worker, &item, error));
        TRY(sign_terms(work, worker, ((struct ingest_batch *)batch)->result, item.document->id,
                       item.terms, &item.bag, error));
    }
}

/* Appends to the caller's memory. */
static cog_status copy_signed(struct signing *work, const struct signed_batch *batch,
                              cog_error *error) {
    const cog_sign_buffers *buffers = work->buffers;
    size_t row = (size_t)work->documents;
    unsigned bits = signer_options(work->text_signer.signer)->bits;
    if (batch->documents > buffers->rows - row)
        return error_set(error, COG_ERR_USAGE,
                         "there are more than %zu documents: give memory for all of them",
                         buffers->rows);
    if (batch->documents == 0)
        return COG_OK;
    memcpy(buffers->signatures + row * packed_bytes(&work->text_signer), batch->signatures.data,
           batch->signatures.size);
    if (buffers->margins)
        memcpy(buffers->margins + row * bits, batch->weights.data, batch->weights.size);
    if (buffers->term_counts)
        memcpy(buffers->term_counts + row, batch->term_counts.data, batch->term_counts.size);
    return COG_OK;
}

static cog_status write_files(struct signing *work, const struct signed_batch *batch,
                              cog_error *error) {
    cog_status status =
        npy_writer_append(work->signatures, batch->signatures.data, batch->documents, error);
    if (status == COG_OK && work->weights)
        status = npy_writer_append(work->weights, batch->weights.data, batch->documents, error);
    if (status == COG_OK && work->ids)
        status = output_write(work->ids, batch->ids.data, batch->ids.size, error);
    return status;
}

static cog_status write_signed(struct signing *work, struct signed_batch *batch, cog_error *error) {
    cog_status status =
        work->buffers ? copy_signed(work, batch, error) : write_files(work, batch, error);
    work->documents += batch->documents;
    work->empty_documents += batch->empty;
    buffer_reset(&batch->signatures);
    buffer_reset(&batch->weights);
    buffer_reset(&batch->ids);
    buffer_reset(&batch->term_counts);
    batch->documents = batch->empty = 0;
    return status;
}

static cog_status write_batch(void *context, void *batch, cog_error *error) {
    return write_signed(context, ((struct ingest_batch *)batch)->result, error);
}

static cog_status open_outputs(struct signing *work, const cog_sign_outputs *outputs,
                               cog_error *error) {
    unsigned bits = signer_options(work->text_signer.signer)->bits;
    if (work->buffers)
        return COG_OK;
    cog_status status =
        npy_writer_open(outputs->signatures, NPY_UINT8, bits / 8, &work->signatures, error);
    if (status == COG_OK && outputs->weights)
        status = npy_writer_open(outputs->weights, NPY_FLOAT32, bits, &work->weights, error);
    if (status == COG_OK && outputs->ids)
        status = output_open(outputs->ids, &work->ids, error);
    return status;
}

static cog_status commit_outputs(struct signing *work, cog_error *error) {
    if (work->buffers)
        return COG_OK;
    cog_status status = work->weights ? npy_writer_commit(work->weights, error) : COG_OK;
    if (status == COG_OK && work->ids)
        status = output_commit(work->ids, error);
    return status == COG_OK ? npy_writer_commit(work->signatures, error) : status;
}

static cog_status create_scratches(struct signing *work, cog_error *error) {
    TAKE_ZEROED(work->scratches, work->job->threads, "workers", error);
    cog_status status = COG_OK;
    for (unsigned i = 0; i < work->job->threads && status == COG_OK; i++)
        status = text_signer_scratch_init(&work->scratches[i], &work->text_signer, error);
    return status;
}

static void signing_close(struct signing *work) {
    for (unsigned i = 0; work->scratches && i < work->job->threads; i++)
        text_signer_scratch_reset(&work->scratches[i]);
    free(work->scratches);
    text_signer_reset(&work->text_signer);
    bag_spool_free(work->spool);
    npy_writer_close(work->signatures);
    npy_writer_close(work->weights);
    output_close(work->ids);
}

static void report_signing(const struct signing *work, cog_report *report) {
    report_number(report, "documents", (double)work->documents);
    report_number(report, "empty_documents", (double)work->empty_documents);
    report_number(report, "bits", signer_options(work->text_signer.signer)->bits);
    if (work->empty_documents)
        report_notice(report, "%llu document%s no terms; %s nothing",
                      (unsigned long long)work->empty_documents,
                      plural(work->empty_documents, " has", "s have"),
                      plural(work->empty_documents, "its signature says", "their signatures say"));
}

/* Skipped records are reported once: by the pass of statistics, if there is one. */
static cog_status sign_input(struct signing *work, cog_documents *documents,
                             const struct term_options *terms, bool named_before,
                             cog_error *error) {
    TRY(ingest_open(documents, terms, sizeof(struct signed_batch), "signing", &work->job->run,
                    work->job->report, named_before, &work->ingest, error));
    cog_status status = ingest_run(work->ingest, work, sign_batch, write_batch, error);
    for (size_t i = 0; i < work->ingest->batch_count; i++)
        signed_batch_reset(work->ingest->batches[i].result);
    ingest_close(work->ingest);
    return status;
}

/* ---- From the spool -------------------------------------------------------------------------- */

struct spool_batch {
    struct buffer bags;
    struct signed_batch result;
};

static cog_status produce_bags(void *context, void *batch, bool *end, cog_error *error) {
    struct signing *work = context;
    return bag_spool_read(work->spool, &((struct spool_batch *)batch)->bags, end, error);
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
    struct signing *work = context;
    TRY(write_signed(work, &((struct spool_batch *)batch)->result, error));
    return progress_report(&work->progress, work->documents, error);
}

static cog_status sign_spool(struct signing *work, cog_error *error) {
    size_t count = work->job->threads == 1 ? 1 : 2 * (size_t)work->job->threads + 1;
    struct spool_batch *batches;
    void **slots = NULL;
    TAKE_ZEROED(batches, count, "batches", error);
    cog_status status = TAKEN(slots, count, "batches", error);
    job_stage(work->job, "signing");
    for (size_t i = 0; status == COG_OK && i < count; i++)
        slots[i] = &batches[i];
    bag_spool_rewind(work->spool);
    progress_start(&work->progress, &work->job->run, "signing", work->total_documents);
    struct pipeline pipeline = {.produce = produce_bags,
                                .work = sign_bags,
                                .consume = write_spooled,
                                .context = work,
                                .batches = slots,
                                .batch_count = count};
    THEN(status, pipeline_run(&pipeline, work->job->threads, error));
    THEN(status, progress_finish(&work->progress, error));
    for (size_t i = 0; i < count; i++) {
        buffer_free(&batches[i].bags);
        signed_batch_reset(&batches[i].result);
    }
    FREE(batches, slots);
    job_stage(work->job, NULL);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Rejects outputs that .npy files cannot hold, before any work is done. */
static cog_status check_outputs(const cog_signature_options *signature,
                                const cog_sign_outputs *outputs, cog_error *error) {
    struct signature_options checked;
    cog_status status = options_signature(signature, &checked, error);
    if (status == COG_OK && signature->bits % 8)
        status = error_set(error, COG_ERR_USAGE,
                           "signatures of %u bit%s do not fill whole bytes: choose a multiple of 8",
                           signature->bits, plural(signature->bits, "", "s"));
    if (status == COG_OK && outputs->weights && signature->kind == COG_SIGNATURE_MINHASH)
        status = error_set(error, COG_ERR_USAGE, "minhash has no margins to write");
    return status;
}

/* Documents are processed in batches; only the vocabulary grows. */
static cog_status check_memory(const struct signing *work, const cog_documents *documents,
                               const struct term_options *terms, bool collects, cog_error *error) {
    enum { THREAD_BYTES = 6 << 20, COLLECTING_THREAD_BYTES = 16 << 20 };
    double threads = work->job->threads;
    double needed = MEMORY_BASE_BYTES +
                    threads * (collects ? COLLECTING_THREAD_BYTES : THREAD_BYTES) +
                    ingest_projection_bytes(documents, work->job->threads);
    if (collects)
        needed += memory_of_statistics((double)ingest_text_bytes(documents), terms->ngram);
    return job_check_memory(work->job, needed, error);
}

/* Collects statistics if signing needs them and none are given, and keeps the bags if the disk has
 * room. */
static cog_status prepare(struct signing *work, cog_documents *documents,
                          const cog_sign_options *options, const struct term_options *terms,
                          const cog_sign_outputs *outputs, const cog_statistics **statistics,
                          cog_statistics **collected, cog_error *error) {
    struct weighting weighting;
    cog_status status = options_weighting(&options->weights, &weighting, error);
    bool collects = !*statistics && weighting_needs_statistics(&weighting);
    THEN(status, check_memory(work, documents, terms, collects, error));
    if (status != COG_OK || !collects)
        return status;
    ingest_keep_pipes(documents); /* in case the disk has no room for the spool */
    if (bag_spool_create(outputs->signatures, &work->spool, NULL) != COG_OK)
        work->spool = NULL;
    status = statistics_collect(documents, &options->terms, &work->job->run, work->spool, collected,
                                work->job->report, error);
    *statistics = *collected;
    if (work->spool && !bag_spool_is_complete(work->spool)) {
        bag_spool_free(work->spool);
        work->spool = NULL;
    }
    if (status == COG_OK)
        work->total_documents = statistics_document_count((*collected)->counts);
    return status;
}

/* Writes files, or buffers; then the outputs only name the folder of the scratch file. */
static cog_status sign_all(struct job *job, cog_documents *documents,
                           const cog_sign_options *options, const cog_statistics *statistics,
                           const cog_sign_outputs *outputs, const cog_sign_buffers *buffers,
                           size_t *documents_signed, cog_error *error) {
    struct signing work = {.job = job, .buffers = buffers};
    struct term_options terms;
    cog_statistics *collected = NULL;
    TRY(options_terms(&options->terms, &terms, error));
    TRY(check_outputs(&options->signature, outputs, error));
    TRY(foreign_check_signature(documents->foreign, options->signature.kind, error));
    cog_status status =
        prepare(&work, documents, options, &terms, outputs, &statistics, &collected, error);
    if (status == COG_OK && statistics)
        status = options_check_statistics(&options->terms, statistics, error);
    THEN(status, text_signer_init(&work.text_signer, options,
                                  statistics ? statistics->counts : NULL, error));
    THEN(status, create_scratches(&work, error));
    THEN(status, open_outputs(&work, outputs, error));
    THEN(status, work.spool ? sign_spool(&work, error)
                            : sign_input(&work, documents, &terms, collected != NULL, error));
    THEN(status, commit_outputs(&work, error));
    if (status == COG_OK)
        report_signing(&work, job->report);
    *documents_signed = (size_t)work.documents;
    signing_close(&work);
    statistics_release(collected);
    return status;
}

cog_status sign_documents(struct job *job, cog_documents *documents,
                          const cog_sign_options *options, const cog_statistics *statistics,
                          const cog_sign_outputs *outputs, cog_error *error) {
    size_t documents_signed;
    return sign_all(job, documents, options, statistics, outputs, NULL, &documents_signed, error);
}

cog_status sign_into_buffers(struct job *job, cog_documents *documents,
                             const cog_sign_options *options, const cog_statistics *statistics,
                             const cog_sign_buffers *buffers, size_t *documents_signed,
                             cog_error *error) {
    const cog_sign_outputs outputs = {.signatures = "-", .weights = buffers->margins ? "-" : NULL};
    return sign_all(job, documents, options, statistics, &outputs, buffers, documents_signed,
                    error);
}
