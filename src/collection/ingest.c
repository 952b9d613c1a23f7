#include "collection/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "input/documents/text_bytes.h"
#include "run/job.h"

struct ingest_worker {
    struct record_parser *parser;
    struct analyzer *analyzer;
    struct bag_counter *counter;
    struct projector_worker *projector; /* of foreign documents */
    struct document document;
    struct term_list terms;
    float *weights; /* of terms that the input names itself, and their frequencies */
    uint32_t *frequencies;
    size_t weight_capacity, frequency_capacity;
};

/* Takes the reader over, also after a failure. */
static cog_status documents_in_memory(struct reader *reader, bool strict, cog_documents **result,
                                      cog_error *error) {
    cog_documents *documents = NULL;
    cog_status status = TAKEN_ZEROED(documents, 1, "documents", error);
    if (status != COG_OK) {
        reader_close(reader);
        return status;
    }
    documents->source = reader;
    documents->strict = strict;
    *result = documents;
    return COG_OK;
}

cog_status documents_of_table(struct document_table *table, bool strict, cog_documents **documents,
                              cog_error *error) {
    struct reader *reader = NULL;
    TRY(reader_open_table(table, &reader, error));
    return documents_in_memory(reader, strict, documents, error);
}

cog_status documents_of_log(struct query_log *log, uint64_t rows, bool strict,
                            cog_documents **documents, cog_error *error) {
    struct reader *reader = NULL;
    TRY(reader_open_log(log, rows, &reader, error));
    return documents_in_memory(reader, strict, documents, error);
}

void documents_close(cog_documents *documents) {
    if (!documents)
        return;
    ingest_close(documents->ahead);
    reader_close(documents->source);
    foreign_documents_free(documents->foreign);
    FREE(documents->skipped, documents);
}

static cog_status produce(void *source, void *batch, bool *end, cog_error *error) {
    struct ingest *ingest = source;
    struct ingest_batch *slot = batch;
    slot->next_item = slot->skipped_count = slot->records.count = 0;
    *end = ingest->only &&
           (!ingest->only_count || ingest->read_records > ingest->only[ingest->only_count - 1]);
    if (*end)
        return COG_OK;
    cog_status status = reader_fill(ingest->documents->source, &slot->records, end, error);
    ingest->read_records = slot->records.first_record + slot->records.count;
    return status;
}

/* The index of the next wanted record of the batch, from next_item on; the count if there is none.
 */
static size_t next_wanted(const struct ingest *ingest, const struct ingest_batch *batch) {
    if (!ingest->only)
        return batch->next_item;
    const size_t count = batch->records.count;
    const uint64_t first = batch->records.first_record, least = first + batch->next_item;
    size_t low;
    FIND_FIRST_NOT(low, 0, ingest->only_count, ingest->only[low] < least);
    bool has_one = low < ingest->only_count && ingest->only[low] < first + count;
    return has_one ? (size_t)(ingest->only[low] - first) : count;
}

static cog_status skip(struct ingest_batch *slot, struct bytes_view raw, uint64_t record,
                       const struct bad_record *bad, cog_error *error) {
    GROW(slot->skipped, slot->skipped_capacity, slot->skipped_count + 1, "a skipped record", error);
    slot->skipped[slot->skipped_count++] =
        (struct skipped_record){.bad = *bad, .raw = raw, .record = record};
    return COG_OK;
}

/* Uses the terms given in the input, each once, instead of analysed ones. */
static cog_status take_given_terms(struct ingest_worker *worker, struct bag_view *bag,
                                   cog_error *error) {
    const struct document *document = &worker->document;
    struct term_list *terms = &worker->terms;
    const size_t count = document->term_count;
    GROW(terms->hashes, terms->capacity, count, "a query's terms", error);
    GROW(worker->weights, worker->weight_capacity, count, "a query's terms", error);
    GROW(worker->frequencies, worker->frequency_capacity, count, "a query's terms", error);
    *bag = (struct bag_view){terms->hashes, worker->frequencies, count, 0, worker->weights};
    terms->count = count;
    for (size_t i = 0; i < count; i++) {
        float weight = document->terms[i].weight;
        terms->hashes[i] = document->terms[i].hash;
        worker->weights[i] = weight;
        worker->frequencies[i] = bag_frequency(weight);
        bag->length += worker->frequencies[i];
    }
    return COG_OK;
}

