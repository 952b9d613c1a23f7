#include "jobs/link/link_candidates.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "collection/row_signer.h"
#include "jobs/pairs/pair_join.h"
#include "join/pair_check.h"
#include "plan/method_choice.h"
#include "plan/sampled_truth.h"
#include "search/flat/flat.h"

/* More documents are proposed than wanted: the means that decide how far a link stands out are
 * those of the truly nearest. */
enum { PROPOSALS = 128, DISTANCES_PER_PROPOSAL = 16, ROWS_PER_PIECE = 64 };

/* Documents are asked in blocks, whose proposals take this much while they are sorted. */
enum { BLOCK_BYTES = 128 << 20 };

struct proposing {
    struct job *job;
    const struct link_space *space;
    const struct link_search *search;
    struct signatures_view views[2]; /* of methods that compare signatures */
};

static size_t proposals_of(const struct link_search *search, int side) {
    return search->wanted[side] > PROPOSALS ? search->wanted[side] : (size_t)PROPOSALS;
}

/* ---- The nearest signatures ------------------------------------------------------------------ */

static bool searches_signatures(const struct search_method *method) {
    return method->search && method->answers & COG_ANSWERS_NEAREST &&
           !(method->needs & (NEEDS_VECTORS | NEEDS_ROW_MARGINS | NEEDS_QUERY_MARGINS));
}

