#include "jobs/dedup/report/report_texts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/strings.h"

struct text_pass {
    struct ingest *ingest;
    const struct wanted_text *wanted; /* by record */
    size_t wanted_count;
    struct report_texts *texts;
};

/* The texts of a batch. */
struct text_batch {
    struct taken_text {
        uint32_t position;
        size_t size, whole_size;
    } * taken;
    size_t count, capacity;
    struct buffer bytes;
};

static int by_record(const void *a, const void *b) {
    const struct wanted_text *p = a, *q = b;
    return ORDER(p->record, q->record);
}

static cog_status take_text(struct text_batch *batch, uint32_t position, struct bytes_view text,
                            cog_error *error) {
    size_t size = utf8_cut(text, REPORT_TEXT_BYTES);
    GROW(batch->taken, batch->capacity, batch->count + 1, "the texts of the report", error);
    if (!buffer_append(&batch->bytes, text.data, size))
        return error_memory(error, size, "the texts of the report");
    batch->taken[batch->count++] = (struct taken_text){position, size, text.size};
    return COG_OK;
}

static cog_status take_texts(void *context, unsigned worker, void *ingest_batch, cog_error *error) {
    const struct text_pass *pass = context;
    struct text_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(pass->ingest, worker, ingest_batch, &item, error));
        if (!item.document)
            return COG_OK;
        const struct wanted_text key = {item.record, 0};
        const struct wanted_text *wanted =
            bsearch(&key, pass->wanted, pass->wanted_count, sizeof key, by_record);
        if (wanted)
            TRY(take_text(batch, wanted->position, item.document->text, error));
    }
}

static cog_status keep_texts(void *context, void *ingest_batch, cog_error *error) {
    struct text_pass *pass = context;
    struct report_texts *texts = pass->texts;
    struct text_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    size_t at = texts->bytes.size;
    if (!buffer_append(&texts->bytes, batch->bytes.data, batch->bytes.size))
        return error_memory(error, batch->bytes.size, "the texts of the report");
    for (size_t i = 0; i < batch->count; i++) {
        const struct taken_text *taken = &batch->taken[i];
        texts->items[taken->position] =
            (struct report_text){at, taken->size, taken->whole_size, true};
        at += taken->size;
    }
    batch->count = 0;
    buffer_reset(&batch->bytes);
    return COG_OK;
}

cog_status report_texts_read(cog_documents *documents, struct wanted_text *wanted,
                             size_t wanted_count, size_t count, const cog_run_options *run,
                             cog_report *report, struct report_texts *texts, cog_error *error) {
    struct text_pass pass = {.wanted = wanted, .wanted_count = wanted_count, .texts = texts};
    qsort(wanted, wanted_count, sizeof *wanted, by_record);
    TAKE_ZEROED(texts->items, count, "the texts of the report", error);
    if (wanted_count == 0)
        return COG_OK;
    cog_status status = ingest_open(documents, NULL, sizeof(struct text_batch), "report", run,
                                    report, true, &pass.ingest, error);
    THEN(status, ingest_run(pass.ingest, &pass, take_texts, keep_texts, error));
    for (size_t i = 0; pass.ingest && i < pass.ingest->batch_count; i++) {
        struct text_batch *batch = pass.ingest->batches[i].result;
        free(batch->taken);
        buffer_free(&batch->bytes);
    }
    ingest_close(pass.ingest);
    return status;
}

void report_texts_free(struct report_texts *texts) {
    free(texts->items);
    buffer_free(&texts->bytes);
    *texts = (struct report_texts){0};
}
