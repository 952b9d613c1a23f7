#include "collection/corpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/sets/set_bag.h"
#include "run/job.h"
#include "vector/term_numbers.h"

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
    return append_row(corpus, (struct corpus_row){0}, id, bag, true, error);
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

cog_status corpus_read(struct corpus *corpus, cog_documents *documents,
                       const struct corpus_options *options, const cog_run_options *run,
                       cog_report *report, cog_error *error) {
    struct corpus_reading reading = {
        .corpus = corpus, .documents = documents, .options = options, .run = run, .report = report};
    if (documents->foreign && !options->takes_foreign)
        return error_about(error, COG_ERR_USAGE, "lexicon",
                           "documents with a lexicon of their own can be signed, indexed and "
                           "searched for: give this job the documents without it");
    if (has_pipe(&reading) && !options->sets && run && run->announce && run->memory_bytes)
        run->announce(
            run->progress_context,
            "the memory needed depends on the size of the pipe's content, which is not known");
    cog_status status = id_table_create(&corpus->id_table, error);
    THEN(status, ingest_open(documents, options->terms, sizeof(struct corpus_batch), "reading", run,
                             report, false, &reading.ingest, error));
    THEN(status, ingest_run(reading.ingest, &reading, add_to_batch, deliver_batch, error));
    for (size_t i = 0; reading.ingest && i < reading.ingest->batch_count; i++) {
        struct corpus_batch *batch = reading.ingest->batches[i].result;
        corpus_free(&batch->part);
        if (options->sets)
            set_batch_free(&batch->sets);
        free(batch->origins);
    }
    ingest_close(reading.ingest);
    buffer_free(&reading.spooled);
    if (status != COG_OK)
        return status;
    report_number(report, "documents",
                  cog_report_number(report, "documents") + (double)corpus->rows);
    report_number(report, "duplicate_ids",
                  cog_report_number(report, "duplicate_ids") + (double)reading.duplicates);
    report_number(report, "empty_documents",
                  cog_report_number(report, "empty_documents") + (double)reading.empty_documents);
    if (reading.duplicates && options->repeat_ids)
        report_notice(
            report, "%llu document%s an id that was used before; %s treated like any other",
            (unsigned long long)reading.duplicates, plural(reading.duplicates, " has", "s have"),
            plural(reading.duplicates, "it is", "they are"));
    else if (reading.duplicates > NAMED_BAD_RECORDS)
        report_notice(
            report,
            "skipped: %llu records with ids already used, in total; the first %d are named above",
            (unsigned long long)reading.duplicates, NAMED_BAD_RECORDS);
    if (reading.empty_documents)
        report_notice(report, "%llu document%s no terms; %s nothing",
                      (unsigned long long)reading.empty_documents,
                      plural(reading.empty_documents, " has", "s have"),
                      plural(reading.empty_documents, "it matches", "they match"));
    return COG_OK;
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

/* ---- Statistics ------------------------------------------------------------------------------ */

struct counting {
    const struct corpus *corpus;
    struct statistics *statistics;
    bool of_presence; /* count each term once per row, regardless of its frequency */
};

/* For so few rows, making a batch costs more than adding the terms directly. */
enum { UNBATCHED_ROWS = 64 };

/* Adds a row without a batch. */
static cog_status count_row(struct statistics *statistics, const struct bag_view *bag,
                            cog_error *error) {
    statistics_add_documents(statistics, 1, bag->length);
    for (size_t i = 0; i < bag->count; i++) {
        uint32_t frequency = bag->frequencies ? bag->frequencies[i] : 1;
        if (frequency)
            TRY(statistics_add_term(statistics, bag->hashes[i], (struct term_counts){1, frequency},
                                    error));
    }
    return COG_OK;
}

static cog_status count_rows(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    (void)worker;
    const struct counting *counting = context;
    struct statistics_batch *batch = NULL;
    cog_status status = COG_OK;
    if (end - begin > UNBATCHED_ROWS)
        status = statistics_batch_create(counting->statistics, &batch, error);
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        struct bag_view bag = corpus_bag(counting->corpus, row);
        if (counting->of_presence)
            bag.frequencies = NULL;
        status = batch ? statistics_batch_add(batch, &bag, error)
                       : count_row(counting->statistics, &bag, error);
    }
    if (batch)
        THEN(status, statistics_batch_flush(batch, error));
    statistics_batch_free(batch);
    return status;
}

static cog_status count_corpus(const struct corpus *corpus, bool of_presence, unsigned threads,
                               struct statistics *statistics, cog_error *error) {
    enum { COUNT_GRAIN = 1024 };
    struct counting counting = {corpus, statistics, of_presence};
    return parallel_for(threads, corpus->rows, COUNT_GRAIN, count_rows, &counting, error);
}

cog_status corpus_count(const struct corpus *corpus, unsigned threads,
                        struct statistics *statistics, cog_error *error) {
    return count_corpus(corpus, false, threads, statistics, error);
}