static void take_raw(struct ingest *ingest, struct ingest_worker *worker,
                     struct ingest_batch *batch, struct ingested *item) {
    if (batch->next_item == batch->records.count)
        return;
    size_t i = batch->next_item++;
    reader_take_raw(ingest->documents->reader, &batch->records, i, &worker->document);
    item->record = worker->document.record;
    item->document = &worker->document;
}

/* Makes the terms of the worker's document, or directly its bag. */
static cog_status take_terms(const struct ingest *ingest, struct ingest_worker *worker,
                             struct bag_view *bag, cog_error *error) {
    const struct document *document = &worker->document;
    const struct foreign_documents *foreign = ingest->documents->foreign;
    bool is_projected = false;
    if (document->terms)
        return take_given_terms(worker, bag, error);
    if (foreign)
        TRY(foreign_is_projected(foreign, document->lang, document->id, &is_projected, error));
    worker->terms.count = 0;
    return is_projected ? projector_worker_run(worker->projector, document->text, bag, error)
                        : analyzer_run(worker->analyzer, document->text, document->lang,
                                       &worker->terms, error);
}

cog_status ingest_next(struct ingest *ingest, unsigned number, struct ingest_batch *batch,
                       struct ingested *item, cog_error *error) {
    struct ingest_worker *worker = &ingest->workers[number];
    struct bad_record bad = {0};
    bool usable = false;
    *item = (struct ingested){0};
    if (ingest->raw) {
        take_raw(ingest, worker, batch, item);
        return COG_OK;
    }
    while (!usable && (batch->next_item = next_wanted(ingest, batch)) < batch->records.count) {
        size_t i = batch->next_item++;
        item->record = batch->records.first_record + i;
        if (item->record < ingest->first_record ||
            (batch->records.records && batch->records.records[i].passed_over))
            continue;
        cog_status status =
            reader_parse(worker->parser, &batch->records, i, &worker->document, &bad, error);
        if (status != COG_OK && status != COG_ERR_INPUT)
            return status;
        usable = status == COG_OK;
        if (!usable)
            TRY(skip(batch, worker->document.raw, item->record, &bad, error));
    }
    if (!usable)
        return COG_OK;
    item->document = &worker->document;
    if (!ingest->terms)
        return COG_OK;
    item->terms = &worker->terms;
    return take_terms(ingest, worker, &item->bag, error);
}

cog_status ingest_count(struct ingest *ingest, unsigned number, struct ingested *item,
                        cog_error *error) {
    struct ingest_worker *worker = &ingest->workers[number];
    if (item->bag.weights)
        return COG_OK;
    if (!worker->counter)
        TRY(bag_counter_create(&worker->counter, error));
    return bag_count(worker->counter, worker->terms.hashes, worker->terms.count, &item->bag, error);
}

cog_status ingest_note_skipped(cog_documents *documents, uint64_t record, cog_error *error) {
    GROW(documents->skipped, documents->skipped_capacity, documents->skipped_count + 1,
         "a skipped record", error);
    documents->skipped[documents->skipped_count++] = record;
    return COG_OK;
}

cog_status ingest_note_bad(const cog_documents *documents, cog_report *report, uint64_t bad_so_far,
                           const char *message, cog_error *error) {
    if (documents->strict)
        return error_set(error, COG_ERR_INPUT, "%s (strict: the first bad record ends the job)",
                         message);
    if (bad_so_far < NAMED_BAD_RECORDS)
        report_notice(report, "skipped: %s", message);
    return COG_OK;
}

/* Counts a batch's records, notes the skipped ones, and updates progress. A pass over chosen
 * records leaves the skipped ones to the pass over all. */
static cog_status account(void *source, void *ingest_batch, cog_error *error) {
    struct ingest *ingest = source;
    const struct ingest_batch *batch = ingest_batch;
    ingest->records += batch->records.count - batch->records.passed_over;
    for (size_t i = 0; i < batch->skipped_count && !ingest->only; i++) {
        TRY(ingest_note_bad(ingest->documents, ingest->named_before ? NULL : ingest->report,
                            ingest->bad_records++, batch->skipped[i].bad.message, error));
        if (!ingest->named_before)
            TRY(ingest_note_skipped(ingest->documents, batch->skipped[i].record, error));
    }
    return progress_report(&ingest->progress, reader_read_bytes(ingest->documents->source), error);
}

