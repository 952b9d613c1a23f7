#include "collection/ingest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "input/utf8.h"
#include "run/report.h"

enum { MEMORY_BATCH_BYTES = 1 << 20 };

/* A batch in flight: raw records, or a range of documents in memory, and what became of them. */
struct slot {
    struct record_batch records;
    size_t first_item, item_count;
    void *result;
    struct skipped {
        struct bad_record bad;
        struct bytes_view raw; /* of the slot's records */
    } * skipped;
    size_t skipped_count, skipped_capacity;
};

struct worker {
    struct record_parser *parser;
    struct analyzer *analyzer;
    struct bag_counter *counter;
    struct term_list terms;
    float *weights; /* of terms that the input names itself, and their frequencies */
    uint32_t *frequencies;
    size_t weight_capacity, frequency_capacity;
};

struct ingest {
    cog_documents *documents;
    const struct ingest_plan *plan;
    struct slot *slots;
    void **batches;
    size_t slot_count;
    struct worker *workers;
    unsigned worker_count;
    size_t next_item;
    uint64_t records, bad_records;
    struct progress progress;
    cog_report *report;
};

static cog_status fill_from_memory(struct ingest *ingest, struct slot *slot, bool *end) {
    const cog_documents *documents = ingest->documents;
    size_t bytes = 0;
    slot->first_item = ingest->next_item;
    while (ingest->next_item < documents->item_count && bytes < MEMORY_BATCH_BYTES)
        bytes += documents->items[ingest->next_item++].text_size + 64;
    slot->item_count = ingest->next_item - slot->first_item;
    *end = slot->item_count == 0;
    return COG_OK;
}

static cog_status produce(void *context, void *batch, bool *end, cog_error *error) {
    struct ingest *ingest = context;
    struct slot *slot = batch;
    if (!ingest->documents->reader)
        return fill_from_memory(ingest, slot, end);
    cog_status status = reader_fill(ingest->documents->reader, &slot->records, end, error);
    slot->item_count = slot->records.count;
    return status;
}

static cog_status skip(struct slot *slot, struct bytes_view raw, const struct bad_record *bad,
                       cog_error *error) {
    if (!memory_grow((void **)&slot->skipped, &slot->skipped_capacity, slot->skipped_count + 1,
                     sizeof *slot->skipped))
        return error_memory(error, sizeof *slot->skipped, "a skipped record");
    slot->skipped[slot->skipped_count].bad = *bad;
    slot->skipped[slot->skipped_count++].raw = raw;
    return COG_OK;
}

/* The document at `index` of the slot; *usable is false where it was skipped. */
static cog_status take_document(struct ingest *ingest, struct worker *worker, struct slot *slot,
                                size_t index, struct document *document, char *number,
                                size_t number_size, bool *usable, cog_error *error) {
    struct bad_record bad;
    *usable = true;
    if (!ingest->documents->reader) {
        const cog_document *item = &ingest->documents->items[slot->first_item + index];
        int length = snprintf(number, number_size, "%zu", slot->first_item + index);
        *document = (struct document){.id = item->id ? view_of(item->id, item->id_size)
                                                     : view_of(number, (size_t)length),
                                      .lang = view_of(item->lang, item->lang ? item->lang_size : 0),
                                      .text = view_of(item->text, item->text_size),
                                      .line = slot->first_item + index + 1};
        bool is_text = utf8_is_valid(item->text, item->text_size) &&
                       utf8_is_valid(document->id.data, document->id.size) &&
                       utf8_is_valid(document->lang.data, document->lang.size);
        const char *problem = is_text ? document_id_problem(document->id) : "not valid UTF-8";
        if (!problem)
            return COG_OK;
        bad = (struct bad_record){.line = document->line};
        snprintf(bad.message, sizeof bad.message, "document %zu: %s", slot->first_item + index,
                 problem);
        *usable = false;
        return skip(slot, document->raw, &bad, error);
    }
    cog_status status = reader_parse(worker->parser, &slot->records, index, document, &bad, error);
    if (status != COG_ERR_INPUT)
        return status;
    *usable = false;
    return skip(slot, document->raw, &bad, error);
}

