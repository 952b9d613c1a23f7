#include "join/cosine/cosine_join.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "join/cosine/cosine_lists.h"
#include "join/cosine/cosine_tiles.h"
#include "join/equal_rows.h"

/* A block's accumulators stay in the second-level cache. */
enum { BLOCK_ROWS = 8192, BLOCK_ENTRIES = 1 << 22, QUERY_GRAIN = 64 };

_Static_assert((int)BLOCK_ROWS >= (int)COSINE_TILE_ROWS, "rows in reach have the room of met ones");

/* Costs in nanoseconds, measured on one core: per column that two heads share; per pair, for its
 * share of looking up the query's lists and of comparing its sum; per entry of a row whose true
 * product is computed; per posting visited; per row met in lists. */
static const double shared_ns = 1.3, head_pair_ns = 0.4, entry_ns = 1.5, posting_ns = 2,
                    met_ns = 26;

/* ---- The join -------------------------------------------------------------------------------- */

/* The norms of the tails after a cut, by position. The tails of two rows add at most the product of
 * their norms to the product of the heads. */
struct heads {
    uint32_t column_end;
    float threshold;
    float *query_tails, *row_tails;
};

struct cosine_join {
    struct join_parts parts;
    struct cosine_rows queries, collection; /* the first rows of groups; the same for a self-join */
    struct equal_rows groups[2];
    const struct equal_rows *query_groups, *collection_groups;
    bool self;
    const struct cosine_plan *plan;
    size_t list_entries; /* about this many entries of rows have their posting lists in memory at
                            once */
    size_t block_begin, block_end;
    struct cosine_lists lists;
    /* x(c) at each entry of the queries' matrix, times the tail's cosine */
    float **query_lengths, *own_lengths;
    struct heads heads;
    struct cosine_tiles tiles;
    struct cosine_probe *probes; /* one per worker */
};

/* Computes the true product and decides. The query is spread over the probe's columns. */
static cog_status verify(const struct cosine_join *join, unsigned worker, size_t query,
                         size_t position, cog_error *error) {
    struct join_part *part = &join->parts.items[worker];
    double dot = sparse_dense_dot(join->probes[worker].dense, join->collection.matrix,
                                  join->collection.rows[position]);
    part->work.verified++;
    if (!(dot >= join->plan->threshold))
        return COG_OK;
    return equal_rows_match(join->query_groups, query, join->collection_groups, position,
                            join->self, dot, &part->matches, error);
}

/* ---- By posting lists ------------------------------------------------------------------------ */

static float met_tail_cosine(const struct cosine_plan *plan) {
    return plan->has_tails ? (float)plan->tails.cosines[COSINE_TAIL_MET] : 1;
}

/* The smallest y(c) of an entry in the lists. */
static float least_listed(const struct cosine_plan *plan) {
    return plan->filter_threshold / (plan->extents[0].length * met_tail_cosine(plan));
}

static void build_lists(struct cosine_lists *lists, const struct cosine_plan *plan,
                        const struct sparse_matrix *matrix, const uint32_t *rows, size_t count) {
    cosine_lists_build(lists, matrix, rows, count, least_listed(plan), plan->extents[1].length);
}

static struct cosine_query query_of(const struct sparse_matrix *matrix, uint32_t row,
                                    const float *lengths) {
    uint64_t at = matrix->offsets[row];
    return (struct cosine_query){matrix->columns + at, matrix->values + at, lengths,
                                 (size_t)(matrix->offsets[row + 1] - at)};
}

static cog_status run_query(const struct cosine_join *join, unsigned worker, size_t position,
                            cog_error *error) {
    struct cosine_probe *probe = &join->probes[worker];
    uint32_t row = join->queries.rows[position], first = 0;
    struct cosine_query query = query_of(join->queries.matrix, row,
                                         *join->query_lengths + join->queries.matrix->offsets[row]);
    if (join->self && position >= join->block_begin)
        first = (uint32_t)(position - join->block_begin) + 1;
    size_t kept = cosine_probe_run(probe, &join->lists, &query, join->plan->filter_threshold, first,
                                   &join->parts.items[worker].work);
    cog_status status = COG_OK;
    for (size_t i = 0; i < kept && status == COG_OK; i++)
        status = verify(join, worker, position, join->block_begin + probe->met[i], error);
    if (kept > 0)
        cosine_probe_unload(probe, &query);
    return status;
}