/* The nearest signatures of the documents [first, first + count) of a side. */
static cog_status propose_nearest(const struct proposing *work, int side, const void *tables,
                                  size_t first, size_t count, struct hit_lists *hits,
                                  cog_error *error) {
    size_t most = proposals_of(work->search, side);
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

/* The radius within which a source document has about PROPOSALS others, by a sample: enough of the
 * nearest, and no more pairs than memory holds. */
static cog_status choose_radius(const struct proposing *work, uint32_t *radius_bits,
                                cog_error *error) {
    enum { SAMPLE = 256 };
    uint32_t sample[SAMPLE];
    size_t count = sample_rows(work->views[0].rows, SAMPLE, 1, sample);
    size_t most = proposals_of(work->search, 0), left = count * most;
    struct signatures_view queries = {0};
    struct hit_lists nearest = {0};
    unsigned bits = work->views[0].bits;
    size_t *histogram;
    TAKE_ZEROED(histogram, (size_t)bits + 1, "distances", error);
    cog_status status = sample_signatures(&work->views[0], sample, count, &queries, error);
    THEN(status, flat_search_topk(&work->views[1], &queries, 4 * most, work->job->threads, &nearest,
                                  error));
    for (size_t i = 0; status == COG_OK && i < nearest.offsets[count]; i++)
        histogram[nearest.items[i].distance]++;
    *radius_bits = 0;
    while (status == COG_OK && *radius_bits < bits / 2 && histogram[*radius_bits] <= left)
        left -= histogram[(*radius_bits)++];
    hit_lists_free(&nearest);
    free((void *)queries.data);
    free(histogram);
    return status;
}

/* The nearest target documents of some source documents. */
static cog_status nearest_of_sample(const struct link_space *space, const uint32_t *sample,
                                    size_t count, size_t k, unsigned threads,
                                    struct cosine_neighbours *nearest, cog_error *error) {
    struct sparse_matrix queries = {0};
    cog_status status = sparse_matrix_select(&space->vectors[0], sample, count, &queries)
                            ? cosine_topk(&queries, &space->vectors[1], k, threads, nearest, error)
                            : error_memory(error, count, "a sample");
    sparse_matrix_free(&queries);
    return status;
}

/* ---- Pairs above a cosine -------------------------------------------------------------------- */

static int by_similarity(const void *x, const void *y) {
    const struct cosine_neighbour *a = x, *b = y;
    return (a->similarity < b->similarity) - (a->similarity > b->similarity);
}

/* The cosine that a document has with about the wanted number of others, but at most that of likely
 * partners. It is raised if more pairs reach it than memory is counted for, as they do if all
 * documents follow a few templates. */
static cog_status choose_cosine(const struct proposing *work, double *cosine, cog_error *error) {
    enum { SAMPLE = 256 };
    uint32_t sample[SAMPLE];
    size_t count = sample_rows(work->space->vectors[0].rows, SAMPLE, 1, sample), found = 0;
    size_t wanted = work->search->wanted[0], most = proposals_of(work->search, 0);
    struct cosine_neighbours nearest = {0};
    cog_status status = nearest_of_sample(work->space, sample, count, 4 * most, work->job->threads,
                                          &nearest, error);
    for (size_t q = 0; status == COG_OK && q < count; q++)
        for (size_t i = 0; i < nearest.counts[q]; i++)
            nearest.items[found++] = nearest.items[q * nearest.k + i];
    *cosine = COG_THRESHOLD_ACROSS;
    if (found) {
        qsort(nearest.items, found, sizeof *nearest.items, by_similarity);
        size_t last = (count * wanted < found ? count * wanted : found) - 1;
        *cosine = fmin(*cosine, (double)nearest.items[last].similarity);
    }
    if (found > count * most)
        *cosine = fmax(*cosine, (double)nearest.items[count * most].similarity);
    cosine_topk_free(&nearest);
    return status;
}

/* ---- Pairs by a join ------------------------------------------------------------------------- */

/* Pairs by the method, planned for the recall at this cosine. The task borrows the vectors. */
static cog_status join_pairs(struct proposing *work, double cosine, uint32_t radius_bits,
                             const cog_run_options *run, cog_report *report,
                             struct match_list *matches, cog_error *error) {
    const struct link_space *space = work->space;
    cog_pairs_options options;
    struct pair_task task = {0};
    cog_pairs_options_init(&options, COG_MEASURE_COSINE);
    options.method = work->search->method;
    options.knobs = work->search->options->knobs;
    options.recall = work->search->options->recall;
    options.sign.signature.bits = work->search->options->bits;
    options.threshold = cosine;
    cog_status status = pair_join_init(&task, &options, 2, run, report, error);
    task.threads = work->job->threads;
    task.projected = true;
    for (int side = 0; side < 2; side++) {
        task.vectors[side] = space->vectors[side];
        task.corpora[side].rows = task.compared[side].count = space->vectors[side].rows;
    }
    if (radius_bits == COG_RADIUS_NONE) {
        THEN(status, pair_task_list_rows(&task, error));
        matches->limit = pair_task_max_matches(&task);
    }
    THEN(status, pair_join_propose(&task, work->views, radius_bits, matches, error));
    memset(task.vectors, 0, sizeof task.vectors);
    pair_task_free(&task);
    return status;
}

static cog_status propose_pairs(struct proposing *work, struct match_list *matches, float *beyond,
                                cog_error *error) {
    uint32_t radius_bits = 0;
    double cosine = 0;
    if (work->views[0].data) {
        TRY(choose_radius(work, &radius_bits, error));
        *beyond = (float)hamming_cosine(radius_bits, work->search->options->bits);
        return join_pairs(work, COG_THRESHOLD_ACROSS, radius_bits, NULL, NULL, matches, error);
    }
    TRY(choose_cosine(work, &cosine, error));
    *beyond = (float)cosine;
    return join_pairs(work, cosine, COG_RADIUS_NONE, &work->job->run, work->job->report, matches,
                      error);
}

/* ---- True cosines of proposals --------------------------------------------------------------- */

struct choosing {
    struct match_list *proposed; /* by row, with true cosines */
    struct cosine_neighbours *neighbours;
    size_t first; /* row */
};

/* Keeps the k nearest proposals of each row. */
static cog_status choose_nearest(void *context, unsigned worker, size_t begin, size_t end,
                                 cog_error *error) {
    (void)worker;
    (void)error;
    const struct choosing *choosing = context;
    struct cosine_neighbours *neighbours = choosing->neighbours;
    struct match *items = choosing->proposed->items;
    size_t count = choosing->proposed->count, at = 0, high = count;
    begin += choosing->first;
    end += choosing->first;
    while (at < high) {
        size_t middle = at + (high - at) / 2;
        if (items[middle].a < begin)
            at = middle + 1;
        else
            high = middle;
    }
    for (size_t next; at < count && items[at].a < end; at = next) {
        uint32_t row = items[at].a;
        for (next = at; next < count && items[next].a == row;)
            next++;
        hits_sort(items + at, next - at, HITS_BY_SIMILARITY);
        size_t kept = next - at < neighbours->k ? next - at : neighbours->k;
        for (size_t i = 0; i < kept; i++)
            neighbours->items[row * neighbours->k + i] =
                (struct cosine_neighbour){items[at + i].b, items[at + i].similarity};
        neighbours->counts[row] = (uint32_t)kept;
    }
    return COG_OK;
}

static cog_status take_neighbours(const struct proposing *work, int side,
                                  struct cosine_neighbours *neighbours, cog_error *error) {
    size_t rows = work->space->vectors[side].rows, k = work->search->wanted[side];
    *neighbours = (struct cosine_neighbours){.queries = rows, .k = k};
    TAKE_ZEROED(neighbours->counts, rows, "candidates", error);
    return TAKEN(neighbours->items, rows * k, "candidates", error);
}

/* Replaces the proposals' measures by true cosines and keeps the k nearest of each of the rows from
 * `first` on. The pairs of a row stand together. */
static cog_status rescore(const struct proposing *work, int side, struct match_list *proposed,
                          size_t first, size_t count, struct cosine_neighbours *neighbours,
                          cog_error *error) {
    const struct sparse_matrix *vectors = work->space->vectors;
    const struct pair_check check = {.vectors = {&vectors[side], &vectors[!side]},
                                     .threshold = DBL_TRUE_MIN, /* above 0 */
                                     .threads = work->job->threads};
    struct choosing choosing = {proposed, neighbours, first};
    TRY(pair_check_run(&check, proposed, error));
    return parallel_for(work->job->threads, count, ROWS_PER_PIECE, choose_nearest, &choosing,
                        error);
}

static cog_status find_nearest_of_block(struct proposing *work, int side, const void *tables,
                                        size_t first, size_t count,
                                        struct cosine_neighbours *neighbours, cog_error *error) {
    struct hit_lists hits = {0};
    job_part(work->job, first, work->views[side].rows);
    cog_status status = propose_nearest(work, side, tables, first, count, &hits, error);
    if (status == COG_OK) {
        struct match_list proposed = {.items = hits.items, .count = hits.offsets[hits.queries]};
        status = rescore(work, side, &proposed, first, count, neighbours, error);
    }
    hit_lists_free(&hits);
    return status;
}

static cog_status find_nearest_of_side(struct proposing *work, int side,
                                       struct cosine_neighbours *neighbours, cog_error *error) {
    const struct search_method *method = method_of(work->search->method);
    const size_t rows = work->views[side].rows;
    const size_t most =
        BLOCK_BYTES / (2 * sizeof(struct match)) / proposals_of(work->search, side) + 1;
    struct method_build build = {.rows = {.signatures = &work->views[!side]},
                                 .threads = work->job->threads};
    void *tables = NULL;
    cog_status status = take_neighbours(work, side, neighbours, error);
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
    struct match_list matches = {0};
    cog_status status = propose_pairs(work, &matches, &candidates->beyond, error);
    for (int side = 0; side < 2 && status == COG_OK; side++) {
        for (size_t i = 0; i < matches.count && side; i++) {
            struct match *match = &matches.items[i];
            *match = (struct match){.a = match->b, .b = match->a};
        }
        if (!work->search->wanted[side])
            continue;
        match_list_sort(&matches);
        status = take_neighbours(work, side, &candidates->sides[side], error);
        THEN(status, rescore(work, side, &matches, 0, work->space->vectors[side].rows,
                             &candidates->sides[side], error));
    }
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

/* Reports how many of the true nearest of some source documents were found. Only neighbours whose
 * cosine is that of likely partners count. */
static cog_status measure_recall(struct job *job, const struct link_space *space,
                                 const struct cosine_neighbours *found, cog_error *error) {
    enum { SAMPLE = 500, NEAREST = 10 };
    uint32_t sample[SAMPLE];
    size_t count = sample_rows(found->queries, SAMPLE, 2, sample);
    size_t k = found->k < NEAREST ? found->k : (size_t)NEAREST;
    struct cosine_neighbours truth = {0};
    struct share_tally tally = {0};
    cog_status status = nearest_of_sample(space, sample, count, k, job->threads, &truth, error);
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
            TRY(cosine_topk(&space->vectors[side], &space->vectors[!side], search->wanted[side],
                            job->threads, &candidates->sides[side], error));
    report_exact(job->report);
    return COG_OK;
}

cog_status link_candidates_find(struct link_candidates *candidates, struct job *job,
                                const struct link_space *space, const struct link_search *search,
                                cog_error *error) {
    const struct search_method *method = method_of(search->method);
    bool nearest = method && searches_signatures(method);
    bool vectors = method && method->needs & NEEDS_VECTORS;
    if (!nearest && !vectors && !(method && method->join))
        return error_set(error, COG_ERR_USAGE,
                         "partners are found by the methods exact, lists, flat, slices, lsh and "
                         "window");
    report_text(job->report, "method", method->name);
    for (int side = 0; side < 2; side++)
        candidates->lengths[side] = space->lengths[side];
    if (search->method == COG_METHOD_EXACT)
        return find_exactly(job, space, search, candidates, error);
    struct proposing work = {.job = job, .space = space, .search = search};
    struct signature_options signature;
    signature_options_init(&signature, SIGNATURE_RP);
    signature.bits = search->options->bits;
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && status == COG_OK && !vectors; side++)
        status = vector_sign(&(struct signable_rows){.matrix = &space->vectors[side],
                                                     .count = space->vectors[side].rows},
                             &signature, job->threads, &work.views[side], NULL, 0, error);
    THEN(status, nearest ? find_nearest(&work, candidates, error)
                         : find_by_pairs(&work, candidates, error));
    free((void *)work.views[0].data);
    free((void *)work.views[1].data);
    return status == COG_OK ? measure_recall(job, space, &candidates->sides[0], error) : status;
}

void link_candidates_free(struct link_candidates *candidates) {
    cosine_topk_free(&candidates->sides[0]);
    cosine_topk_free(&candidates->sides[1]);
}

/* A proposing method holds signatures and tables, or posting lists, or the margins of hash tables.
 */
static size_t proposing_bytes(const struct link_search *search) {
    unsigned bits = search->method == COG_METHOD_LISTS ? 0 : search->options->bits;
    size_t margins = search->method == COG_METHOD_LSH ? bits * sizeof(float) : 0;
    return 4 * signature_stride_bytes(bits) + margins;
}

/* The sides are searched one after the other; the neighbours of the first stay. Pairs of a join are
 * listed all at once. */
uint64_t link_candidates_memory_bytes(const struct link_space *space,
                                      const struct link_search *search, unsigned threads) {
    const struct search_method *method = method_of(search->method);
    uint64_t most = 0, kept = 0, proposing = 0, proposed = 0;
    for (int side = 0; side < 2; side++) {
        const struct sparse_matrix *queries = &space->vectors[side];
        size_t wanted = search->wanted[side];
        uint64_t peak = kept;
        if (search->method == COG_METHOD_EXACT && wanted)
            peak += cosine_topk_memory_bytes(queries, &space->vectors[!side], wanted, threads);
        kept += queries->rows * wanted * sizeof(struct cosine_neighbour);
        proposing += queries->rows * proposing_bytes(search);
        proposed += queries->rows * proposals_of(search, side) * sizeof(struct match);
        most = peak > most ? peak : most;
    }
    if (search->method == COG_METHOD_EXACT)
        return most;
    bool in_blocks = method && searches_signatures(method) && proposed > BLOCK_BYTES;
    return kept + proposing + (in_blocks ? BLOCK_BYTES : proposed);
}
