/* Changes of an index by users: adding documents or signatures, removing rows, merging segments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/id_list.h"
#include "input/npy.h"
#include "jobs/index/index_languages.h"
#include "jobs/index/index_pending.h"
#include "jobs/index/merge_job.h"
#include "jobs/index/segment_change.h"
#include "run/job.h"

/* Checks the memory of building a segment of `rows` rows: twice its share of the files. */
static cog_status check_rows_memory(const cog_index *index, uint64_t rows,
                                    const cog_run_options *run, cog_report *report,
                                    cog_error *error) {
    cog_index_info info;
    cog_index_describe(index, &info);
    double stored = (double)(info.rows + info.removed_rows);
    double row_bytes = (double)signature_stride_bytes(info.bits);
    if (stored > 0 && (double)info.file_bytes > row_bytes * stored)
        row_bytes = (double)info.file_bytes / stored;
    return memory_budget_check(MEMORY_BASE_BYTES + 2 * row_bytes * (double)rows, run, report,
                               error);
}

/* Larger changes do not go to the log. */
enum { LOG_BATCH_ROWS = 1024, LOG_REMOVALS_MAX = 65536 };

/* ---- Adding ---------------------------------------------------------------------------------- */

/* Finds the rows of the index with the ids of the corpus; free() both. */
static cog_status find_corpus_ids(const cog_index *index, const struct corpus *corpus,
                                  struct bytes_view **ids, uint64_t **rows, cog_error *error) {
    TAKE(*ids, corpus->rows, "ids", error);
    TAKE(*rows, corpus->rows, "ids", error);
    for (size_t row = 0; row < corpus->rows; row++)
        (*ids)[row] = corpus_id(corpus, row);
    TRY(index_find_ids(index, *ids, corpus->rows, *rows, error));
    for (size_t row = 0; row < corpus->rows; row++)
        if (pending_has(&index->pending, (*ids)[row]))
            (*rows)[row] = index->parts.rows; /* an unused number: after the segments */
    return COG_OK;
}

/* Whether the index has a document with this id, in a segment or in the log. */
static cog_status index_knows_id(const cog_index *index, struct bytes_view id, bool *known,
                                 cog_error *error) {
    uint64_t row;
    TRY(index_find_ids(index, &id, 1, &row, error));
    *known = row != UINT64_MAX || pending_has(&index->pending, id);
    return COG_OK;
}

/* Call after a change by the log: if the log is full, its documents become a segment. A failure
 * loses nothing. */
static void tidy_log(cog_index *index, unsigned threads, cog_report *report) {
    cog_error failure = {0};
    if (!log_is_full(index))
        return;
    if (change_flush(index, threads, report, &failure) != COG_OK)
        report_notice(report, "the change is made, but the log could not become a segment: %s",
                      failure.message);
}

/* Documents being added to an index. */
struct addition {
    cog_documents *documents;
    struct corpus corpus;
    uint64_t *replaced; /* rows of the index to replace, strictly ascending */
    size_t replaced_count;
    size_t added, replacements; /* number of documents; set at the end */
};

/* Drops rows of the corpus whose id the index already has, and reports them as bad records. With
 * upsert they stay, and the rows of the index are removed. */
static cog_status sort_out_known_ids(const cog_index *index, struct addition *addition, bool upsert,
                                     cog_report *report, cog_error *error) {
    struct corpus *corpus = &addition->corpus;
    struct bytes_view *ids = NULL;
    uint64_t *rows = NULL, known = 0;
    size_t kept = 0;
    cog_status status = find_corpus_ids(index, corpus, &ids, &rows, error);
    for (size_t row = 0; row < corpus->rows && status == COG_OK; row++) {
        char message[300];
        if (rows[row] == UINT64_MAX || upsert) {
            corpus->items[kept++] = corpus->items[row];
            if (rows[row] != UINT64_MAX)
                rows[addition->replaced_count++] = rows[row];
            continue;
        }
        snprintf(message, sizeof message, "the id '%.*s' is already in the index",
                 (int)(ids[row].size < 200 ? ids[row].size : 200), ids[row].data);
        status = ingest_note_bad(addition->documents, report, known++, message, error);
        THEN(status, ingest_note_skipped(addition->documents, corpus->items[row].record, error));
    }
    report_number(report, "known_ids", (double)known);
    corpus->rows = status == COG_OK ? kept : corpus->rows;
    if (addition->replaced_count)
        qsort(rows, addition->replaced_count, sizeof *rows, compare_u64);
    addition->replaced = rows;
    free(ids);
    return status;
}

