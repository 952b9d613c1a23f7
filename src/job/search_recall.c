/* The recall of a search: a sample of its queries is answered again, exhaustively. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "evaluate/recall_sample.h"
#include "job/recall_report.h"
#include "job/search_task.h"

struct sample {
    uint32_t *queries;
    size_t count;
    struct signatures_view signatures;
    uint8_t *signature_data;
    struct sparse_matrix vectors;
};

static void sample_free(struct sample *sample) {
    free(sample->queries);
    free(sample->signature_data);
    sparse_matrix_free(&sample->vectors);
}

static cog_status sample_take(const struct search_task *task, struct sample *sample,
                              cog_error *error) {
    sample->queries = memory_array(task->options.recall_sample + 1, sizeof *sample->queries);
    if (!sample->queries)
        return error_memory(error, task->options.recall_sample * 4, "the recall sample");
    sample->count =
        recall_sample_rows(task->queries, task->options.recall_sample, 0, sample->queries);
    if (task->has_vectors)
        return sparse_matrix_select(&task->vectors, sample->queries, sample->count,
                                    &sample->vectors)
                   ? COG_OK
                   : error_memory(error, sample->count, "the recall sample");
    size_t stride = task->signatures.stride_bytes;
    sample->signature_data = memory_array(sample->count + 1, stride);
    if (!sample->signature_data)
        return error_memory(error, sample->count * stride, "the recall sample");
    for (size_t i = 0; i < sample->count; i++)
        memcpy(sample->signature_data + i * stride,
               signature_row(&task->signatures, sample->queries[i]), stride);
    sample->signatures = (struct signatures_view){sample->signature_data, sample->count,
                                                  task->signatures.bits, stride};
    return COG_OK;
}

static cog_status find_truth(const struct search_task *task, const struct sample *sample,
                             struct hit_lists *truth, cog_error *error) {
    if (task->has_vectors)
        return search_exact(task, &sample->vectors,
                            task->options.threshold > 0 ? 0 : task->options.k, truth, error);
    struct signature_search search = {.index = task->index,
                                      .queries = &sample->signatures,
                                      .method = COG_METHOD_FLAT,
                                      .k = task->options.k,
                                      .threads = task->threads};
    return search_signatures(&search, truth, error);
}

/* What was found, with its true cosines where there are vectors. */
static cog_status copy_found(const struct search_task *task, struct query_spread *spread,
                             size_t query, struct match **copy, size_t *count, cog_error *error) {
    size_t begin = task->hits.offsets[query];
    *count = task->hits.offsets[query + 1] - begin;
    *copy = memory_array(*count + 1, sizeof **copy);
    if (!*copy)
        return error_memory(error, *count * sizeof **copy, "the recall sample");
    if (spread->values)
        query_spread_set(spread, query);
    for (size_t i = 0; i < *count; i++) {
        (*copy)[i] = task->hits.items[begin + i];
        double similarity;
        if (!spread->values)
            continue;
        cog_status status =
            query_spread_similarity(spread, task->index, (*copy)[i].b, &similarity, error);
        if (status != COG_OK)
            return status;
        (*copy)[i].similarity = (float)similarity;
    }
    return COG_OK;
}

static cog_status count_sample(const struct search_task *task, const struct sample *sample,
                               const struct hit_lists *truth, uint64_t *hits, uint64_t *trials,
                               cog_error *error) {
    enum recall_key key = task->has_vectors ? RECALL_BY_SIMILARITY : RECALL_BY_DISTANCE;
    struct query_spread spread = {0};
    cog_status status = COG_OK;
    if (task->has_vectors && task->estimates)
        status = query_spread_init(&spread, &task->vectors, error);
    for (size_t i = 0; i < sample->count && status == COG_OK; i++) {
        struct match *found = NULL;
        size_t found_count = 0;
        size_t begin = truth->offsets[i], end = truth->offsets[i + 1];
        if (task->options.k && end - begin > task->options.k)
            end = begin + task->options.k;
        status = copy_found(task, &spread, sample->queries[i], &found, &found_count, error);
        if (status == COG_OK)
            recall_count_nearest(truth->items + begin, end - begin, found, found_count, key, hits,
                                 trials);
        free(found);
    }
    free(spread.values);
    return status;
}

cog_status search_task_measure(const struct search_task *task, cog_error *error) {
    if (task->is_exact) {
        report_exact(task->report);
        return COG_OK;
    }
    if (task->options.recall_sample == 0)
        return COG_OK;
    /* Beside vectors, a radius is about signatures: it has no true answer in cosines. */
    if (task->has_vectors && task->options.radius_bits != COG_RADIUS_NONE)
        return COG_OK;
    struct sample sample = {0};
    struct hit_lists truth = {0};
    uint64_t hits = 0, trials = 0, start = clock_ns();
    cog_status status = sample_take(task, &sample, error);
    if (status == COG_OK)
        status = find_truth(task, &sample, &truth, error);
    if (status == COG_OK)
        status = count_sample(task, &sample, &truth, &hits, &trials, error);
    if (status == COG_OK) {
        report_recall(task->report, hits, trials, sample.count, "neighbours", "queries");
        report_stage(task->report, "measuring recall", clock_seconds_since(start));
    }
    hit_lists_free(&truth);
    sample_free(&sample);
    return status;
}