static cog_status create_workers(struct ingest *ingest, cog_error *error) {
    TAKE_ZEROED(ingest->workers, ingest->worker_count, "workers", error);
    cog_status status = COG_OK;
    for (unsigned i = 0; i < ingest->worker_count && status == COG_OK; i++) {
        struct ingest_worker *worker = &ingest->workers[i];
        if (!ingest->raw)
            status = record_parser_create(ingest->documents->source, &worker->parser, error);
        if (status == COG_OK && worker->parser && ingest->documents->wants_ids)
            record_parser_want_ids(worker->parser);
        if (status == COG_OK && ingest->terms)
            status = analyzer_create(ingest->terms, &worker->analyzer, error);
        if (status == COG_OK && ingest->terms && ingest->documents->foreign)
            status = projector_worker_create(&ingest->projector, &worker->projector, error);
    }
    return status;
}

static cog_status create_batches(struct ingest *ingest, size_t result_bytes, cog_error *error) {
    ingest->batch_count = ingest->worker_count == 1 ? 1 : 2 * (size_t)ingest->worker_count + 1;
    ingest->batches = memory_zeroed_array(ingest->batch_count, sizeof *ingest->batches);
    ingest->slots = memory_zeroed_array(ingest->batch_count, sizeof *ingest->slots);
    if (!ingest->batches || !ingest->slots)
        return error_memory(error, ingest->batch_count * sizeof *ingest->batches, "batches");
    for (size_t i = 0; i < ingest->batch_count; i++) {
        ingest->slots[i] = &ingest->batches[i];
        if (!(ingest->batches[i].result = memory_zeroed_array(1, result_bytes)))
            return error_memory(error, result_bytes, "a batch's results");
    }
    return COG_OK;
}

void ingest_only(struct ingest *ingest, const uint64_t *records, size_t count) {
    ingest->only = records;
    ingest->only_count = count;
}

static void close_projectors(struct ingest *ingest) {
    for (unsigned i = 0; ingest->workers && i < ingest->worker_count; i++)
        projector_worker_free(ingest->workers[i].projector);
    document_projector_free(&ingest->projector);
}

void ingest_close(struct ingest *ingest) {
    if (!ingest)
        return;
    for (size_t i = 0; ingest->batches && i < ingest->batch_count; i++) {
        record_batch_free(&ingest->batches[i].records);
        FREE(ingest->batches[i].result, ingest->batches[i].skipped);
    }
    if (ingest->documents->foreign)
        close_projectors(ingest);
    for (unsigned i = 0; ingest->workers && i < ingest->worker_count; i++) {
        record_parser_free(ingest->workers[i].parser);
        analyzer_free(ingest->workers[i].analyzer);
        bag_counter_free(ingest->workers[i].counter);
        term_list_free(&ingest->workers[i].terms);
        FREE(ingest->workers[i].weights, ingest->workers[i].frequencies);
    }
    FREE(ingest->workers, ingest->batches, ingest->slots, ingest);
}

/* Starts a pass with the settings in *wanted. */
static cog_status open_pass(const struct ingest *wanted, size_t result_bytes,
                            const cog_run_options *run, struct ingest **result, cog_error *error) {
    cog_documents *documents = wanted->documents;
    struct ingest *ingest;
    TAKE_ZEROED(ingest, 1, "reading", error);
    *ingest = *wanted;
    ingest->start_ns = clock_ns();
    ingest->worker_count = threads_resolve(run ? run->threads : 0);
    if (!ingest->named_before)
        documents->skipped_count = 0;
    cog_status status = reader_rewind(documents->source, error);
    if (status == COG_OK && ingest->terms && documents->foreign)
        status =
            foreign_projector_init(documents->foreign, ingest->terms, &ingest->projector, error);
    THEN(status, create_workers(ingest, error));
    THEN(status, create_batches(ingest, result_bytes, error));
    if (status == COG_OK)
        progress_start(&ingest->progress, run, ingest->stage,
                       reader_total_bytes(documents->source));
    return HAND_OUT(status, ingest, ingest_close, result);
}

cog_status ingest_open(cog_documents *documents, const struct term_options *terms,
                       size_t result_bytes, const char *stage, const cog_run_options *run,
                       cog_report *report, bool named_before, struct ingest **ingest,
                       cog_error *error) {
    const struct ingest wanted = {.documents = documents,
                                  .terms = terms,
                                  .stage = stage,
                                  .report = report,
                                  .named_before = named_before};
    return open_pass(&wanted, result_bytes, run, ingest, error);
}

