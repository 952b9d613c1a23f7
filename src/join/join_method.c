#include "join/join_method.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/cosine/cosine_join.h"
#include "join/cosine/cosine_topk.h"

static cog_status join_all(struct method_join *join, const struct cosine_tails *tails,
                           struct match_list *pairs, cog_error *error) {
    struct join_work work = {0};
    const struct join_options options = {.threshold = join->threshold,
                                         .threads = join->threads,
                                         .work = &work,
                                         .tails = tails,
                                         .plan = join->plan,
                                         .memory_bytes = join->list_bytes,
                                         .kept_lengths = join->kept_lengths,
                                         .sieve = pairs->sieve,
                                         .max_matches = pairs->limit};
    pairs->limit = 0; /* the workers enforce it */
    pairs->sieve = NULL;
    cog_status status =
        cosine_join(join->first.vectors, join->second.vectors, &options, pairs, error);
    report_number(join->report, "candidates", (double)work.candidates);
    report_number(join->report, "comparisons", (double)work.verified);
    join->is_exact_out = join->plan ? !join->plan->has_tails : !tails;
    return status;
}

/* ---- exact ----------------------------------------------------------------------------------- */

static cog_status check_exact(const struct method_join *join, cog_error *error) {
    return join->verify ? COG_OK
                        : error_about(error, COG_ERR_USAGE, "verify",
                                      "the method exact always computes true similarities: it "
                                      "cannot skip the check");
}

static cog_status join_exactly(struct method_join *join, struct match_list *pairs,
                               cog_error *error) {
    return join_all(join, NULL, pairs, error);
}

/* A searcher keeps a dense copy of the query by column; *dense is NULL without a searcher. */
static cog_status take_dense(const struct method_search *asked, float **dense, cog_error *error) {
    *dense = NULL;
    if (!asked->scratch || asked->threads != 1 ||
        asked->queries.vectors->rows > COSINE_SCAN_QUERIES)
        return COG_OK;
    if (!*asked->scratch) {
        TAKE_ZEROED(*dense, (size_t)asked->rows.vectors->column_count + 1, "a searcher", error);
        *asked->scratch = *dense;
    }
    *dense = *asked->scratch;
    return COG_OK;
}

static cog_status find_nearest(const struct method_search *asked, float *dense,
                               struct hit_lists *hits, cog_error *error) {
    const struct sparse_matrix *queries = asked->queries.vectors;
    struct cosine_neighbours found = {0};
    size_t total = 0, at = 0;
    cog_status status =
        dense ? cosine_topk_kept(queries, asked->rows.vectors, asked->k, dense, &found, error)
              : cosine_topk(queries, asked->rows.vectors, asked->k, asked->threads, &found, error);
    for (size_t query = 0; status == COG_OK && query < found.queries; query++)
        total += found.counts[query];
    THEN(status, hit_lists_init(hits, queries->rows, total, error));
    for (size_t query = 0; status == COG_OK && query < found.queries; query++) {
        const struct cosine_neighbour *items = found.items + query * found.k;
        for (size_t i = 0; i < found.counts[query]; i++)
            hits->items[at++] = (struct match){
                .a = (uint32_t)query, .b = items[i].row, .similarity = items[i].similarity};
        hits->offsets[query + 1] = at;
    }
    cosine_topk_free(&found);
    return status;
}

struct scan_above {
    double threshold;
    struct hit_sink *sink;
};

static cog_status take_product(void *context, unsigned worker, size_t query, uint32_t row,
                               double product, cog_error *error) {
    const struct scan_above *scan = context;
    struct match hit = {.a = (uint32_t)query, .b = row, .similarity = (float)product};
    return product >= scan->threshold ? hit_sink_add(scan->sink, worker, hit, error) : COG_OK;
}

/* If there are few queries, they are multiplied with every row; otherwise they are joined with the
 * rows. */
static cog_status find_above(const struct method_search *asked, float *dense, struct hit_sink *sink,
                             cog_error *error) {
    const struct sparse_matrix *queries = asked->queries.vectors;
    struct scan_above scan = {asked->threshold, sink};
    struct join_options options = {.threshold = asked->threshold, .threads = asked->threads};
    return queries->rows <= COSINE_SCAN_QUERIES && asked->threshold > 0
               ? cosine_scan(queries, asked->rows.vectors, asked->threads, dense, take_product,
                             &scan, error)
               : cosine_join(queries, asked->rows.vectors, &options, &sink->workers[0].hits, error);
}

