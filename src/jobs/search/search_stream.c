/* Searches of short signatures in tables that are built of one chunk after the other: the
 * collection may be a file larger than memory. */
#include "jobs/search/search_short.h"
#include "run/job.h"

enum {
    QUERY_BYTES = 96, /* a query in order, its hit, and both while they are sorted */
    CHUNK_ROWS_MIN = 1 << 12
};

/* Bytes of a row in tables while they are built, as an index of them is counted. */
static double row_bytes(const cog_index *index, cog_method method) {
    unsigned tables = method == COG_METHOD_PSM ? 1 : index->stream_form.tables;
    return (double)index_bits(index) / 8 * (5 + 1.2 * tables);
}

/* The rows of a chunk: all, or as many as the memory has room for beside the queries. */
static size_t chunk_rows(const cog_index *index, cog_method method, size_t queries,
                         uint64_t memory_bytes) {
    double rows = (double)index->parts.rows;
    double room = (double)memory_bytes - MEMORY_BASE_BYTES - (double)queries * QUERY_BYTES;
    double fitting = room / row_bytes(index, method);
    if (memory_bytes > 0 && rows > fitting)
        rows = fitting > CHUNK_ROWS_MIN ? fitting : CHUNK_ROWS_MIN;
    return rows < SHORT_KEY_ROWS_MAX ? (size_t)rows : SHORT_KEY_ROWS_MAX;
}

double search_stream_bytes(const cog_index *index, cog_method method, size_t queries,
                           uint64_t memory_bytes) {
    return (double)queries * QUERY_BYTES +
           row_bytes(index, method) * (double)chunk_rows(index, method, queries, memory_bytes);
}

static cog_status stream_psm(const struct signature_search *search, const struct segment *segment,
                             size_t rows, struct short_hits *hits, cog_error *error) {
    struct psm_queries queries = {*search->queries, search->weights, NULL, true};
    struct short_search asked = {.radius_bits = search->radius_bits,
                                 .first_only = search->first,
                                 .flips = search->flips,
                                 .threads = search->threads};
    struct psm_chunks chunks = {&segment->signatures, rows,
                                psm_limits(&search->index->stream_form, rows), search->recall};
    if (search->queries->rows < 2)
        return error_set(error, COG_ERR_USAGE,
                         "psm learns from the weights of many queries: give at least two, or "
                         "search an index that was built with --weights");
    return psm_search_chunks(&chunks, &queries, &asked, hits, error);
}

cog_status search_stream(struct signature_search *search, const struct segment *segment,
                         struct short_hits *hits, cog_error *error) {
    const struct bucket_settings *form = &search->index->stream_form;
    size_t rows =
        chunk_rows(search->index, search->method, search->queries->rows, search->memory_bytes);
    if (segment->rows == 0)
        return COG_OK;
    search->chunks += (segment->rows + rows - 1) / rows;
    if (search->method == COG_METHOD_PSM) {
        search->is_exact = false;
        return stream_psm(search, segment, rows, hits, error);
    }
    struct short_search asked = {.radius_bits = search->radius_bits,
                                 .first_only = search->first,
                                 .batch = true,
                                 .threads = search->threads};
    return bphs_search_chunks(&segment->signatures, rows, form->blocks, form->chosen,
                              search->queries, &asked, hits, error);
}
