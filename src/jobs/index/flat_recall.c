/* The recall of candidates proposed by all signatures. An effort takes the first rows of a list by
 * distance, so one list for the largest effort serves all: a true neighbour is among the candidates
 * of an effort if its place in the list is. If margins choose the candidates, its rank by the finer
 * distance (search/hits/graded_query.h) among the rows proposed at that effort decides. Lists are
 * made eight times as long until nothing is left to measure. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "jobs/index/draft_recall.h"
#include "plan/method_choice.h"
#include "search/hits/graded_query.h"

enum { SERIES_MAX = 4, STEPS_MAX = 16, FIRST_LIST = 4096, LIST_TIMES = 8, GRAIN = 4 };

/* The efforts for one number of neighbours, with or without margins. */
struct series {
    uint32_t flags, k;
    unsigned begin, end; /* efforts for which the current lists are long enough */
    unsigned steps;      /* efforts worth measuring; fewer if nearly all was found */
    struct share_tally tallies[STEPS_MAX];
};

/* The place of a true neighbour in the list of its query. */
struct neighbour_place {
    size_t place;   /* SIZE_MAX: not in the list */
    uint32_t finer; /* its finer distance, and the number of rows before it with the same one */
    uint32_t ties;
};

struct flat_recall {
    struct measuring *own;
    struct series series[SERIES_MAX];
    unsigned series_count;
    size_t length;          /* of the lists, without the query itself */
    struct hit_lists lists; /* of the current queries, which start at `first` */
    size_t first;
    uint32_t (
        *found)[SERIES_MAX][STEPS_MAX]; /* by current query: number of true neighbours found */
};

/* Scratch memory of a thread. */
struct counter {
    uint32_t *finer;  /* of the items of a list */
    uint32_t *counts; /* rows per finer distance */
    size_t finer_capacity, count_capacity;
};

/* ---- Places ---------------------------------------------------------------------------------- */

static bool is_before(const struct match *item, uint32_t distance, uint32_t row) {
    return item->distance != distance ? item->distance < distance : item->b < row;
}

/* The place of a row in a list sorted by distance, then row. */
static size_t find_place(const struct match *items, size_t count, uint32_t distance, uint32_t row) {
    size_t at;
    FIND_FIRST_NOT(at, 0, count, is_before(&items[at], distance, row));
    return at < count && items[at].distance == distance && items[at].b == row ? at : SIZE_MAX;
}

/* Finds the places of the true neighbours, and last that of the query itself. */
static void find_places(const struct flat_recall *flat, size_t query, const struct match *truth,
                        size_t count, struct neighbour_place *places) {
    const struct measuring *own = flat->own;
    uint32_t rows[RECALL_NEIGHBOURS_MAX + 1];
    uint16_t distances[RECALL_NEIGHBOURS_MAX + 1];
    const struct match *items = flat->lists.items + flat->lists.offsets[query];
    size_t length = flat->lists.offsets[query + 1] - flat->lists.offsets[query];
    for (size_t i = 0; i < count; i++)
        rows[i] = truth[i].b;
    rows[count] = own->sample[flat->first + query];
    hamming_gather(&own->segment->signatures, signature_row(&own->signatures, flat->first + query),
                   rows, count + 1, distances);
    for (size_t i = 0; i <= count; i++)
        places[i] =
            (struct neighbour_place){.place = find_place(items, length, distances[i], rows[i])};
}

/* ---- Counting -------------------------------------------------------------------------------- */

static size_t candidates_of(const struct series *series, unsigned step) {
    return recall_candidates(series->k, step);
}

/* Counts by places in the list, without the query itself. */
static void count_places(const struct series *series, const struct neighbour_place *places,
                         size_t count, size_t itself, uint32_t *found) {
    for (unsigned step = series->begin; step < series->end; step++)
        for (size_t i = 0; i < count; i++)
            found[step] +=
                places[i].place != SIZE_MAX &&
                places[i].place - (itself < places[i].place) < candidates_of(series, step);
}

static int by_place(const void *a, const void *b) {
    const struct neighbour_place *const *p = a, *const *q = b;
    return ORDER((*p)->place, (*q)->place);
}

/* Sets the finer distances of neighbours, and how many rows before each have the same. */
static void count_ties(const struct counter *counter, uint32_t range,
                       struct neighbour_place *places, size_t count) {
    struct neighbour_place *order[RECALL_NEIGHBOURS_MAX + 1];
    size_t at = 0;
    for (size_t i = 0; i < count; i++)
        order[i] = &places[i];
    qsort(order, count, sizeof *order, by_place);
    memset(counter->counts, 0, range * sizeof *counter->counts);
    for (size_t i = 0; i < count && order[i]->place != SIZE_MAX; i++) {
        for (; at < order[i]->place; at++)
            counter->counts[counter->finer[at]]++;
        order[i]->finer = counter->finer[at];
        order[i]->ties = counter->counts[order[i]->finer];
    }
}

