/* Writes a generated query log, so that what is measured on one can be repeated. */
#include "base/buffer.h"
#include "base/output.h"
#include "evaluate/query_log_generator.h"
#include "job/memory_budget.h"
#include "job/progress.h"
#include "job/report.h"

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

static cog_status write_rows(const struct query_log_generator *generator, size_t rows,
                             const cog_run_options *run, struct output *output, cog_error *error) {
    enum { FLUSH_BYTES = 1 << 16 };
    struct buffer text = {0}, lines = {0};
    struct progress progress;
    progress_start(&progress, run, "writing", rows);
    cog_status status = COG_OK;
    for (size_t row = 0; row < rows && status == COG_OK && !output_is_broken(output); row++) {
        if (!append_query(generator, row, &text, &lines))
            status = error_memory(error, FLUSH_BYTES, "lines of a log");
        if (status == COG_OK && (lines.size >= FLUSH_BYTES || row + 1 == rows)) {
            status = output_write(output, lines.data, lines.size, error);
            buffer_reset(&lines);
            if (status == COG_OK)
                status = progress_report(&progress, row, error);
        }
    }
    if (status == COG_OK)
        status = progress_finish(&progress, error);
    buffer_free(&text);
    buffer_free(&lines);
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
    if (status == COG_OK)
        status = query_log_generator_create(&shape, &generator, error);
    if (status == COG_OK)
        status = output_open(path, &output, error);
    if (status == COG_OK)
        status = write_rows(generator, shape.queries, run, output, error);
    if (status == COG_OK)
        status = output_commit(output, error);
    if (status == COG_OK)
        report_notice(report, "the log is generated: no real searches are in it");
    output_close(output);
    query_log_generator_free(generator);
    return status;
}
