/* Recall@k and CDR@k of neighbours that were found beside the true ones, from files or from memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "jobs/evaluate/neighbour_measures.h"
#include "jobs/search/search_job.h"
#include "jobs/search/segment_hits.h"
#include "plan/sampled_truth.h"

/* One answer: the hits of a query, in their order. */
struct answer {
    const struct match *items;
    size_t count;
};

struct evaluation {
    size_t k, queries;
    bool has_distances;
    uint32_t missing_distance;
    struct share_tally tally;
    double cdr_sum;
    struct neighbour *truth, *found; /* k each */
};

static cog_status evaluation_start(struct evaluation *evaluation, size_t k, cog_error *error) {
    evaluation->k = k;
    evaluation->truth = memory_array(k + 1, sizeof *evaluation->truth);
    evaluation->found = memory_array(k + 1, sizeof *evaluation->found);
    return evaluation->truth && evaluation->found
               ? COG_OK
               : error_memory(error, k * sizeof *evaluation->truth, "neighbours");
}

static size_t copy_neighbours(struct answer answer, size_t k, struct neighbour *neighbours) {
    size_t count = answer.count < k ? answer.count : k;
    for (size_t i = 0; i < count; i++)
        neighbours[i] = (struct neighbour){answer.items[i].b, answer.items[i].distance};
    return count;
}

static void evaluate_query(struct evaluation *evaluation, struct answer truth,
                           struct answer found) {
    size_t k = evaluation->k;
    truth.count = truth.count < k ? truth.count : k;
    found.count = found.count < k ? found.count : k;
    evaluation->queries++;
    recall_count_nearest(truth.items, truth.count, found.items, found.count,
                         evaluation->has_distances ? RECALL_BY_DISTANCE : RECALL_BY_SIMILARITY,
                         &evaluation->tally);
    if (!evaluation->has_distances)
        return;
    size_t true_count = copy_neighbours(truth, k, evaluation->truth);
    size_t found_count = copy_neighbours(found, k, evaluation->found);
    evaluation->cdr_sum +=
        cumulative_distance_ratio(evaluation->truth, true_count, evaluation->found, found_count, k,
                                  evaluation->missing_distance);
}

static void evaluation_finish(struct evaluation *evaluation, cog_neighbour_quality *quality) {
    *quality = (cog_neighbour_quality){.queries = evaluation->queries,
                                       .k = evaluation->k,
                                       .recall = measured_share(&evaluation->tally).share,
                                       .cdr = -1};
    if (evaluation->has_distances)
        quality->cdr = evaluation->queries ? evaluation->cdr_sum / (double)evaluation->queries : 1;
    free(evaluation->truth);
    free(evaluation->found);
}

/* ---- In memory ------------------------------------------------------------------------------- */

static struct answer answer_of(const struct hit_lists *lists, size_t query) {
    return (struct answer){lists->items + lists->offsets[query],
                           lists->offsets[query + 1] - lists->offsets[query]};
}

