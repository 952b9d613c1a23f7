#include "join/cosine_index.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "join/cosine_bounds.h"

enum { COSINE_LEVELS = 256 };

struct cosine_staged {
    uint32_t column;
    struct cosine_posting posting;
};

/* Lengths between `lowest` and `longest` fall into levels; level 0 holds the longest. A posting
 * carries the upper edge of its level, which falls along a row as the length itself does. */
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

/* The entries of one row whose length times the longest query reaches the threshold: those with a
 * length of `least` or more. The staging area has room for the row. */
static void stage_row(struct cosine_index *index, const struct sparse_matrix *matrix, uint32_t row,
                      uint32_t position, float least) {
    uint64_t begin = matrix->offsets[row];
    uint32_t count = (uint32_t)(matrix->offsets[row + 1] - begin);
    struct cosine_entry *entries = index->entries + index->row_starts[position];
    index->row_starts[position + 1] = index->row_starts[position] + count;
    double squares = 0;
    for (uint32_t i = count; i-- > 0;) {
        float value = matrix->values[begin + i];
        squares += (double)value * (double)value;
        entries[i] = (struct cosine_entry){matrix->columns[begin + i], value,
                                           (float)sqrt(squares) * COSINE_ROUND_UP};
    }
    if (entries[0].length > index->longest)
        index->longest = entries[0].length;
    for (uint32_t i = 0; i < count && entries[i].length >= least; i++) {
        index->starts[entries[i].column + 2]++;
        index->staged[index->posting_count++] = (struct cosine_staged){
            entries[i].column, {position, entries[i].value, entries[i].length, i + 1}};
    }
}

/* Two counting sorts: by level, then by column, which keeps the order of levels in each list. */
static void order_postings(struct cosine_index *index, float least) {
    size_t count = index->posting_count, ends[COSINE_LEVELS + 1] = {0};
    struct level_scale scale = {index->longest, (index->longest - least) / COSINE_LEVELS};
    if (!(scale.step > 0))
        scale.step = 1;
    for (size_t i = 0; i < count; i++)
        ends[level_of(&scale, index->staged[i].posting.length) + 1]++;
    for (int level = 0; level < COSINE_LEVELS; level++)
        ends[level + 1] += ends[level];
    for (size_t i = 0; i < count; i++) {
        struct cosine_posting *posting = &index->staged[i].posting;
        uint32_t level = level_of(&scale, posting->length);
        posting->length = level_edge(&scale, level);
        index->order[ends[level]++] = (uint32_t)i;
    }
    /* starts[c + 1] runs from the start of list c to its end, which is the start of list c + 1. */
    for (size_t c = 0; c < index->column_count; c++)
        index->starts[c + 2] += index->starts[c + 1];
    for (size_t i = 0; i < count; i++) {
        const struct cosine_staged *staged = &index->staged[index->order[i]];
        index->postings[index->starts[staged->column + 1]++] = staged->posting;
    }
}

size_t cosine_index_memory_bytes(uint32_t column_count, size_t rows, size_t entries) {
    size_t entry_bytes = sizeof(struct cosine_posting) + sizeof(struct cosine_staged) +
                         sizeof(struct cosine_entry) + sizeof(uint32_t);
    return ((size_t)column_count + 2) * sizeof(uint32_t) + (rows + 1) * sizeof(uint32_t) +
           entries * entry_bytes;
}

cog_status cosine_index_create(struct cosine_index *index, uint32_t column_count, size_t rows,
                               size_t entries, cog_error *error) {
    if (entries >= UINT32_MAX)
        return error_memory(error, entries * sizeof *index->postings, "an inverted index");
    *index = (struct cosine_index){
        .column_count = column_count, .row_capacity = rows, .entry_capacity = entries};
    index->starts = memory_array((size_t)column_count + 2, sizeof *index->starts);
    index->row_starts = memory_array(rows + 1, sizeof *index->row_starts);
    index->postings = memory_large((entries + 1) * sizeof *index->postings);
    index->entries = memory_large((entries + 1) * sizeof *index->entries);
    index->staged = memory_large((entries + 1) * sizeof *index->staged);
    index->order = memory_array(entries + 1, sizeof *index->order);
    if (index->starts && index->row_starts && index->postings && index->entries && index->staged &&
        index->order)
        return COG_OK;
    cosine_index_free(index);
    return error_memory(error, cosine_index_memory_bytes(column_count, rows, entries),
                        "an inverted index");
}

void cosine_index_build(struct cosine_index *index, const struct sparse_matrix *matrix,
                        const uint32_t *rows, size_t count, float least) {
    memset(index->starts, 0, ((size_t)index->column_count + 2) * sizeof *index->starts);
    index->posting_count = 0;
    index->longest = 0;
    index->row_starts[0] = 0;
    for (size_t i = 0; i < count; i++)
        stage_row(index, matrix, rows[i], (uint32_t)i, least);
    order_postings(index, least);
}

void cosine_index_free(struct cosine_index *index) {
    size_t room = index->entry_capacity + 1;
    memory_large_free(index->postings, room * sizeof *index->postings);
    memory_large_free(index->entries, room * sizeof *index->entries);
    memory_large_free(index->staged, room * sizeof *index->staged);
    free(index->starts);
    free(index->row_starts);
    free(index->order);
    *index = (struct cosine_index){0};
}
