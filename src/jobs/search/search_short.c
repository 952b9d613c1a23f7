/* Searches within a radius by the tables of short signatures. */
#include "jobs/search/search_short.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "plan/sampled_truth.h"
#include "search/flat/flat.h"

static enum bucket_kind kind_of(cog_method method) {
    return method == COG_METHOD_PSM ? BUCKETS_PSM : BUCKETS_BPHS;
}

/* The tables of the method in some segment, or NULL. */
static const struct short_tables *find_tables(const cog_index *index, cog_method method) {
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct short_tables *tables = index->parts.segments[part].tables;
        if (tables && tables->kind == kind_of(method))
            return tables;
    }
    return NULL;
}

cog_status search_short_check(cog_search_options *options, const cog_index *index,
                              cog_error *error) {
    bool short_method = options->method == COG_METHOD_PSM || options->method == COG_METHOD_BPHS;
    const char *name = options->method == COG_METHOD_PSM ? "psm" : "bphs";
    if (options->first && !short_method && options->method != COG_METHOD_AUTO)
        return error_set(error, COG_ERR_USAGE,
                         "--first is for the methods psm and bphs: give -k 1 for the nearest");
    if (options->first)
        options->k = 1;
    if (!short_method)
        return COG_OK;
    const struct short_tables *tables = find_tables(index, options->method);
    if (!tables && !index->is_streamed)
        return error_set(error, COG_ERR_USAGE,
                         "the index has no tables for %s: build it with --method %s", name, name);
    if (options->radius_bits == COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "the method %s finds what is within a radius: give --radius", name);
    unsigned most = options->method == COG_METHOD_PSM || !tables ? SHORT_KEY_RADIUS_MAX
                                                                 : tables->bphs.layout.radius_bits;
    if (options->radius_bits > most)
        return error_set(error, COG_ERR_USAGE,
                         "the index serves radii up to %u by %s, not %u: build it with a greater "
                         "--radius, or use flat",
                         most, name, options->radius_bits);
    return COG_OK;
}

cog_method search_short_choose(const struct search_task *task) {
    const cog_search_options *options = &task->options;
    const struct short_tables *exact = find_tables(task->index, COG_METHOD_BPHS);
    if (options->radius_bits == COG_RADIUS_NONE)
        return COG_METHOD_AUTO;
    if (exact && options->radius_bits <= exact->bphs.layout.radius_bits)
        return COG_METHOD_BPHS;
    if (find_tables(task->index, COG_METHOD_PSM) && task->weights && options->recall < 1 &&
        options->radius_bits <= SHORT_KEY_RADIUS_MAX)
        return COG_METHOD_PSM;
    return COG_METHOD_AUTO;
}

bool search_short_serves(const struct signature_search *search, const struct segment *segment) {
    return (search->method == COG_METHOD_PSM || search->method == COG_METHOD_BPHS) &&
           (search->index->is_streamed ||
            (segment->tables && segment->tables->kind == kind_of(search->method)));
}

static cog_status search_psm(struct signature_search *search, const struct short_tables *tables,
                             bool first_only, struct short_hits *hits, cog_error *error) {
    const struct psm_learned *learned = &tables->psm.learned;
    struct psm_queries queries = {*search->queries, search->weights, &learned->volatility, true};
    struct short_search asked = {.radius_bits = search->radius_bits,
                                 .first_only = first_only,
                                 .flips = search->flips,
                                 .batch = search->queries->rows >= SEARCH_BATCH_QUERIES,
                                 .threads = search->threads};
    cog_status status =
        psm_learned_bound(learned, &queries, tables->psm.stored.tables[0].header_bits,
                          search->radius_bits, search->recall, &asked.penalty_bound, error);
    search->is_exact = false;
    return status == COG_OK ? psm_search(&tables->psm, &queries, &asked, hits, error) : status;
}

static cog_status search_bphs(const struct signature_search *search,
                              const struct short_tables *tables, bool first_only,
                              struct short_hits *hits, cog_error *error) {
    struct short_search asked = {.radius_bits = search->radius_bits,
                                 .first_only = first_only,
                                 .batch = search->queries->rows >= SEARCH_BATCH_QUERIES,
                                 .threads = search->threads};
    return bphs_search(&tables->bphs, search->queries, &asked, hits, error);
}