static cog_status search_exactly(const void *tables, struct method_search *asked,
                                 struct hit_lists *hits, cog_error *error) {
    (void)tables;
    struct hit_sink sink = {0};
    float *dense;
    asked->is_exact_out = true;
    asked->compared_out = (uint64_t)asked->rows.vectors->rows * asked->queries.vectors->rows;
    TRY(take_dense(asked, &dense, error));
    if (asked->k)
        return find_nearest(asked, dense, hits, error);
    cog_status status = hit_sink_init(&sink, asked->threads, error);
    THEN(status, find_above(asked, dense, &sink, error));
    THEN(status,
         hit_sink_finish(&sink, asked->queries.vectors->rows, HITS_BY_SIMILARITY, hits, error));
    hit_sink_free(&sink);
    return status;
}

const struct search_method exact_method = {
    .name = "exact",
    .summary = "computes true similarities; misses no pair",
    .answers = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .certain = COG_ANSWERS_PAIRS | COG_ANSWERS_NEAREST | COG_ANSWERS_WITHIN,
    .needs = NEEDS_VECTORS,
    .check_join = check_exact,
    .join = join_exactly,
    .search = search_exactly,
    .scratch_free = free,
};

/* ---- lists -----------------------------------------------------------------------------------
 *
 * The same join as the method exact, but its bounds assume that the tails of two rows add less than
 * the possible maximum (join/cosine/cosine_join.h). The true pairs of a sample determine how much
 * less. */

static cog_status check_lists(const struct method_join *join, cog_error *error) {
    return !join->is_jaccard && join->verify
               ? COG_OK
               : error_about(error, COG_ERR_USAGE, "method",
                             "the method lists computes true cosines: use the measure cosine "
                             "and verify, or use the method flat");
}

static int by_value(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return ORDER(a, b);
}

/* Half of the allowed misses is reserved for sampling error: the pairs of the sample are not
 * independent, as rows have many or none. */
cog_status lists_tails(const struct method_join *join, const struct cosine_cuts *cuts,
                       struct cosine_tails *tails, cog_error *error) {
    const struct method_pairs *pairs = &join->pairs;
    const bool selected = pairs->rows[0].vectors != NULL;
    const struct sparse_matrix *x = selected ? pairs->rows[0].vectors : join->first.vectors,
                               *y = selected               ? pairs->rows[1].vectors
                                    : join->second.vectors ? join->second.vectors
                                                           : x;
    const size_t count = pairs->count;
    double *needed = memory_array(count, COSINE_TAILS * sizeof *needed);
    cog_status status =
        needed ? COG_OK : error_memory(error, count * COSINE_TAILS * sizeof *needed, "the plan");
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        struct cosine_tails of_pair;
        cosine_tails_needed(x, selected ? i : pairs->items[i].a, y,
                            selected ? i : pairs->items[i].b, join->threshold, cuts, &of_pair);
        for (size_t tail = 0; tail < COSINE_TAILS; tail++)
            needed[tail * count + i] = of_pair.cosines[tail];
    }
    size_t kept = (size_t)ceil((1 + join->recall) / 2 * (double)count);
    for (size_t tail = 0; tail < COSINE_TAILS && status == COG_OK; tail++) {
        qsort(needed + tail * count, count, sizeof *needed, by_value);
        tails->cosines[tail] = needed[tail * count + kept - 1];
    }
    free(needed);
    return status;
}

static cog_status join_by_lists(struct method_join *join, struct match_list *pairs,
                                cog_error *error) {
    struct cosine_tails tails;
    struct cosine_cuts cuts;
    if (join->plan || join->pairs.count < LISTS_LEAST_PAIRS)
        return join_all(join, NULL, pairs, error);
    TRY(cosine_cuts_find(join->first.vectors,
                         join->second.vectors ? join->second.vectors : join->first.vectors, &cuts,
                         error));
    TRY(lists_tails(join, &cuts, &tails, error));
    return join_all(join, &tails, pairs, error);
}

const struct search_method lists_method = {
    .name = "lists",
    .summary = "posting lists, cut as the wanted recall allows; pairs by cosine only",
    .answers = COG_ANSWERS_PAIRS,
    .certain = COG_ANSWERS_PAIRS,
    .needs = NEEDS_VECTORS,
    .check_join = check_lists,
    .planned_rows = 500,
    .join = join_by_lists,
};

bool lists_method_pays(const struct sparse_matrix vectors[2], double exact_term_ns) {
    const double worth_ns = 1e9;
    double pairs = 1, terms = 0;
    for (size_t side = 0; side < 2; side++) {
        size_t rows = vectors[side].rows;
        pairs *= (double)rows;
        terms += (double)vectors[side].offsets[rows] / (double)(rows + 1);
    }
    return pairs * terms * exact_term_ns > worth_ns;
}
