#include "jobs/explain/overlap_job.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/io/output.h"
#include "base/strings.h"
#include "jobs/explain/explain_job.h"
#include "jobs/result_table.h"

/* ---- The two documents ----------------------------------------------------------------------- */

/* A pass over a collection in search of the documents. */
struct looking {
    struct ingest *ingest;
    const char *const *ids; /* NULL: the first document */
    struct overlap_document *documents;
    bool is_wanted[2], is_found[2];
    uint64_t records[2]; /* of the documents found; if several match, the first is used */
    bool has_others[2];
    pthread_mutex_t lock;
};

static bool copy(struct buffer *buffer, struct bytes_view view) {
    buffer_reset(buffer);
    return buffer_append(buffer, view.data, view.size);
}

static cog_status keep_document(struct looking *looking, int which, const struct ingested *item,
                                cog_error *error) {
    const struct document *from = item->document;
    struct overlap_document *to = &looking->documents[which];
    looking->has_others[which] = looking->is_found[which];
    if (looking->is_found[which] && looking->records[which] < item->record)
        return COG_OK;
    if (from->terms)
        return error_set(error, COG_ERR_INPUT,
                         "'%.*s' is a query of a log, which has clicked URLs and no text: queries "
                         "are explained by their cosine only",
                         (int)from->id.size, from->id.data);
    if (!copy(&to->id, from->id) || !copy(&to->lang, from->lang) || !copy(&to->text, from->text))
        return error_memory(error, from->text.size, "a document");
    looking->is_found[which] = true;
    looking->records[which] = item->record;
    return COG_OK;
}

static cog_status look(void *context, unsigned worker, void *batch, cog_error *error) {
    struct looking *looking = context;
    cog_status status = COG_OK;
    while (status == COG_OK) {
        struct ingested item;
        TRY(ingest_next(looking->ingest, worker, batch, &item, error));
        if (!item.document)
            break;
        for (int which = 0; which < 2 && status == COG_OK; which++) {
            const char *id = looking->ids ? looking->ids[which] : NULL;
            if (!looking->is_wanted[which] || (id && !view_is(item.document->id, id)))
                continue;
            pthread_mutex_lock(&looking->lock);
            status = keep_document(looking, which, &item, error);
            pthread_mutex_unlock(&looking->lock);
        }
    }
    return status;
}

static cog_status check_found(const struct looking *looking, cog_error *error) {
    for (int which = 0; which < 2; which++)
        if (looking->is_wanted[which] && !looking->is_found[which])
            return looking->ids
                       ? error_set(error, COG_ERR_USAGE, "no document '%s'", looking->ids[which])
                       : error_set(error, COG_ERR_INPUT, "no document to compare");
    return COG_OK;
}

/* Finds the documents that are in the collection of this side. */
static cog_status read_side(const struct job *job, cog_documents *const documents[2], int side,
                            const char *const *ids, struct cog_overlap *overlap, cog_error *error) {
    struct looking looking = {.ids = ids, .documents = overlap->documents};
    for (int which = 0; which < 2; which++)
        looking.is_wanted[which] = !documents[1] || which == side;
    pthread_mutex_init(&looking.lock, NULL);
    cog_status status = ingest_open(documents[side], NULL, 1, "reading", &job->run, job->report,
                                    false, &looking.ingest, error);
    THEN(status, ingest_run(looking.ingest, &looking, look, NULL, error));
    THEN(status, check_found(&looking, error));
    if (status == COG_OK && !ids && looking.has_others[side])
        explain_note_others(side, job->report);
    ingest_close(looking.ingest);
    pthread_mutex_destroy(&looking.lock);
    return status;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static struct bytes_view view(const struct buffer *buffer) {
    return view_of(buffer->data, buffer->size);
}

static cog_status compare(struct cog_overlap *overlap, const struct term_options *terms,
                          cog_error *error) {
    struct analyzer *analyzer = NULL;
    struct term_list lists[2] = {{.want_places = true}, {.want_places = true}};
    cog_status status = analyzer_create(terms, &analyzer, error);
    for (int side = 0; side < 2; side++) {
        const struct overlap_document *document = &overlap->documents[side];
        THEN(status, analyzer_run(analyzer, view(&document->text), view(&document->lang),
                                  &lists[side], error));
    }
    THEN(status, shared_spans_find(lists, &overlap->shared, error));
    term_list_free(&lists[0]);
    term_list_free(&lists[1]);
    analyzer_free(analyzer);
    return status;
}

static void report_overlap(const struct cog_overlap *overlap, cog_report *report) {
    cog_overlap_summary summary = overlap_summarize(overlap);
    report_number(report, "similarity", summary.similarity);
    report_number(report, "shared_terms", (double)summary.shared);
    report_number(report, "shared_spans", (double)overlap->shared.count);
}

cog_status overlap_find(struct job *job, cog_documents *const documents[2],
                        const char *const ids[2], cog_measure measure,
                        const struct term_options *terms, struct cog_overlap **result,
                        cog_error *error) {
    enum { MEMORY_OF_WORDS = 25, MEMORY_OF_CHARACTERS = 75 }; /* bytes per byte of text, at most */
    struct cog_overlap *overlap;
    TAKE_ZEROED(overlap, 1, "an overlap", error);
    overlap->measure = measure;
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && documents[side]; side++)
        THEN(status, read_side(job, documents, side, ids, overlap, error));
    size_t bytes = overlap->documents[0].text.size + overlap->documents[1].text.size;
    double factor = terms->tokens == TOKENS_CHARS ? MEMORY_OF_CHARACTERS : MEMORY_OF_WORDS;
    THEN(status, job_check_memory(job, MEMORY_BASE_BYTES + (double)bytes * factor, error));
    job_stage(job, "comparing");
    THEN(status, compare(overlap, terms, error));
    if (status == COG_OK)
        report_overlap(overlap, job->report);
    return HAND_OUT(status, overlap, overlap_free, result);
}

