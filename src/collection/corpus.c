#include "collection/corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strings.h"
#include "collection/sets/set_bag.h"
#include "run/job.h"

/* ---- Reading --------------------------------------------------------------------------------- */

/* A batch is a small corpus, plus the data to name and reject duplicates. */
struct corpus_batch {
    struct corpus part;
    struct origin {
        struct bytes_view raw;
        uint32_t file;
        uint64_t line;
    } * origins;
    size_t origin_capacity;
    struct set_batch sets; /* of the same documents, if sets are requested */
};

struct corpus_reading {
    struct ingest *ingest;
    struct corpus *corpus;
    cog_documents *documents;
    const struct corpus_options *options;
    const cog_run_options *run;
    cog_report *report;
    uint64_t duplicates, empty_documents;
    struct buffer spooled; /* documents of the batch being spooled */
};

static cog_status reserve_terms(struct corpus *corpus, size_t count, bool frequencies,
                                cog_error *error) {
    size_t needed = corpus->term_count + count;
    if (memory_grow((void **)&corpus->hashes, &corpus->hash_capacity, needed,
                    sizeof *corpus->hashes) &&
        (!frequencies || memory_grow((void **)&corpus->frequencies, &corpus->frequency_capacity,
                                     needed, sizeof *corpus->frequencies)))
        return COG_OK;
    return error_memory(error, needed * (frequencies ? 12 : 8), "the terms of the documents");
}

/* Appends the weights of a row; rows before the first with weights get weights too. */
static bool append_weights(struct corpus *corpus, const struct bag_view *bag) {
    const bool first = !corpus->weights;
    if (!bag->weights && first)
        return true;
    if (!memory_grow((void **)&corpus->weights, &corpus->weight_capacity,
                     corpus->term_count + bag->count + 1, sizeof *corpus->weights))
        return false;
    for (size_t i = 0; i < corpus->term_count && first; i++)
        corpus->weights[i] = (float)corpus->frequencies[i];
    for (size_t i = 0; i < bag->count; i++)
        corpus->weights[corpus->term_count + i] = (float)bag_weight(bag, i);
    return true;
}

static cog_status append_terms(struct corpus *corpus, const struct bag_view *bag, bool frequencies,
                               cog_error *error) {
    TRY(reserve_terms(corpus, bag->count, frequencies, error));
    if (bag->count)
        memcpy(corpus->hashes + corpus->term_count, bag->hashes, bag->count * sizeof *bag->hashes);
    if (bag->count && frequencies)
        memcpy(corpus->frequencies + corpus->term_count, bag->frequencies,
               bag->count * sizeof *bag->frequencies);
    if (frequencies && !append_weights(corpus, bag))
        return error_memory(error, bag->count * sizeof *corpus->weights, "the documents");
    corpus->term_count += bag->count;
    return COG_OK;
}

/* Appends a row without its terms. */
static cog_status append_item(struct corpus *corpus, struct corpus_row row, struct bytes_view id,
                              const struct bag_view *bag, cog_error *error) {
    row.first_term = corpus->term_count;
    row.first_id = corpus->ids.size;
    row.term_count = (uint32_t)bag->count;
    row.id_bytes = (uint32_t)id.size;
    row.length = bag->length;
    if (!buffer_append(&corpus->ids, id.data, id.size) ||
        !memory_grow((void **)&corpus->items, &corpus->row_capacity, corpus->rows + 1,
                     sizeof *corpus->items))
        return error_memory(error, sizeof row + id.size, "the documents");
    corpus->items[corpus->rows++] = row;
    return COG_OK;
}

static cog_status append_row(struct corpus *corpus, struct corpus_row row, struct bytes_view id,
                             const struct bag_view *bag, bool frequencies, cog_error *error) {
    TRY(append_item(corpus, row, id, bag, error));
    return append_terms(corpus, bag, frequencies, error);
}

cog_status corpus_add(struct corpus *corpus, struct bytes_view id, const struct bag_view *bag,
                      cog_error *error) {
    return append_row(corpus, (struct corpus_row){0}, id, bag, bag->frequencies != NULL, error);
}

cog_status corpus_add_bag(struct corpus *corpus, const struct bag_view *bag, cog_error *error) {
    return corpus_add(corpus, view_of("", 0), bag, error);
}

/* Appends a row whose set is in a batch of sets. */
static cog_status append_set_row(struct corpus *corpus, struct corpus_row row, struct bytes_view id,
                                 cog_error *error) {
    const struct bag_view bag = {.count = row.term_count};
    return append_item(corpus, row, id, &bag, error);
}

