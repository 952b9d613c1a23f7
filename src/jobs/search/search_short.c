/* Searches within a radius by the tables of short signatures. */
#include "jobs/search/search_short.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "plan/method_table.h"
#include "plan/sampled_truth.h"
#include "search/keys/key_set.h"
#include "search/psm/psm_method.h"

/* The first segment with tables of the method, or NULL. */
static const struct segment *find_tables(const cog_index *index, cog_method method) {
    for (size_t part = 0; part < index->parts.manifest.count; part++) {
        const struct segment *segment = &index->parts.segments[part];
        if (segment->tables && segment->method == method_of(method))
            return segment;
    }
    return NULL;
}

/* The largest radius that tables of bphs serve. */
static unsigned radius_most(const struct segment *segment) {
    cog_index_info info = {0};
    segment->method->describe(segment->tables, &info);
    return info.radius_bits;
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
    const struct segment *tables = find_tables(index, options->method);
    if (!tables && !index->is_streamed)
        return error_set(error, COG_ERR_USAGE,
                         "the index has no tables for %s: build it with --method %s", name, name);
    if (options->radius_bits == COG_RADIUS_NONE)
        return error_set(error, COG_ERR_USAGE,
                         "the method %s finds what is within a radius: give --radius", name);
    unsigned most =
        options->method == COG_METHOD_PSM || !tables ? SHORT_KEY_RADIUS_MAX : radius_most(tables);
    if (options->radius_bits > most)
        return error_set(error, COG_ERR_USAGE,
                         "the index serves radii up to %u by %s, not %u: build it with a greater "
                         "--radius, or use flat",
                         most, name, options->radius_bits);
    return COG_OK;
}

cog_method search_short_choose(const struct search_task *task) {
    const cog_search_options *options = &task->options;
    const struct segment *exact = find_tables(task->index, COG_METHOD_BPHS);
    if (options->radius_bits == COG_RADIUS_NONE)
        return COG_METHOD_AUTO;
    if (exact && options->radius_bits <= radius_most(exact))
        return COG_METHOD_BPHS;
    if (find_tables(task->index, COG_METHOD_PSM) && task->weights && options->recall < 1 &&
        options->radius_bits <= SHORT_KEY_RADIUS_MAX)
        return COG_METHOD_PSM;
    return COG_METHOD_AUTO;
}

bool search_short_serves(const struct signature_search *search, const struct segment *segment) {
    return (search->method == COG_METHOD_PSM || search->method == COG_METHOD_BPHS) &&
           (search->index->is_streamed ||
            (segment->tables && segment->method == method_of(search->method)));
}

/* The memory of a streamed search next to the program; 0: any. */
static uint64_t stream_room(uint64_t memory_bytes) {
    return memory_bytes > MEMORY_BASE_BYTES ? memory_bytes - MEMORY_BASE_BYTES : memory_bytes > 0;
}

cog_status search_short(struct signature_search *search, size_t part, struct hit_lists *lists,
                        cog_error *error) {
    const cog_index *index = search->index;
    const struct segment *segment = &index->parts.segments[part];
    const struct search_method *method = method_of(search->method);
    bool own_knobs = index->stream_knobs.method == search->method;
    struct method_build streamed = {.radius_bits = search->radius_bits,
                                    .knobs = own_knobs ? &index->stream_knobs : NULL};
    cog_knobs knobs = {0};
    if (search->flips)
        knob_set(&knobs, PSM_FLIPS, search->flips);
    struct method_search asked = {
        .rows = {.signatures = &segment->signatures},
        .queries = {.signatures = search->queries, .margins = search->weights},
        .radius_bits = search->radius_bits,
        /* the first may be removed */
        .first = search->first && index->parts.manifest.entries[part].removed_count == 0,
        .recall = search->recall,
        .knobs = &knobs,
        .streamed = &streamed,
        .memory_bytes = stream_room(search->memory_bytes),
        .threads = search->threads};
    TRY(method->search(index->is_streamed ? NULL : segment->tables, &asked, lists, error));
    search->is_exact &= asked.is_exact_out;
    search->chunks += asked.chunks_out;
    return COG_OK;
}

double search_stream_bytes(const cog_index *index, cog_method method, size_t queries,
                           uint64_t memory_bytes) {
    enum { LEAST_ROWS = 1 << 12 }; /* of a chunk */
    struct method_size size = {.rows = index->parts.rows,
                               .queries = queries,
                               .bits = index_bits(index),
                               .radius_bits = index->stream_radius_bits};
    bool own_knobs = index->stream_knobs.method == method;
    const cog_knobs *knobs = own_knobs ? &index->stream_knobs : NULL;
    struct method_prediction most = {0}, least = {0};
    method_of(method)->predict(&size, knobs, &most);
    size.rows = size.rows < LEAST_ROWS ? size.rows : LEAST_ROWS;
    method_of(method)->predict(&size, knobs, &least);
    double room = (double)stream_room(memory_bytes);
    if (memory_bytes == 0 || most.search_bytes < room)
        return most.search_bytes;
    return least.search_bytes > room ? least.search_bytes : room;
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
