#include "join/cosine/cosine_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/cosine/cosine_tiles.h"

enum { COSINE_LEVELS = 256 };

struct cosine_staged {
    uint32_t column;
    struct cosine_posting posting;
};

/* Lengths between `lowest` and `longest` are divided into levels; level 0 has the longest. A
 * posting carries the upper edge of its level, which falls along a row like the length itself. */
struct level_scale {
    float longest, step;
};

static uint32_t level_of(const struct level_scale *scale, float length) {
    float level = (scale->longest - length) / scale->step;
    return level >= COSINE_LEVELS ? COSINE_LEVELS - 1 : level < 0 ? 0 : (uint32_t)level;
}

static float level_edge(const struct level_scale *scale, uint32_t level) {
    return scale->longest * COSINE_ROUND_UP - (float)level * scale->step;
}

/* Stages the entries of one row that can reach the threshold with the longest query: entries with a
 * length of at least `least`. The staging area has room for the row. */
static void stage_row(struct cosine_lists *lists, const struct sparse_matrix *matrix, uint32_t row,
                      uint32_t position, float least) {
    uint64_t begin = matrix->offsets[row];
    uint32_t count = (uint32_t)(matrix->offsets[row + 1] - begin);
    struct cosine_entry *entries = lists->entries + lists->row_starts[position];
    lists->row_starts[position + 1] = lists->row_starts[position] + count;
    double squares = 0;
    for (uint32_t i = count; i-- > 0;) {
        float value = matrix->values[begin + i];
        squares += (double)value * (double)value;
        entries[i] = (struct cosine_entry){matrix->columns[begin + i], value,
                                           (float)sqrt(squares) * COSINE_ROUND_UP};
    }
    for (uint32_t i = 0; i < count && entries[i].length >= least; i++) {
        lists->starts[entries[i].column + 2]++;
        lists->staged[lists->posting_count++] = (struct cosine_staged){
            entries[i].column, {position, entries[i].value, entries[i].length, i + 1}};
    }
}

/* Two counting sorts: by level, then by column, preserving the order of levels in each list. */
static void order_postings(struct cosine_lists *lists, float least) {
    size_t count = lists->posting_count, ends[COSINE_LEVELS + 1] = {0};
    struct level_scale scale = {lists->longest, (lists->longest - least) / COSINE_LEVELS};
    if (!(scale.step > 0))
        scale.step = 1;
    for (size_t i = 0; i < count; i++)
        ends[level_of(&scale, lists->staged[i].posting.length) + 1]++;
    for (int level = 0; level < COSINE_LEVELS; level++)
        ends[level + 1] += ends[level];
    for (size_t i = 0; i < count; i++) {
        struct cosine_posting *posting = &lists->staged[i].posting;
        uint32_t level = level_of(&scale, posting->length);
        posting->length = level_edge(&scale, level);
        lists->order[ends[level]++] = (uint32_t)i;
    }
    /* starts[c + 1] advances from the start of list c to its end, which is the start of list c + 1.
     */
    for (size_t c = 0; c < lists->column_count; c++)
        lists->starts[c + 2] += lists->starts[c + 1];
    for (size_t i = 0; i < count; i++) {
        const struct cosine_staged *staged = &lists->staged[lists->order[i]];
        lists->postings[lists->starts[staged->column + 1]++] = staged->posting;
    }
}

size_t cosine_lists_memory_bytes(uint32_t column_count, size_t rows, size_t entries) {
    size_t entry_bytes = sizeof(struct cosine_posting) + sizeof(struct cosine_staged) +
                         sizeof(struct cosine_entry) + sizeof(uint32_t);
    return ((size_t)column_count + 2) * sizeof(uint32_t) + (rows + 1) * sizeof(uint32_t) +
           entries * entry_bytes;
}

cog_status cosine_lists_create(struct cosine_lists *lists, uint32_t column_count, size_t rows,
                               size_t entries, cog_error *error) {
    if (entries >= UINT32_MAX)
        return error_memory(error, entries * sizeof *lists->postings, "posting lists");
    *lists = (struct cosine_lists){
        .column_count = column_count, .row_capacity = rows, .entry_capacity = entries};
    lists->starts = memory_array((size_t)column_count + 2, sizeof *lists->starts);
    lists->row_starts = memory_array(rows + 1, sizeof *lists->row_starts);
    lists->postings = memory_large((entries + 1) * sizeof *lists->postings);
    lists->entries = memory_large((entries + 1) * sizeof *lists->entries);
    lists->staged = memory_large((entries + 1) * sizeof *lists->staged);
    lists->order = memory_array(entries + 1, sizeof *lists->order);
    if (lists->starts && lists->row_starts && lists->postings && lists->entries && lists->staged &&
        lists->order)
        return COG_OK;
    cosine_lists_free(lists);
    return error_memory(error, cosine_lists_memory_bytes(column_count, rows, entries),
                        "posting lists");
}