static cog_status run_queries(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    struct cosine_join *join = context;
    cog_status status = COG_OK;
    for (size_t i = begin; i < end && status == COG_OK; i++)
        status = run_query(join, worker, i, error);
    return status;
}

static size_t block_end(const struct cosine_rows *rows, size_t begin, size_t most_entries,
                        size_t *entries) {
    const uint64_t *offsets = rows->matrix->offsets;
    size_t end = begin;
    *entries = 0;
    while (end < rows->count && end - begin < BLOCK_ROWS && *entries < most_entries) {
        *entries += (size_t)(offsets[rows->rows[end] + 1] - offsets[rows->rows[end]]);
        end++;
    }
    return end;
}

/* Allocates lists that hold any block of the rows. */
static cog_status make_lists(struct cosine_lists *lists, const struct cosine_rows *rows,
                             size_t block_entries, cog_error *error) {
    size_t most_entries = 0, entries;
    for (size_t begin = 0; begin < rows->count;) {
        begin = block_end(rows, begin, block_entries, &entries);
        most_entries = entries > most_entries ? entries : most_entries;
    }
    return cosine_lists_create(lists, rows->matrix->column_count, BLOCK_ROWS, most_entries, error);
}

struct measuring {
    const struct sparse_matrix *queries;
    float tail, *lengths;
};

static cog_status measure_tails(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    (void)error;
    const struct measuring *measuring = context;
    const struct sparse_matrix *queries = measuring->queries;
    for (size_t row = begin; row < end; row++)
        cosine_tail_lengths(queries, row, measuring->tail,
                            measuring->lengths + queries->offsets[row]);
    return COG_OK;
}

/* The norms of the tails of all queries, unless kept from an earlier join. */
static cog_status make_lengths(struct cosine_join *join, cog_error *error) {
    const struct sparse_matrix *queries = join->queries.matrix;
    if (!*join->query_lengths) {
        TAKE(*join->query_lengths, queries->offsets[queries->rows] + 1, "a cosine join", error);
        struct measuring measuring = {queries, met_tail_cosine(join->plan), *join->query_lengths};
        return parallel_for(join->parts.threads, queries->rows, QUERY_GRAIN, measure_tails,
                            &measuring, error);
    }
    return COG_OK;
}

static cog_status run_lists(struct cosine_join *join, cog_error *error) {
    size_t entries;
    cog_status status = make_lists(&join->lists, &join->collection, join->list_entries, error);
    THEN(status, make_lengths(join, error));
    while (join->block_end < join->collection.count && status == COG_OK) {
        join->block_begin = join->block_end;
        join->block_end =
            block_end(&join->collection, join->block_begin, join->list_entries, &entries);
        build_lists(&join->lists, join->plan, join->collection.matrix,
                    join->collection.rows + join->block_begin, join->block_end - join->block_begin);
        status =
            parallel_for(join->parts.threads, join->self ? join->block_end : join->queries.count,
                         QUERY_GRAIN, run_queries, join, error);
    }
    return status;
}

/* ---- By heads --------------------------------------------------------------------------------
 *
 * Computes the products of the heads (the columns before a cut) for all pairs, tile by tile. Pairs
 * that may reach the threshold with what their tails can add get their true product. Adding short
 * lists to sums in the first-level cache costs a fraction of a nanosecond per pair. That is cheaper
 * than meeting the pair in posting lists as soon as one pair in twenty is met. */

static float *tail_lengths(const struct cosine_rows *rows, uint32_t column, double factor) {
    float *lengths = memory_array(rows->count + 1, sizeof *lengths);
    for (size_t i = 0; lengths && i < rows->count; i++)
        lengths[i] =
            cosine_tail_length(rows->matrix, cosine_row_at(rows, i), column) * (float)factor;
    return lengths;
}

static cog_status make_heads(struct heads *heads, struct cosine_tiles *tiles,
                             const struct cosine_plan *plan, int cut, cog_error *error) {
    uint32_t column = plan->cuts.columns[cut];
    *heads =
        (struct heads){.column_end = column,
                       .threshold = plan->filter_threshold,
                       .query_tails = tail_lengths(&tiles->queries, column,
                                                   plan->has_tails ? plan->tails.cosines[cut] : 1),
                       .row_tails = tail_lengths(&tiles->collection, column, 1)};
    tiles->column_end = column;
    if (heads->query_tails && heads->row_tails)
        return cosine_tiles_create(tiles, error);
    return error_memory(error, (tiles->queries.count + tiles->collection.count) * sizeof(float),
                        "a cosine join");
}