cog_status corpus_presence(const struct corpus *corpus, unsigned threads,
                           struct statistics **result, cog_error *error) {
    struct statistics *statistics = NULL;
    cog_status status = statistics_create(&statistics, error);
    THEN(status, count_corpus(corpus, true, threads, statistics, error));
    return HAND_OUT(status, statistics, statistics_free, result);
}

cog_status corpus_statistics(const struct corpus *const *corpora, size_t count, unsigned threads,
                             struct statistics **result, cog_error *error) {
    struct statistics *statistics = NULL;
    cog_status status = statistics_create(&statistics, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = corpus_count(corpora[i], threads, statistics, error);
    return HAND_OUT(status, statistics, statistics_free, result);
}

/* Bags of a corpus to sparse rows in two passes: one counts, one fills. */

enum { ROW_GRAIN = 256, PREFETCH_AHEAD = 12 };

struct row_filling {
    const struct corpus *corpus;
    const struct term_numbers *columns;
    const struct statistics *statistics;
    const struct weighting *weighting; /* NULL for sets and frequencies */
    const struct idf_table *idf;
    const uint8_t *selected; /* NULL: all rows */
    uint64_t *offsets;
    uint32_t *numbers;
    bool want_values; /* false for sets */
    float *values;
};

/* A term of a row, sortable by column: the column, and the position in the bag. */
static uint64_t entry_of(uint32_t column, size_t position) {
    return (uint64_t)column << 32 | (uint32_t)position;
}

static uint32_t entry_column(uint64_t entry) {
    return (uint32_t)(entry >> 32);
}

static uint32_t entry_position(uint64_t entry) {
    return (uint32_t)entry;
}

/* Lists the row's terms that have a column, unsorted. `entries` has room for the whole bag. */
static size_t find_columns(const struct row_filling *filling, const struct bag_view *bag,
                           uint64_t *entries) {
    size_t count = 0;
    for (size_t i = 0; i < bag->count; i++) {
        if (i + PREFETCH_AHEAD < bag->count)
            term_numbers_prefetch(filling->columns, bag->hashes[i + PREFETCH_AHEAD]);
        uint32_t column = term_numbers_find(filling->columns, bag->hashes[i]);
        entries[count] = entry_of(column, i);
        count += column != TERM_NUMBER_NONE;
    }
    return count;
}

static cog_status count_columns(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    (void)error;
    const struct row_filling *filling = context;
    for (size_t row = begin; row < end; row++) {
        struct bag_view bag = corpus_bag(filling->corpus, row);
        uint64_t count = 0;
        if (filling->selected && !filling->selected[row])
            continue;
        for (size_t i = 0; i < bag.count; i++) {
            if (i + PREFETCH_AHEAD < bag.count)
                term_numbers_prefetch(filling->columns, bag.hashes[i + PREFETCH_AHEAD]);
            count += term_numbers_find(filling->columns, bag.hashes[i]) != TERM_NUMBER_NONE;
        }
        filling->offsets[row + 1] = count;
    }
    return COG_OK;
}

/* Normalises the weights of the entries to unit length, summing in the order of the columns. */
static void store_unit_weights(const uint64_t *entries, size_t count, const float *weights,
                               float *values) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = weights[entry_position(entries[i])];
        sum += weight * weight;
    }
    double scale = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((double)weights[entry_position(entries[i])] * scale);
}

static void fill_row(const struct row_filling *filling, size_t row, uint64_t *entries,
                     float *weights) {
    struct bag_view bag = corpus_bag(filling->corpus, row);
    uint64_t first = filling->offsets[row];
    if (filling->offsets[row + 1] == first)
        return;
    size_t count = find_columns(filling, &bag, entries);
    sort_u64(entries, count);
    for (size_t i = 0; i < count; i++)
        filling->numbers[first + i] = entry_column(entries[i]);
    for (size_t i = 0; !filling->weighting && filling->want_values && i < count; i++)
        filling->values[first + i] = (float)bag_weight(&bag, entry_position(entries[i]));
    if (!filling->weighting)
        return;
    weighting_apply(filling->weighting, filling->statistics, filling->idf, &bag, weights);
    store_unit_weights(entries, count, weights, filling->values + first);
}

static cog_status fill_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    const struct row_filling *filling = context;
    size_t longest = 0;
    for (size_t row = begin; row < end; row++)
        if (filling->corpus->items[row].term_count > longest)
            longest = filling->corpus->items[row].term_count;
    uint64_t *entries = memory_array(longest + 1, sizeof *entries);
    float *weights = memory_array(longest + 1, sizeof *weights);
    cog_status status = COG_OK;
    if (!entries || !weights)
        status = error_memory(error, longest * 12, "a document's terms");
    for (size_t row = begin; row < end && status == COG_OK; row++)
        fill_row(filling, row, entries, weights);
    FREE(entries, weights);
    return status;
}

/* Counts, allocates and fills the rows of one corpus; `filling` then owns the arrays for the
 * caller. */