/* Terms that the input names itself, each once, stand for the analysed ones. */
static cog_status take_given_terms(struct worker *worker, const struct document *document,
                                   struct bag_view *bag, cog_error *error) {
    struct term_list *terms = &worker->terms;
    const size_t count = document->term_count;
    if (!memory_grow((void **)&terms->hashes, &terms->capacity, count, sizeof *terms->hashes) ||
        !memory_grow((void **)&worker->weights, &worker->weight_capacity, count,
                     sizeof *worker->weights) ||
        !memory_grow((void **)&worker->frequencies, &worker->frequency_capacity, count,
                     sizeof *worker->frequencies))
        return error_memory(error, count * sizeof *terms->hashes, "a query's terms");
    *bag = (struct bag_view){terms->hashes, worker->frequencies, count, 0, worker->weights};
    terms->count = count;
    for (size_t i = 0; i < count; i++) {
        float weight = document->terms[i].weight;
        terms->hashes[i] = document->terms[i].hash;
        worker->weights[i] = weight;
        worker->frequencies[i] = weight < 1.5f                ? 1
                                 : weight < (float)UINT32_MAX ? (uint32_t)(weight + 0.5f)
                                                              : UINT32_MAX;
        bag->length += worker->frequencies[i];
    }
    return COG_OK;
}

static cog_status analyse(const struct ingest *ingest, unsigned number, struct ingested *item,
                          cog_error *error) {
    struct worker *worker = &ingest->workers[number];
    const struct document *document = item->document;
    cog_status status = COG_OK;
    if (document->terms)
        status = take_given_terms(worker, document, &item->bag, error);
    else
        status =
            analyzer_run(worker->analyzer, document->text, document->lang, &worker->terms, error);
    item->terms = &worker->terms;
    if (status == COG_OK && ingest->plan->amend)
        status =
            ingest->plan->amend(ingest->plan->context, number, document, &worker->terms, error);
    if (status == COG_OK && ingest->plan->want_bags && !item->bag.weights)
        status = bag_count(worker->counter, worker->terms.hashes, worker->terms.count, &item->bag,
                           error);
    return status;
}

