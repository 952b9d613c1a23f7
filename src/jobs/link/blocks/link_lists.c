#include "jobs/link/blocks/link_lists.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "jobs/link/blocks/link_nearest.h"
#include "jobs/link/blocks/lists_plan.h"

/* Source documents are read in smaller blocks and processed in pieces. */
enum { ASKED_ENTRIES = 1 << 21, ROWS_PER_PIECE = 32 };

struct lists {
    const struct link_space *space;
    struct job *job;
    uint32_t *frequencies;     /* by column: number of target documents with it */
    struct vector_block block; /* of target documents */
    struct posting_block postings;
    size_t most_rows, most_entries; /* of any block */
    struct proposal_limits limits;  /* per query */
    struct asking *workers;
};

/* ---- Blocks of target documents -------------------------------------------------------------- */

static void measure_blocks(struct lists *lists, size_t wanted) {
    const struct sparse_matrix *vectors = &lists->space->vectors[1];
    size_t blocks = 0;
    for (size_t first = 0, rows; first < vectors->rows; first += rows) {
        rows = vector_block_rows(vectors, first, vector_block_entries());
        size_t entries = (size_t)(vectors->offsets[first + rows] - vectors->offsets[first]);
        blocks++;
        lists->most_rows = rows > lists->most_rows ? rows : lists->most_rows;
        lists->most_entries = entries > lists->most_entries ? entries : lists->most_entries;
    }
    lists->limits = proposal_limits_of(wanted, blocks);
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

static cog_status load_lists(struct lists *lists, size_t first, size_t *rows, cog_error *error) {
    TRY(load_block(lists, first, rows, error));
    posting_block_fill(&lists->postings, &lists->block.rows);
    return COG_OK;
}

/* ---- The plan -------------------------------------------------------------------------------- */

struct planning {
    struct lists *lists;
    struct sparse_matrix sample;
    struct cosine_neighbours truth;
    float floor; /* neighbours below this cosine are not needed */
    struct lists_tally tallies[LINK_RADIUS_ROWS];
};

static cog_status try_budgets(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    (void)error;
    struct planning *planning = context;
    const struct lists *lists = planning->lists;
    for (size_t query = begin; query < end; query++)
        lists_try_budgets(&lists->workers[worker], &lists->postings, lists->block.first,
                          &planning->sample, query, &planning->truth, planning->floor,
                          &planning->tallies[query]);
    return COG_OK;
}

static cog_status plan(struct lists *lists, const struct link_search *search, double *budget,
                       float *floor, cog_error *error) {
    const struct link_space *space = lists->space;
    const unsigned threads = lists->job->threads;
    uint32_t sample[LINK_RADIUS_ROWS];
    size_t count = link_radius_rows(space->vectors[0].rows, sample);
    struct planning *planning;
    TAKE_ZEROED(planning, 1, "a sample", error);
    planning->lists = lists;
    cog_status status = link_nearest_of_rows(space, sample, count, LISTS_PLAN_NEAREST, threads,
                                             &planning->truth, error);
    THEN(status, lists_floor(&planning->truth, search->wanted[0], &planning->floor, error));
    THEN(status, vector_rows_copy(space, 0, sample, count, &planning->sample, error));
    for (size_t first = 0, rows; first < space->vectors[1].rows && status == COG_OK;
         first += rows) {
        status = load_lists(lists, first, &rows, error);
        THEN(status, parallel_for(threads, count, 1, try_budgets, planning, error));
    }
    if (status == COG_OK) {
        *budget = lists_choose_budget(planning->tallies, count, search->options->recall);
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
    float *bars;                     /* by source document; see proposals_kept */
    struct vector_block asked;       /* of source documents */
    struct cosine_neighbour *scored; /* lists->limits.most per source document */
    uint32_t *scored_counts;
};

/* Drops the proposals of a block that are far from those of the blocks before it. */
static void drop_low_proposals(const struct passing *passing, struct asking *asking, size_t row) {
    const struct proposal_limits *limits = &passing->lists->limits;
    if (limits->blocks == 1 || asking->proposed_count == 0)
        return;
    proposals_sort(asking->proposed, asking->proposed_count);
    asking->proposed_count = proposals_kept(limits, passing->block, asking->proposed,
                                            asking->proposed_count, &passing->bars[row]);
}

/* Computes the true cosines of a document's proposals and keeps the nearest. */
static void score_proposals(const struct passing *passing, const struct asking *asking,
                            size_t row) {
    const struct lists *lists = passing->lists;
    const struct vector_block *asked = &passing->asked, *block = &lists->block;
    struct cosine_neighbour *scored = passing->scored + row * lists->limits.most;
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
            *worth = (uint16_t)asking_least_worth(lists->frequencies, rows, row, passing->budget);
        asking_propose(asking, &lists->postings, rows, row, *worth);
        drop_low_proposals(passing, asking, passing->asked.first + row);
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
        const struct cosine_neighbour *scored = passing->scored + row * lists->limits.most;
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
                 lists->limits.blocks * vectors->rows);
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
    TAKE(passing->scored, asked * lists->limits.most, "posting lists", error);
    TAKE(passing->scored_counts, asked, "posting lists", error);
    for (size_t first = 0, rows; first < vectors[1].rows; first += rows, passing->block++) {
        TRY(load_lists(lists, first, &rows, error));
        TRY(pass_block(passing, error));
    }
    return COG_OK;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static cog_status lists_init(struct lists *lists, size_t wanted, cog_error *error) {
    const size_t columns = lists->space->vectors[1].column_count;
    const unsigned threads = lists->job->threads;
    measure_blocks(lists, wanted);
    TAKE_ZEROED(lists->frequencies, columns, "posting lists", error);
    lists->postings.frequencies = lists->frequencies;
    TRY(posting_block_take(&lists->postings, columns, lists->most_entries, error));
    TAKE_ZEROED(lists->workers, threads, "posting lists", error);
    for (unsigned i = 0; i < threads; i++)
        TRY(asking_take(&lists->workers[i], lists->most_rows, columns, lists->limits.most, error));
    return COG_OK;
}

static void lists_free(struct lists *lists) {
    for (unsigned i = 0; lists->workers && i < lists->job->threads; i++)
        asking_free(&lists->workers[i]);
    FREE(lists->frequencies, lists->workers);
    posting_block_free(&lists->postings);
    vector_block_free(&lists->block);
}

size_t link_lists_proposals(const struct link_search *search) {
    size_t from = link_proposals(search, 0), to = link_proposals(search, 1);
    return from > to ? from : to;
}

cog_status link_lists_find(struct link_candidates *candidates, struct job *job,
                           const struct link_space *space, const struct link_search *search,
                           cog_error *error) {
    struct lists lists = {.space = space, .job = job};
    struct passing passing = {.lists = &lists, .candidates = candidates};
    cog_status status = lists_init(&lists, link_lists_proposals(search), error);
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
    measure_blocks(&lists, link_lists_proposals(search));
    const uint64_t columns = space->vectors[1].column_count, proposals = lists.limits.most;
    return vector_block_memory_bytes(space, 0, ASKED_ENTRIES) +
           vector_block_memory_bytes(space, 1, vector_block_entries()) +
           lists.most_entries * sizeof(struct posting) + columns * (2 + threads) * sizeof(float) +
           threads * (lists.most_rows * 2 * sizeof(float) + proposals * sizeof(struct proposal)) +
           most_asked(&space->vectors[0]) *
               (proposals * sizeof(struct cosine_neighbour) + sizeof(uint32_t)) +
           space->vectors[0].rows * (sizeof(uint16_t) + sizeof(float));
}
