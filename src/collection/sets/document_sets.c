#include "collection/sets/document_sets.h"

#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io/files.h"
#include "base/memory.h"

/* The data kept per document, also stored in the file of rows of a work folder. */
struct set_document {
    struct set_row row;
    struct document_fact fact;
    struct fingerprint fingerprint;
};

struct reading {
    struct ingest *ingest;
    struct document_sets *sets;
    struct output *rejects;
    bool keeps_rejects;  /* in the work folder */
    uint64_t bad_before; /* bad records of earlier collections */
};

cog_status document_sets_open(struct document_sets *sets, const char *near_path, cog_error *error) {
    return scratch_file_open_near(near_path, &sets->file.descriptor, error);
}

void document_sets_close(struct document_sets *sets) {
    if (sets->folder)
        work_folder_close(sets->folder);
    else if (sets->file.descriptor > 0)
        close(sets->file.descriptor);
    FREE(sets->rows, sets->facts, sets->fingerprints);
    *sets = (struct document_sets){0};
}

/* ---- Reading --------------------------------------------------------------------------------- */

static struct fingerprint fingerprint_of(const void *data, size_t size, uint64_t seed) {
    XXH128_hash_t hash = XXH3_128bits_withSeed(data, size, seed);
    return (struct fingerprint){hash.low64, hash.high64};
}

static struct fingerprint fingerprint_of_sets(const void *bytes, size_t size) {
    return fingerprint_of(bytes, size, 1);
}

struct fingerprint fingerprint_of_text(struct bytes_view text) {
    return fingerprint_of(text.data, text.size, 2);
}

cog_status set_batch_add(struct set_batch *batch, const struct ingested *item, bool has_id,
                         cog_error *error) {
    struct term_list *list = item->terms;
    const size_t all = list->count, words_from = all - list->short_terms;
    uint64_t *word_hashes = all ? list->hashes + words_from : NULL;
    const struct document *document = item->document;
    GROW(batch->documents, batch->capacity, batch->count + 1, "documents", error);
    GROW(batch->scratch, batch->scratch_capacity, all, "a document's terms", error);
    const size_t terms = member_set_make(list->hashes, words_from, batch->scratch);
    const size_t words = member_set_make(word_hashes, list->short_terms, batch->scratch);
    if (terms > UINT32_MAX || document->id.size > UINT32_MAX)
        return error_set(error, COG_ERR_INPUT,
                         "a document has more than 4 billion terms: split it");
    struct set_document *added = &batch->documents[batch->count];
    added->row = (struct set_row){batch->bytes.size, (uint32_t)terms, (uint32_t)words};
    added->fact.record = (uint32_t)item->record;
    added->fact.text_bytes =
        document->text.size < UINT32_MAX ? (uint32_t)document->text.size : UINT32_MAX;
    if (!set_record_append(&batch->bytes, list->hashes, terms, word_hashes, words,
                           has_id ? document->id : (struct bytes_view){"", 0}))
        return error_memory(error, batch->bytes.size, "documents");
    const size_t set_bytes = set_record_bytes(&added->row, 0) - sizeof(uint32_t);
    added->fingerprint = all ? fingerprint_of_sets(batch->bytes.data + added->row.offset, set_bytes)
                             : fingerprint_of_text(document->text);
    batch->count++;
    return COG_OK;
}

cog_status set_batch_add_set(struct set_batch *batch, const struct document_set *set,
                             struct bytes_view id, uint32_t record, cog_error *error) {
    GROW(batch->documents, batch->capacity, batch->count + 1, "documents", error);
    struct set_document *added = &batch->documents[batch->count];
    *added = (struct set_document){
        .row = {batch->bytes.size, (uint32_t)set->term_count, (uint32_t)set->word_count},
        .fact = {.record = record},
        .fingerprint = {set->text[0], set->text[1]}};
    if (!set_record_append(&batch->bytes, set->terms, set->term_count, set->words, set->word_count,
                           id))
        return error_memory(error, batch->bytes.size, "documents");
    if (!document_set_is_text(set))
        added->fingerprint =
            fingerprint_of_sets(batch->bytes.data + added->row.offset,
                                set_record_bytes(&added->row, 0) - sizeof(uint32_t));
    batch->count++;
    return COG_OK;
}