static cog_status build_rows(struct row_filling *filling, unsigned threads, cog_error *error) {
    size_t rows = filling->corpus->rows;
    TAKE_ZEROED(filling->offsets, rows + 1, "vectors", error);
    TRY(parallel_for(threads, rows, ROW_GRAIN, count_columns, filling, error));
    for (size_t row = 0; row < rows; row++)
        filling->offsets[row + 1] += filling->offsets[row];
    uint64_t total = filling->offsets[rows];
    filling->numbers = memory_array(total, sizeof *filling->numbers);
    if (filling->want_values)
        filling->values = memory_array(total, sizeof *filling->values);
    if (!filling->numbers || (filling->want_values && !filling->values))
        return error_memory(error, total * 8, "vectors");
    return parallel_for(threads, rows, ROW_GRAIN, fill_rows, filling, error);
}

cog_status corpus_vectors_in(const struct corpus *corpus, const struct term_numbers *columns,
                             const struct statistics *statistics, const struct weighting *weighting,
                             const uint8_t *selected, unsigned threads,
                             struct sparse_matrix *matrix, cog_error *error) {
    struct idf_table idf = {0};
    struct row_filling filling = {.corpus = corpus,
                                  .columns = columns,
                                  .statistics = statistics,
                                  .weighting = weighting,
                                  .idf = &idf,
                                  .selected = selected,
                                  .want_values = true};
    /* Filling a table of up to 65,536 logarithms does not pay for a few queries. */
    enum { FEW_ROWS = 64 };
    cog_status status = corpus->rows > FEW_ROWS ? idf_table_fill(&idf, statistics, error) : COG_OK;
    THEN(status, build_rows(&filling, threads, error));
    idf_table_free(&idf);
    *matrix = (struct sparse_matrix){corpus->rows, term_numbers_count(columns), filling.offsets,
                                     filling.numbers, filling.values};
    return status;
}

cog_status corpus_frequencies_in(const struct corpus *corpus, const struct term_numbers *columns,
                                 unsigned threads, struct sparse_matrix *matrix, cog_error *error) {
    struct row_filling filling = {.corpus = corpus, .columns = columns, .want_values = true};
    cog_status status = build_rows(&filling, threads, error);
    *matrix = (struct sparse_matrix){corpus->rows, term_numbers_count(columns), filling.offsets,
                                     filling.numbers, filling.values};
    return status;
}

cog_status corpus_vectors(const struct corpus *const *corpora, size_t count,
                          const struct statistics *statistics, const struct weighting *weighting,
                          const uint8_t *const *selected, unsigned threads,
                          struct sparse_matrix *matrices, cog_error *error) {
    struct term_numbers *columns = NULL;
    cog_status status =
        term_numbers_create(statistics, 1, weighting_least_frequency(weighting), &columns, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = corpus_vectors_in(corpora[i], columns, statistics, weighting, selected[i], threads,
                                   &matrices[i], error);
    term_numbers_free(columns);
    return status;
}

cog_status corpus_sets(const struct corpus *const *corpora, size_t count,
                       const struct statistics *statistics, const uint8_t *const *selected,
                       unsigned threads, struct set_collection *sets, cog_error *error) {
    struct term_numbers *columns = NULL;
    cog_status status = term_numbers_create(statistics, 2, 0, &columns, error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        const uint8_t *mask = selected[i];
        struct row_filling filling = {.corpus = corpora[i], .columns = columns, .selected = mask};
        status = build_rows(&filling, threads, error);
        sets[i] = (struct set_collection){corpora[i]->rows, term_numbers_count(columns),
                                          filling.offsets, filling.numbers, NULL};
        sets[i].sizes = memory_array(corpora[i]->rows, sizeof *sets[i].sizes);
        if (status == COG_OK && !sets[i].sizes)
            status = error_memory(error, corpora[i]->rows * sizeof *sets[i].sizes, "sets");
        for (size_t row = 0; status == COG_OK && row < corpora[i]->rows; row++)
            sets[i].sizes[row] = mask && !mask[row] ? 0 : corpora[i]->items[row].term_count;
    }
    term_numbers_free(columns);
    return status;
}

cog_status corpus_add_sets(const struct corpus *corpus, const uint8_t *selected,
                           struct document_sets *sets, cog_error *error) {
    enum { BATCH_BYTES = 1 << 20 };
    const struct document document = {0};
    struct term_list list = {0};
    struct set_batch batch = {0};
    cog_status status = COG_OK;
    for (size_t row = 0; row < corpus->rows && status == COG_OK; row++) {
        if (selected && !selected[row])
            continue;
        const struct bag_view bag = corpus_bag(corpus, row);
        status = GROWN(list.hashes, list.capacity, bag.count + 1, "a document's terms", error);
        if (status == COG_OK && bag.count)
            memcpy(list.hashes, bag.hashes, bag.count * sizeof *list.hashes);
        list.count = bag.count;
        const struct ingested item = {.document = &document, .terms = &list};
        THEN(status, set_batch_add(&batch, &item, false, error));
        if (batch.bytes.size >= BATCH_BYTES)
            THEN(status, document_sets_append(sets, &batch, error));
    }
    THEN(status, document_sets_append(sets, &batch, error));
    set_batch_free(&batch);
    free(list.hashes);
    return status;
}
