#include "search/columns/columns_search.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "hamming/hamming.h"
#include "search/hits/nearby_rows.h"
#include "search/hits/query_batch.h"

enum { AHEAD = 16 }; /* places whose rows are prefetched */

struct columns_searcher {
    const struct signatures_view *signatures;
    struct column_counts counts;
    uint32_t *chosen;
    uint16_t *distances;
    size_t chosen_capacity, distance_capacity;
    struct neighbour *hits;
    size_t hit_capacity;
    struct topk nearest;
};

cog_status columns_searcher_create(const struct columns_view *view,
                                   const struct signatures_view *signatures,
                                   struct columns_searcher **result, cog_error *error) {
    const struct clusters_view *clusters = &view->clusters;
    if (clusters->rows != signatures->rows || clusters->bits != signatures->bits)
        return error_set(
            error, COG_ERR_USAGE,
            "columns of %zu rows of %u bits do not belong to %zu signatures of %u bits",
            clusters->rows, clusters->bits, signatures->rows, signatures->bits);
    struct columns_searcher *searcher;
    TAKE_ZEROED(searcher, 1, "a searcher", error);
    searcher->signatures = signatures;
    cog_status status = column_counts_init(&searcher->counts, view, error);
    return HAND_OUT(status, searcher, columns_searcher_free, result);
}

void columns_searcher_free(struct columns_searcher *searcher) {
    if (!searcher)
        return;
    column_counts_free(&searcher->counts);
    FREE(searcher->chosen, searcher->distances, searcher->hits);
    topk_free(&searcher->nearest);
    free(searcher);
}

static cog_status reserve(struct columns_searcher *searcher, size_t rows, size_t k,
                          cog_error *error) {
    struct topk *nearest = &searcher->nearest;
    GROW(searcher->chosen, searcher->chosen_capacity, rows, "the candidates of a query", error);
    GROW(searcher->distances, searcher->distance_capacity, rows, "the candidates of a query",
         error);
    GROW(searcher->hits, searcher->hit_capacity, k, "the candidates of a query", error);
    if (nearest->items && nearest->k == k)
        return COG_OK;
    topk_free(nearest);
    return topk_init(nearest, k, searcher->signatures->bits, error);
}

/* Lists rows whose counts are within the threshold, up to the capacity. Some places have no row,
 * and a damaged order may name rows that do not exist. */
static size_t select_rows(struct columns_searcher *searcher, int threshold, size_t capacity) {
    const struct clusters_view *clusters = &searcher->counts.view->clusters;
    size_t count = column_counts_select(&searcher->counts, threshold, searcher->chosen, capacity),
           found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&clusters->order[searcher->chosen[i + AHEAD]]);
        uint32_t row = clusters->order[searcher->chosen[i]];
        searcher->chosen[found] = row;
        found += row < clusters->rows;
    }
    return found;
}

/* Rows of the least counts: up to twice the wanted number, but never fewer than k. The rows of a
 * count that would pass that number are left out; if fewer than k remain, there is room for all
 * places up to the first threshold that has k rows. */
static cog_status choose_rows(struct columns_searcher *searcher, size_t wanted, size_t k,
                              size_t *chosen, int *limit, cog_error *error) {
    struct column_counts *counts = &searcher->counts;
    const size_t places = counts->view->clusters.groups * CLUSTER_GROUP;
    int threshold = *limit = column_counts_threshold(counts, 2 * wanted);
    *chosen = select_rows(searcher, threshold, 2 * wanted);
    if (*chosen >= k)
        return COG_OK;
    TRY(reserve(searcher, places, k, error));
    while (*chosen < k && threshold < (int)counts->reading.count)
        *chosen = select_rows(searcher, ++threshold, places);
    return COG_OK;
}

/* ---- What is covered ------------------------------------------------------------------------- */

/* The probability that a row of this cosine differs in at most `limit` of the columns: a bit whose
 * sum has the margin m, in units of the sums' deviation, differs if a normal deviate exceeds m cos
 * / sin. */
