#include "jobs/link/link_candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "collection/row_signer.h"
#include "jobs/link/blocks/link_lists.h"
#include "jobs/link/blocks/link_nearest.h"
#include "jobs/pairs/pair_join.h"
#include "plan/method_choice.h"
#include "plan/sampled_truth.h"
#include "search/flat/flat.h"

/* Propose more documents than wanted, because the means that decide how far a link stands out need
 * the truly nearest. */
enum { PROPOSALS = 128, DISTANCES_PER_PROPOSAL = 16 };

/* Queries are processed in blocks; this is the memory of a block's proposals while they are sorted.
 */
enum { BLOCK_BYTES = 128 << 20 };

struct proposing {
    struct job *job;
    const struct link_space *space;
    const struct link_search *search;
    struct signatures_view views[2]; /* for methods that compare signatures */
};

size_t link_proposals(const struct link_search *search, int side) {
    return search->wanted[side] > PROPOSALS ? search->wanted[side] : (size_t)PROPOSALS;
}

/* ---- The nearest signatures ------------------------------------------------------------------ */

static bool searches_signatures(const struct search_method *method) {
    return method->search && method->answers & COG_ANSWERS_NEAREST &&
           !(method->needs & (NEEDS_VECTORS | NEEDS_ROW_MARGINS | NEEDS_QUERY_MARGINS));
}

/* Finds the nearest signatures of the documents [first, first + count) of a side. */
static cog_status propose_nearest(const struct proposing *work, int side, const void *tables,
                                  size_t first, size_t count, struct hit_lists *hits,
                                  cog_error *error) {
    size_t most = link_proposals(work->search, side);
    struct signatures_view block = signatures_part(&work->views[side], first, count);
    struct method_search search = {.rows = {.signatures = &work->views[!side]},
                                   .queries = {.signatures = &block},
                                   .k = most,
                                   .candidates = most * DISTANCES_PER_PROPOSAL,
                                   .threads = work->job->threads};
    TRY(method_of(work->search->method)->search(tables, &search, hits, error));
    for (size_t i = 0; i < hits->offsets[hits->queries]; i++)
        hits->items[i].a += (uint32_t)first;
    return COG_OK;
}

/* ---- Pairs within a radius ------------------------------------------------------------------- */

size_t link_radius_rows(size_t documents, uint32_t rows[LINK_RADIUS_ROWS]) {
    return sample_rows(documents, LINK_RADIUS_ROWS, 1, rows);
}

uint32_t link_radius_of(const size_t *histogram, size_t count, const struct link_search *search,
                        unsigned bits) {
    size_t left = count * link_proposals(search, 0);
    uint32_t radius_bits = 0;
    while (radius_bits < bits / 2 && histogram[radius_bits] <= left)
        left -= histogram[radius_bits++];
    return radius_bits;
}

/* Chooses a radius with enough of the nearest but no more pairs than fit in memory. */
static cog_status choose_radius(const struct proposing *work, uint32_t *radius_bits,
                                cog_error *error) {
    uint32_t sample[LINK_RADIUS_ROWS];
    size_t count = link_radius_rows(work->views[0].rows, sample);
    size_t most = LINK_RADIUS_NEAREST * link_proposals(work->search, 0);
    struct signatures_view queries = {0};
    struct hit_lists nearest = {0};
    unsigned bits = work->views[0].bits;
    size_t *histogram;
    TAKE_ZEROED(histogram, (size_t)bits + 1, "distances", error);
    cog_status status = sample_signatures(&work->views[0], sample, count, &queries, error);
    THEN(status,
         flat_search_topk(&work->views[1], &queries, most, work->job->threads, &nearest, error));
    for (size_t i = 0; status == COG_OK && i < nearest.offsets[count]; i++)
        histogram[nearest.items[i].distance]++;
    *radius_bits = status == COG_OK ? link_radius_of(histogram, count, work->search, bits) : 0;
    hit_lists_free(&nearest);
    free((void *)queries.data);
    free(histogram);
    return status;
}