static void free_heads(struct heads *heads, struct cosine_tiles *tiles) {
    cosine_tiles_free(tiles);
    FREE(heads->query_tails, heads->row_tails);
}

/* Finds the rows of a tile, from row `from` on, that may reach the threshold with the tile's query;
 * returns their number. Adds to *met the rows that share a column of the heads with the query or
 * are in reach without one. */
static size_t rows_in_reach(const struct heads *heads, const struct cosine_tile *tile, size_t from,
                            uint32_t rows[COSINE_TILE_ROWS], uint64_t *met) {
    enum { RUN = 32 };
    const float tail = heads->query_tails[tile->query], threshold = heads->threshold;
    size_t kept = 0;
    for (size_t begin = from; begin < tile->row_count; begin += RUN) {
        size_t count = tile->row_count - begin < RUN ? tile->row_count - begin : RUN;
        const float *sums = tile->values + begin;
        const float *tails = heads->row_tails + tile->row_begin + begin;
        uint32_t near = 0, shared = 0;
        for (size_t i = 0; i < count; i++) {
            near += sums[i] + tail * tails[i] >= threshold;
            shared += sums[i] != 0;
        }
        *met += shared;
        for (size_t i = 0; near > 0 && i < count; i++) {
            bool reaches = sums[i] + tail * tails[i] >= threshold;
            rows[kept] = (uint32_t)(begin + i);
            kept += reaches;
            *met += reaches && sums[i] == 0;
        }
    }
    return kept;
}

static cog_status join_tile(struct cosine_join *join, unsigned worker,
                            const struct cosine_tile *tile, cog_error *error) {
    struct cosine_probe *probe = &join->probes[worker];
    uint32_t *rows = probe->met, query = join->queries.rows[tile->query];
    size_t from = 0;
    cog_status status = COG_OK;
    if (join->self && tile->query >= tile->row_begin)
        from = tile->query + 1 - tile->row_begin;
    size_t kept =
        rows_in_reach(&join->heads, tile, from, rows, &join->parts.items[worker].work.candidates);
    if (kept == 0)
        return COG_OK;
    sparse_spread(join->queries.matrix, query, probe->dense);
    for (size_t i = 0; i < kept && status == COG_OK; i++)
        status = verify(join, worker, tile->query, tile->row_begin + rows[i], error);
    sparse_clear(join->queries.matrix, query, probe->dense);
    return status;
}

static cog_status join_tiles(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    struct cosine_join *join = context;
    cog_status status = COG_OK;
    for (size_t query = begin; query < end && status == COG_OK; query++) {
        struct cosine_tile tile = cosine_tile(&join->tiles, worker, query);
        status = join_tile(join, worker, &tile, error);
    }
    return status;
}

static cog_status run_heads(struct cosine_join *join, cog_error *error) {
    struct cosine_tiles *tiles = &join->tiles;
    *tiles = (struct cosine_tiles){.queries = join->queries,
                                   .collection = join->collection,
                                   .later_only = join->self,
                                   .threads = join->parts.threads,
                                   .most_entries = join->list_entries};
    cog_status status = make_heads(&join->heads, tiles, join->plan, join->plan->cut, error);
    while (cosine_tiles_next(tiles, &status, error))
        status = parallel_for(tiles->threads, tiles->query_count, COSINE_TILE_GRAIN, join_tiles,
                              join, error);
    free_heads(&join->heads, tiles);
    return status;
}

/* ---- The cheaper of the two ------------------------------------------------------------------ */

/* A sample of rows by which the cost of a join is estimated, evenly spread over both sides. */
enum { SAMPLE_ROWS = COSINE_SAMPLE_ROWS };
struct sample {
    struct cosine_rows queries, collection;
    double product_ns; /* cost of a pair's true product */
};

size_t cosine_sample_place(size_t count, size_t sampled, size_t i) {
    return i * count / sampled;
}

