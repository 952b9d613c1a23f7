/* Writes a generated query log, so that what is measured on one can be repeated. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/threads.h"
#include "jobs/evaluate/query_log_generator.h"
#include "run/memory_budget.h"
#include "run/progress.h"
#include "run/report.h"

static bool append_query(const struct query_log_generator *generator, size_t row,
                         struct buffer *text, struct buffer *lines) {
    struct query_click clicks[QUERY_CLICKS_MAX];
    size_t count = query_log_row(generator, row, clicks);
    buffer_reset(text);
    if (!query_log_text(generator, row, text))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!buffer_append(lines, text->data, text->size) ||
            !buffer_printf(lines, "\thttp://site%u.example/\t%u\n", clicks[i].url,
                           clicks[i].clicks))
            return false;
    return true;
}

/* Rows [begin, end) of the log, and their lines. */
struct log_batch {
    size_t begin, end;
    struct buffer text, lines;
};

struct log_writing {
    const struct query_log_generator *generator;
    size_t rows, taken;
    struct output *output;
    struct progress progress;
};

static cog_status take_rows(void *context, void *of_batch, bool *end, cog_error *error) {
    (void)error;
    enum { ROWS_AT_ONCE = 256 };
    struct log_writing *writing = context;
    struct log_batch *batch = of_batch;
    batch->begin = writing->taken;
    *end = writing->taken == writing->rows || output_is_broken(writing->output);
    if (!*end)
        writing->taken = writing->rows - writing->taken < ROWS_AT_ONCE
                             ? writing->rows
                             : writing->taken + ROWS_AT_ONCE;
    batch->end = writing->taken;
    return COG_OK;
}

static cog_status make_lines(void *context, unsigned worker, void *of_batch, cog_error *error) {
    (void)worker;
    const struct log_writing *writing = context;
    struct log_batch *batch = of_batch;
    buffer_reset(&batch->lines);
    for (size_t row = batch->begin; row < batch->end; row++)
        if (!append_query(writing->generator, row, &batch->text, &batch->lines))
            return error_memory(error, batch->lines.size, "lines of a log");
    return COG_OK;
}

static cog_status write_lines(void *context, void *of_batch, cog_error *error) {
    struct log_writing *writing = context;
    const struct log_batch *batch = of_batch;
    TRY(output_write(writing->output, batch->lines.data, batch->lines.size, error));
    return progress_report(&writing->progress, batch->end, error);
}

/* A row follows from its number alone, so that any thread may make any of them. */
static cog_status write_rows(const struct query_log_generator *generator, size_t rows,
                             const cog_run_options *run, struct output *output, cog_error *error) {
    struct log_writing writing = {.generator = generator, .rows = rows, .output = output};
    unsigned threads = threads_resolve(run ? run->threads : 0);
    size_t count = 2 * (size_t)threads + 1;
    struct log_batch *batches = memory_zeroed_array(count, sizeof *batches);
    void **pointers = memory_array(count, sizeof *pointers);
    cog_status status =
        batches && pointers ? COG_OK : error_memory(error, count * sizeof *batches, "a query log");
    for (size_t i = 0; i < count && status == COG_OK; i++)
        pointers[i] = &batches[i];
    progress_start(&writing.progress, run, "writing", rows);
    const struct pipeline pipeline = {take_rows, make_lines, write_lines,
                                      &writing,  pointers,   count};
    THEN(status, pipeline_run(&pipeline, threads, error));
    THEN(status, progress_finish(&writing.progress, error));
    for (size_t i = 0; i < count && batches; i++) {
        buffer_free(&batches[i].text);
        buffer_free(&batches[i].lines);
    }
    free(pointers);
    free(batches);
    return status;
}

cog_status cog_query_log_generate(const char *path, uint64_t queries, uint64_t seed,
                                  const cog_run_options *run, cog_report *report,
                                  cog_error *error) {
    enum { QUERY_BYTES = 2 * sizeof(uint32_t) + 1 }; /* its group, and that may be its own */
    struct query_log_shape shape;
    struct query_log_generator *generator = NULL;
    struct output *output = NULL;
    query_log_shape_init(&shape);
    double urls = (double)shape.urls * (double)queries / (double)shape.queries;
    if (queries == 0 || urls >= UINT32_MAX)
        return error_set(error, COG_ERR_USAGE, "%llu queries: choose 1 to a billion",
                         (unsigned long long)queries);
    shape.urls = urls < QUERY_CLICKS_MAX ? QUERY_CLICKS_MAX : (uint32_t)urls;
    shape.queries = (size_t)queries;
    shape.seed += seed;
    report_text(report, "log", "generated");
    report_number(report, "queries", (double)queries);
    report_number(report, "urls", (double)shape.urls);
    cog_status status = memory_budget_keep((double)queries * QUERY_BYTES, run, error);
    THEN(status, query_log_generator_create(&shape, &generator, error));
    THEN(status, output_open(path, &output, error));
    THEN(status, write_rows(generator, shape.queries, run, output, error));
    THEN(status, output_commit(output, error));
    if (status == COG_OK)
        report_notice(report, "the log is generated: no real searches are in it");
    output_close(output);
    query_log_generator_free(generator);
    return status;
}