cog_status corpus_add_counted(struct corpus *corpus, struct bytes_view id, size_t term_count,
                              cog_error *error) {
    const struct corpus_row row = {.record = corpus->rows, .term_count = (uint32_t)term_count};
    return append_set_row(corpus, row, id, error);
}

/* Appends a row whose terms go to the spool. */
static cog_status spool_row(struct corpus_reading *reading, struct corpus_row row,
                            struct bytes_view id, const struct bag_view *bag, cog_error *error) {
    if (!bag_spool_encode(&reading->spooled, id, bag))
        return error_memory(error, bag->count * 12, "the documents");
    return append_item(reading->corpus, row, id, bag, error);
}

static cog_status flush_spooled(struct corpus_reading *reading, cog_error *error) {
    bag_spool_write(reading->options->spool, &reading->spooled);
    buffer_reset(&reading->spooled);
    return bag_spool_is_complete(reading->options->spool)
               ? COG_OK
               : error_set(error, COG_ERR_DISK,
                           "no room for the documents in the scratch file in TMPDIR: free some, or "
                           "set TMPDIR");
}

void corpus_trim(struct corpus *corpus) {
    void *items = realloc(corpus->items, (corpus->rows + 1) * sizeof *corpus->items);
    if (items) {
        corpus->items = items;
        corpus->row_capacity = corpus->rows + 1;
    }
    char *ids = realloc(corpus->ids.data, corpus->ids.size + 1);
    if (ids) {
        corpus->ids.data = ids;
        corpus->ids.capacity = corpus->ids.size + 1;
    }
    id_table_free(corpus->id_table);
    corpus->id_table = NULL;
}

static cog_status add_to_batch(void *context, unsigned worker, void *ingest_batch,
                               cog_error *error) {
    struct corpus_reading *reading = context;
    const struct corpus_options *options = reading->options;
    struct corpus_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(reading->ingest, worker, ingest_batch, &item, error));
        const struct document *document = item.document;
        if (!document)
            return COG_OK;
        if (options->amend)
            TRY(options->amend(options->amend_context, worker, document, item.terms, error));
        GROW(batch->origins, batch->origin_capacity, batch->part.rows + 1, "a batch of documents",
             error);
        batch->origins[batch->part.rows] =
            (struct origin){document->raw, document->file, document->line};
        struct corpus_row row = {.record = item.record, .text_bytes = document->text.size};
        if (options->sets) {
            TRY(set_batch_add(&batch->sets, &item, false, error));
            row.term_count = (uint32_t)set_batch_last_members(&batch->sets);
            TRY(append_set_row(&batch->part, row, document->id, error));
            continue;
        }
        if (options->as_sets) {
            TRY(set_bag_mark(item.terms, document->text, error));
            item.bag = (struct bag_view){0};
        }
        TRY(ingest_count(reading->ingest, worker, &item, error));
        TRY(append_row(&batch->part, row, document->id, &item.bag, options->want_frequencies,
                       error));
    }
}

static struct bytes_view id_in_corpus(const void *context, uint32_t row) {
    return corpus_id(context, row);
}

static cog_status reject_duplicate(struct corpus_reading *reading, const struct origin *origin,
                                   uint64_t record, struct bytes_view id, cog_error *error) {
    char message[600];
    const struct reader *source = reading->documents->source;
    const bool in_memory =
        !reading->documents->reader; /* documents in memory are numbered from 0 */
    snprintf(message, sizeof message, "%s%c%llu: the id '%.*s' was used before",
             reader_file_name(source, origin->file), in_memory ? ' ' : ':',
             (unsigned long long)(in_memory ? record : origin->line),
             (int)(id.size < 200 ? id.size : 200), id.data);
    TRY(ingest_note_skipped(reading->documents, record, error));
    cog_status status = ingest_note_bad(reading->documents, reading->report,
                                        reading->duplicates - 1, message, error);
    if (status == COG_OK && reading->options->reject)
        status = reading->options->reject(reading->options->reject_context, origin->raw, error);
    return status;
}

static bool has_pipe(const struct corpus_reading *reading) {
    return reader_has_pipe(reading->documents->source);
}