/* Does not prepare the index for searches. */
static void report_addition(const cog_index *index, size_t added, uint64_t start_ns,
                            cog_report *report) {
    const struct manifest *manifest = &index->parts.manifest;
    size_t waiting = pending_count(&index->pending);
    uint64_t rows = waiting;
    for (size_t i = 0; i < manifest->count; i++)
        rows += manifest->entries[i].rows - manifest->entries[i].removed_count;
    report_number(report, "added", (double)added);
    report_number(report, "rows", (double)rows);
    report_number(report, "segments", (double)(manifest->count + (waiting > 0)));
    report_stage(report, "indexing", clock_seconds_since(start_ns));
}

/* Makes the draft of the documents, signed with statistics that count them and exclude the
 * documents they replace. */
static cog_status draft_addition(cog_index *index, const struct addition *addition,
                                 unsigned threads, struct segment_draft *draft, cog_error *error) {
    const struct segment *earlier = index->parts.manifest.count ? index->parts.segments : NULL;
    const struct corpus *corpus = &addition->corpus;
    cog_status status = index_count_corpus(index, corpus, true, error);
    THEN(status,
         index_count_rows(index, addition->replaced, addition->replaced_count, false, error));
    if (status == COG_OK && corpus->rows)
        status = segment_draft_documents(index, corpus, earlier, threads, draft, error);
    /* A folder's statistics follow its segments; those in memory are already correct. */
    if (status != COG_OK || index->folder) {
        index_count_rows(index, addition->replaced, addition->replaced_count, true, NULL);
        index_count_corpus(index, corpus, false, NULL);
    }
    return status;
}

/* Adds a large batch, or to an index in memory: as a segment of its own. */
static cog_status add_segment(cog_index *index, struct addition *addition,
                              const cog_add_options *options, unsigned threads, cog_report *report,
                              cog_error *error) {
    struct segment_draft draft = {0};
    cog_status status = change_flush(index, threads, report, error);
    THEN(status, sort_out_known_ids(index, addition, options->upsert, report, error));
    corpus_drop_empty_rows(&addition->corpus);
    size_t rows = addition->corpus.rows;
    struct segment_change change = {.draft = rows ? &draft : NULL,
                                    .removed = addition->replaced,
                                    .removed_count = addition->replaced_count,
                                    .foreign = addition->documents->foreign};
    if (index->parts.rows == 0) /* the segment of an empty build has no rows */
        change.count = index->parts.manifest.count;
    if (status == COG_OK && (rows || change.removed_count)) {
        status = draft_addition(index, addition, threads, &draft, error);
        THEN(status, change_apply(index, &change, report, error));
    }
    addition->added = rows;
    addition->replacements = change.removed_count;
    segment_draft_free(&draft);
    return status;
}

/* Adds few documents to the log of the folder. */
static cog_status add_to_log(cog_index *index, struct addition *addition,
                             const cog_add_options *options, unsigned threads, cog_report *report,
                             cog_error *error) {
    struct corpus *corpus = &addition->corpus;
    struct buffer payload = {0};
    cog_status status = sort_out_known_ids(index, addition, options->upsert, report, error);
    for (size_t row = 0; row < corpus->rows && status == COG_OK; row++) {
        struct bag_view bag = corpus_bag(corpus, row);
        struct bytes_view id = corpus_id(corpus, row);
        bool known = false;
        if (options->upsert)
            status = index_knows_id(index, id, &known, error);
        if (status == COG_OK && ((known && !changes_remove_id(&payload, id)) ||
                                 (bag.count && !changes_add_document(&payload, id, &bag))))
            status = error_memory(error, payload.size, "the log of an index");
        addition->replacements += known;
        addition->added += bag.count > 0;
    }
    THEN(status, log_commit(index, &payload, report, error));
    buffer_free(&payload);
    if (status == COG_OK)
        tidy_log(index, threads, report);
    return status;
}