static double probability_within_limit(const struct column_reading *reading, const float *margins,
                                       double deviation, double cosine, int limit) {
    const double slope = cosine / sqrt(2 * (1 - cosine * cosine)) / deviation;
    double mean = 0, variance = 0;
    for (unsigned i = 0; i < reading->count; i++) {
        double p = 0.5 * erfc(fabs((double)margins[reading->bits[i]]) * slope);
        mean += p;
        variance += p * (1 - p);
    }
    return 0.5 * erfc((mean - 0.5 - limit) / sqrt(2 * variance + 1e-12));
}

/* The least cosine of the rows that are chosen with the probability; 2 if there is none. */
static double covered_cosine(const struct columns_searcher *searcher, const float *margins,
                             int limit, double recall) {
    enum { HALVINGS = 10 };
    const struct column_reading *reading = &searcher->counts.reading;
    const unsigned bits = searcher->signatures->bits;
    double low = 0, high = 0.999, square = 0;
    for (unsigned bit = 0; bit < bits; bit++)
        square += (double)margins[bit] * (double)margins[bit];
    const double deviation = sqrt(square / bits);
    if (!(deviation > 0) ||
        probability_within_limit(reading, margins, deviation, high, limit) < recall)
        return 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (probability_within_limit(reading, margins, deviation, middle, limit) < recall)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* ---- Searching ------------------------------------------------------------------------------- */

/* Rows to count: what the request asks for, but enough to choose from. */
static size_t rows_to_count(const struct columns_request *request, size_t wanted, size_t rows) {
    size_t count = request->share < 1 ? (size_t)(request->share * (double)rows) : rows;
    return count > wanted ? count : wanted;
}

cog_status columns_search(struct columns_searcher *searcher, const uint8_t *query,
                          const struct columns_request *request, struct query_answer *answer,
                          cog_error *error) {
    size_t rows = searcher->signatures->rows;
    size_t k = request->k < rows ? request->k : rows;
    size_t wanted = request->verify > k ? request->verify : k;
    *answer = (struct query_answer){.exact = rows == 0};
    if (rows == 0)
        return COG_OK;
    wanted = wanted < rows ? wanted : rows;
    TRY(reserve(searcher, 2 * wanted, k, error));
    size_t count = 0, counted = rows_to_count(request, wanted, rows);
    int limit;
    column_counts_make(&searcher->counts, query, request->weights, request->columns, counted);
    TRY(choose_rows(searcher, wanted, k, &count, &limit, error));
    if (count < k && counted < rows) { /* the chosen groups have empty places */
        column_counts_make(&searcher->counts, query, request->weights, request->columns, rows);
        TRY(choose_rows(searcher, wanted, k, &count, &limit, error));
    }
    hamming_gather(searcher->signatures, query, searcher->chosen, count, searcher->distances);
    for (size_t i = 0; i < count; i++)
        topk_add(&searcher->nearest, searcher->chosen[i], searcher->distances[i]);
    answer->hits = searcher->hits;
    answer->count = topk_finish(&searcher->nearest, searcher->hits);
    answer->exact = count == rows;
    if (request->covered_recall > 0 && !answer->exact)
        answer->covered = request->weights ? covered_cosine(searcher, request->weights, limit,
                                                            request->covered_recall)
                                           : 2;
    answer->verified = count;
    if (!answer->exact)
        answer->count = nearby_rows_find(searcher->signatures, query, searcher->hits, answer->count,
                                         k, &answer->verified);
    return COG_OK;
}

/* ---- Many queries ---------------------------------------------------------------------------- */

static cog_status create_searcher(const void *context, void **searcher, cog_error *error) {
    const struct columns_batch *batch = context;
    return columns_searcher_create(batch->view, batch->signatures,
                                   (struct columns_searcher **)searcher, error);
}

static cog_status search_one(const void *context, void *searcher, const uint8_t *query,
                             const float *margins, struct query_answer *answer, cog_error *error) {
    struct columns_request request = ((const struct columns_batch *)context)->request;
    request.weights = margins;
    return columns_search(searcher, query, &request, answer, error);
}

static void release_searcher(void *searcher) {
    columns_searcher_free(searcher);
}

const struct query_searching columns_searching = {create_searcher, search_one, release_searcher};