static struct cosine_rows spread(const struct cosine_rows *rows, size_t most, uint32_t *sample) {
    size_t count = rows->count < most ? rows->count : most;
    for (size_t i = 0; i < count; i++)
        sample[i] = cosine_row_at(rows, cosine_sample_place(rows->count, count, i));
    return (struct cosine_rows){rows->matrix, sample, count};
}

/* The cost of the join by heads at a cut, in nanoseconds per pair of rows. */
static cog_status judge_cut(const struct cosine_plan *plan, const struct sample *sample, int cut,
                            double *pair_ns, cog_error *error) {
    struct cosine_tiles tiles = {
        .queries = sample->queries, .collection = sample->collection, .threads = 1};
    struct heads heads;
    uint64_t in_reach = 0, met = 0;
    uint32_t rows[COSINE_TILE_ROWS];
    cog_status status = make_heads(&heads, &tiles, plan, cut, error);
    while (cosine_tiles_next(&tiles, &status, error))
        for (size_t query = 0; query < tiles.query_count; query++) {
            struct cosine_tile tile = cosine_tile(&tiles, 0, query);
            in_reach += rows_in_reach(&heads, &tile, 0, rows, &met);
        }
    free_heads(&heads, &tiles);
    *pair_ns = head_pair_ns + shared_ns * plan->cuts.products[cut] +
               sample->product_ns * (double)in_reach /
                   ((double)sample->queries.count * (double)sample->collection.count);
    return status;
}

/* The cut at which the join by heads is cheapest, and its cost. */
static cog_status choose_cut(struct cosine_plan *plan, const struct sample *sample, double *best_ns,
                             cog_error *error) {
    cog_status status = COG_OK;
    plan->cut = 0;
    *best_ns = HUGE_VAL;
    for (int cut = 0; cut < COSINE_CUTS && status == COG_OK; cut++) {
        double pair_ns;
        if (head_pair_ns + shared_ns * plan->cuts.products[cut] >= *best_ns)
            break;
        status = judge_cut(plan, sample, cut, &pair_ns, error);
        if (pair_ns < *best_ns) {
            plan->cut = cut;
            *best_ns = pair_ns;
        }
    }
    return status;
}

/* The cost of the join by posting lists on the sample, in nanoseconds per pair of rows. */
static cog_status judge_lists(const struct cosine_plan *plan, const struct sample *sample,
                              double *pair_ns, cog_error *error) {
    const struct sparse_matrix *matrix = sample->queries.matrix;
    struct cosine_lists lists = {0};
    struct join_work work = {0};
    struct cosine_probe probe = {0};
    float *lengths = memory_array(plan->extents[0].count + 1, sizeof *lengths);
    cog_status status = make_lists(&lists, &sample->collection, BLOCK_ENTRIES, error);
    if (status == COG_OK &&
        (!lengths || !cosine_probe_create(&probe, plan->spans, matrix->column_count, SAMPLE_ROWS)))
        status = error_memory(error, cosine_probe_memory_bytes(matrix->column_count, SAMPLE_ROWS),
                              "a cosine join");
    if (status == COG_OK)
        build_lists(&lists, plan, sample->collection.matrix, sample->collection.rows,
                    sample->collection.count);
    for (size_t i = 0; i < sample->queries.count && status == COG_OK; i++) {
        uint32_t row = sample->queries.rows[i];
        cosine_tail_lengths(matrix, row, met_tail_cosine(plan), lengths);
        struct cosine_query query = query_of(matrix, row, lengths);
        size_t kept = cosine_probe_run(&probe, &lists, &query, plan->filter_threshold, 0, &work);
        if (kept > 0)
            cosine_probe_unload(&probe, &query);
        work.verified += kept;
    }
    cosine_probe_free(&probe);
    cosine_lists_free(&lists);
    free(lengths);
    *pair_ns = (posting_ns * (double)work.postings + met_ns * (double)work.candidates +
                sample->product_ns * (double)work.verified) /
               ((double)sample->queries.count * (double)sample->collection.count);
    return status;
}

/* The share of the sample's entries that the lists hold, plus a margin. */
static double listed_share(const struct cosine_plan *plan, const struct cosine_rows *rows) {
    const float least = least_listed(plan);
    uint64_t listed = 0, all = 1;
    for (size_t i = 0; i < rows->count; i++) {
        const uint64_t *offsets = rows->matrix->offsets + cosine_row_at(rows, i);
        double squares = 0;
        all += offsets[1] - offsets[0];
        for (uint64_t at = offsets[1]; at-- > offsets[0];) {
            squares += (double)rows->matrix->values[at] * (double)rows->matrix->values[at];
            listed += sqrt(squares) >= (double)least;
        }
    }
    return fmin(1.1 * (double)listed / (double)all + 0.02, 1);
}

