#include "jobs/dedup/kept_records.h"

#include <stdlib.h>

#include "base/memory.h"
#include "jobs/dedup/kept_files.h"

struct keeping {
    struct ingest *ingest;
    const uint8_t *is_kept;
    size_t record_count;
    const struct record_marks *marks; /* NULL: records are copied unchanged */
    struct kept_files *files;
};

/* The kept records of a batch: runs of adjacent records, which point into the batch. */
struct kept_batch {
    struct run {
        struct bytes_view bytes;
        uint32_t file;
        bool at_beginning;
    } * runs;
    size_t count, capacity;
    struct buffer marked; /* the batch's records with their marks */
};

cog_status kept_records_check(cog_documents *documents, const char *path, cog_error *error) {
    struct reader *reader = documents->reader;
    if (!reader)
        return error_set(error, COG_ERR_USAGE, "documents in memory have no records to write");
    return kept_files_check(reader, path, error);
}

static cog_status add_record(struct kept_batch *batch, const struct document *document,
                             cog_error *error) {
    struct run *last = batch->count ? &batch->runs[batch->count - 1] : NULL;
    if (last && last->file == document->file &&
        last->bytes.data + last->bytes.size == document->raw.data) {
        last->bytes.size += document->raw.size;
        return COG_OK;
    }
    GROW(batch->runs, batch->capacity, batch->count + 1, "kept records", error);
    batch->runs[batch->count++] = (struct run){document->raw, document->file, document->line == 1};
    return COG_OK;
}

/* Adds a run per record. Runs store only sizes, as the buffer may move while it grows. */
static cog_status add_marked(const struct keeping *keeping, struct kept_batch *batch,
                             const struct ingested *item, cog_error *error) {
    const struct document *document = item->document;
    const size_t begin = batch->marked.size;
    TRY(record_marks_append(keeping->marks, item->record, document, &batch->marked, error));
    GROW(batch->runs, batch->capacity, batch->count + 1, "marked records", error);
    batch->runs[batch->count++] = (struct run){view_of(NULL, batch->marked.size - begin),
                                               document->file, document->line == 1};
    return COG_OK;
}

static cog_status take_records(void *context, unsigned worker, void *ingest_batch,
                               cog_error *error) {
    const struct keeping *keeping = context;
    struct kept_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(keeping->ingest, worker, ingest_batch, &item, error));
        if (!item.document)
            return COG_OK;
        if (keeping->marks) {
            TRY(add_marked(keeping, batch, &item, error));
            continue;
        }
        bool is_kept = item.record < keeping->record_count && keeping->is_kept[item.record];
        if (is_kept || item.document->passed_over)
            TRY(add_record(batch, item.document, error));
    }
}

static cog_status write_batch(void *context, void *ingest_batch, cog_error *error) {
    struct keeping *keeping = context;
    struct kept_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    cog_status status = COG_OK;
    size_t marked = 0;
    for (size_t i = 0; i < batch->count && status == COG_OK; i++) {
        struct run *run = &batch->runs[i];
        if (keeping->marks)
            run->bytes.data = batch->marked.data + marked;
        marked += run->bytes.size;
        status = kept_files_write(keeping->files, run->file, run->bytes, run->at_beginning, error);
    }
    batch->count = 0;
    buffer_reset(&batch->marked);
    return status;
}

cog_status kept_records_write(cog_documents *documents, const uint8_t *is_kept, size_t record_count,
                              const struct record_marks *marks, const char *path,
                              const cog_run_options *run, cog_report *report, cog_error *error) {
    struct keeping keeping = {.is_kept = is_kept, .record_count = record_count, .marks = marks};
    cog_status status = kept_files_open(documents->reader, path, marks, &keeping.files, error);
    THEN(status, ingest_open_raw(documents, sizeof(struct kept_batch), "writing", run, report,
                                 &keeping.ingest, error));
    THEN(status, ingest_run(keeping.ingest, &keeping, take_records, write_batch, error));
    for (size_t i = 0; keeping.ingest && i < keeping.ingest->batch_count; i++) {
        struct kept_batch *batch = keeping.ingest->batches[i].result;
        free(batch->runs);
        buffer_free(&batch->marked);
    }
    ingest_close(keeping.ingest);
    THEN(status, kept_files_commit(keeping.files, error));
    kept_files_close(keeping.files);
    return status;
}
