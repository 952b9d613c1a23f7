#include "search/lsh/lsh_join.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "hamming/hamming.h"

enum { QUERY_GRAIN = 64 };

struct prober {
    struct lsh_probing probing;
    uint64_t comparisons;
    uint16_t *distances;
    uint32_t *positions;
    size_t distance_capacity, position_capacity;
};

struct lsh_join {
    const struct lsh_tables *tables;
    const struct method_rows *queries, *rows;
    uint32_t radius_bits;
    bool self;
    struct prober *probers;
    struct hit_sink sink;
};

/* If so, it is enough that the later row looks for the earlier one. */
bool lsh_is_symmetric(const struct lsh_options *options) {
    return options->flip_mode == LSH_FLIP_NONE || options->flips == 0 || options->flip_both;
}

static bool looks_back_only(const struct lsh_join *join) {
    return join->self && lsh_is_symmetric(&join->tables->options);
}

/* The distances of all candidates; returns how many are within the radius, their positions in
 * prober->positions. */
static cog_status find_distances(const struct lsh_join *join, struct prober *prober, uint32_t query,
                                 size_t *found, cog_error *error) {
    const uint32_t *rows = prober->probing.candidates;
    const size_t count = prober->probing.candidate_count;
    GROW(prober->distances, prober->distance_capacity, count, "candidates", error);
    GROW(prober->positions, prober->position_capacity, count, "candidates", error);
    hamming_gather(join->rows->signatures, signature_row(join->queries->signatures, query), rows,
                   count, prober->distances);
    *found =
        hamming_kernels()->select(prober->distances, count, join->radius_bits, prober->positions);
    return COG_OK;
}

static cog_status take_candidates(struct lsh_join *join, unsigned worker, uint32_t query,
                                  cog_error *error) {
    struct prober *prober = &join->probers[worker];
    const uint32_t *rows = prober->probing.candidates;
    size_t found = 0;
    cog_status status = find_distances(join, prober, query, &found, error);
    for (size_t i = 0; i < prober->probing.candidate_count; i++)
        prober->comparisons += !(join->self && rows[i] == query);
    for (size_t i = 0; i < found && status == COG_OK; i++) {
        uint32_t row = rows[prober->positions[i]],
                 distance = prober->distances[prober->positions[i]];
        bool swap = join->self && row < query;
        if (!join->self || row != query)
            status = hit_sink_add(
                &join->sink, worker,
                (struct match){swap ? row : query, swap ? query : row, distance, 0}, error);
    }
    return status;
}

static cog_status run_queries(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    struct lsh_join *join = context;
    struct prober *prober = &join->probers[worker];
    const struct signatures_view *view = join->queries->signatures;
    bool earlier = looks_back_only(join);
    cog_status status = COG_OK;
    if (!prober->probing.tables)
        status = lsh_probing_create(&prober->probing, join->tables, error);
    for (size_t query = begin; query < end && status == COG_OK; query++) {
        status = lsh_probe(&prober->probing, signature_row(view, query), view->stride_bytes,
                           lsh_margins(join->queries, query), earlier ? query : SIZE_MAX, error);
        THEN(status, take_candidates(join, worker, (uint32_t)query, error));
    }
    return status;
}

/* A pair that both rows found is listed twice. */
static void drop_repeated(struct match_list *matches) {
    size_t kept = 0;
    for (size_t i = 0; i < matches->count; i++)
        if (kept == 0 || matches->items[i].a != matches->items[kept - 1].a ||
            matches->items[i].b != matches->items[kept - 1].b)
            matches->items[kept++] = matches->items[i];
    matches->count = kept;
}

static double comparisons_a_query(const struct lsh_join *join, uint64_t comparisons) {
    const size_t queries = join->queries->signatures->rows;
    double met = (double)comparisons * (looks_back_only(join) ? 2 : 1);
    return queries ? met / (double)queries : 0;
}

static cog_status collect(struct lsh_join *join, struct match_list *matches, struct lsh_work *work,
                          cog_error *error) {
    for (unsigned worker = 0; worker < join->sink.count && work; worker++) {
        work->entries += join->probers[worker].probing.entries;
        work->comparisons += join->probers[worker].comparisons;
    }
    if (work)
        work->comparisons_a_query = comparisons_a_query(join, work->comparisons);
    TRY(hit_sink_pairs(&join->sink, join->rows->signatures->bits, matches, error));
    drop_repeated(matches);
    return COG_OK;
}

static void free_probers(struct lsh_join *join, unsigned threads) {
    for (unsigned worker = 0; join->probers && worker < threads; worker++) {
        lsh_probing_free(&join->probers[worker].probing);
        FREE(join->probers[worker].distances, join->probers[worker].positions);
    }
    free(join->probers);
    hit_sink_free(&join->sink);
}

cog_status lsh_join(const struct method_rows *queries, const struct method_rows *rows,
                    const struct lsh_options *options, uint32_t radius_bits, unsigned threads,
                    struct match_list *matches, struct lsh_work *work, cog_error *error) {
    struct lsh_tables tables = {0};
    struct lsh_join join = {.tables = &tables,
                            .queries = queries,
                            .rows = rows ? rows : queries,
                            .radius_bits = radius_bits,
                            .self = rows == NULL};
    threads = threads_resolve(threads);
    TRY(signatures_check(queries->signatures, join.rows->signatures, error));
    TRY(lsh_options_check(options, queries->signatures->bits, queries->margins != NULL, error));
    cog_status status = lsh_tables_build(&tables, join.rows, options, threads, error);
    if (work)
        *work = (struct lsh_work){.table_bytes = status == COG_OK ? lsh_tables_bytes(&tables) : 0};
    THEN(status, hit_sink_init(&join.sink, threads, error));
    THEN(status, TAKEN_ZEROED(join.probers, threads, "a join by hash tables", error));
    hit_sink_share(&join.sink, matches);
    THEN(status,
         parallel_for(threads, queries->signatures->rows, QUERY_GRAIN, run_queries, &join, error));
    THEN(status, collect(&join, matches, work, error));
    free_probers(&join, threads);
    lsh_tables_free(&tables);
    return status;
}
