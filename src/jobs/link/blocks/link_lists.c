#include "jobs/link/blocks/link_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "jobs/link/blocks/link_nearest.h"
#include "jobs/link/link_decoys.h"
#include "plan/sampled_truth.h"

/* Source documents are read in smaller blocks and processed in pieces. */
enum { ASKED_ENTRIES = 1 << 21, ROWS_PER_PIECE = 32 };

struct posting {
    uint32_t row; /* of the block */
    float value;
};

/* A document of the block with its sum of products. */
struct proposal {
    uint32_t row;
    float sum;
};

/* Scratch memory per thread; zero between queries. */
struct asking {
    float *sums;               /* by row of the block */
    uint32_t *met;             /* rows with a sum, in the order of their first products */
    float *dense;              /* the query by column */
    struct proposal *proposed; /* a heap with the smallest sum on top */
    size_t proposed_count;
};

struct lists {
    const struct link_space *space;
    struct job *job;
    uint32_t *frequencies;     /* by column: number of target documents with it */
    struct vector_block block; /* of target documents */
    uint32_t *starts;          /* of the postings of each column */
    struct posting *postings;
    size_t block_count, most_rows, most_entries; /* of any block */
    size_t proposals;                            /* maximum per query and block */
    size_t share; /* the query's proposals divided by the number of blocks */
    struct asking *workers;
};

/* ---- Blocks of target documents -------------------------------------------------------------- */

static void measure_blocks(struct lists *lists) {
    const struct sparse_matrix *vectors = &lists->space->vectors[1];
    for (size_t first = 0, rows; first < vectors->rows; first += rows) {
        rows = vector_block_rows(vectors, first, vector_block_entries());
        size_t entries = (size_t)(vectors->offsets[first + rows] - vectors->offsets[first]);
        lists->block_count++;
        lists->most_rows = rows > lists->most_rows ? rows : lists->most_rows;
        lists->most_entries = entries > lists->most_entries ? entries : lists->most_entries;
    }
}

static cog_status load_block(struct lists *lists, size_t first, size_t *rows, cog_error *error) {
    *rows = vector_block_rows(&lists->space->vectors[1], first, vector_block_entries());
    return vector_block_load(&lists->block, lists->space, 1, first, *rows, error);
}

static cog_status count_frequencies(struct lists *lists, cog_error *error) {
    const struct sparse_matrix *block = &lists->block.rows;
    for (size_t first = 0, rows; first < lists->space->vectors[1].rows; first += rows) {
        TRY(load_block(lists, first, &rows, error));
        for (uint64_t i = block->offsets[0]; i < block->offsets[rows]; i++)
            lists->frequencies[block->columns[i]]++;
    }
    return COG_OK;
}

/* Loads a block and stores it by column; the rows of a column ascend. */
static cog_status load_lists(struct lists *lists, size_t first, size_t *rows, cog_error *error) {
    TRY(load_block(lists, first, rows, error));
    const struct sparse_matrix *block = &lists->block.rows;
    uint32_t *ends = lists->starts + 1;
    memset(lists->starts, 0, ((size_t)block->column_count + 1) * sizeof *lists->starts);
    for (uint64_t i = block->offsets[0]; i < block->offsets[*rows]; i++)
        ends[block->columns[i]]++;
    uint32_t before = 0;
    for (uint32_t c = 0; c < block->column_count; c++) {
        uint32_t count = ends[c];
        ends[c] = before; /* position of the column's next posting */
        before += count;
    }
    for (uint32_t row = 0; row < *rows; row++)
        for (uint64_t i = block->offsets[row]; i < block->offsets[row + 1]; i++)
            lists->postings[ends[block->columns[i]]++] = (struct posting){row, block->values[i]};
    return COG_OK;
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

/* The smallest worth of the terms that fit into a document's budget of products; terms of the
 * greatest worth are always included. */
static uint32_t least_worth(const struct lists *lists, const struct sparse_matrix *matrix,
                            size_t row, double budget) {
    double costs[WORTHS] = {0}, cost = 0;
    for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++) {
        uint32_t frequency = lists->frequencies[matrix->columns[i]];
        if (frequency)
            costs[worth_of(matrix->values[i], frequency)] += frequency;
    }
    uint32_t worth = WORTHS;
    while (worth > 0 && (cost == 0 || cost + costs[worth - 1] <= budget))
        cost += costs[--worth];
    return worth;
}

/* ---- Proposals ------------------------------------------------------------------------------- */

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