cog_status cog_evaluate_hits(const cog_hits *found, const cog_hits *truth, size_t k,
                             cog_neighbour_quality *quality, cog_error *error) {
    if (found->lists.queries != truth->lists.queries)
        return error_set(error, COG_ERR_USAGE, "answers to %zu and to %zu %s do not compare",
                         found->lists.queries, truth->lists.queries,
                         plural(truth->lists.queries, "query", "queries"));
    struct evaluation evaluation = {.has_distances = found->has_distances && truth->has_distances,
                                    .missing_distance = index_bits(truth->index)};
    cog_status status = evaluation_start(&evaluation, k, error);
    for (size_t query = 0; status == COG_OK && query < truth->lists.queries; query++)
        evaluate_query(&evaluation, answer_of(&truth->lists, query),
                       answer_of(&found->lists, query));
    evaluation_finish(&evaluation, quality);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A line of a result: the ids of query and row in the map, and the hit. */
struct listed_hit {
    struct bytes_view query, id;
    uint64_t line;
    struct match hit;
};

struct listed_hits {
    const char *path;
    struct mapping mapping;
    struct listed_hit *items;
    size_t count, capacity;
    bool has_distances;
    bool estimates; /* as the header says */
};

static void listed_hits_free(struct listed_hits *list) {
    mapping_close(&list->mapping);
    free(list->items);
}

/* The next of the tab-separated fields of a line. */
static struct bytes_view next_field(struct bytes_view *line) {
    const char *tab = line->size ? memchr(line->data, '\t', line->size) : NULL;
    struct bytes_view field = view_of(line->data, tab ? (size_t)(tab - line->data) : line->size);
    size_t taken = field.size + (tab != NULL);
    *line = view_of(line->data + taken, line->size - taken);
    return field;
}

static bool parse_line(struct bytes_view line, struct listed_hits *list,
                       struct listed_hit *listed) {
    double rank, similarity, distance = 0;
    listed->query = next_field(&line);
    struct bytes_view rank_field = next_field(&line);
    listed->id = next_field(&line);
    struct bytes_view similarity_field = next_field(&line), distance_field = next_field(&line);
    bool no_distance = distance_field.size == 1 && distance_field.data[0] == '-';
    if (!number_parse(rank_field, &rank) || !number_parse(similarity_field, &similarity) ||
        (!no_distance && !number_parse(distance_field, &distance)) || distance < 0 ||
        distance > UINT16_MAX)
        return false;
    list->has_distances &= !no_distance;
    listed->hit = (struct match){.distance = (uint32_t)distance, .similarity = (float)similarity};
    return true;
}

static int by_query(const void *a, const void *b) {
    const struct listed_hit *x = a, *y = b;
    int order = index_compare_ids(&x->query, &y->query);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void read_header(struct bytes_view line, struct listed_hits *list) {
    for (int column = 0; column < 3; column++)
        next_field(&line);
    struct bytes_view measure = next_field(&line);
    list->estimates = measure.size == 8 && memcmp(measure.data, "estimate", 8) == 0;
}

static cog_status read_lines(struct listed_hits *list, cog_error *error) {
    const char *at = (const char *)list->mapping.data, *end = at + list->mapping.size;
    for (uint64_t number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct bytes_view line = view_of(at, (size_t)((stop ? stop : end) - at));
        at = stop ? stop + 1 : end;
        if (number == 1 && line.size > 6 && memcmp(line.data, "query\t", 6) == 0) {
            read_header(line, list);
            continue;
        }
        if (!memory_grow((void **)&list->items, &list->capacity, list->count + 1,
                         sizeof *list->items))
            return error_memory(error, list->count * sizeof *list->items, "hits");
        struct listed_hit *listed = &list->items[list->count++];
        listed->line = number;
        if (!parse_line(line, list, listed))
            return error_set_at(error, COG_ERR_INPUT, number,
                                "%s:%llu: not a line of search results (query, rank, id, "
                                "similarity, distance)",
                                list->path, (unsigned long long)number);
    }
    return COG_OK;
}

static cog_status listed_hits_read(const char *path, struct listed_hits *list, cog_error *error) {
    list->path = path;
    list->has_distances = true;
    cog_status status = mapping_open(path, &list->mapping, error);
    if (status == COG_OK && list->mapping.size)
        status = read_lines(list, error);
    if (status == COG_OK && list->count)
        qsort(list->items, list->count, sizeof *list->items, by_query);
    return status;
}

/* The hits of the query at *at, copied; *at moves behind them. */
static struct answer take_answer(const struct listed_hits *list, size_t *at, struct match *items,
                                 size_t k) {
    struct answer answer = {items, 0};
    struct bytes_view query = list->items[*at].query;
    for (; *at < list->count && index_compare_ids(&list->items[*at].query, &query) == 0; ++*at)
        if (answer.count < k)
            items[answer.count++] = list->items[*at].hit;
    return answer;
}

/* A found row is worth what the truth says of it. One that the truth does not list can tie with its
 * last at best; where its own value is of another kind, it is a miss. */
static cog_status judge_hits(const struct evaluation *evaluation, const struct listed_hits *found,
                             size_t found_first, const struct listed_hits *truth,
                             size_t truth_first, size_t truth_end, struct answer ours,
                             struct match *items, cog_error *error) {
    static const float rounding = 1.5e-6f; /* of six decimals */
    const struct match *last = &truth->items[truth_end - 1].hit;
    for (size_t i = 0; i < ours.count; i++) {
        const struct listed_hit *listed = &found->items[found_first + i];
        size_t t = truth_first;
        while (t < truth_end && index_compare_ids(&truth->items[t].id, &listed->id) != 0)
            t++;
        if (t < truth_end) {
            items[i] = truth->items[t].hit;
            continue;
        }
        if (found->estimates != truth->estimates) {
            items[i] = (struct match){.distance = evaluation->missing_distance, .similarity = -2};
            continue;
        }
        bool is_nearer = evaluation->has_distances
                             ? items[i].distance < last->distance
                             : items[i].similarity > last->similarity + rounding;
        if (is_nearer)
            return error_set_at(error, COG_ERR_INPUT, listed->line,
                                "%s:%llu: '%.*s' is nearer than the last that %s lists for this "
                                "query, and not in it: these are not answers to one question",
                                found->path, (unsigned long long)listed->line, (int)listed->id.size,
                                listed->id.data, truth->path);
    }
    return COG_OK;
}

/* Walks both lists in the order of the queries. */
static cog_status evaluate_lists(struct evaluation *evaluation, const struct listed_hits *found,
                                 const struct listed_hits *truth, cog_error *error) {
    size_t k = evaluation->k, at = 0;
    struct match *items = memory_array(2 * k + 1, sizeof *items);
    if (!items)
        return error_memory(error, 2 * k * sizeof *items, "neighbours");
    cog_status status = COG_OK;
    for (size_t i = 0; i < truth->count && status == COG_OK;) {
        struct bytes_view query = truth->items[i].query;
        size_t truth_first = i;
        struct answer right = take_answer(truth, &i, items, k), ours = {items + k, 0};
        while (at < found->count && index_compare_ids(&found->items[at].query, &query) < 0)
            at++;
        size_t found_first = at;
        if (at < found->count && index_compare_ids(&found->items[at].query, &query) == 0)
            ours = take_answer(found, &at, items + k, k);
        status = judge_hits(evaluation, found, found_first, truth, truth_first, i, ours, items + k,
                            error);
        if (status == COG_OK)
            evaluate_query(evaluation, right, ours);
    }
    free(items);
    return status;
}

cog_status cog_evaluate_neighbour_files(const char *found_path, const char *truth_path, size_t k,
                                        uint32_t missing_distance_bits,
                                        cog_neighbour_quality *quality, cog_error *error) {
    struct listed_hits found = {0}, truth = {0};
    struct evaluation evaluation = {.missing_distance = missing_distance_bits};
    cog_status status = listed_hits_read(found_path, &found, error);
    THEN(status, listed_hits_read(truth_path, &truth, error));
    if (status == COG_OK && truth.count == 0)
        status = error_set(error, COG_ERR_INPUT, "%s: no results to measure against", truth_path);
    evaluation.has_distances = found.has_distances && truth.has_distances;
    THEN(status, evaluation_start(&evaluation, k, error));
    THEN(status, evaluate_lists(&evaluation, &found, &truth, error));
    evaluation_finish(&evaluation, quality);
    listed_hits_free(&found);
    listed_hits_free(&truth);
    return status;
}