static cog_status choose_cheaper(struct cosine_plan *plan, const struct sample *sample,
                                 cog_error *error) {
    double heads_ns = 0, lists_ns = 0;
    TRY(choose_cut(plan, sample, &heads_ns, error));
    TRY(judge_lists(plan, sample, &lists_ns, error));
    plan->by_lists = lists_ns <= heads_ns;
    plan->listed = listed_share(plan, &sample->collection);
    return COG_OK;
}

cog_status cosine_plan_make(struct cosine_plan *plan, const struct cosine_survey surveys[2],
                            const struct cosine_rows samples[2], double threshold,
                            const struct cosine_tails *tails, cog_error *error) {
    const struct sample sample = {samples[0], samples[1],
                                  entry_ns * (double)surveys[1].entries /
                                      (double)(surveys[1].rows ? surveys[1].rows : 1)};
    *plan = (struct cosine_plan){.threshold = threshold,
                                 .has_tails = tails != NULL,
                                 .extents = {surveys[0].extent, surveys[1].extent}};
    if (tails)
        plan->tails = *tails;
    plan->filter_threshold =
        (float)(threshold - cosine_float_error(plan->extents[0], plan->extents[1]));
    plan->is_empty = !(plan->extents[0].length > 0 && plan->extents[1].length > 0);
    if (plan->is_empty)
        return COG_OK;
    cosine_cuts_of(&surveys[0], &surveys[1], &plan->cuts);
    plan->spans = cosine_spans(surveys[1].counts, surveys[1].column_count, surveys[1].entries);
    return plan->spans ? choose_cheaper(plan, &sample, error)
                       : error_memory(error, surveys[1].column_count, "a cosine join");
}

void cosine_plan_free(struct cosine_plan *plan) {
    free(plan->spans);
    *plan = (struct cosine_plan){0};
}

/* The plan for a join of all rows at once. */
static cog_status plan_all(const struct cosine_join *join, const struct join_options *options,
                           struct cosine_plan *plan, cog_error *error) {
    uint32_t rows[2][SAMPLE_ROWS];
    const struct cosine_rows samples[2] = {spread(&join->queries, COSINE_SAMPLE_QUERIES, rows[0]),
                                           spread(&join->collection, COSINE_SAMPLE_ROWS, rows[1])};
    struct cosine_survey surveys[2] = {{0}};
    cog_status status = cosine_survey_add(&surveys[0], join->queries.matrix, error);
    if (join->self)
        surveys[1] = surveys[0];
    else
        THEN(status, cosine_survey_add(&surveys[1], join->collection.matrix, error));
    THEN(status,
         cosine_plan_make(plan, surveys, samples, options->threshold, options->tails, error));
    cosine_survey_free(&surveys[0]);
    if (!join->self)
        cosine_survey_free(&surveys[1]);
    return status;
}

/* Rows of a group are equal, so their similarity is the square of their length. */
static cog_status match_within_groups(struct cosine_join *join, struct match_list *matches,
                                      cog_error *error) {
    const struct equal_rows *groups = join->collection_groups;
    const struct sparse_matrix *matrix = join->collection.matrix;
    cog_status status = COG_OK;
    for (size_t g = 0; g < groups->count && status == COG_OK; g++) {
        if (groups->offsets[g + 1] - groups->offsets[g] < 2)
            continue;
        uint32_t row = equal_rows_first(groups, g);
        double dot = sparse_row_dot(matrix, row, matrix, row);
        if (dot >= join->plan->threshold)
            status = equal_rows_match_within(groups, g, dot, matches, error);
    }
    return status;
}

static cog_status group_rows(const struct sparse_matrix *matrix, bool differ,
                             struct equal_rows *groups, struct cosine_rows *rows,
                             cog_error *error) {
    struct row_bytes source = {matrix->rows, matrix->offsets, matrix->columns, matrix->values,
                               NULL};
    TRY(differ ? equal_rows_none(&source, groups, error)
               : equal_rows_build(&source, groups, error));
    uint32_t *firsts;
    TAKE(firsts, groups->count + 1, "a cosine join", error);
    for (size_t g = 0; g < groups->count; g++)
        firsts[g] = equal_rows_first(groups, g);
    *rows = (struct cosine_rows){matrix, firsts, groups->count};
    return COG_OK;
}