static void propose(struct asking *asking, size_t most, struct proposal item) {
    struct proposal *heap = asking->proposed;
    if (asking->proposed_count == most) {
        if (item.sum > heap[0].sum)
            sift_down(heap, most, item);
        return;
    }
    size_t at = asking->proposed_count++;
    for (; at > 0 && item.sum < heap[(at - 1) / 2].sum; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

/* Proposes the documents of the block with the largest sums over the terms of at least this worth.
 */
static void ask(const struct lists *lists, struct asking *asking,
                const struct sparse_matrix *matrix, size_t row, uint32_t worth) {
    float *sums = asking->sums;
    size_t met = 0;
    for (uint64_t i = matrix->offsets[row]; i < matrix->offsets[row + 1]; i++) {
        uint32_t column = matrix->columns[i], frequency = lists->frequencies[column];
        float value = matrix->values[i];
        if (!frequency || worth_of(value, frequency) < worth)
            continue;
        const struct posting *end = lists->postings + lists->starts[column + 1];
        for (const struct posting *p = lists->postings + lists->starts[column]; p < end; p++) {
            float product = value * p->value;
            asking->met[met] = p->row;
            met += (size_t)(sums[p->row] == 0) & (size_t)(product > 0);
            sums[p->row] += product;
        }
    }
    asking->proposed_count = 0;
    for (size_t i = 0; i < met; i++) {
        uint32_t other = asking->met[i];
        propose(asking, lists->proposals, (struct proposal){other, sums[other]});
        sums[other] = 0;
    }
}

/* ---- The plan -------------------------------------------------------------------------------- */

enum { PLAN_ROWS = 256, PLAN_NEAREST = 128, LEAST_BUDGET_BITS = 12, BUDGETS = 8 };

/* The neighbours to find: likely partners, and the rivals that links are compared with. */
enum { PARTNER, RIVAL, KINDS };

/* Decoys are chosen from the same proposals as links, and miss the same share of rivals. */
static const double RIVALS_FOUND = 0.9;

struct planning {
    struct lists *lists;
    struct sparse_matrix sample;
    struct cosine_neighbours truth;
    float floor; /* neighbours below this cosine are not needed */
    uint32_t hits[PLAN_ROWS][BUDGETS][KINDS];
    uint32_t trials[PLAN_ROWS][KINDS];
};

static double budget_of(int step) {
    return (double)(1 << (LEAST_BUDGET_BITS + step));
}

static int by_similarity(const void *x, const void *y) {
    const struct cosine_neighbour *a = x, *b = y;
    return ORDER(b->similarity, a->similarity);
}

/* The cosine that a document reaches with about the wanted number of others, but at most that of
 * likely partners. */
static cog_status choose_floor(struct planning *planning, size_t wanted, cog_error *error) {
    const struct cosine_neighbours *truth = &planning->truth;
    struct cosine_neighbour *all;
    size_t count = 0, last = truth->queries * wanted;
    TAKE(all, truth->queries * truth->k, "a sample", error);
    for (size_t q = 0; q < truth->queries; q++)
        for (size_t i = 0; i < truth->counts[q]; i++)
            all[count++] = truth->items[q * truth->k + i];
    planning->floor = (float)COG_THRESHOLD_ACROSS;
    if (count) {
        qsort(all, count, sizeof *all, by_similarity);
        last = (last < count ? last : count) - (last > 0);
        planning->floor = fminf(planning->floor, all[last].similarity);
    }
    free(all);
    return COG_OK;
}

/* The kind of a true neighbour, or KINDS if it is irrelevant. */
static int kind_of(const struct planning *planning, const struct cosine_neighbour *neighbour,
                   size_t rank) {
    enum { NEAREST = 10 };
    if (rank < NEAREST && (double)neighbour->similarity >= COG_THRESHOLD_ACROSS)
        return PARTNER;
    return rank < LINK_RIVALS && neighbour->similarity >= planning->floor ? RIVAL : KINDS;
}

static bool is_proposed(const struct asking *asking, size_t row) {
    for (size_t i = 0; i < asking->proposed_count; i++)
        if (asking->proposed[i].row == row)
            return true;
    return false;
}

static void try_budgets_for(struct planning *planning, struct asking *asking, size_t query) {
    const struct lists *lists = planning->lists;
    const struct cosine_neighbours *truth = &planning->truth;
    const struct cosine_neighbour *items = truth->items + query * truth->k;
    const size_t first = lists->block.first, end = first + lists->block.rows.rows;
    size_t here = 0;
    for (size_t i = 0; i < truth->counts[query]; i++) {
        int kind = kind_of(planning, &items[i], i);
        if (kind == KINDS || items[i].row < first || items[i].row >= end)
            continue;
        planning->trials[query][kind]++;
        here++;
    }
    for (int step = 0; step < BUDGETS && here; step++) {
        ask(lists, asking, &planning->sample, query,
            least_worth(lists, &planning->sample, query, budget_of(step)));
        for (size_t i = 0; i < truth->counts[query]; i++) {
            int kind = kind_of(planning, &items[i], i);
            if (kind != KINDS && items[i].row >= first && is_proposed(asking, items[i].row - first))
                planning->hits[query][step][kind]++;
        }
    }
}

static cog_status try_budgets(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)error;
    struct planning *planning = context;
    for (size_t query = begin; query < end; query++)
        try_budgets_for(planning, &planning->lists->workers[worker], query);
    return COG_OK;
}

static bool suffices(const struct planning *planning, int step, double recall) {
    double hits[KINDS] = {0}, trials[KINDS] = {0};
    for (size_t query = 0; query < planning->sample.rows; query++)
        for (int kind = 0; kind < KINDS; kind++) {
            hits[kind] += planning->hits[query][step][kind];
            trials[kind] += planning->trials[query][kind];
        }
    return hits[PARTNER] >= recall * trials[PARTNER] && hits[RIVAL] >= RIVALS_FOUND * trials[RIVAL];
}

/* The smallest sufficient budget, or else all products. */
static double choose_budget(const struct planning *planning, double recall) {
    for (int step = 0; step < BUDGETS; step++)
        if (suffices(planning, step, recall))
            return budget_of(step);
    return INFINITY;
}

static cog_status plan(struct lists *lists, const struct link_search *search, double *budget,
                       float *floor, cog_error *error) {
    const struct link_space *space = lists->space;
    const unsigned threads = lists->job->threads;
    uint32_t sample[PLAN_ROWS];
    size_t count = sample_rows(space->vectors[0].rows, PLAN_ROWS, 1, sample);
    struct planning *planning;
    TAKE_ZEROED(planning, 1, "a sample", error);
    planning->lists = lists;
    cog_status status =
        link_nearest_of_rows(space, sample, count, PLAN_NEAREST, threads, &planning->truth, error);
    THEN(status, choose_floor(planning, search->wanted[0], error));
    THEN(status, vector_rows_copy(space, 0, sample, count, &planning->sample, error));
    for (size_t first = 0, rows; first < space->vectors[1].rows && status == COG_OK;
         first += rows) {
        status = load_lists(lists, first, &rows, error);
        THEN(status, parallel_for(threads, count, 1, try_budgets, planning, error));
    }
    if (status == COG_OK) {
        *budget = choose_budget(planning, search->options->recall);
        *floor = planning->floor;
    }
    sparse_matrix_free(&planning->sample);
    cosine_topk_free(&planning->truth);
    free(planning);
    return status;
}

/* ---- All source documents -------------------------------------------------------------------- */

struct passing {
    struct lists *lists;
    struct link_candidates *candidates;
    double budget;
    size_t block;                    /* number of the block of target documents */
    uint16_t *worths;                /* by source document: the smallest worth of its terms */
    float *bars;                     /* by source document; see pass_bar */
    struct vector_block asked;       /* of source documents */
    struct cosine_neighbour *scored; /* lists->proposals per source document */
    uint32_t *scored_counts;
};

static int by_sum(const void *x, const void *y) {
    const struct proposal *a = x, *b = y;
    return a->sum != b->sum ? ORDER(b->sum, a->sum) : ORDER(a->row, b->row);
}

/* A block proposes more than its share to allow for chance. From the second block on, a proposal
 * must come near the sum that the last of a block's share had in the previous blocks, on average.
 */
static void pass_bar(const struct passing *passing, struct asking *asking, size_t row) {
    const float near = 0.9f;
    const struct lists *lists = passing->lists;
    float *bar = &passing->bars[row];
    size_t count = asking->proposed_count, kept = count;
    if (lists->block_count == 1 || count == 0)
        return;
    qsort(asking->proposed, count, sizeof *asking->proposed, by_sum);
    while (passing->block && kept &&
           asking->proposed[kept - 1].sum * (float)passing->block < near * *bar)
        kept--;
    *bar += count >= lists->share ? asking->proposed[lists->share - 1].sum : 0;
    asking->proposed_count = kept;
}

/* Computes the true cosines of a document's proposals and keeps the nearest. */
static void score_proposals(const struct passing *passing, const struct asking *asking,
                            size_t row) {
    const struct lists *lists = passing->lists;
    const struct vector_block *asked = &passing->asked, *block = &lists->block;
    struct cosine_neighbour *scored = passing->scored + row * lists->proposals;
    uint32_t count = 0;
    sparse_spread(&asked->rows, row, asking->dense);
    for (size_t i = 0; i < asking->proposed_count; i++) {
        uint32_t other = asking->proposed[i].row;
        double cosine = sparse_dense_dot(asking->dense, &block->rows, other);
        if (!(cosine > 0))
            continue;
        scored[count++] = (struct cosine_neighbour){other + (uint32_t)block->first, (float)cosine};
        if (passing->candidates->sides[0].k)
            cosine_neighbours_offer(&passing->candidates->sides[0], asked->first + row,
                                    scored[count - 1]);
    }
    sparse_clear(&asked->rows, row, asking->dense);
    passing->scored_counts[row] = count;
}

static cog_status ask_rows(void *context, unsigned worker, size_t begin, size_t end,
                           cog_error *error) {
    (void)error;
    const struct passing *passing = context;
    const struct lists *lists = passing->lists;
    const struct sparse_matrix *rows = &passing->asked.rows;
    struct asking *asking = &lists->workers[worker];
    for (size_t row = begin; row < end; row++) {
        uint16_t *worth = &passing->worths[passing->asked.first + row];
        if (passing->block == 0)
            *worth = (uint16_t)least_worth(lists, rows, row, passing->budget);
        ask(lists, asking, rows, row, *worth);
        pass_bar(passing, asking, passing->asked.first + row);
        score_proposals(passing, asking, row);
    }
    return COG_OK;
}

/* Target documents keep the nearest of the source documents that proposed them; each worker handles
 * a part of the target documents. */
static cog_status offer_to_targets(void *context, unsigned worker, size_t begin, size_t end,
                                   cog_error *error) {
    (void)worker;
    (void)error;
    const struct passing *passing = context;
    const struct lists *lists = passing->lists;
    const size_t parts = lists->job->threads, rows = lists->block.rows.rows;
    const size_t first = lists->block.first + rows * begin / parts,
                 last = lists->block.first + rows * end / parts;
    for (size_t row = 0; row < passing->asked.rows.rows; row++) {
        const struct cosine_neighbour *scored = passing->scored + row * lists->proposals;
        const uint32_t asker = (uint32_t)(passing->asked.first + row);
        for (size_t i = 0; i < passing->scored_counts[row]; i++)
            if (scored[i].row >= first && scored[i].row < last)
                cosine_neighbours_offer(&passing->candidates->sides[1], scored[i].row,
                                        (struct cosine_neighbour){asker, scored[i].similarity});
    }
    return COG_OK;
}

static cog_status pass_block(struct passing *passing, cog_error *error) {
    struct lists *lists = passing->lists;
    const struct sparse_matrix *vectors = &lists->space->vectors[0];
    const unsigned threads = lists->job->threads;
    for (size_t first = 0, rows; first < vectors->rows; first += rows) {
        rows = vector_block_rows(vectors, first, ASKED_ENTRIES);
        TRY(vector_block_load(&passing->asked, lists->space, 0, first, rows, error));
        job_part(lists->job, passing->block * vectors->rows + first,
                 lists->block_count * vectors->rows);
        TRY(parallel_for(threads, rows, ROWS_PER_PIECE, ask_rows, passing, error));
        if (passing->candidates->sides[1].k)
            TRY(parallel_for(threads, threads, 1, offer_to_targets, passing, error));
    }
    return COG_OK;
}

static size_t most_asked(const struct sparse_matrix *vectors) {
    size_t most = 0;
    for (size_t first = 0, rows; first < vectors->rows; first += rows) {
        rows = vector_block_rows(vectors, first, ASKED_ENTRIES);
        most = rows > most ? rows : most;
    }
    return most;
}

static cog_status pass_all(struct passing *passing, cog_error *error) {
    struct lists *lists = passing->lists;
    const struct sparse_matrix *vectors = lists->space->vectors;
    const size_t asked = most_asked(&vectors[0]);
    TAKE(passing->worths, vectors[0].rows, "posting lists", error);
    TAKE_ZEROED(passing->bars, vectors[0].rows, "posting lists", error);
    TAKE(passing->scored, asked * lists->proposals, "posting lists", error);
    TAKE(passing->scored_counts, asked, "posting lists", error);
    for (size_t first = 0, rows; first < vectors[1].rows; first += rows, passing->block++) {
        TRY(load_lists(lists, first, &rows, error));
        TRY(pass_block(passing, error));
    }
    return COG_OK;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* The number of proposals per block: its share of the wanted ones, plus a margin for chance. */
static size_t proposals_of_block(size_t wanted, size_t blocks) {
    double share = (double)wanted / (double)(blocks ? blocks : 1);
    return blocks > 1 ? (size_t)ceil(share + 3 * sqrt(share) + 8) : wanted;
}

static cog_status lists_init(struct lists *lists, size_t wanted, cog_error *error) {
    const size_t columns = lists->space->vectors[1].column_count;
    const unsigned threads = lists->job->threads;
    measure_blocks(lists);
    lists->proposals = proposals_of_block(wanted, lists->block_count);
    lists->share = lists->block_count ? (wanted - 1) / lists->block_count + 1 : wanted;
    TAKE_ZEROED(lists->frequencies, columns, "posting lists", error);
    TAKE(lists->starts, columns + 1, "posting lists", error);
    TAKE(lists->postings, lists->most_entries, "posting lists", error);
    TAKE_ZEROED(lists->workers, threads, "posting lists", error);
    for (unsigned i = 0; i < threads; i++) {
        struct asking *asking = &lists->workers[i];
        TAKE_ZEROED(asking->sums, lists->most_rows, "posting lists", error);
        TAKE(asking->met, lists->most_rows + 1, "posting lists", error);
        TAKE_ZEROED(asking->dense, columns, "posting lists", error);
        TAKE(asking->proposed, lists->proposals, "posting lists", error);
    }
    return COG_OK;
}

static void lists_free(struct lists *lists) {
    for (unsigned i = 0; lists->workers && i < lists->job->threads; i++) {
        struct asking *asking = &lists->workers[i];
        FREE(asking->sums, asking->met, asking->dense, asking->proposed);
    }
    FREE(lists->frequencies, lists->starts, lists->postings, lists->workers);
    vector_block_free(&lists->block);
}

static size_t wanted_proposals(const struct link_search *search) {
    size_t from = link_proposals(search, 0), to = link_proposals(search, 1);
    return from > to ? from : to;
}

cog_status link_lists_find(struct link_candidates *candidates, struct job *job,
                           const struct link_space *space, const struct link_search *search,
                           cog_error *error) {
    struct lists lists = {.space = space, .job = job};
    struct passing passing = {.lists = &lists, .candidates = candidates};
    cog_status status = lists_init(&lists, wanted_proposals(search), error);
    for (int side = 0; side < 2 && status == COG_OK; side++)
        if (search->wanted[side])
            status = cosine_neighbours_take(&candidates->sides[side], space->vectors[side].rows,
                                            search->wanted[side], error);
    THEN(status, count_frequencies(&lists, error));
    THEN(status, plan(&lists, search, &passing.budget, &candidates->beyond, error));
    if (status == COG_OK && isfinite(passing.budget))
        report_number(job->report, "list_products", passing.budget);
    THEN(status, pass_all(&passing, error));
    for (int side = 0; side < 2 && status == COG_OK; side++)
        cosine_neighbours_cut(&candidates->sides[side], candidates->beyond);
    FREE(passing.worths, passing.bars, passing.scored, passing.scored_counts);
    vector_block_free(&passing.asked);
    lists_free(&lists);
    return status;
}

uint64_t link_lists_memory_bytes(const struct link_space *space, const struct link_search *search,
                                 unsigned threads) {
    struct lists lists = {.space = space};
    measure_blocks(&lists);
    const uint64_t columns = space->vectors[1].column_count;
    const uint64_t proposals = proposals_of_block(wanted_proposals(search), lists.block_count);
    return vector_block_memory_bytes(space, 0, ASKED_ENTRIES) +
           vector_block_memory_bytes(space, 1, vector_block_entries()) +
           lists.most_entries * sizeof(struct posting) + columns * (2 + threads) * sizeof(float) +
           threads * (lists.most_rows * 2 * sizeof(float) + proposals * sizeof(struct proposal)) +
           most_asked(&space->vectors[0]) *
               (proposals * sizeof(struct cosine_neighbour) + sizeof(uint32_t)) +
           space->vectors[0].rows * (sizeof(uint16_t) + sizeof(float));
}