/* Whether the neighbour is among the candidates, without the query itself. before[d]: number of
 * proposed rows with a finer distance below d. */
static bool is_kept(const uint32_t *before, const struct neighbour_place *own,
                    const struct neighbour_place *itself, size_t proposed, size_t candidates) {
    if (own->place >= proposed)
        return false;
    bool itself_first =
        itself->place < proposed &&
        (itself->finer != own->finer ? itself->finer < own->finer : itself->place < own->place);
    return before[own->finer] + own->ties - itself_first < candidates;
}

/* Counts by ranks among the rows proposed at each effort. `counts` has room for two numbers per
 * finer distance: rows with it, and rows below it. */
static void count_ranks(const struct series *series, struct counter *counter, size_t length,
                        uint32_t range, const struct neighbour_place *places, size_t count,
                        uint32_t *found) {
    uint32_t *at_each = counter->counts, *before = counter->counts + range;
    size_t counted = 0;
    memset(at_each, 0, range * sizeof *at_each);
    for (unsigned step = series->begin; step < series->end; step++) {
        size_t candidates = candidates_of(series, step);
        size_t proposed = recall_proposed(candidates) + 1;
        proposed = proposed < length ? proposed : length;
        for (; counted < proposed; counted++)
            at_each[counter->finer[counted]]++;
        uint32_t sum = 0;
        for (uint32_t distance = 0; distance < range; distance++) {
            before[distance] = sum;
            sum += at_each[distance];
        }
        for (size_t i = 0; i < count; i++)
            found[step] += is_kept(before, &places[i], &places[count], proposed, candidates);
    }
}

/* Computes the finer distances of a list, relative to the smallest; *range is the largest plus one.
 */
static cog_status grade_list(const struct flat_recall *flat, size_t query, size_t length,
                             struct counter *counter, uint32_t *range, cog_error *error) {
    const struct measuring *own = flat->own;
    const size_t place = flat->first + query;
    uint32_t least = UINT32_MAX, most = 0;
    GROW(counter->finer, counter->finer_capacity, length + 1, "graded hits", error);
    TRY(hits_grade(&own->segment->signatures, signature_row(&own->signatures, place),
                   own->margins + place * own->signatures.bits,
                   flat->lists.items + flat->lists.offsets[query], length, counter->finer, error));
    for (size_t i = 0; i < length; i++) {
        least = counter->finer[i] < least ? counter->finer[i] : least;
        most = counter->finer[i] > most ? counter->finer[i] : most;
    }
    for (size_t i = 0; i < length; i++)
        counter->finer[i] -= least;
    *range = length ? most - least + 1 : 1;
    return GROWN(counter->counts, counter->count_capacity, 2 * (size_t)*range, "graded hits",
                 error);
}

static cog_status count_query(const struct flat_recall *flat, size_t query, struct counter *counter,
                              cog_error *error) {
    const struct measuring *own = flat->own;
    struct match truth[RECALL_NEIGHBOURS_MAX];
    struct neighbour_place places[RECALL_NEIGHBOURS_MAX + 1];
    size_t length = flat->lists.offsets[query + 1] - flat->lists.offsets[query];
    uint32_t range = 0;
    memset(flat->found[query], 0, sizeof flat->found[query]);
    for (unsigned s = 0; s < flat->series_count; s++) {
        const struct series *series = &flat->series[s];
        size_t count = measuring_others(&own->truth, flat->first + query,
                                        own->sample[flat->first + query], series->k, truth);
        if (series->begin >= series->end)
            continue;
        find_places(flat, query, truth, count, places);
        if (!(series->flags & RECALL_WITH_MARGINS)) {
            count_places(series, places, count, places[count].place, flat->found[query][s]);
            continue;
        }
        if (range == 0)
            TRY(grade_list(flat, query, length, counter, &range, error));
        count_ties(counter, range, places, count + 1);
        count_ranks(series, counter, length, range, places, count, flat->found[query][s]);
    }
    return COG_OK;
}