static cog_status make_probes(struct cosine_join *join, cog_error *error) {
    const unsigned threads = join->parts.threads;
    uint32_t columns = join->queries.matrix->column_count;
    join->probes = memory_zeroed_array(threads, sizeof *join->probes);
    bool enough = join->probes != NULL;
    for (unsigned i = 0; enough && i < threads; i++)
        enough = cosine_probe_create(&join->probes[i], join->plan->spans, columns, BLOCK_ROWS);
    return enough ? COG_OK
                  : error_memory(error, threads * cosine_probe_memory_bytes(columns, BLOCK_ROWS),
                                 "a cosine join");
}

/* Memory of the lists per entry of the rows. */
static double listed_entry_bytes(const struct cosine_plan *plan) {
    const double entry_bytes = sizeof(struct cosine_entry);
    const double all_bytes =
        (double)(cosine_lists_memory_bytes(0, 0, 1) - cosine_lists_memory_bytes(0, 0, 0));
    return entry_bytes + (all_bytes - entry_bytes) * plan->listed;
}

uint64_t cosine_join_list_bytes(const struct cosine_plan *plan, double row_entries) {
    const double entries = fmin(BLOCK_ROWS * row_entries, BLOCK_ENTRIES);
    return (uint64_t)(entries * listed_entry_bytes(plan)) + 1;
}

/* The number of entries whose lists fit in memory; tiles use the same limit. */
static size_t list_entries(const struct join_options *options, const struct cosine_plan *plan) {
    const double entries = (double)options->memory_bytes / listed_entry_bytes(plan);
    if (!options->memory_bytes || entries >= BLOCK_ENTRIES)
        return BLOCK_ENTRIES;
    return entries >= 1 ? (size_t)entries : 1;
}

static cog_status run_join(struct cosine_join *join, const struct join_options *options,
                           cog_error *error) {
    struct cosine_plan own = {0};
    cog_status status = COG_OK;
    join->plan = options->plan ? options->plan : &own;
    join->query_lengths = options->kept_lengths ? options->kept_lengths : &join->own_lengths;
    if (!options->plan)
        status = plan_all(join, options, &own, error);
    join->list_entries = list_entries(options, join->plan);
    if (!join->plan->is_empty) {
        THEN(status, make_probes(join, error));
        THEN(status, join->plan->by_lists ? run_lists(join, error) : run_heads(join, error));
    }
    if (join->self)
        THEN(status, match_within_groups(join, &join->parts.items[0].matches, error));
    cosine_plan_free(&own);
    return status;
}

static void free_join(struct cosine_join *join) {
    for (unsigned i = 0; join->probes && i < join->parts.threads; i++)
        cosine_probe_free(&join->probes[i]);
    FREE(join->probes, join->own_lengths);
    cosine_lists_free(&join->lists);
    free((void *)join->queries.rows);
    if (!join->self)
        free((void *)join->collection.rows);
    equal_rows_free(&join->groups[0]);
    equal_rows_free(&join->groups[1]);
}

cog_status cosine_join(const struct sparse_matrix *a, const struct sparse_matrix *b,
                       const struct join_options *options, struct match_list *matches,
                       cog_error *error) {
    struct cosine_join join = {.self = b == NULL};
    if (b && a->column_count != b->column_count)
        return error_set(error, COG_ERR_USAGE,
                         "rows of %u and of %u columns cannot be joined: number both sides' terms "
                         "together",
                         a->column_count, b->column_count);
    join.query_groups = &join.groups[0];
    join.collection_groups = &join.groups[b ? 1 : 0];
    cog_status status = join_start(&join.parts, options, error);
    THEN(status, group_rows(a, options->plan, &join.groups[0], &join.queries, error));
    if (status == COG_OK && b)
        status = group_rows(b, options->plan, &join.groups[1], &join.collection, error);
    else
        join.collection = join.queries;
    THEN(status, run_join(&join, options, error));
    free_join(&join);
    return join_finish(&join.parts, options, status, matches, error);
}