size_t set_batch_last_members(const struct set_batch *batch) {
    const struct set_row *row = &batch->documents[batch->count - 1].row;
    return (size_t)row->terms + row->words;
}

void set_batch_select(struct set_batch *batch, const uint8_t *marks) {
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct set_document *to = &batch->documents[kept];
        const size_t bytes = set_record_bytes(&batch->documents[i].row, 0);
        if (!marks[i])
            continue;
        memmove(batch->bytes.data + at, batch->bytes.data + batch->documents[i].row.offset, bytes);
        *to = batch->documents[i];
        to->row.offset = at;
        at += bytes;
        kept++;
    }
    batch->count = kept;
    batch->bytes.size = at;
}

void set_batch_free(struct set_batch *batch) {
    buffer_free(&batch->bytes);
    FREE(batch->documents, batch->scratch);
    *batch = (struct set_batch){0};
}

static cog_status take_documents(void *context, unsigned worker, void *ingest_batch,
                                 cog_error *error) {
    const struct reading *reading = context;
    struct set_batch *batch = ((struct ingest_batch *)ingest_batch)->result;
    for (;;) {
        struct ingested item;
        TRY(ingest_next(reading->ingest, worker, ingest_batch, &item, error));
        if (!item.document)
            return COG_OK;
        TRY(set_batch_add(batch, &item, true, error));
    }
}

static cog_status add_rows(struct document_sets *sets, const struct set_document *documents,
                           size_t count, cog_error *error) {
    const size_t rows = sets->count + count;
    if (rows >= UINT32_MAX)
        return error_set(error, COG_ERR_MEMORY, "more than 4 billion documents: split the input");
    GROW(sets->rows, sets->row_capacity, rows, "documents", error);
    GROW(sets->facts, sets->fact_capacity, rows, "documents", error);
    GROW(sets->fingerprints, sets->fingerprint_capacity, rows, "documents", error);
    for (size_t i = 0; i < count; i++) {
        sets->rows[sets->count] = documents[i].row;
        sets->facts[sets->count] = documents[i].fact;
        sets->fingerprints[sets->count++] = documents[i].fingerprint;
    }
    return COG_OK;
}

/* Writes to a file of the work folder, or to the scratch file. */
static cog_status append_to(const struct document_sets *sets, int descriptor, const char *name,
                            const void *data, size_t size, uint64_t offset, cog_error *error) {
    if (!sets->folder)
        return descriptor_write_at(descriptor, data, size, offset, "the file of term sets", error);
    char *path = work_folder_file(sets->folder, name);
    cog_status status = path ? descriptor_write_at(descriptor, data, size, offset, path, error)
                             : error_memory(error, strlen(name), "a path");
    free(path);
    return status;
}

cog_status document_sets_append(struct document_sets *sets, struct set_batch *batch,
                                cog_error *error) {
    for (size_t i = 0; i < batch->count; i++)
        batch->documents[i].row.offset += sets->file.size_bytes;
    TRY(append_to(sets, sets->file.descriptor, "sets", batch->bytes.data, batch->bytes.size,
                  sets->file.size_bytes, error));
    if (sets->folder)
        TRY(append_to(sets, sets->folder->rows, "rows", batch->documents,
                      batch->count * sizeof *batch->documents,
                      sets->count * sizeof *batch->documents, error));
    TRY(add_rows(sets, batch->documents, batch->count, error));
    sets->file.size_bytes += batch->bytes.size;
    sets->file.rows = sets->rows;
    sets->file.row_count = sets->count;
    batch->count = 0;
    buffer_reset(&batch->bytes);
    return COG_OK;
}

