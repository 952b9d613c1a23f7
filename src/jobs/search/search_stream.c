/* Answers queries as they come: one process serves a pipeline, and a client may write a line and
 * wait for its answer. Each thread has a searcher; answers are in the order of the queries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/ingest.h"
#include "input/reader.h"
#include "jobs/index/index_job.h"
#include "jobs/search/search_job.h"
#include "run/job.h"

struct stream {
    struct ingest *ingest;
    const cog_index *index;
    cog_searcher **searchers; /* one per worker */
    unsigned workers;
    cog_output_format format;
    struct output *output;
    uint64_t queries, matches;
};

/* The answers of a batch, as text. */
struct answers {
    struct buffer text;
    size_t skipped; /* number of the batch's bad records already answered */
    uint64_t queries, matches;
};

static bool append_row_name(struct buffer *text, const cog_index *index, uint32_t row, bool json) {
    struct bytes_view id;
    if (!index_row_id(index, row, &id))
        return buffer_printf(text, json ? "\"%u\"" : "%u", row);
    return json ? json_append_string(text, id) : escape_append(text, id);
}

/* One line per hit. */
static bool append_tsv(struct buffer *text, const struct stream *stream, struct bytes_view query,
                       const cog_hits *hits) {
    bool fits = true;
    for (size_t i = 0; i < cog_hits_count(hits) && fits; i++) {
        cog_hit hit = cog_hits_get(hits, i);
        fits = escape_append(text, query) && buffer_printf(text, "\t%u\t", hit.rank) &&
               append_row_name(text, stream->index, hit.row, false) &&
               buffer_printf(text, "\t%.6f\t", hit.similarity) &&
               (hit.distance < 0 ? buffer_append_text(text, "-\n")
                                 : buffer_printf(text, "%d\n", hit.distance));
    }
    return fits;
}

/* One line per query. */
static bool append_json(struct buffer *text, const struct stream *stream, struct bytes_view query,
                        const cog_hits *hits) {
    const char *measure = cog_hits_are_estimates(hits) ? "estimate" : "similarity";
    bool fits = buffer_append_text(text, "{\"query\": ") && json_append_string(text, query) &&
                buffer_append_text(text, ", \"hits\": [");
    for (size_t i = 0; i < cog_hits_count(hits) && fits; i++) {
        cog_hit hit = cog_hits_get(hits, i);
        fits = buffer_printf(text, "%s{\"rank\": %u, \"id\": ", i ? ", " : "", hit.rank) &&
               append_row_name(text, stream->index, hit.row, true) &&
               buffer_printf(text, ", \"%s\": %.6f", measure, hit.similarity) &&
               (hit.distance < 0 || buffer_printf(text, ", \"distance\": %d", hit.distance)) &&
               buffer_append_text(text, "}");
    }
    return fits && buffer_append_text(text, "]}\n");
}

/* Also answers bad records, as a client waiting for the answer to its line must not wait for ever.
 * A table has no place for such answers. */
static cog_status answer_skipped(const struct stream *stream, const struct ingest_batch *batch,
                                 struct answers *answers, cog_error *error) {
    for (; answers->skipped < batch->skipped_count; answers->skipped++) {
        const char *message = batch->skipped[answers->skipped].bad.message;
        if (stream->format == COG_OUTPUT_JSONL &&
            !(buffer_append_text(&answers->text, "{\"query\": null, \"error\": ") &&
              json_append_string(&answers->text, view_of_text(message)) &&
              buffer_append_text(&answers->text, "}\n")))
            return error_memory(error, answers->text.size, "an answer");
    }
    return COG_OK;
}