static cog_status work(void *context, unsigned number, void *batch, cog_error *error) {
    struct ingest *ingest = context;
    struct worker *worker = &ingest->workers[number];
    struct slot *slot = batch;
    uint64_t first = ingest->documents->reader ? slot->records.first_record : slot->first_item;
    slot->skipped_count = 0;
    for (size_t i = 0; i < slot->item_count; i++) {
        struct document document;
        char row_number[24];
        bool usable;
        cog_status status = take_document(ingest, worker, slot, i, &document, row_number,
                                          sizeof row_number, &usable, error);
        struct ingested item = {.document = &document, .record = first + i};
        if (status == COG_OK && usable && ingest->plan->terms)
            status = analyse(ingest, number, &item, error);
        if (status == COG_OK && usable)
            status = ingest->plan->work(ingest->plan->context, number, slot->result, &item, error);
        if (status != COG_OK)
            return status;
    }
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

static cog_status consume(void *context, void *batch, cog_error *error) {
    struct ingest *ingest = context;
    struct slot *slot = batch;
    const struct ingest_plan *plan = ingest->plan;
    ingest->records += slot->item_count;
    for (size_t i = 0; i < slot->skipped_count; i++) {
        const struct skipped *skipped = &slot->skipped[i];
        cog_status status = ingest_note_bad(ingest->documents, ingest->report,
                                            ingest->bad_records++, skipped->bad.message, error);
        if (status == COG_OK && plan->reject)
            status = plan->reject(plan->context, skipped->raw, error);
        if (status != COG_OK)
            return status;
    }
    TRY(plan->deliver(plan->context, slot->result, error));
    struct reader *reader = ingest->documents->reader;
    return progress_report(&ingest->progress,
                           reader ? reader_read_bytes(reader) : slot->first_item + slot->item_count,
                           error);
}

static cog_status create_workers(struct ingest *ingest, cog_error *error) {
    ingest->workers = memory_zeroed_array(ingest->worker_count, sizeof *ingest->workers);
    if (!ingest->workers)
        return error_memory(error, ingest->worker_count * sizeof *ingest->workers, "workers");
    cog_status status = COG_OK;
    for (unsigned i = 0; i < ingest->worker_count && status == COG_OK; i++) {
        struct worker *worker = &ingest->workers[i];
        if (ingest->documents->reader)
            status = record_parser_create(ingest->documents->reader, &worker->parser, error);
        if (status == COG_OK && ingest->plan->terms)
            status = analyzer_create(ingest->plan->terms, &worker->analyzer, error);
        if (status == COG_OK && ingest->plan->want_bags)
            status = bag_counter_create(&worker->counter, error);
    }
    return status;
}

static cog_status create_slots(struct ingest *ingest, cog_error *error) {
    ingest->slot_count = ingest->worker_count == 1 ? 1 : 2 * (size_t)ingest->worker_count + 1;
    ingest->slots = memory_zeroed_array(ingest->slot_count, sizeof *ingest->slots);
    ingest->batches = memory_zeroed_array(ingest->slot_count, sizeof *ingest->batches);
    if (!ingest->slots || !ingest->batches)
        return error_memory(error, ingest->slot_count * sizeof *ingest->slots, "batches");
    for (size_t i = 0; i < ingest->slot_count; i++) {
        ingest->batches[i] = &ingest->slots[i];
        ingest->slots[i].result = ingest->plan->result_create(ingest->plan->context);
        if (!ingest->slots[i].result)
            return error_memory(error, 0, "a batch's results");
    }
    return COG_OK;
}

static void ingest_close(struct ingest *ingest) {
    for (size_t i = 0; ingest->slots && i < ingest->slot_count; i++) {
        record_batch_free(&ingest->slots[i].records);
        if (ingest->slots[i].result)
            ingest->plan->result_free(ingest->slots[i].result);
        free(ingest->slots[i].skipped);
    }
    for (unsigned i = 0; ingest->workers && i < ingest->worker_count; i++) {
        record_parser_free(ingest->workers[i].parser);
        analyzer_free(ingest->workers[i].analyzer);
        bag_counter_free(ingest->workers[i].counter);
        term_list_free(&ingest->workers[i].terms);
        free(ingest->workers[i].weights);
        free(ingest->workers[i].frequencies);
    }
    free(ingest->workers);
    free(ingest->slots);
    free(ingest->batches);
}

static void report_skipped_files(const cog_documents *documents, cog_report *report) {
    size_t files = documents->reader ? reader_skipped_file_count(documents->reader) : 0;
    for (size_t i = 0; i < files && i < NAMED_BAD_RECORDS; i++)
        report_notice(report, "skipped: %s", reader_skipped_file_message(documents->reader, i));
    report_number(report, "skipped_files", (double)files);
    if (!documents->reader)
        return;
    struct left_out_pages pages = reader_left_out_pages(documents->reader);
    uint64_t left_out = pages.redirects + pages.stubs + pages.other_namespaces;
    report_number(report, "left_out_pages", (double)left_out);
    if (left_out)
        report_notice(
            report, "left out: %llu redirect%s, %llu stub%s and %llu page%s of other namespaces",
            (unsigned long long)pages.redirects, plural(pages.redirects, "", "s"),
            (unsigned long long)pages.stubs, plural(pages.stubs, "", "s"),
            (unsigned long long)pages.other_namespaces, plural(pages.other_namespaces, "", "s"));
}

cog_status ingest_run(cog_documents *documents, const struct ingest_plan *plan,
                      const cog_run_options *run, cog_report *report, bool named_before,
                      cog_error *error) {
    struct ingest ingest = {.documents = documents, .plan = plan};
    ingest.report = named_before ? NULL : report;
    uint64_t start = clock_ns();
    ingest.worker_count = threads_resolve(run ? run->threads : 0);
    cog_status status = documents->reader ? reader_rewind(documents->reader, error) : COG_OK;
    THEN(status, create_workers(&ingest, error));
    THEN(status, create_slots(&ingest, error));
    uint64_t total =
        documents->reader ? reader_total_bytes(documents->reader) : documents->item_count;
    progress_start(&ingest.progress, run, plan->stage, total);
    struct pipeline pipeline = {produce, work, consume, &ingest, ingest.batches, ingest.slot_count};
    THEN(status, pipeline_run(&pipeline, ingest.worker_count, error));
    THEN(status, progress_finish(&ingest.progress, error));
    if (status == COG_OK && ingest.bad_records && ingest.bad_records == ingest.records)
        status = error_set(error, COG_ERR_INPUT,
                           "no good record among %llu: is it the right format, are the fields "
                           "named as they are?",
                           (unsigned long long)ingest.records);
    if (status == COG_OK) {
        report_number(report, "bad_records", (double)ingest.bad_records);
        report_skipped_files(documents, ingest.report);
        report_stage(report, plan->stage, clock_seconds_since(start));
        if (ingest.bad_records > NAMED_BAD_RECORDS)
            report_notice(ingest.report, "skipped: %llu bad records in all; the first %d are named",
                          (unsigned long long)ingest.bad_records, NAMED_BAD_RECORDS);
    }
    ingest_close(&ingest);
    return status;
}

void ingest_keep_pipes(cog_documents *documents) {
    if (documents->reader)
        reader_keep_pipes(documents->reader);
}

uint64_t ingest_text_bytes(const cog_documents *documents) {
    if (documents->reader)
        return reader_text_bytes(documents->reader);
    uint64_t bytes = 0;
    for (size_t i = 0; i < documents->item_count; i++)
        bytes += documents->items[i].text_size;
    return bytes;
}