static cog_status commit(struct document_sets *sets, cog_error *error) {
    sets->progress.rows = sets->count;
    sets->progress.set_bytes = sets->file.size_bytes;
    return work_folder_commit(sets->folder, &sets->progress, error);
}

/* Writes the bad records of a batch unchanged, each followed by a line end: to the output, or to
 * the work folder, from which they are copied at the end. */
static cog_status reject_records(struct reading *reading, const struct ingest_batch *records,
                                 cog_error *error) {
    struct document_sets *sets = reading->sets;
    struct buffer lines = {0};
    bool fits = true;
    for (size_t i = 0; i < records->skipped_count && fits; i++) {
        const struct bytes_view raw = records->skipped[i].raw;
        const bool is_line = raw.size && raw.data[raw.size - 1] == '\n';
        fits = buffer_append(&lines, raw.data, raw.size) &&
               (is_line || buffer_append(&lines, "\n", 1));
    }
    cog_status status = fits ? COG_OK : error_memory(error, lines.size, "bad records");
    if (reading->keeps_rejects) {
        THEN(status, append_to(sets, sets->folder->rejects, "rejects", lines.data, lines.size,
                               sets->progress.reject_bytes, error));
        sets->progress.reject_bytes += lines.size;
    } else if (reading->rejects) {
        THEN(status, output_write(reading->rejects, lines.data, lines.size, error));
    }
    buffer_free(&lines);
    return status;
}

static cog_status copy_rejects(const struct document_sets *sets, struct output *rejects,
                               cog_error *error) {
    enum { BYTES_AT_ONCE = 1 << 16 };
    char bytes[BYTES_AT_ONCE];
    for (uint64_t at = 0; at < sets->progress.reject_bytes;) {
        const uint64_t left = sets->progress.reject_bytes - at;
        const size_t size = left < BYTES_AT_ONCE ? (size_t)left : BYTES_AT_ONCE;
        TRY(descriptor_read_at(sets->folder->rejects, bytes, size, at, "the file of bad records",
                               error));
        TRY(output_write(rejects, bytes, size, error));
        at += size;
    }
    return COG_OK;
}

static cog_status deliver(void *context, void *ingest_batch, cog_error *error) {
    struct reading *reading = context;
    const struct ingest_batch *records = ingest_batch;
    struct set_batch *batch = records->result;
    struct document_sets *sets = reading->sets;
    if (records->skipped_count)
        TRY(reject_records(reading, records, error));
    TRY(document_sets_append(sets, batch, error));
    if (reading->ingest->records <= sets->progress.records)
        return COG_OK; /* read by an earlier job */
    sets->progress.records = reading->ingest->records;
    sets->progress.bad_records = reading->bad_before + reading->ingest->bad_records;
    return sets->folder && work_folder_is_due(sets->folder) ? commit(sets, error) : COG_OK;
}

static cog_status read_collection(struct document_sets *sets, cog_documents *documents,
                                  const struct term_options *terms, bool is_last,
                                  struct output *rejects, struct job *job, cog_error *error) {
    struct reading reading = {.sets = sets,
                              .rejects = rejects,
                              .keeps_rejects = sets->folder && is_last,
                              .bad_before = sets->progress.bad_records};
    if (documents->foreign)
        return error_about(error, COG_ERR_USAGE, "lexicon",
                           "documents in another language are compared by cosine, not as "
                           "sets of terms: choose that measure");
    cog_status status = ingest_open(documents, terms, sizeof(struct set_batch), "reading",
                                    &job->run, job->report, false, &reading.ingest, error);
    if (status == COG_OK)
        reading.ingest->first_record = sets->progress.records;
    THEN(status, ingest_run(reading.ingest, &reading, take_documents, deliver, error));
    if (status == COG_OK && reading.ingest->records < sets->progress.records)
        status = error_set(error, COG_ERR_INPUT,
                           "the input has fewer records than when the work folder was made");
    for (size_t i = 0; reading.ingest && i < reading.ingest->batch_count; i++)
        set_batch_free(reading.ingest->batches[i].result);
    ingest_close(reading.ingest);
    return status;
}

