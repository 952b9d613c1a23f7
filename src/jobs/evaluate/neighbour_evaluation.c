#include "jobs/evaluate/neighbour_evaluation.h"

#include <stdlib.h>
#include <string.h>

#include "base/io/files.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "input/parallel/line_source.h"
#include "jobs/index/index_job.h"
#include "plan/sampled_truth.h"

double cumulative_distance_ratio(const struct match *truth, size_t truth_count,
                                 const struct match *found, size_t found_count, size_t p,
                                 uint32_t missing_distance) {
    if (p > truth_count)
        p = truth_count;
    uint64_t true_sum = 0, found_sum = 0;
    double ratios = 0;
    for (size_t i = 0; i < p; i++) {
        true_sum += truth[i].distance;
        found_sum += i < found_count ? found[i].distance : missing_distance;
        ratios += found_sum ? (double)true_sum / (double)found_sum : 1;
    }
    return p ? ratios / (double)p : 1;
}

/* The hits of a query, in order. */
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
};

static void evaluate_query(struct evaluation *evaluation, struct answer truth,
                           struct answer found) {
    size_t k = evaluation->k;
    truth.count = truth.count < k ? truth.count : k;
    found.count = found.count < k ? found.count : k;
    evaluation->queries++;
    recall_count_nearest(truth.items, truth.count, found.items, found.count,
                         evaluation->has_distances ? RECALL_BY_DISTANCE : RECALL_BY_SIMILARITY,
                         &evaluation->tally);
    if (evaluation->has_distances)
        evaluation->cdr_sum += cumulative_distance_ratio(
            truth.items, truth.count, found.items, found.count, k, evaluation->missing_distance);
}

static cog_neighbour_quality quality_of(const struct evaluation *evaluation) {
    double queries = evaluation->queries ? (double)evaluation->queries : 1;
    return (cog_neighbour_quality){.queries = evaluation->queries,
                                   .k = evaluation->k,
                                   .recall = measured_share(&evaluation->tally).share,
                                   .cdr = !evaluation->has_distances ? -1
                                          : evaluation->queries      ? evaluation->cdr_sum / queries
                                                                     : 1};
}

static struct answer answer_of(const struct hit_lists *lists, size_t query) {
    return (struct answer){lists->items + lists->offsets[query],
                           lists->offsets[query + 1] - lists->offsets[query]};
}

void evaluate_hits(const struct hit_lists *found, const struct hit_lists *truth, size_t k,
                   bool has_distances, uint32_t missing_distance, cog_neighbour_quality *quality) {
    struct evaluation evaluation = {
        .k = k, .has_distances = has_distances, .missing_distance = missing_distance};
    for (size_t query = 0; query < truth->queries; query++)
        evaluate_query(&evaluation, answer_of(truth, query), answer_of(found, query));
    *quality = quality_of(&evaluation);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A line of a result. The ids of query and row point into the mapped file. */
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
    bool estimates; /* the header names the values as estimates */
};

static void listed_hits_free(struct listed_hits *list) {
    mapping_close(&list->mapping);
    free(list->items);
}

static bool parse_line(struct bytes_view line, struct listed_hits *list,
                       struct listed_hit *listed) {
    double rank, similarity, distance = 0;
    listed->query = take_field(&line, '\t');
    struct bytes_view rank_field = take_field(&line, '\t');
    listed->id = take_field(&line, '\t');
    struct bytes_view similarity_field = take_field(&line, '\t'),
                      distance_field = take_field(&line, '\t');
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
    int order = view_compare(&x->query, &y->query);
    return order ? order : ORDER(x->line, y->line);
}

static void read_header(struct bytes_view line, struct listed_hits *list) {
    for (int column = 0; column < 3; column++)
        take_field(&line, '\t');
    struct bytes_view measure = take_field(&line, '\t');
    list->estimates = view_is(measure, "estimate");
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
        GROW(list->items, list->capacity, list->count + 1, "hits", error);
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

/* Copies at most k hits of the query at *at, and advances *at past all of its hits. */
static struct answer take_answer(const struct listed_hits *list, size_t *at, struct match *items,
                                 size_t k) {
    struct answer answer = {items, 0};
    struct bytes_view query = list->items[*at].query;
    for (; *at < list->count && view_compare(&list->items[*at].query, &query) == 0; ++*at)
        if (answer.count < k)
            items[answer.count++] = list->items[*at].hit;
    return answer;
}

/* Assigns each found row its value from the truth. A row that is not in the truth can at best tie
 * with its last row; if the two files have different kinds of values, it is a miss. */
static cog_status judge_hits(const struct evaluation *evaluation, const struct listed_hits *found,
                             size_t found_first, const struct listed_hits *truth,
                             size_t truth_first, size_t truth_end, struct answer ours,
                             struct match *items, cog_error *error) {
    static const float rounding = 1.5e-6f; /* with six decimals */
    const struct match *last = &truth->items[truth_end - 1].hit;
    for (size_t i = 0; i < ours.count; i++) {
        const struct listed_hit *listed = &found->items[found_first + i];
        size_t t = truth_first;
        while (t < truth_end && view_compare(&truth->items[t].id, &listed->id) != 0)
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
            return error_set_at(
                error, COG_ERR_INPUT, listed->line,
                "%s:%llu: '%.*s' is nearer than the last that %s lists for this "
                "query but is not in that list: the files do not answer the same question",
                found->path, (unsigned long long)listed->line, (int)listed->id.size,
                listed->id.data, truth->path);
    }
    return COG_OK;
}

/* Goes through both lists in the order of the queries. */
static cog_status evaluate_lists(struct evaluation *evaluation, const struct listed_hits *found,
                                 const struct listed_hits *truth, cog_error *error) {
    const size_t most = found->count > truth->count ? found->count : truth->count;
    const size_t k = evaluation->k < most ? evaluation->k : most;
    struct match *items;
    size_t at = 0;
    TAKE(items, 2 * k + 1, "neighbours", error);
    cog_status status = COG_OK;
    for (size_t i = 0; i < truth->count && status == COG_OK;) {
        struct bytes_view query = truth->items[i].query;
        size_t truth_first = i;
        struct answer right = take_answer(truth, &i, items, k), ours = {items + k, 0};
        while (at < found->count && view_compare(&found->items[at].query, &query) < 0)
            at++;
        size_t found_first = at;
        if (at < found->count && view_compare(&found->items[at].query, &query) == 0)
            ours = take_answer(found, &at, items + k, k);
        status = judge_hits(evaluation, found, found_first, truth, truth_first, i, ours, items + k,
                            error);
        if (status == COG_OK)
            evaluate_query(evaluation, right, ours);
    }
    free(items);
    return status;
}

cog_status evaluate_neighbour_files(const char *found_path, const char *truth_path, size_t k,
                                    uint32_t missing_distance, cog_neighbour_quality *quality,
                                    cog_error *error) {
    struct listed_hits found = {0}, truth = {0};
    struct evaluation evaluation = {.k = k, .missing_distance = missing_distance};
    cog_status status = listed_hits_read(found_path, &found, error);
    THEN(status, listed_hits_read(truth_path, &truth, error));
    if (status == COG_OK && truth.count == 0)
        status = error_set(error, COG_ERR_INPUT, "%s: no results to measure against", truth_path);
    evaluation.has_distances = found.has_distances && truth.has_distances;
    THEN(status, evaluate_lists(&evaluation, &found, &truth, error));
    *quality = quality_of(&evaluation);
    listed_hits_free(&found);
    listed_hits_free(&truth);
    return status;
}
