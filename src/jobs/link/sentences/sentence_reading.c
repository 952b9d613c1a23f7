#include "jobs/link/sentences/sentence_reading.h"

#include <stdlib.h>

#include "base/memory.h"
#include "collection/ingest.h"
#include "crosslingual/sentence_splitter.h"

/* The sentences of a batch of documents. */
struct sentence_batch {
    struct buffer text;
    struct sentence_span {
        size_t row, size;
        bool joined;
    } * spans;
    size_t count, capacity;
};

/* The row of a record; SIZE_MAX if the record is not a document. Rows are in record order. */
static size_t row_of_record(const struct corpus *corpus, uint64_t record) {
    size_t low;
    if (!corpus)
        return (size_t)record;
    FIND_FIRST_NOT(low, 0, corpus->rows, corpus->items[low].record < record);
    return low < corpus->rows && corpus->items[low].record == record ? low : SIZE_MAX;
}

static cog_status add_document(struct sentence_batch *batch, struct sentence_splitter *splitter,
                               size_t row, struct bytes_view text, cog_error *error) {
    struct bytes_view sentence;
    const char *end = NULL;
    TRY(sentence_splitter_start(splitter, text, error));
    while (sentence_splitter_next(splitter, &sentence)) {
        GROW(batch->spans, batch->capacity, batch->count + 1, "sentences", error);
        batch->spans[batch->count++] =
            (struct sentence_span){row, sentence.size, sentence.data == end};
        end = sentence.data + sentence.size;
        if (!buffer_append(&batch->text, sentence.data, sentence.size))
            return error_memory(error, sentence.size, "sentences");
    }
    return COG_OK;
}

static cog_status split_batch(void *context, unsigned worker, void *ingest_batch,
                              cog_error *error) {
    const struct linked_sentences *sentences = context;
    struct sentence_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(sentences->ingest, worker, ingest_batch, &item, error));
        if (!item.document)
            return COG_OK;
        size_t row = row_of_record(sentences->corpus, item.record);
        if (row != SIZE_MAX)
            TRY(add_document(batch, sentences->splitters[worker], row, item.document->text, error));
    }
}

/* Gives rows up to this one an end, if their number was not known. */
static cog_status reach_row(struct linked_sentences *sentences, size_t row, cog_error *error) {
    if (row < sentences->rows)
        return COG_OK;
    GROW(sentences->row_ends, sentences->row_capacity, row + 1, "sentences", error);
    while (sentences->rows <= row)
        sentences->row_ends[sentences->rows++] = 0;
    return COG_OK;
}

static cog_status take_batch(void *context, void *ingest_batch, cog_error *error) {
    struct linked_sentences *sentences = context;
    struct sentence_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    size_t count = sentences->count + batch->count;
    GROW(sentences->items, sentences->item_capacity, count, "sentences", error);
    GROW(sentences->joined, sentences->joined_capacity, count, "sentences", error);
    for (size_t i = 0; i < batch->count; i++) {
        const struct sentence_span *span = &batch->spans[i];
        sentences->joined[sentences->count] = span->joined;
        sentences->items[sentences->count++] = (cog_document){.text_size = span->size};
        TRY(reach_row(sentences, span->row, error));
        sentences->row_ends[span->row] = sentences->count;
    }
    if (!buffer_append(&sentences->text, batch->text.data, batch->text.size))
        return error_memory(error, batch->text.size, "sentences");
    buffer_reset(&batch->text);
    batch->count = 0;
    return COG_OK;
}

/* Sets the sentences' text pointers, and gives rows without sentences an empty range. */
static void finish_sentences(struct linked_sentences *sentences) {
    size_t offset = 0;
    for (size_t i = 0; i < sentences->count; i++) {
        sentences->items[i].text = sentences->text.data + offset;
        offset += sentences->items[i].text_size;
    }
    for (size_t row = 1; row < sentences->rows; row++)
        if (sentences->row_ends[row] < sentences->row_ends[row - 1])
            sentences->row_ends[row] = sentences->row_ends[row - 1];
}

static cog_status want_rows(struct linked_sentences *sentences, const struct corpus *corpus,
                            const uint8_t *wanted, cog_error *error) {
    sentences->rows = corpus->rows;
    TAKE_ZEROED(sentences->row_ends, corpus->rows, "sentences", error);
    TAKE(sentences->records, corpus->rows, "sentences", error);
    for (size_t row = 0; row < corpus->rows; row++)
        if (wanted[row])
            sentences->records[sentences->record_count++] = corpus->items[row].record;
    return COG_OK;
}

static cog_status make_splitters(struct linked_sentences *sentences, const char *language,
                                 unsigned threads, cog_error *error) {
    TAKE_ZEROED(sentences->splitters, (size_t)threads + 1, "sentences", error);
    for (unsigned i = 0; i < threads; i++)
        TRY(sentence_splitter_create(language, &sentences->splitters[i], error));
    return COG_OK;
}

cog_status linked_sentences_read(struct linked_sentences *sentences, cog_documents *documents,
                                 const struct corpus *corpus, const uint8_t *wanted,
                                 const char *language, struct job *job, cog_error *error) {
    sentences->corpus = corpus;
    if (corpus)
        TRY(want_rows(sentences, corpus, wanted, error));
    if (corpus && sentences->record_count == 0)
        return COG_OK;
    TRY(make_splitters(sentences, language, job->threads, error));
    TRY(ingest_open(documents, NULL, sizeof(struct sentence_batch), "reading sentences", &job->run,
                    NULL, true, &sentences->ingest, error));
    if (corpus)
        ingest_only(sentences->ingest, sentences->records, sentences->record_count);
    cog_status status = ingest_run(sentences->ingest, sentences, split_batch, take_batch, error);
    for (size_t i = 0; i < sentences->ingest->batch_count; i++) {
        struct sentence_batch *batch = sentences->ingest->batches[i].result;
        buffer_free(&batch->text);
        free(batch->spans);
    }
    ingest_close(sentences->ingest);
    if (status == COG_OK)
        finish_sentences(sentences);
    return status;
}

void linked_sentences_free(struct linked_sentences *sentences) {
    for (size_t i = 0; sentences->splitters && sentences->splitters[i]; i++)
        sentence_splitter_free(sentences->splitters[i]);
    FREE(sentences->items, sentences->joined, sentences->row_ends, sentences->records,
         sentences->splitters);
    buffer_free(&sentences->text);
}

cog_status linked_sentences_text(const struct linked_sentences *sentences, size_t first,
                                 size_t count, struct buffer *text, cog_error *error) {
    buffer_reset(text);
    bool enough = true;
    for (size_t i = first; i < first + count && enough; i++) {
        const cog_document *item = &sentences->items[i];
        enough = (i == first || sentences->joined[i] || buffer_append(text, " ", 1)) &&
                 buffer_append(text, item->text, item->text_size);
    }
    return enough ? COG_OK : error_memory(error, text->size, "sentences");
}