void cog_add_options_init(cog_add_options *options) {
    *options = (cog_add_options){0};
}

cog_status cog_index_add_with(cog_index *index, cog_documents *documents,
                              const cog_add_options *options, const cog_run_options *run,
                              cog_report *report, cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "options", error));
    TRY(options_check_reserved(options->reserved, 4, "add", error));
    if (!(options->wait_seconds >= 0))
        return error_about(error, COG_ERR_USAGE, "wait_seconds",
                           "a time of %g seconds: choose 0 or more", options->wait_seconds);
    if (options->unless_similar != 0)
        return error_about(error, COG_ERR_USAGE, "unless_similar",
                           "looking for similar documents is for live indexes: use cog_live_add");
    if (!index->has_documents)
        return error_set(error, COG_ERR_USAGE,
                         "the index holds signatures without documents: add signatures (.npy)");
    struct addition addition = {.documents = documents};
    struct corpus_options reading = {.terms = &index->terms,
                                     .want_frequencies = true,
                                     .as_sets = index_is_of_sets(index),
                                     .takes_foreign = index->measure == COG_MEASURE_COSINE};
    bool has_new_lexicon = false;
    documents->wants_ids = options->upsert;
    int lock = -1;
    struct job job;
    job_begin(&job, run, report);
    cog_status status = change_begin(index, options->wait_seconds, &lock, report, error);
    THEN(status, index_check_lexicon(index, documents->foreign, &has_new_lexicon, error));
    THEN(status, index_check_memory(documents, index_is_of_sets(index), run, report, error));
    THEN(status, corpus_read(&addition.corpus, documents, &reading, run, report, error));
    /* A lexicon is recorded in the manifest, which a change of the log does not write. */
    bool is_small = index->folder && addition.corpus.rows <= LOG_BATCH_ROWS && !has_new_lexicon;
    uint64_t start = clock_ns();
    THEN(status, (is_small ? add_to_log : add_segment)(index, &addition, options, job.threads,
                                                       report, error));
    index_unlock(lock);
    if (status == COG_OK) {
        merge_tiers(index, job.threads, report);
        report_addition(index, addition.added, start, report);
        if (options->upsert)
            report_number(report, "replaced", (double)addition.replacements);
    }
    job_end(&job);
    corpus_free(&addition.corpus);
    free(addition.replaced);
    return status;
}

cog_status cog_index_add(cog_index *index, cog_documents *documents, const cog_run_options *run,
                         cog_report *report, cog_error *error) {
    cog_add_options options;
    cog_add_options_init(&options);
    return cog_index_add_with(index, documents, &options, run, report, error);
}

/* The id of the last row, in the log or in a segment; false if there is none. */
static bool last_id(const cog_index *index, struct bytes_view *id) {
    const struct corpus *waiting = &index->pending.corpus;
    if (waiting->rows)
        *id = corpus_id(waiting, waiting->rows - 1);
    return waiting->rows ||
           (index->parts.rows && index_row_id(index, (uint32_t)(index->parts.rows - 1), id));
}

/* Ids of signatures ascend, so the last one is the largest. */
static cog_status next_number(const cog_index *index, uint64_t *number, cog_error *error) {
    struct bytes_view id;
    *number = index->parts.rows;
    if (!last_id(index, &id))
        return COG_OK;
    char text[24] = {0}, *end;
    memcpy(text, id.data, id.size < 23 ? id.size : 23);
    *number = strtoull(text, &end, 10) + 1;
    if (*end == 0 && end != text)
        return COG_OK;
    return error_set(error, COG_ERR_FORMAT, "%s: an id of signatures that is no number",
                     index->folder ? index->folder : "index");
}

