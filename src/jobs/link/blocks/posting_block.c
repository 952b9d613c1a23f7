#include "jobs/link/blocks/posting_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- Blocks ---------------------------------------------------------------------------------- */

cog_status posting_block_take(struct posting_block *block, size_t columns, size_t entries,
                              cog_error *error) {
    TAKE(block->starts, columns + 1, "posting lists", error);
    TAKE(block->postings, entries, "posting lists", error);
    return COG_OK;
}

/* The rows of a column ascend. */
void posting_block_fill(struct posting_block *block, const struct sparse_matrix *rows) {
    uint32_t *ends = block->starts + 1;
    block->rows = *rows;
    memset(block->starts, 0, ((size_t)rows->column_count + 1) * sizeof *block->starts);
    for (uint64_t i = rows->offsets[0]; i < rows->offsets[rows->rows]; i++)
        ends[rows->columns[i]]++;
    uint32_t before = 0;
    for (uint32_t c = 0; c < rows->column_count; c++) {
        uint32_t count = ends[c];
        ends[c] = before; /* position of the column's next posting */
        before += count;
    }
    for (uint32_t row = 0; row < rows->rows; row++)
        for (uint64_t i = rows->offsets[row]; i < rows->offsets[row + 1]; i++)
            block->postings[ends[rows->columns[i]]++] = (struct posting){row, rows->values[i]};
}

void posting_block_free(struct posting_block *block) {
    FREE(block->starts, block->postings);
}

/* ---- Terms of a source document -------------------------------------------------------------- */

/* The worth of a term is what it contributes for its cost, at most 1, in steps of four per
 * doubling. */
enum { WORTHS = 512 };

static uint32_t worth_of(float value, uint32_t frequency) {
    float worth = value * value / (float)frequency;
    uint32_t bits;
    memcpy(&bits, &worth, sizeof bits);
    return bits >> 21 < WORTHS ? bits >> 21 : WORTHS - 1;
}

uint32_t asking_least_worth(const uint32_t *frequencies, const struct sparse_matrix *matrix,
                            size_t row, double budget) {
    double costs[WORTHS] = {0}, cost = 0;
    for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++) {
        uint32_t frequency = frequencies[matrix->columns[i]];
        if (frequency)
            costs[worth_of(matrix->values[i], frequency)] += frequency;
    }
    uint32_t worth = WORTHS;
    while (worth > 0 && (cost == 0 || cost + costs[worth - 1] <= budget))
        cost += costs[--worth];
    return worth;
}

/* ---- Proposals ------------------------------------------------------------------------------- */

cog_status asking_take(struct asking *asking, size_t rows, size_t columns, size_t most,
                       cog_error *error) {
    asking->most = most;
    TAKE_ZEROED(asking->sums, rows, "posting lists", error);
    TAKE(asking->met, rows + 1, "posting lists", error);
    TAKE_ZEROED(asking->dense, columns, "posting lists", error);
    TAKE(asking->proposed, most, "posting lists", error);
    return COG_OK;
}

void asking_free(struct asking *asking) {
    FREE(asking->sums, asking->met, asking->dense, asking->proposed);
}

static void sift_down(struct proposal *heap, size_t count, struct proposal item) {
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].sum < heap[child].sum)
            child++;
        if (heap[child].sum >= item.sum)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
}

static void propose(struct asking *asking, struct proposal item) {
    struct proposal *heap = asking->proposed;
    if (asking->proposed_count == asking->most) {
        if (item.sum > heap[0].sum)
            sift_down(heap, asking->most, item);
        return;
    }
    size_t at = asking->proposed_count++;
    for (; at > 0 && item.sum < heap[(at - 1) / 2].sum; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

void asking_propose(struct asking *asking, const struct posting_block *block,
                    const struct sparse_matrix *matrix, size_t row, uint32_t worth) {
    float *sums = asking->sums;
    size_t met = 0;
    for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++) {
        uint32_t column = matrix->columns[i], frequency = block->frequencies[column];
        float value = matrix->values[i];
        if (!frequency || worth_of(value, frequency) < worth)
            continue;
        const struct posting *end = block->postings + block->starts[column + 1];
        for (const struct posting *p = block->postings + block->starts[column]; p < end; p++) {
            float product = value * p->value;
            asking->met[met] = p->row;
            met += (size_t)(sums[p->row] == 0) & (size_t)(product > 0);
            sums[p->row] += product;
        }
    }
    asking->proposed_count = 0;
    for (size_t i = 0; i < met; i++) {
        uint32_t other = asking->met[i];
        propose(asking, (struct proposal){other, sums[other]});
        sums[other] = 0;
    }
}

/* ---- Proposals of several blocks ------------------------------------------------------------- */

/* A block proposes its share of the wanted ones, plus a margin for chance. */
struct proposal_limits proposal_limits_of(size_t wanted, size_t blocks) {
    double share = (double)wanted / (double)(blocks ? blocks : 1);
    return (struct proposal_limits){
        .blocks = blocks,
        .most = blocks > 1 ? (size_t)ceil(share + 3 * sqrt(share) + 8) : wanted,
        .share = blocks ? (wanted - 1) / blocks + 1 : wanted,
    };
}

static int by_sum(const void *x, const void *y) {
    const struct proposal *a = x, *b = y;
    return a->sum != b->sum ? ORDER(b->sum, a->sum) : ORDER(a->row, b->row);
}

void proposals_sort(struct proposal *proposals, size_t count) {
    if (count)
        qsort(proposals, count, sizeof *proposals, by_sum);
}

size_t proposals_kept(const struct proposal_limits *limits, size_t block,
                      const struct proposal *proposals, size_t count, float *bar) {
    const float near = 0.9f;
    size_t kept = count;
    while (block && kept && proposals[kept - 1].sum * (float)block < near * *bar)
        kept--;
    *bar += count >= limits->share ? proposals[limits->share - 1].sum : 0;
    return kept;
}