/* For files, the memory was predicted. For a pipe, assume that vectors will need as much again. */
static cog_status check_budget(const struct corpus_reading *reading, cog_error *error) {
    uint64_t budget = reading->run ? reading->run->memory_bytes : 0;
    uint64_t used = corpus_memory_bytes(reading->corpus);
    if (has_pipe(reading) && !reading->options->sets)
        used = MEMORY_BASE_BYTES + 2 * used;
    if (budget == 0 || used <= budget)
        return COG_OK;
    return error_about(
        error, COG_ERR_MEMORY, "memory_bytes",
        "the documents need more than the memory budget of %llu MB; raise the budget or "
        "split the input",
        (unsigned long long)(budget >> 20));
}

static cog_status keep_row(struct corpus_reading *reading, const struct corpus_batch *batch,
                           size_t row, struct bytes_view id, cog_error *error) {
    const struct corpus_options *options = reading->options;
    const struct corpus_row *item = &batch->part.items[row];
    reading->empty_documents += item->term_count == 0;
    if (options->sets)
        return append_set_row(reading->corpus, *item, id, error);
    const struct bag_view bag = corpus_bag(&batch->part, row);
    return options->spool
               ? spool_row(reading, *item, id, &bag, error)
               : append_row(reading->corpus, *item, id, &bag, options->want_frequencies, error);
}

/* Keeps a row, or rejects it because its id was already used. */
static cog_status take_row(struct corpus_reading *reading, const struct corpus_batch *batch,
                           size_t row, uint8_t *is_kept, cog_error *error) {
    struct corpus *corpus = reading->corpus;
    const struct bytes_view id = corpus_id(&batch->part, row);
    bool added = false;
    uint32_t existing;
    if (corpus->rows >= UINT32_MAX - 1)
        return error_set(error, COG_ERR_MEMORY, "more than 4 billion documents: split the input");
    TRY(id_table_add(corpus->id_table, id, (uint32_t)corpus->rows, id_in_corpus, corpus, &added,
                     &existing, error));
    reading->duplicates += !added;
    *is_kept = added || reading->options->repeat_ids;
    return *is_kept ? keep_row(reading, batch, row, id, error)
                    : reject_duplicate(reading, &batch->origins[row], batch->part.items[row].record,
                                       id, error);
}

/* Writes the batch's terms to the spool or the file of sets. */
static cog_status store_terms(struct corpus_reading *reading, struct corpus_batch *batch,
                              const uint8_t *kept, cog_error *error) {
    if (reading->options->spool)
        return flush_spooled(reading, error);
    if (!reading->options->sets)
        return COG_OK;
    set_batch_select(&batch->sets, kept);
    return document_sets_append(reading->options->sets, &batch->sets, error);
}

static cog_status deliver_batch(void *context, void *ingest_batch, cog_error *error) {
    struct corpus_reading *reading = context;
    const struct ingest_batch *records = ingest_batch;
    struct corpus_batch *batch = records->result;
    uint8_t *kept = NULL;
    cog_status status = COG_OK;
    for (size_t i = 0; reading->options->reject && i < records->skipped_count; i++)
        THEN(status, reading->options->reject(reading->options->reject_context,
                                              records->skipped[i].raw, error));
    THEN(status, TAKEN(kept, batch->part.rows, "a batch of documents", error));
    for (size_t i = 0; i < batch->part.rows && status == COG_OK; i++)
        status = take_row(reading, batch, i, &kept[i], error);
    batch->part.rows = batch->part.term_count = 0;
    buffer_reset(&batch->part.ids);
    THEN(status, store_terms(reading, batch, kept, error));
    free(kept);
    return status == COG_OK ? check_budget(reading, error) : status;
}

static cog_status check_job(const struct corpus_reading *reading, cog_error *error) {
    const cog_run_options *run = reading->run;
    if (reading->documents->foreign && !reading->options->takes_foreign)
        return error_about(error, COG_ERR_USAGE, "lexicon",
                           "documents with a lexicon of their own can be signed, indexed and "
                           "searched for: give this job the documents without it");
    if (has_pipe(reading) && !reading->options->sets && run && run->announce && run->memory_bytes)
        run->announce(
            run->progress_context,
            "the memory needed depends on the size of the pipe's content, which is not known");
    return COG_OK;
}

static void close_reading(struct corpus_reading *reading) {
    for (size_t i = 0; reading->ingest && i < reading->ingest->batch_count; i++) {
        struct corpus_batch *batch = reading->ingest->batches[i].result;
        corpus_free(&batch->part);
        set_batch_free(&batch->sets);
        free(batch->origins);
    }
    ingest_close(reading->ingest);
    buffer_free(&reading->spooled);
}