/* Adds few signatures to the log of the folder. Does not prepare the index for searches. */
static cog_status add_rows_to_log(cog_index *index, const struct signatures_view *rows,
                                  const struct job *job, cog_error *error) {
    const size_t row_bytes = signature_stride_bytes(rows->bits);
    struct buffer payload = {0};
    char id[NUMBER_DIGITS_MOST];
    uint64_t number = 0;
    double bytes = MEMORY_BASE_BYTES + 2 * (double)row_bytes * (double)rows->rows;
    cog_status status = memory_budget_check(bytes, &job->run, job->report, error);
    THEN(status, next_number(index, &number, error));
    for (size_t row = 0; row < rows->rows && status == COG_OK; row++)
        if (!changes_add_signature(&payload, view_of(id, number_digits(number + row, id)),
                                   view_of((const char *)signature_row(rows, row), row_bytes)))
            status = error_memory(error, payload.size, "the log of an index");
    THEN(status, log_commit(index, &payload, job->report, error));
    buffer_free(&payload);
    if (status == COG_OK)
        tidy_log(index, job->threads, job->report);
    return status;
}

/* Adds many signatures, or to an index in memory: as a segment of their own. */
static cog_status add_rows_as_segment(cog_index *index, const struct signatures_view *rows,
                                      const struct job *job, cog_error *error) {
    struct segment_draft draft = {0};
    struct segment_change change = {.draft = &draft};
    uint64_t number = 0;
    cog_status status = change_flush(index, job->threads, job->report, error);
    THEN(status, check_rows_memory(index, rows->rows, &job->run, job->report, error));
    THEN(status, next_number(index, &number, error));
    THEN(status, segment_draft_signatures(index, rows, number, true, job->threads, &draft, error));
    THEN(status, change_apply(index, &change, job->report, error));
    segment_draft_free(&draft);
    return status;
}

static cog_status check_addable(const cog_index *index, const struct signatures_view *rows,
                                cog_error *error) {
    if (index->has_documents)
        return error_set(error, COG_ERR_USAGE,
                         "the index holds documents: add documents, not signatures");
    if (rows->bits != index_bits(index))
        return error_set(error, COG_ERR_USAGE,
                         "signatures of %u bits do not go into an index of %u bits", rows->bits,
                         index_bits(index));
    return COG_OK;
}

cog_status cog_index_add_signatures(cog_index *index, const cog_signatures *signatures,
                                    const cog_run_options *run, cog_report *report,
                                    cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(signatures, "signatures", error));
    const struct signatures_view *rows = &signatures->file.view;
    uint64_t start = clock_ns();
    int lock = -1;
    TRY(check_addable(index, rows, error));
    struct job job;
    job_begin(&job, run, report);
    cog_status status = change_begin(index, 0, &lock, report, error);
    bool is_small = index->folder && rows->rows <= LOG_BATCH_ROWS;
    if (status == COG_OK && rows->rows)
        status = (is_small ? add_rows_to_log : add_rows_as_segment)(index, rows, &job, error);
    index_unlock(lock);
    if (status == COG_OK) {
        merge_tiers(index, job.threads, report);
        report_addition(index, rows->rows, start, report);
    }
    job_end(&job);
    return status;
}

/* ---- Removing -------------------------------------------------------------------------------- */

/* Sorts the ids and removes duplicates; returns how many are left. */
static size_t sort_ids(struct bytes_view *ids, size_t count) {
    size_t distinct = 0;
    if (count)
        qsort(ids, count, sizeof *ids, view_compare);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || !view_equals(ids[i], ids[distinct - 1]))
            ids[distinct++] = ids[i];
    return distinct;
}

/* Keeps the ids that were found, with their rows, and reports the ids not found. */
static size_t keep_found(struct bytes_view *ids, uint64_t *rows, size_t count, cog_report *report) {
    size_t found = 0, unknown = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i] != UINT64_MAX) {
            ids[found] = ids[i];
            rows[found++] = rows[i];
        } else if (unknown++ < NAMED_BAD_RECORDS)
            report_notice(report, "no document '%.*s' in the index",
                          (int)(ids[i].size < 200 ? ids[i].size : 200), ids[i].data);
    }
    report_number(report, "removed", (double)found);
    report_number(report, "unknown_ids", (double)unknown);
    return found;
}