/* ---- The result ------------------------------------------------------------------------------ */

void overlap_free(struct cog_overlap *overlap) {
    if (!overlap)
        return;
    for (int side = 0; side < 2; side++) {
        buffer_free(&overlap->documents[side].id);
        buffer_free(&overlap->documents[side].lang);
        buffer_free(&overlap->documents[side].text);
    }
    shared_spans_free(&overlap->shared);
    free(overlap);
}

cog_overlap_summary overlap_summarize(const struct cog_overlap *overlap) {
    const struct shared_spans *found = &overlap->shared;
    cog_overlap_summary summary = {.terms = {found->terms[0], found->terms[1]},
                                   .shared = found->shared,
                                   .by_words = found->by_words};
    size_t least = found->terms[found->terms[1] < found->terms[0]];
    size_t all = found->terms[0] + found->terms[1] - found->shared;
    double without_terms =
        view_equals(view(&overlap->documents[0].text), view(&overlap->documents[1].text));
    for (int side = 0; side < 2; side++)
        summary.share[side] =
            found->terms[side] ? (double)found->shared / (double)found->terms[side] : 0;
    summary.containment = least ? (double)found->shared / (double)least : 0;
    summary.jaccard = all ? (double)found->shared / (double)all : without_terms;
    if (!all)
        summary.containment = summary.share[0] = summary.share[1] = without_terms;
    summary.similarity =
        overlap->measure == COG_MEASURE_CONTAINMENT ? summary.containment : summary.jaccard;
    return summary;
}

static struct bytes_view span_text(const struct cog_overlap *overlap, const cog_shared_span *span) {
    return view_of(overlap->documents[0].text.data + span->begin[0], span->end[0] - span->begin[0]);
}

static cog_status write_table(const struct cog_overlap *overlap, const char *path,
                              cog_error *error) {
    static const struct result_column columns[] = {
        {"a_begin", RESULT_NUMBER}, {"a_end", RESULT_NUMBER},  {"b_begin", RESULT_NUMBER},
        {"b_end", RESULT_NUMBER},   {"ngrams", RESULT_NUMBER}, {"text", RESULT_ID}};
    struct result_table table = {0};
    cog_status status =
        result_table_open(&table, columns, 6, overlap->shared.count, COG_OUTPUT_TSV, path, error);
    for (size_t i = 0; i < overlap->shared.count && status == COG_OK; i++) {
        const cog_shared_span *span = &overlap->shared.spans[i];
        struct result_cell cells[] = {
            {.number = (double)span->begin[0]}, {.number = (double)span->end[0]},
            {.number = (double)span->begin[1]}, {.number = (double)span->end[1]},
            {.number = (double)span->terms},    {.text = span_text(overlap, span)}};
        status = result_table_add(&table, cells, error);
    }
    return result_table_close(&table, status, error);
}

static bool append_summary(struct buffer *line, const struct cog_overlap *overlap) {
    cog_overlap_summary summary = overlap_summarize(overlap);
    return buffer_append_text(line, "{\"a\": ") &&
           json_append_string(line, view(&overlap->documents[0].id)) &&
           buffer_append_text(line, ", \"b\": ") &&
           json_append_string(line, view(&overlap->documents[1].id)) &&
           buffer_printf(line,
                         ", \"measure\": \"%s\", \"similarity\": %.6f, \"jaccard\": %.6f, "
                         "\"containment\": %.6f, \"a_in_b\": %.6f, \"b_in_a\": %.6f, "
                         "\"by_words\": %s, \"a_ngrams\": %zu, \"b_ngrams\": %zu, "
                         "\"shared_ngrams\": %zu",
                         overlap->measure == COG_MEASURE_CONTAINMENT ? "containment" : "jaccard",
                         summary.similarity, summary.jaccard, summary.containment, summary.share[0],
                         summary.share[1], summary.by_words ? "true" : "false", summary.terms[0],
                         summary.terms[1], summary.shared);
}

static bool append_object(struct buffer *line, const struct cog_overlap *overlap) {
    bool fits = append_summary(line, overlap) && buffer_append_text(line, ", \"spans\": [");
    for (size_t i = 0; i < overlap->shared.count && fits; i++) {
        const cog_shared_span *span = &overlap->shared.spans[i];
        fits = buffer_printf(line,
                             "%s{\"a\": [%zu, %zu], \"b\": [%zu, %zu], \"ngrams\": %zu, "
                             "\"text\": ",
                             i ? ", " : "", span->begin[0], span->end[0], span->begin[1],
                             span->end[1], span->terms) &&
               json_append_string(line, span_text(overlap, span)) && buffer_append_text(line, "}");
    }
    return fits && buffer_append_text(line, "]}\n");
}

static cog_status write_object(const struct cog_overlap *overlap, const char *path,
                               cog_error *error) {
    struct buffer line = {0};
    cog_status status = append_object(&line, overlap)
                            ? output_write_file(path, line.data, line.size, error)
                            : error_memory(error, line.size, "the spans as JSON");
    buffer_free(&line);
    return status;
}

cog_status overlap_write(const struct cog_overlap *overlap, cog_output_format format,
                         const char *path, cog_error *error) {
    if (format == COG_OUTPUT_NPY)
        return error_set(error, COG_ERR_USAGE,
                         "spans are texts, which numpy files do not hold: choose tsv or jsonl");
    return format == COG_OUTPUT_TSV ? write_table(overlap, path, error)
                                    : write_object(overlap, path, error);
}