static cog_status count_queries(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    struct counter counter = {0};
    cog_status status = COG_OK;
    for (size_t query = begin; query < end && status == COG_OK; query++)
        status = count_query(context, query, &counter, error);
    FREE(counter.finer, counter.counts);
    return status;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Searches for some queries from `first` on; *count is their number. */
static cog_status ask(struct flat_recall *flat, size_t *count, cog_error *error) {
    const struct measuring *own = flat->own;
    const struct signatures_view *all = &own->signatures;
    const cog_knobs none = {0};
    *count = measuring_at_once(own, flat->first, flat->length);
    const struct signatures_view queries = {signature_row(all, flat->first), *count, all->bits,
                                            all->stride_bytes};
    struct method_search asked = {.rows = {.signatures = &own->segment->signatures},
                                  .queries = {.signatures = &queries},
                                  .k = flat->length + 1,
                                  .knobs = &none,
                                  .threads = own->threads};
    return method_of(method_exhaustive(false))->search(NULL, &asked, &flat->lists, error);
}

static void tally(struct flat_recall *flat, size_t queries) {
    const struct measuring *own = flat->own;
    struct match truth[RECALL_NEIGHBOURS_MAX];
    for (unsigned s = 0; s < flat->series_count; s++)
        for (size_t query = 0; query < queries; query++) {
            struct series *series = &flat->series[s];
            size_t place = flat->first + query;
            size_t count =
                measuring_others(&own->truth, place, own->sample[place], series->k, truth);
            for (unsigned step = series->begin; step < series->end; step++)
                share_tally_add(&series->tallies[step], flat->found[query][s][step], count);
        }
}

/* Measures all queries with lists of the current length. */
static cog_status measure_lists(struct flat_recall *flat, cog_error *error) {
    cog_status status = COG_OK;
    for (flat->first = 0; flat->first < flat->own->count && status == COG_OK;) {
        size_t queries = 0;
        status = ask(flat, &queries, error);
        THEN(status, parallel_for(flat->own->threads, queries, GRAIN, count_queries, flat, error));
        if (status == COG_OK)
            tally(flat, queries);
        hit_lists_free(&flat->lists);
        flat->first += queries;
    }
    return status;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Finds the efforts for which lists of this length suffice; false if nothing is left to measure. */
static bool plan_steps(struct flat_recall *flat) {
    bool is_left = false;
    for (unsigned s = 0; s < flat->series_count; s++) {
        struct series *series = &flat->series[s];
        series->begin = series->end;
        for (; series->end < series->steps; series->end++) {
            size_t candidates = candidates_of(series, series->end);
            size_t needed =
                series->flags & RECALL_WITH_MARGINS ? recall_proposed(candidates) : candidates;
            if (needed > flat->length && flat->length < flat->own->segment->rows)
                break;
        }
        is_left |= series->end < series->steps || series->begin < series->end;
    }
    return is_left;
}

/* Drops efforts beyond one that found nearly all. */
static void end_series(struct flat_recall *flat) {
    for (unsigned s = 0; s < flat->series_count; s++) {
        struct series *series = &flat->series[s];
        for (unsigned step = series->begin; step < series->end; step++) {
            const struct share_tally *tally = &series->tallies[step];
            if (tally->units == 0)
                series->steps = series->end = step;
            else if ((double)tally->hits >= RECALL_NEARLY_ALL * (double)tally->trials)
                series->steps = series->end = step + 1;
        }
    }
}

static void start_series(struct flat_recall *flat) {
    const struct measuring *own = flat->own;
    const struct search_method *method = method_of(method_exhaustive(false));
    for (uint32_t k = 1; (k = recall_measured_k(k)); k++)
        for (unsigned with_margins = 0; with_margins <= (own->margins != NULL); with_margins++) {
            struct series *series = &flat->series[flat->series_count++];
            series->flags = RECALL_OF_COSINES | (with_margins ? RECALL_WITH_MARGINS : 0);
            series->k = k;
            series->steps = measuring_steps(own, method, series->flags, k);
            series->steps = series->steps < STEPS_MAX ? series->steps : STEPS_MAX;
        }
}

cog_status measure_flat(struct measuring *own, cog_error *error) {
    struct flat_recall flat = {.own = own, .length = FIRST_LIST};
    const struct search_method *method = method_of(method_exhaustive(false));
    start_series(&flat);
    TAKE(flat.found, own->count + 1, "measures of recall", error);
    cog_status status = COG_OK;
    for (; status == COG_OK && plan_steps(&flat); flat.length *= LIST_TIMES) {
        status = measure_lists(&flat, error);
        if (status == COG_OK)
            end_series(&flat);
    }
    for (unsigned s = 0; s < flat.series_count; s++)
        for (unsigned step = 0; step < flat.series[s].steps && status == COG_OK; step++)
            status = measuring_add(own, method, flat.series[s].flags, flat.series[s].k, step,
                                   &flat.series[s].tallies[step], error);
    free(flat.found);
    return status;
}