static cog_status remove_rows(cog_index *index, uint64_t *rows, size_t count, cog_report *report,
                              cog_error *error) {
    struct segment_change change = {.removed = rows, .removed_count = count};
    qsort(rows, count, sizeof *rows, compare_u64);
    if (!index->folder)
        TRY(index_count_rows(index, rows, count, false, error));
    return change_apply(index, &change, report, error);
}

static cog_status remove_by_log(cog_index *index, const struct bytes_view *ids, size_t count,
                                cog_report *report, cog_error *error) {
    struct buffer payload = {0};
    bool fits = true;
    for (size_t i = 0; i < count && fits; i++)
        fits = changes_remove_id(&payload, ids[i]);
    cog_status status = fits ? log_commit(index, &payload, report, error)
                             : error_memory(error, payload.size, "the log of an index");
    buffer_free(&payload);
    if (status == COG_OK)
        tidy_log(index, 1, report);
    return status;
}

/* Call within a change. Sorts the ids. */
static cog_status remove_ids(cog_index *index, struct bytes_view *ids, size_t count,
                             cog_report *report, cog_error *error) {
    uint64_t *rows;
    TAKE(rows, count + 1, "rows", error);
    size_t distinct = sort_ids(ids, count);
    bool by_log = index->folder && distinct <= LOG_REMOVALS_MAX;
    cog_status status = by_log ? COG_OK : change_flush(index, 1, report, error);
    THEN(status, index_find_ids(index, ids, distinct, rows, error));
    for (size_t i = 0; i < distinct && status == COG_OK; i++)
        if (pending_has(&index->pending, ids[i]))
            rows[i] = index->parts.rows;
    size_t found = status == COG_OK ? keep_found(ids, rows, distinct, report) : 0;
    if (found)
        status = by_log ? remove_by_log(index, ids, found, report, error)
                        : remove_rows(index, rows, found, report, error);
    free(rows);
    return status;
}

cog_status cog_index_remove(cog_index *index, const char *const *ids, size_t count,
                            cog_report *report, cog_error *error) {
    TRY(check_given(index, "index", error));
    if (count)
        TRY(check_given(ids, "ids", error));
    struct bytes_view *views;
    TAKE(views, count + 1, "ids", error);
    for (size_t i = 0; i < count; i++)
        views[i] = view_of_text(ids[i]);
    int lock;
    cog_status status = change_begin(index, 0, &lock, report, error);
    THEN(status, remove_ids(index, views, count, report, error));
    index_unlock(lock);
    free(views);
    return status;
}

cog_status cog_index_remove_listed(cog_index *index, const char *path, cog_report *report,
                                   cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(path, "path", error));
    struct id_list list = {0};
    int lock;
    cog_status status = change_begin(index, 0, &lock, report, error);
    THEN(status, id_list_read(&list, path, error));
    THEN(status, remove_ids(index, list.ids, list.count, report, error));
    index_unlock(lock);
    id_list_free(&list);
    return status;
}

/* ---- Compacting ------------------------------------------------------------------------------ */

/* Memory for everything not in the scratch file, twice: while tables are built, and as they are. */
static cog_status check_merge_memory(const cog_index *index, const cog_run_options *run,
                                     cog_report *report, cog_error *error) {
    double bytes = MEMORY_BASE_BYTES;
    if (!index->folder)
        return check_rows_memory(index, index->parts.rows, run, report, error);
    for (size_t part = 0; part < index->parts.manifest.count; part++)
        bytes += 2 * (double)segment_table_bytes(&index->parts.segments[part]);
    return memory_budget_check(bytes, run, report, error);
}

cog_status cog_index_compact(cog_index *index, const cog_run_options *run, cog_report *report,
                             cog_error *error) {
    TRY(check_given(index, "index", error));
    uint64_t start = clock_ns();
    struct job job;
    job_begin(&job, run, report);
    cog_status status = index_prepare(index, error);
    THEN(status, check_merge_memory(index, run, report, error));
    THEN(status, merge_all(index, job.threads, report, error));
    if (status == COG_OK)
        report_addition(index, 0, start, report);
    job_end(&job);
    return status;
}