cog_status document_sets_read(struct document_sets *sets, cog_documents *documents,
                              const struct term_options *terms, bool is_last,
                              struct output *rejects, struct job *job, cog_error *error) {
    struct work_progress *progress = &sets->progress;
    const uint64_t number = sets->collections_read++;
    if (progress->collection < number)
        *progress = (struct work_progress){
            .collection = number, .first_row = sets->count, .bad_records = progress->bad_records};
    /* The part that an earlier job has read is cut into records but not parsed. */
    if (progress->collection == number) {
        const bool was_complete = progress->is_complete;
        TRY(read_collection(sets, documents, terms, is_last, rejects, job, error));
        progress->is_complete = is_last;
        if (sets->folder && !was_complete)
            TRY(commit(sets, error));
    }
    if (sets->folder && rejects)
        TRY(copy_rejects(sets, rejects, error));
    sets->file.rows = sets->rows;
    sets->file.row_count = sets->count;
    return COG_OK;
}

bool document_sets_wants_next(struct document_sets *sets) {
    return sets->progress.collection <= sets->collections_read++;
}

/* ---- Work folders ---------------------------------------------------------------------------- */

static bool is_sound(const struct document_sets *sets) {
    for (size_t row = 0; row < sets->count; row++) {
        const uint64_t end =
            row + 1 < sets->count ? sets->rows[row + 1].offset : sets->file.size_bytes;
        const uint64_t bytes = set_record_bytes(&sets->rows[row], 0);
        if (end > sets->file.size_bytes || sets->rows[row].offset > end ||
            end - sets->rows[row].offset < bytes)
            return false;
    }
    return true;
}

static cog_status load_rows(struct document_sets *sets, cog_error *error) {
    enum { ROWS_AT_ONCE = 4096 };
    struct set_document documents[ROWS_AT_ONCE];
    while (sets->count < sets->progress.rows) {
        const size_t left = (size_t)(sets->progress.rows - sets->count);
        const size_t count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        TRY(descriptor_read_at(sets->folder->rows, documents, count * sizeof *documents,
                               sets->count * sizeof *documents, "the file of rows", error));
        TRY(add_rows(sets, documents, count, error));
    }
    return is_sound(sets) ? COG_OK
                          : error_set(error, COG_ERR_FORMAT,
                                      "%s: the file of rows is damaged; remove the folder and "
                                      "start again",
                                      sets->folder->path);
}

cog_status document_sets_open_work(struct document_sets *sets, const char *path,
                                   const struct settings *made_by, bool resume, cog_error *error) {
    TRY(work_folder_open(path, made_by, sizeof(struct set_document), resume, &sets->folder, error));
    sets->progress = sets->folder->progress;
    sets->file.descriptor = sets->folder->sets;
    sets->file.size_bytes = sets->progress.set_bytes;
    return load_rows(sets, error);
}

/* ---- Equal documents ------------------------------------------------------------------------- */

cog_status document_sets_group(struct document_sets *sets, uint32_t **leaders, size_t *groups,
                               cog_error *error) {
    cog_status status =
        equal_documents_find(sets->fingerprints, sets->count, leaders, groups, error);
    free(sets->fingerprints);
    sets->fingerprints = NULL;
    sets->fingerprint_capacity = 0;
    return status;
}

uint64_t document_sets_memory_bytes(const struct document_sets *sets) {
    return sets->row_capacity * sizeof *sets->rows + sets->fact_capacity * sizeof *sets->facts +
           sets->fingerprint_capacity * sizeof *sets->fingerprints;
}