cog_status ingest_open_raw(cog_documents *documents, size_t result_bytes, const char *stage,
                           const cog_run_options *run, cog_report *report, struct ingest **ingest,
                           cog_error *error) {
    const struct ingest wanted = {.documents = documents,
                                  .stage = stage,
                                  .report = report,
                                  .named_before = true,
                                  .raw = true};
    if (!documents->reader)
        return error_set(error, COG_ERR_USAGE, "documents in memory have no records to write");
    TRY(open_pass(&wanted, result_bytes, run, ingest, error));
    cog_status status = reader_stay_raw(documents->source, error);
    if (status != COG_OK) {
        ingest_close(*ingest);
        *ingest = NULL;
    }
    return status;
}

/* A stream without a known beginning is the only input whose format is a guess without evidence. */
static void report_guesses(const struct reader *reader, cog_report *report) {
    if (reader_inputs(reader)->options && reader_inputs(reader)->options->lines)
        return;
    for (uint32_t i = 0; i < reader_file_count(reader); i++) {
        const struct input_file *file = &reader_inputs(reader)->files[i];
        if (file->is_guessed && file->format == INPUT_TXT)
            report_notice(report,
                          "%s: read as plain text, each line a document; name the format of the "
                          "input if it is another",
                          file->path);
    }
}

static void report_skipped_files(const cog_documents *documents, cog_report *report) {
    size_t files = reader_skipped_file_count(documents->source);
    for (size_t i = 0; i < files && i < NAMED_BAD_RECORDS; i++)
        report_notice(report, "skipped: %s", reader_skipped_file_message(documents->source, i));
    report_number(report, "skipped_files", (double)files);
    if (!documents->reader)
        return;
    struct left_out_pages pages = reader_left_out_pages(documents->source);
    uint64_t left_out = pages.redirects + pages.stubs + pages.other_namespaces;
    report_number(report, "left_out_pages", (double)left_out);
    if (left_out)
        report_notice(
            report, "left out: %llu redirect%s, %llu stub%s and %llu page%s of other namespaces",
            (unsigned long long)pages.redirects, plural(pages.redirects, "", "s"),
            (unsigned long long)pages.stubs, plural(pages.stubs, "", "s"),
            (unsigned long long)pages.other_namespaces, plural(pages.other_namespaces, "", "s"));
}

cog_status ingest_run(struct ingest *ingest, void *context, ingest_worker_function *work,
                      ingest_receiver *deliver, cog_error *error) {
    struct pipeline pipeline = {.produce = produce,
                                .work = work,
                                .consume = deliver,
                                .context = context,
                                .batches = ingest->slots,
                                .batch_count = ingest->batch_count,
                                .source = ingest,
                                .accept = account};
    cog_report *notices = ingest->named_before ? NULL : ingest->report;
    TRY(pipeline_run(&pipeline, ingest->worker_count, error));
    TRY(progress_finish(&ingest->progress, error));
    const bool is_file = ingest->documents->reader; /* fields that do not exist: not in memory */
    if (is_file && ingest->bad_records && ingest->bad_records == ingest->records)
        return error_set(error, COG_ERR_INPUT,
                         "none of the %llu records could be read: check the input format and the "
                         "names of the text and id fields",
                         (unsigned long long)ingest->records);
    if (!ingest->raw) /* nothing was parsed: keep the numbers of the earlier pass */
        report_number(ingest->report, "bad_records", (double)ingest->bad_records);
    report_skipped_files(ingest->documents, notices);
    if (is_file)
        report_guesses(ingest->documents->reader, notices);
    report_stage(ingest->report, ingest->stage, clock_seconds_since(ingest->start_ns));
    if (ingest->bad_records > NAMED_BAD_RECORDS)
        report_notice(notices, "skipped: %llu bad records in total; the first %d are named above",
                      (unsigned long long)ingest->bad_records, NAMED_BAD_RECORDS);
    return COG_OK;
}

double ingest_projection_bytes(const cog_documents *documents, unsigned threads) {
    return documents->foreign ? (double)threads * (double)projector_worker_memory_bytes() : 0;
}

void ingest_keep_pipes(cog_documents *documents) {
    reader_keep_pipes(documents->source);
}

uint64_t ingest_text_bytes(const cog_documents *documents) {
    return reader_text_bytes(documents->source);
}