static void add_number(cog_report *report, const char *name, uint64_t number) {
    report_number(report, name, cog_report_number(report, name) + (double)number);
}

static void report_reading(const struct corpus_reading *reading, cog_report *report) {
    const uint64_t duplicates = reading->duplicates, empty = reading->empty_documents;
    add_number(report, "documents", reading->corpus->rows);
    add_number(report, "duplicate_ids", duplicates);
    add_number(report, "empty_documents", empty);
    if (duplicates && reading->options->repeat_ids)
        report_notice(report,
                      "%llu document%s an id that was used before; %s treated like any other",
                      (unsigned long long)duplicates, plural(duplicates, " has", "s have"),
                      plural(duplicates, "it is", "they are"));
    else if (duplicates > NAMED_BAD_RECORDS)
        report_notice(
            report,
            "skipped: %llu records with ids already used, in total; the first %d are named above",
            (unsigned long long)duplicates, NAMED_BAD_RECORDS);
    if (empty)
        report_notice(report, "%llu document%s no terms; %s nothing", (unsigned long long)empty,
                      plural(empty, " has", "s have"), plural(empty, "it matches", "they match"));
}

cog_status corpus_read(struct corpus *corpus, cog_documents *documents,
                       const struct corpus_options *options, const cog_run_options *run,
                       cog_report *report, cog_error *error) {
    struct corpus_reading reading = {
        .corpus = corpus, .documents = documents, .options = options, .run = run, .report = report};
    TRY(check_job(&reading, error));
    cog_status status = id_table_create(&corpus->id_table, error);
    THEN(status, ingest_open(documents, options->terms, sizeof(struct corpus_batch), "reading", run,
                             report, false, &reading.ingest, error));
    THEN(status, ingest_run(reading.ingest, &reading, add_to_batch, deliver_batch, error));
    close_reading(&reading);
    if (status == COG_OK)
        report_reading(&reading, report);
    return status;
}

void corpus_free_terms(struct corpus *corpus) {
    FREE(corpus->hashes, corpus->frequencies, corpus->weights);
    corpus->hashes = NULL;
    corpus->frequencies = NULL;
    corpus->weights = NULL;
    corpus->term_count = 0;
    corpus->hash_capacity = corpus->frequency_capacity = corpus->weight_capacity = 0;
}

void corpus_free(struct corpus *corpus) {
    corpus_free_terms(corpus);
    free(corpus->items);
    buffer_free(&corpus->ids);
    id_table_free(corpus->id_table);
    *corpus = (struct corpus){0};
}

struct bytes_view corpus_id(const struct corpus *corpus, size_t row) {
    const struct corpus_row *item = &corpus->items[row];
    return view_of(corpus->ids.data + item->first_id, item->id_bytes);
}

bool corpus_find(const struct corpus *corpus, struct bytes_view id, uint32_t *row) {
    return id_table_find(corpus->id_table, id, id_in_corpus, corpus, row);
}

struct bag_view corpus_bag(const struct corpus *corpus, size_t row) {
    const struct corpus_row *item = &corpus->items[row];
    if (!corpus->hashes) /* no document has terms */
        return (struct bag_view){0};
    return (struct bag_view){corpus->hashes + item->first_term,
                             corpus->frequencies ? corpus->frequencies + item->first_term : NULL,
                             item->term_count, item->length,
                             corpus->weights ? corpus->weights + item->first_term : NULL};
}

uint64_t corpus_memory_bytes(const struct corpus *corpus) {
    return corpus->row_capacity * sizeof *corpus->items + corpus->ids.capacity +
           corpus->hash_capacity * sizeof *corpus->hashes +
           corpus->frequency_capacity * sizeof *corpus->frequencies +
           corpus->weight_capacity * sizeof *corpus->weights +
           id_table_memory_bytes(corpus->id_table);
}

cog_status corpus_next_spooled(struct corpus *corpus, struct bag_spool *spool, size_t most,
                               cog_error *error) {
    struct buffer batch = {0};
    cog_status status = COG_OK;
    corpus->rows = corpus->term_count = 0;
    for (bool end = false; !end && corpus->term_count < most && status == COG_OK;) {
        status = bag_spool_read(spool, &batch, &end, error);
        for (size_t at = 0; at < batch.size && status == COG_OK;) {
            struct bytes_view id;
            struct bag_view bag;
            bag_spool_decode(&batch, &at, &id, &bag);
            status = corpus_add_bag(corpus, &bag, error);
        }
    }
    buffer_free(&batch);
    return status;
}