/* ---- Pairs by a join ------------------------------------------------------------------------- */

/* Finds the pairs within the radius by the method, planned for the recall of likely partners. The
 * task borrows the vectors. */
static cog_status join_pairs(struct proposing *work, uint32_t radius_bits,
                             struct match_list *matches, cog_error *error) {
    const struct link_space *space = work->space;
    cog_pairs_options options;
    struct pair_task task = {0};
    struct vector_guard guard;
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.method = work->search->method;
    options.knobs = work->search->options->knobs;
    options.recall = work->search->options->recall;
    options.sign.signature.bits = work->search->options->bits;
    options.threshold = COG_THRESHOLD_ACROSS;
    cog_status status = pair_join_init(&task, &options, 2, NULL, NULL, error);
    task.threads = work->job->threads;
    task.projected = true;
    for (int side = 0; side < 2; side++) {
        task.vectors[side] = space->vectors[side];
        task.corpora[side].rows = task.compared[side].count = space->vectors[side].rows;
    }
    vector_guard_start(&guard, space->files, work->job->run.memory_bytes);
    THEN(status, pair_join_propose(&task, work->views, radius_bits, matches, error));
    vector_guard_end(&guard);
    memset(task.vectors, 0, sizeof task.vectors);
    pair_task_free(&task);
    return status;
}

/* ---- Candidates by proposals ----------------------------------------------------------------- */

static cog_status find_nearest_of_block(struct proposing *work, int side, const void *tables,
                                        size_t first, size_t count,
                                        struct cosine_neighbours *neighbours, cog_error *error) {
    struct hit_lists hits = {0};
    job_part(work->job, first, work->views[side].rows);
    cog_status status = propose_nearest(work, side, tables, first, count, &hits, error);
    if (status == COG_OK) {
        struct match_list proposed = {.items = hits.items, .count = hits.offsets[hits.queries]};
        status = link_nearest_of_pairs(work->space, side, work->job->threads, &proposed, neighbours,
                                       NULL, error);
    }
    hit_lists_free(&hits);
    return status;
}

static cog_status find_nearest_of_side(struct proposing *work, int side,
                                       struct cosine_neighbours *neighbours, cog_error *error) {
    const struct search_method *method = method_of(work->search->method);
    const size_t rows = work->views[side].rows;
    const size_t most =
        BLOCK_BYTES / (2 * sizeof(struct match)) / link_proposals(work->search, side) + 1;
    struct method_build build = {.rows = {.signatures = &work->views[!side]},
                                 .threads = work->job->threads};
    void *tables = NULL;
    cog_status status = cosine_neighbours_take(neighbours, rows, work->search->wanted[side], error);
    if (status == COG_OK && method->build)
        status = method_build(method, &build, &tables, error);
    for (size_t first = 0; first < rows && status == COG_OK; first += most)
        status =
            find_nearest_of_block(work, side, tables, first,
                                  rows - first < most ? rows - first : most, neighbours, error);
    method_release(method, tables);
    return status;
}

static cog_status find_nearest(struct proposing *work, struct link_candidates *candidates,
                               cog_error *error) {
    for (int side = 0; side < 2; side++)
        if (work->search->wanted[side])
            TRY(find_nearest_of_side(work, side, &candidates->sides[side], error));
    return COG_OK;
}