void cosine_lists_build(struct cosine_lists *lists, const struct sparse_matrix *matrix,
                        const uint32_t *rows, size_t count, float least, float longest) {
    memset(lists->starts, 0, ((size_t)lists->column_count + 2) * sizeof *lists->starts);
    lists->posting_count = 0;
    lists->longest = longest;
    lists->row_starts[0] = 0;
    for (size_t i = 0; i < count; i++)
        stage_row(lists, matrix, rows[i], (uint32_t)i, least);
    order_postings(lists, least);
}

void cosine_lists_free(struct cosine_lists *lists) {
    size_t room = lists->entry_capacity + 1;
    memory_large_free(lists->postings, room * sizeof *lists->postings);
    memory_large_free(lists->entries, room * sizeof *lists->entries);
    memory_large_free(lists->staged, room * sizeof *lists->staged);
    FREE(lists->starts, lists->row_starts, lists->order);
    *lists = (struct cosine_lists){0};
}

/* ---- Probes -----------------------------------------------------------------------------------
 */

/* How many lists, or rows, ahead to prefetch. */
enum { AHEAD = 8 };

uint8_t *cosine_spans(const uint32_t *counts, uint32_t column_count, uint64_t entries) {
    uint8_t *spans = memory_array((size_t)column_count + 1, sizeof *spans);
    uint64_t before = 0;
    for (uint32_t c = 0; c < column_count && spans; c++) {
        spans[c] = (uint8_t)(before * COSINE_SPANS / (entries + 1));
        before += counts[c];
    }
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
    FREE(probe->accumulators, probe->met, probe->dense);
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

/* Accumulates rows through the lists of the query's columns; returns the number of rows met. */
static size_t meet(struct cosine_probe *probe, const struct cosine_lists *lists,
                   const struct cosine_query *query, float threshold, struct join_work *work) {
    struct cosine_accumulator *accumulators = probe->accumulators;
    size_t met = 0;
    for (size_t i = 0; i < query->count; i++) {
        float length = query->lengths[i];
        if (length * lists->longest < threshold)
            break;
        if (i + AHEAD < query->count)
            __builtin_prefetch(lists->postings + lists->starts[query->columns[i + AHEAD]]);
        float needed = threshold / length, value = query->values[i];
        const struct cosine_posting *begin = lists->postings + lists->starts[query->columns[i]];
        const struct cosine_posting *end = lists->postings + lists->starts[query->columns[i] + 1];
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

/* Drops rows before `first`: in a self-join, pairs with earlier rows of the block belong to those
 * rows. */
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

/* Continues from the lists' sum until the bound falls below the threshold. */
static bool may_reach(const struct cosine_probe *probe, const struct cosine_lists *lists,
                      uint32_t row, struct cosine_accumulator so_far, float threshold) {
    enum { RUN = 8 };
    const struct cosine_entry *end = lists->entries + lists->row_starts[row + 1];
    const struct cosine_entry *e = lists->entries + lists->row_starts[row] + so_far.next;
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

/* The entries that may_reach reads first; it usually stops after about thirty. */
static void prefetch_rest(const struct cosine_probe *probe, const struct cosine_lists *lists,
                          uint32_t row) {
    const char *from =
        (const char *)(lists->entries + lists->row_starts[row] + probe->accumulators[row].next);
    for (int line = 0; line < 4; line++)
        __builtin_prefetch(from + 64 * line);
}

size_t cosine_probe_run(struct cosine_probe *probe, const struct cosine_lists *lists,
                        const struct cosine_query *query, float threshold, uint32_t first,
                        struct join_work *work) {
    size_t met = meet(probe, lists, query, threshold, work), kept = 0;
    if (first > 0)
        met = drop_earlier(probe, met, first);
    work->candidates += met;
    if (met == 0)
        return 0;
    load(probe, query);
    for (size_t i = 0; i < met; i++) {
        if (i + AHEAD < met)
            prefetch_rest(probe, lists, probe->met[i + AHEAD]);
        uint32_t row = probe->met[i];
        struct cosine_accumulator so_far = probe->accumulators[row];
        probe->accumulators[row] = (struct cosine_accumulator){0, 0};
        probe->met[kept] = row;
        kept += may_reach(probe, lists, row, so_far, threshold);
    }
    if (kept == 0)
        cosine_probe_unload(probe, query);
    return kept;
}