static cog_status answer_batch(void *context, unsigned worker, void *batch, cog_error *error) {
    struct stream *stream = context;
    struct answers *answers = ((struct ingest_batch *)batch)->result;
    for (;;) {
        struct ingested item;
        const cog_hits *hits;
        char language[16] = "";
        TRY(ingest_next(stream->ingest, worker, batch, &item, error));
        TRY(answer_skipped(stream, batch, answers, error));
        const struct document *query = item.document;
        if (!query)
            return COG_OK;
        if (query->lang.size && query->lang.size < sizeof language)
            memcpy(language, query->lang.data, query->lang.size);
        TRY(cog_searcher_find_text(stream->searchers[worker], query->text.data, query->text.size,
                                   language[0] ? language : NULL, &hits, error));
        bool fits = stream->format == COG_OUTPUT_JSONL
                        ? append_json(&answers->text, stream, query->id, hits)
                        : append_tsv(&answers->text, stream, query->id, hits);
        if (!fits)
            return error_memory(error, answers->text.size, "an answer");
        answers->queries++;
        answers->matches += cog_hits_count(hits);
    }
}

static cog_status write_batch(void *context, void *batch, cog_error *error) {
    struct stream *stream = context;
    struct answers *answers = ((struct ingest_batch *)batch)->result;
    TRY(output_write(stream->output, answers->text.data, answers->text.size, error));
    stream->queries += answers->queries;
    stream->matches += answers->matches;
    buffer_reset(&answers->text);
    answers->queries = answers->matches = answers->skipped = 0;
    return output_flush(stream->output, error);
}

static cog_status write_header(const struct stream *stream, const cog_search_options *options,
                               cog_error *error) {
    bool estimates = !(stream->index->has_vectors && options->verify);
    char line[80];
    if (stream->format != COG_OUTPUT_TSV)
        return COG_OK;
    int size = snprintf(line, sizeof line, "query\trank\tid\t%s\tdistance\n",
                        estimates ? "estimate" : "similarity");
    TRY(output_write(stream->output, line, (size_t)size, error));
    return output_flush(stream->output, error);
}

static cog_status make_searchers(struct stream *stream, const cog_search_options *options,
                                 const struct foreign_documents *foreign, cog_error *error) {
    TAKE_ZEROED(stream->searchers, stream->workers, "searchers", error);
    cog_status status = COG_OK;
    for (unsigned i = 0; i < stream->workers && status == COG_OK; i++) {
        status = cog_searcher_create(stream->index, options, &stream->searchers[i], error);
        if (status == COG_OK && foreign)
            status = searcher_project(stream->searchers[i], foreign, error);
    }
    return status;
}

static void free_stream(struct stream *stream) {
    for (size_t i = 0; stream->ingest && i < stream->ingest->batch_count; i++)
        buffer_free(&((struct answers *)stream->ingest->batches[i].result)->text);
    ingest_close(stream->ingest);
    for (unsigned i = 0; stream->searchers && i < stream->workers; i++)
        cog_searcher_free(stream->searchers[i]);
    free(stream->searchers);
    output_close(stream->output);
}

cog_status cog_index_answer(const cog_index *index, cog_documents *queries,
                            const cog_search_options *options, const cog_run_options *run,
                            cog_output_format format, const char *path, cog_report *report,
                            cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(queries, "queries", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(path, "path", error));
    if (format != COG_OUTPUT_TSV && format != COG_OUTPUT_JSONL)
        return error_about(
            error, COG_ERR_USAGE, "format",
            "answers are written one at a time, but this format needs their number first: "
            "choose tsv or jsonl");
    struct stream stream = {
        .index = index, .format = format, .workers = threads_resolve(run ? run->threads : 0)};
    struct job job;
    job_begin(&job, run, report);
    reader_answer_at_once(queries->source);
    cog_status status = make_searchers(&stream, options, queries->foreign, error);
    THEN(status, output_open(path, &stream.output, error));
    THEN(status, write_header(&stream, options, error));
    THEN(status, ingest_open(queries, NULL, sizeof(struct answers), "searching", run, report, false,
                             &stream.ingest, error));
    THEN(status, ingest_run(stream.ingest, &stream, answer_batch, write_batch, error));
    THEN(status, output_commit(stream.output, error));
    THEN(status, searchers_report(stream.searchers, stream.workers, report, error));
    report_number(report, "queries", (double)stream.queries);
    report_number(report, "matches", (double)stream.matches);
    free_stream(&stream);
    job_end(&job);
    return status;
}