static cog_status find_by_pairs(struct proposing *work, struct link_candidates *candidates,
                                cog_error *error) {
    struct cosine_neighbours *sides = candidates->sides;
    struct match_list matches = {0};
    uint32_t radius_bits = 0;
    cog_status status = choose_radius(work, &radius_bits, error);
    candidates->beyond = (float)hamming_cosine(radius_bits, work->search->options->bits);
    THEN(status, join_pairs(work, radius_bits, &matches, error));
    for (int side = 0; side < 2 && status == COG_OK; side++)
        if (work->search->wanted[side])
            status = cosine_neighbours_take(&sides[side], work->space->vectors[side].rows,
                                            work->search->wanted[side], error);
    if (status == COG_OK)
        match_list_sort(&matches);
    THEN(status, link_nearest_of_pairs(work->space, 0, work->job->threads, &matches,
                                       sides[0].k ? &sides[0] : NULL, sides[1].k ? &sides[1] : NULL,
                                       error));
    match_list_free(&matches);
    return status;
}

/* ---- Measured recall ------------------------------------------------------------------------- */

static bool holds(const struct cosine_neighbours *neighbours, size_t row, uint32_t other) {
    const struct cosine_neighbour *items = neighbours->items + row * neighbours->k;
    for (size_t i = 0; i < neighbours->counts[row]; i++)
        if (items[i].row == other)
            return true;
    return false;
}

/* Reports how many of the true nearest neighbours of a sample of source documents were found. Only
 * neighbours with the cosine of likely partners count. */
