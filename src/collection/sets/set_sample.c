#include "collection/sets/set_sample.h"

#include "collection/sets/document_sets.h"

enum {
    SAMPLED_RECORDS = 200,
    BATCH_BYTES = 1 << 16,     /* small, as they stay (cog_documents.ahead) */
    LEAST_TEXT_BYTES = 1 << 20 /* less is not worth the time */
};
/* Of English JSON lines. */
static const double usual_ratio = 5.0 / 6;

struct sampling {
    struct ingest *ingest;
    uint64_t input_bytes, set_bytes; /* of the sampled records */
};

/* The records of the sample in this batch, whether they are documents or not. */
static uint64_t input_bytes_of(const struct ingest_batch *batch) {
    const struct record_batch *records = &batch->records;
    uint64_t bytes = 0;
    for (size_t i = 0; records->records && i < records->count; i++)
        if (records->first_record + i < SAMPLED_RECORDS)
            bytes += records->records[i].size;
    return bytes;
}

/* There is one worker. */
static cog_status take_documents(void *context, unsigned worker, void *ingest_batch,
                                 cog_error *error) {
    struct sampling *sampling = context;
    struct ingest_batch *batch = ingest_batch;
    const bool is_file = batch->records.records != NULL;
    sampling->input_bytes += input_bytes_of(batch);
    for (;;) {
        struct ingested item;
        TRY(ingest_next(sampling->ingest, worker, batch, &item, error));
        if (!item.document)
            return COG_OK;
        if (!is_file)
            sampling->input_bytes += item.document->text.size;
        TRY(set_batch_add(batch->result, &item, true, error));
    }
}

/* Bad records are left for the pass that reads everything. */
static cog_status add_sets(void *context, void *ingest_batch, cog_error *error) {
    struct set_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    (void)error;
    ((struct sampling *)context)->set_bytes += batch->bytes.size;
    set_batch_free(batch);
    return COG_OK;
}

static cog_status sample(struct sampling *sampling, cog_documents *documents,
                         const struct term_options *terms, cog_error *error) {
    const cog_run_options alone = {.threads = 1};
    uint64_t records[SAMPLED_RECORDS];
    for (size_t i = 0; i < SAMPLED_RECORDS; i++)
        records[i] = i;
    TRY(ingest_open(documents, terms, sizeof(struct set_batch), "reading", &alone, NULL, true,
                    &sampling->ingest, error));
    ingest_only(sampling->ingest, records, SAMPLED_RECORDS);
    cog_status status = ingest_run(sampling->ingest, sampling, take_documents, add_sets, error);
    for (size_t i = 0; i < sampling->ingest->batch_count; i++)
        set_batch_free(sampling->ingest->batches[i].result);
    ingest_close(documents->ahead);
    documents->ahead = sampling->ingest;
    return status;
}

static bool can_read_ahead(const cog_documents *documents) {
    const struct reader *reader = documents->reader;
    if (documents->foreign || (reader && reader_has_pipe(reader)))
        return false;
    for (uint32_t file = 0; reader && file < reader_file_count(reader); file++)
        if (reader_file_format(reader, file) == INPUT_QUERYLOG)
            return false;
    return true;
}

cog_status set_sample_bytes(cog_documents *documents, const struct term_options *terms,
                            double *bytes, cog_error *error) {
    const uint64_t text_bytes = ingest_text_bytes(documents);
    struct sampling sampling = {0};
    *bytes = (double)text_bytes * usual_ratio;
    if (text_bytes < LEAST_TEXT_BYTES || !can_read_ahead(documents))
        return COG_OK;
    reader_set_batch_bytes(documents->source, BATCH_BYTES);
    cog_status status = sample(&sampling, documents, terms, error);
    reader_set_batch_bytes(documents->source, 0);
    if (status == COG_OK && sampling.set_bytes)
        *bytes = (double)text_bytes * (double)sampling.set_bytes / (double)sampling.input_bytes;
    return status;
}
