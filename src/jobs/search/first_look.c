#include "jobs/search/first_look.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "estimate/radius.h"
#include "plan/method_choice.h"

enum { CANDIDATES_MIN = 1024, PER_NEIGHBOUR = 25, QUERY_GRAIN = 16 };

size_t first_look_candidates(size_t k) {
    return k * PER_NEIGHBOUR > CANDIDATES_MIN ? k * PER_NEIGHBOUR : CANDIDATES_MIN;
}

/* A method with first looks and tables of the largest segment, or else all signatures. */
static const struct search_method *look_method(const struct search_task *task) {
    const struct index_segments *parts = &task->index->parts;
    const struct segment *largest = parts->segments;
    for (size_t part = 1; part < parts->manifest.count; part++)
        if (parts->segments[part].rows > largest->rows)
            largest = &parts->segments[part];
    for (unsigned i = 0; task->has_margins && i < largest->table_count; i++)
        if (largest->tables[i].method->has_looks)
            return largest->tables[i].method;
    return method_of(method_exhaustive(false));
}

bool first_look_pays(const struct search_task *task, const struct effort_question *question,
                     double other_ns) {
    enum { TIMES_CHEAPER = 2, CANDIDATES_PER_COSINE = 4 }; /* most queries are sure earlier */
    /* Only bits of random projections differ with the probability given by the angle. */
    if (task->index->sign.signature.kind != COG_SIGNATURE_RP || !question->of_cosines ||
        !recall_measured_k(question->k) || task->options.first)
        return false;
    return TIMES_CHEAPER *
               search_look_ns(task->index, question, look_method(task),
                              first_look_candidates(question->k) / CANDIDATES_PER_COSINE) <
           other_ns;
}

/* ---- One query ------------------------------------------------------------------------------- */

/* The k largest cosines so far, and the radius that contains rows with the smallest of them. */
struct best {
    float *cosines; /* descending */
    size_t count, k;
    float covered; /* rows with a smaller cosine may have been missed */
    unsigned bits;
    double recall, floor;
    uint32_t radius_bits;
    bool has_radius;
};

static void best_add(struct best *best, float cosine) {
    size_t at = best->count;
    if (best->count == best->k && cosine <= best->cosines[best->k - 1])
        return;
    at -= best->count == best->k;
    for (; at > 0 && best->cosines[at - 1] < cosine; at--)
        best->cosines[at] = best->cosines[at - 1];
    best->cosines[at] = cosine;
    best->count += best->count < best->k;
    best->has_radius = false;
}

/* Whether rows at this distance or more have, with the probability of the recall, no cosine among
 * the k largest. */
static bool best_is_sure(struct best *best, uint32_t distance) {
    double least = best->count == best->k ? (double)best->cosines[best->k - 1] : 0;
    least = least > best->floor ? least : best->floor;
    if (least <= 0 || least < (double)best->covered)
        return false;
    double p = bit_flip_probability_cosine(least);
    if (!best->has_radius) {
        if (p * best->bits >= distance) /* the mean distance; the radius is larger */
            return false;
        best->radius_bits = radius_for_recall(best->bits, p, best->recall);
        best->has_radius = true;
    }
    return best->radius_bits < distance;
}

struct look {
    const struct search_task *task;
    struct hit_lists *lists;
    size_t *counts;
    uint8_t *is_unsure;
    const float *covered; /* by query */
    double recall;        /* of each of the two ways to miss a row */
};

/* Computes true cosines in the order of distances until the query is sure; moves these hits to the
 * front. */
static cog_status look_at(const struct look *look, struct query_spread *spread, struct best *best,
                          size_t query, cog_error *error) {
    const struct search_task *task = look->task;
    const size_t first = look->lists->offsets[query];
    struct match *items = look->lists->items + first;
    const size_t count = look->lists->offsets[query + 1] - first;
    bool is_sure = task->is_empty && task->is_empty[query];
    size_t kept = 0;
    best->count = 0;
    best->has_radius = false;
    best->covered = look->covered[query];
    query_spread_set(spread, query);
    for (size_t i = 0; i < count && !is_sure; i++) {
        double similarity;
        TRY(query_spread_similarity(spread, task->index, items[i].b, &similarity, error));
        if (similarity > 0) {
            best_add(best, (float)similarity);
            items[kept] = items[i];
            items[kept++].similarity = (float)similarity;
        }
        is_sure = best_is_sure(best, items[i + 1 < count ? i + 1 : i].distance);
    }
    is_sure |= count == task->index->parts.rows; /* these are all rows */
    look->is_unsure[query] = !is_sure;
    kept = is_sure ? kept : 0;
    hits_sort(items, kept, HITS_BY_SIMILARITY);
    look->counts[query] = kept < best->k ? kept : best->k;
    return COG_OK;
}

static cog_status look_at_queries(void *context, unsigned worker, size_t begin, size_t end,
                                  cog_error *error) {
    (void)worker;
    const struct look *look = context;
    const cog_search_options *options = &look->task->options;
    struct query_spread own = {0}, *spread = look->task->spread;
    struct best best = {.k = options->k,
                        .bits = index_bits(look->task->index),
                        .recall = look->recall,
                        .floor = look->task->counted_from};
    cog_status status = TAKEN(best.cosines, best.k, "queries", error);
    if (status == COG_OK && !spread)
        status = query_spread_init(&own, &look->task->parts, error);
    spread = spread ? spread : &own;
    for (size_t query = begin; query < end && status == COG_OK; query++)
        status = look_at(look, spread, &best, query, error);
    if (spread != &own)
        query_spread_clear(spread);
    query_spread_free(&own);
    free(best.cosines);
    return status;
}

/* ---- All queries ----------------------------------------------------------------------------- */

cog_status first_look_run(struct search_task *task, uint8_t *is_unsure, cog_error *error) {
    const size_t candidates = first_look_candidates(task->options.k);
    const struct search_method *method = look_method(task);
    struct look look = {.task = task,
                        .lists = &task->hits,
                        .is_unsure = is_unsure,
                        .recall = (1 + task->options.recall) / 2};
    struct method_search asked = {.k = candidates,
                                  .candidates = candidates,
                                  .radius_bits = COG_RADIUS_NONE,
                                  .recall = look.recall,
                                  .knobs = &task->options.knobs,
                                  .threads = task->threads};
    if (method == method_of(task->options.method))
        asked.scratch = task->scratch;
    TAKE_ZEROED(asked.covered_out, task->queries + 1, "queries", error);
    look.covered = asked.covered_out;
    hit_lists_free(&task->hits);
    cog_status status =
        search_segments(task->index, method, NULL, &task->parts, &asked, &task->hits, error);
    if (status == COG_OK) {
        task->compared = asked.compared_out;
        task->candidates = task->hits.offsets[task->queries];
    }
    THEN(status, TAKEN(look.counts, task->queries + 1, "queries", error));
    THEN(status,
         parallel_for(task->threads, task->queries, QUERY_GRAIN, look_at_queries, &look, error));
    if (status == COG_OK)
        hit_lists_cut(&task->hits, look.counts);
    FREE(look.counts, asked.covered_out);
    return status;
}