static cog_status measure_recall(struct job *job, const struct link_space *space,
                                 const struct cosine_neighbours *found, cog_error *error) {
    enum { SAMPLE = 500, NEAREST = 10 };
    uint32_t sample[SAMPLE];
    size_t count = sample_rows(found->queries, SAMPLE, 2, sample);
    size_t k = found->k < NEAREST ? found->k : (size_t)NEAREST;
    struct cosine_neighbours truth = {0};
    struct share_tally tally = {0};
    cog_status status = link_nearest_of_rows(space, sample, count, k, job->threads, &truth, error);
    for (size_t q = 0; status == COG_OK && q < count; q++) {
        const struct cosine_neighbour *items = &truth.items[q * k];
        size_t hits = 0, i = 0;
        for (; i < truth.counts[q] && (double)items[i].similarity >= COG_THRESHOLD_ACROSS; i++)
            hits += holds(found, sample[q], items[i].row);
        share_tally_add(&tally, hits, i);
    }
    if (status == COG_OK)
        report_recall(job->report, &tally, count, (struct noun){"neighbour", "neighbours"},
                      (struct noun){"document", "documents"});
    cosine_topk_free(&truth);
    return status;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static cog_status find_exactly(struct job *job, const struct link_space *space,
                               const struct link_search *search, struct link_candidates *candidates,
                               cog_error *error) {
    for (int side = 0; side < 2; side++)
        if (search->wanted[side])
            TRY(link_nearest_exactly(space, side, search->wanted[side], job->threads,
                                     &candidates->sides[side], error));
    report_exact(job->report);
    return COG_OK;
}

/* Signs a side, block by block. */
static cog_status sign_side(struct proposing *work, int side, cog_error *error) {
    const struct sparse_matrix *vectors = &work->space->vectors[side];
    struct signature_options options;
    struct vector_block block = {0};
    uint8_t *data;
    signature_options_init(&options, SIGNATURE_RP);
    options.bits = work->search->options->bits;
    const size_t stride = signature_stride_bytes(options.bits);
    TAKE(data, vectors->rows * stride, "signatures", error);
    cog_status status = COG_OK;
    for (size_t first = 0, rows; first < vectors->rows && status == COG_OK; first += rows) {
        rows = vector_block_rows(vectors, first, vector_block_entries());
        status = vector_block_load(&block, work->space, side, first, rows, error);
        const struct signable_rows signable = {.matrix = &block.rows, .count = rows};
        THEN(status, vector_sign(&signable, &options, work->job->threads, &work->views[side], NULL,
                                 0, error));
        if (status == COG_OK)
            memcpy(data + first * stride, work->views[side].data, rows * stride);
        free((void *)work->views[side].data);
    }
    work->views[side] = (struct signatures_view){data, vectors->rows, options.bits, stride};
    vector_block_free(&block);
    return status;
}

static cog_status find_by_signatures(struct link_candidates *candidates, struct job *job,
                                     const struct link_space *space,
                                     const struct link_search *search, cog_error *error) {
    struct proposing work = {.job = job, .space = space, .search = search};
    cog_status status = sign_side(&work, 0, error);
    THEN(status, sign_side(&work, 1, error));
    THEN(status, searches_signatures(method_of(search->method))
                     ? find_nearest(&work, candidates, error)
                     : find_by_pairs(&work, candidates, error));
    free((void *)work.views[0].data);
    free((void *)work.views[1].data);
    return status;
}

cog_status link_candidates_find(struct link_candidates *candidates, struct job *job,
                                const struct link_space *space, const struct link_search *search,
                                cog_error *error) {
    const struct search_method *method = method_of(search->method);
    bool vectors = method && method->needs & NEEDS_VECTORS;
    if (!vectors && !(method && (searches_signatures(method) || method->join)))
        return error_set(error, COG_ERR_USAGE,
                         "partners are found by the methods exact, lists, flat, slices, lsh and "
                         "window");
    report_text(job->report, "method", method->name);
    for (int side = 0; side < 2; side++)
        candidates->lengths[side] = space->lengths[side];
    if (search->method == COG_METHOD_EXACT)
        return find_exactly(job, space, search, candidates, error);
    cog_status status = vectors ? link_lists_find(candidates, job, space, search, error)
                                : find_by_signatures(candidates, job, space, search, error);
    return status == COG_OK ? measure_recall(job, space, &candidates->sides[0], error) : status;
}

void link_candidates_free(struct link_candidates *candidates) {
    cosine_topk_free(&candidates->sides[0]);
    cosine_topk_free(&candidates->sides[1]);
}

/* Bytes per document: signatures and tables, and margins for hash tables. */
static size_t proposing_bytes(const struct link_search *search) {
    unsigned bits = search->options->bits;
    size_t margins = search->method == COG_METHOD_LSH ? bits * sizeof(float) : 0;
    return 4 * signature_stride_bytes(bits) + margins;
}

/* Pairs of a join are all in memory at once; methods that search signatures propose in blocks. */
static uint64_t signatures_memory_bytes(const struct link_space *space,
                                        const struct link_search *search) {
    uint64_t proposing = 0, proposed = 0;
    for (int side = 0; side < 2; side++) {
        uint64_t rows = space->vectors[side].rows;
        proposing += rows * proposing_bytes(search);
        proposed += rows * link_proposals(search, side) * sizeof(struct match);
        proposing += vector_block_memory_bytes(space, side, vector_block_entries());
    }
    bool in_blocks = searches_signatures(method_of(search->method)) && proposed > BLOCK_BYTES;
    return proposing + (in_blocks ? (uint64_t)BLOCK_BYTES : proposed);
}

uint64_t link_candidates_memory_bytes(const struct link_space *space,
                                      const struct link_search *search, unsigned threads) {
    const struct search_method *method = method_of(search->method);
    uint64_t kept = 0, most = 0;
    for (int side = 0; side < 2; side++)
        kept += space->vectors[side].rows *
                (search->wanted[side] * sizeof(struct cosine_neighbour) + sizeof(uint32_t));
    for (int side = 0; side < 2;
         side++) { /* for the exact search, which is also used for samples */
        uint64_t exact = link_nearest_memory_bytes(space, side, search->wanted[side], threads);
        if (side == 0 || search->method == COG_METHOD_EXACT)
            most = exact > most ? exact : most;
    }
    if (search->method == COG_METHOD_LISTS) /* samples are searched while the lists exist */
        return kept + most + link_lists_memory_bytes(space, search, threads);
    uint64_t signing =
        method && !(method->needs & NEEDS_VECTORS) ? signatures_memory_bytes(space, search) : 0;
    return kept + (signing > most ? signing : most);
}