/* Hits come by query; within a query they are put in order. */
static cog_status take_hits(const struct short_hits *hits, size_t queries, size_t rows,
                            struct hit_lists *lists, cog_error *error) {
    cog_status status = hit_lists_init(lists, queries, hits->count, error);
    size_t at = 0;
    for (size_t query = 0; query < queries && status == COG_OK; query++) {
        size_t first = at;
        for (; at < hits->count && hits->items[at].query == query; at++) {
            const struct short_hit *hit = &hits->items[at];
            if (hit->row >= rows)
                return error_set(error, COG_ERR_FORMAT,
                                 "the rows of short signatures are damaged: build the index again");
            lists->items[at] =
                (struct match){.a = (uint32_t)query, .b = hit->row, .distance = hit->distance};
        }
        hits_sort(lists->items + first, at - first, HITS_BY_DISTANCE);
        lists->offsets[query + 1] = at;
    }
    return status;
}

cog_status search_short(struct signature_search *search, size_t part, struct hit_lists *lists,
                        cog_error *error) {
    const struct segment *segment = &search->index->parts.segments[part];
    const struct manifest_entry *entry = &search->index->parts.manifest.entries[part];
    struct short_hits hits = {0};
    if (search->method == COG_METHOD_PSM && !search->weights)
        return error_set(error, COG_ERR_USAGE,
                         "psm flips the bits that are uncertain: give the sums behind the bits of "
                         "the queries with --weights, or use flat or bphs");
    bool first_only = search->first && entry->removed_count == 0; /* the first may be removed */
    cog_status status = search->index->is_streamed ? search_stream(search, segment, &hits, error)
                        : search->method == COG_METHOD_PSM
                            ? search_psm(search, segment->tables, first_only, &hits, error)
                            : search_bphs(search, segment->tables, first_only, &hits, error);
    THEN(status, take_hits(&hits, search->queries->rows, segment->rows, lists, error));
    short_hits_free(&hits);
    return status;
}

/* ---- Recall ---------------------------------------------------------------------------------- */

/* The sampled queries' rows within the radius, exhaustively. */
static cog_status find_truth(const struct search_task *task, const uint32_t *chosen, size_t count,
                             struct hit_lists *truth, cog_error *error) {
    size_t row_bytes = signature_stride_bytes(task->signatures.bits);
    uint8_t *data = memory_array(count + 1, row_bytes);
    if (!data)
        return error_memory(error, count * row_bytes, "the recall sample");
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * row_bytes, signature_row(&task->signatures, chosen[i]), row_bytes);
    struct signatures_view sampled = {data, count, task->signatures.bits, row_bytes};
    struct signature_search search = {.index = task->index,
                                      .queries = &sampled,
                                      .method = COG_METHOD_FLAT,
                                      .radius_bits = task->options.radius_bits,
                                      .threads = task->threads};
    cog_status status = search_signatures(&search, truth, error);
    free(data);
    return status;
}

/* Every hit is within the radius, so the counts tell the recall: of the rows, or where one is
 * enough, of the queries that have any. */
cog_status search_short_measure(const struct search_task *task, cog_error *error) {
    uint64_t start = clock_ns();
    struct share_tally tally = {0};
    size_t most = task->options.recall_sample, k = task->options.k;
    uint32_t *chosen = memory_array(most + 1, sizeof *chosen);
    struct hit_lists truth = {0};
    if (!chosen)
        return error_memory(error, most * sizeof *chosen, "the recall sample");
    size_t count = sample_rows(task->queries, most, 0, chosen);
    cog_status status = find_truth(task, chosen, count, &truth, error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        size_t own = task->hits.offsets[chosen[i] + 1] - task->hits.offsets[chosen[i]];
        size_t all = truth.offsets[i + 1] - truth.offsets[i];
        share_tally_add(&tally, own, k && all > k ? k : all);
    }
    hit_lists_free(&truth);
    free(chosen);
    if (status != COG_OK)
        return status;
    report_recall(task->report, &tally, count, (struct noun){"neighbour", "neighbours"},
                  (struct noun){"query", "queries"});
    report_stage(task->report, "measuring recall", clock_seconds_since(start));
    return COG_OK;
}
