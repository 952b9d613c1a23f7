#include "join/cosine_probe.h"

#include <stdlib.h>

#include "base/memory.h"

/* How many lists, or rows, ahead memory is asked for. */
enum { AHEAD = 8 };

uint8_t *cosine_spans(const struct sparse_matrix *matrix) {
    uint64_t entries = matrix->offsets[matrix->rows], before = 0;
    uint32_t *counts = memory_zeroed_array((size_t)matrix->column_count + 1, sizeof *counts);
    uint8_t *spans = memory_array((size_t)matrix->column_count + 1, sizeof *spans);
    if (!counts || !spans) {
        free(counts);
        free(spans);
        return NULL;
    }
    for (uint64_t i = 0; i < entries; i++)
        counts[matrix->columns[i]]++;
    for (uint32_t c = 0; c < matrix->column_count; c++) {
        spans[c] = (uint8_t)(before * COSINE_SPANS / (entries + 1));
        before += counts[c];
    }
    free(counts);
    return spans;
}

bool cosine_probe_create(struct cosine_probe *probe, const uint8_t *spans, uint32_t column_count,
                         size_t block_rows) {
    probe->spans = spans;
    probe->accumulators = memory_zeroed_array(block_rows, sizeof *probe->accumulators);
    probe->met = memory_array(block_rows + 1, sizeof *probe->met);
    probe->dense = memory_zeroed_array((size_t)column_count + 1, sizeof *probe->dense);
    return probe->accumulators && probe->met && probe->dense;
}

void cosine_probe_free(struct cosine_probe *probe) {
    free(probe->accumulators);
    free(probe->met);
    free(probe->dense);
    *probe = (struct cosine_probe){0};
}

size_t cosine_probe_memory_bytes(uint32_t column_count, size_t block_rows) {
    return block_rows * (sizeof(struct cosine_accumulator) + sizeof(uint32_t)) +
           ((size_t)column_count + 2) * sizeof(float);
}

/* Spreads a query over the columns. */
static void load(struct cosine_probe *probe, const struct cosine_query *query) {
    int span = 0;
    for (size_t i = 0; i < query->count; i++) {
        probe->dense[query->columns[i]] = query->values[i];
        for (; span <= probe->spans[query->columns[i]]; span++)
            probe->span_lengths[span] = query->lengths[i];
    }
    for (; span < COSINE_SPANS; span++)
        probe->span_lengths[span] = 0;
}

void cosine_probe_unload(struct cosine_probe *probe, const struct cosine_query *query) {
    for (size_t i = 0; i < query->count; i++)
        probe->dense[query->columns[i]] = 0;
}

/* Meets rows through the lists of the query's columns; returns how many. */
static size_t meet(struct cosine_probe *probe, const struct cosine_index *index,
                   const struct cosine_query *query, float threshold, struct join_work *work) {
    struct cosine_accumulator *accumulators = probe->accumulators;
    size_t met = 0;
    for (size_t i = 0; i < query->count; i++) {
        float length = query->lengths[i];
        if (length * index->longest < threshold)
            break;
        if (i + AHEAD < query->count)
            __builtin_prefetch(index->postings + index->starts[query->columns[i + AHEAD]]);
        float needed = threshold / length, value = query->values[i];
        const struct cosine_posting *begin = index->postings + index->starts[query->columns[i]];
        const struct cosine_posting *end = index->postings + index->starts[query->columns[i] + 1];
        const struct cosine_posting *p = begin;
        for (; p < end && p->length >= needed; p++) {
            struct cosine_accumulator *accumulator = &accumulators[p->row];
            probe->met[met] = p->row;
            met += accumulator->next == 0;
            accumulator->sum += value * p->value;
            accumulator->next = p->next;
        }
        work->postings += (uint64_t)(p - begin);
    }
    return met;
}

/* Forgets rows before `first`: in a self-join the earlier rows of the query's own block are met in
 * vain. */
static size_t drop_earlier(struct cosine_probe *probe, size_t met, uint32_t first) {
    size_t kept = 0;
    for (size_t i = 0; i < met; i++) {
        uint32_t row = probe->met[i];
        probe->met[kept] = row;
        kept += row >= first;
        if (row < first)
            probe->accumulators[row] = (struct cosine_accumulator){0, 0};
    }
    return kept;
}

/* Goes on from what the lists gave until the bound falls below the threshold. */
static bool may_reach(const struct cosine_probe *probe, const struct cosine_index *index,
                      uint32_t row, struct cosine_accumulator so_far, float threshold) {
    enum { RUN = 8 };
    const struct cosine_entry *end = index->entries + index->row_starts[row + 1];
    const struct cosine_entry *e = index->entries + index->row_starts[row] + so_far.next;
    const float *dense = probe->dense;
    float sum = so_far.sum;
    while (e < end) {
        float rest = probe->span_lengths[probe->spans[e->column]] * e->length;
        if (sum + rest < threshold)
            return false;
        if (end - e < RUN) {
            for (; e < end; e++)
                sum += dense[e->column] * e->value;
            break;
        }
        float even = 0, odd = 0;
        for (int i = 0; i < RUN; i += 2) {
            even += dense[e[i].column] * e[i].value;
            odd += dense[e[i + 1].column] * e[i + 1].value;
        }
        sum += even + odd;
        e += RUN;
    }
    return sum >= threshold;
}

/* The entries that may_reach will read first: it gives up after some thirty. */
static void prefetch_rest(const struct cosine_probe *probe, const struct cosine_index *index,
                          uint32_t row) {
    const char *from =
        (const char *)(index->entries + index->row_starts[row] + probe->accumulators[row].next);
    for (int line = 0; line < 4; line++)
        __builtin_prefetch(from + 64 * line);
}

size_t cosine_probe_run(struct cosine_probe *probe, const struct cosine_index *index,
                        const struct cosine_query *query, float threshold, uint32_t first,
                        struct join_work *work) {
    size_t met = meet(probe, index, query, threshold, work), kept = 0;
    if (first > 0)
        met = drop_earlier(probe, met, first);
    work->candidates += met;
    if (met == 0)
        return 0;
    load(probe, query);
    for (size_t i = 0; i < met; i++) {
        if (i + AHEAD < met)
            prefetch_rest(probe, index, probe->met[i + AHEAD]);
        uint32_t row = probe->met[i];
        struct cosine_accumulator so_far = probe->accumulators[row];
        probe->accumulators[row] = (struct cosine_accumulator){0, 0};
        probe->met[kept] = row;
        kept += may_reach(probe, index, row, so_far, threshold);
    }
    if (kept == 0)
        cosine_probe_unload(probe, query);
    return kept;
}
