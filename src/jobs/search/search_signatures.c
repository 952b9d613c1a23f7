/* Candidates by signatures: exhaustively, by slice lists, or by columns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/search/search_short.h"
#include "search/columns/columns_search.h"
#include "search/flat/flat.h"

static cog_status take_flat(const struct flat_results *results, struct hit_lists *lists,
                            cog_error *error) {
    size_t total = results->offsets[results->queries];
    TRY(hit_lists_init(lists, results->queries, total, error));
    for (size_t query = 0; query < results->queries; query++) {
        for (size_t i = results->offsets[query]; i < results->offsets[query + 1]; i++)
            lists->items[i] = (struct match){.a = (uint32_t)query,
                                             .b = results->items[i].row,
                                             .distance = results->items[i].distance};
        lists->offsets[query + 1] = results->offsets[query + 1];
    }
    return COG_OK;
}

static cog_status search_flat(const struct signature_search *search, const struct segment *segment,
                              size_t k, struct hit_lists *lists, cog_error *error) {
    struct flat_results results = {0};
    cog_status status =
        k ? flat_search_topk(&segment->signatures, search->queries, k, search->threads, &results,
                             error)
          : flat_search_radius(&segment->signatures, search->queries, search->radius_bits,
                               search->threads, &results, error);
    THEN(status, take_flat(&results, lists, error));
    flat_results_free(&results);
    return status;
}

/* ---- Slices and columns
 * ---------------------------------------------------------------------------------- */

/* Answers of slices as they come: each thread fills the places of its queries. */
struct slices_collection {
    struct slices_answer *answers; /* their hits are owned here */
};

static cog_status collect_answer(void *context, size_t query, const struct slices_answer *answer,
                                 cog_error *error) {
    struct slices_collection *collection = context;
    struct neighbour *hits = memory_array(answer->count + 1, sizeof *hits);
    if (!hits)
        return error_memory(error, answer->count * sizeof *hits, "the hits of a query");
    if (answer->count)
        memcpy(hits, answer->hits, answer->count * sizeof *hits);
    collection->answers[query] = *answer;
    collection->answers[query].hits = hits;
    return COG_OK;
}

static cog_status take_answers(struct signature_search *search, const struct slices_answer *answers,
                               struct hit_lists *lists, cog_error *error) {
    size_t queries = search->queries->rows, total = 0, at = 0;
    for (size_t query = 0; query < queries; query++)
        total += answers[query].count;
    cog_status status = hit_lists_init(lists, queries, total, error);
    for (size_t query = 0; query < queries && status == COG_OK; query++) {
        const struct slices_answer *answer = &answers[query];
        search->is_exact &= answer->exact;
        for (size_t i = 0; i < answer->count; i++)
            lists->items[at++] = (struct match){.a = (uint32_t)query,
                                                .b = answer->hits[i].row,
                                                .distance = answer->hits[i].distance};
        lists->offsets[query + 1] = at;
    }
    return status;
}

static struct slices_request slices_request_of(const struct signature_search *search, size_t k) {
    struct slices_request request = {.k = k,
                                     .radius_bits = search->radius_bits,
                                     .expand = search->effort.expand,
                                     .admit = search->effort.admit,
                                     .verify = search->effort.distances,
                                     .probes = search->effort.probes,
                                     .certain = search->certain};
    if (search->expand >= 0) {
        request.expand = request.admit = (unsigned)search->expand;
        request.probes = 0;
    }
    if (search->admit >= 0)
        request.admit = (unsigned)search->admit;
    return request;
}

/* By lists, or by columns. */
static cog_status search_by_method(struct signature_search *search, const struct segment *segment,
                                   size_t k, struct hit_lists *lists, cog_error *error) {
    size_t queries = search->queries->rows;
    struct slices_request by_lists = slices_request_of(search, k);
    struct columns_request by_columns = {.k = k,
                                         .share = search->effort.share,
                                         .columns = search->effort.columns,
                                         .verify = search->effort.distances};
    struct slices_collection collection = {
        memory_zeroed_array(queries + 1, sizeof *collection.answers)};
    if (!collection.answers)
        return error_memory(error, queries * sizeof *collection.answers, "answers");
    cog_status status =
        search->method == COG_METHOD_SLICES
            ? slices_search_all(&segment->slices, &segment->signatures, search->queries,
                                search->weights, &by_lists, search->threads, collect_answer,
                                &collection, error)
            : columns_search_all(&segment->columns, &segment->signatures, search->queries,
                                 search->weights, &by_columns, search->threads, collect_answer,
                                 &collection, error);
    THEN(status, take_answers(search, collection.answers, lists, error));
    for (size_t query = 0; query < queries; query++)
        free((void *)collection.answers[query].hits);
    free(collection.answers);
    return status;
}

/* A segment without what the method needs is small: it is searched exhaustively, as is a radius
 * that columns are asked for. */
static cog_status search_segment(void *context, size_t part, size_t k, struct hit_lists *lists,
                                 cog_error *error) {
    struct signature_search *search = context;
    const struct segment *segment = &search->index->parts.segments[part];
    bool by_method = search->method == COG_METHOD_COLUMNS  ? segment->columns.words && k
                     : search->method == COG_METHOD_SLICES ? segment->slices.offsets != NULL
                                                           : false;
    if (search_short_serves(search, segment))
        return search_short(search, part, lists, error);
    return by_method ? search_by_method(search, segment, k, lists, error)
                     : search_flat(search, segment, k, lists, error);
}

cog_status search_signatures(struct signature_search *search, struct hit_lists *lists,
                             cog_error *error) {
    search->is_exact = true;
    cog_status status = hit_lists_search(search->index, search->queries->rows, search->k,
                                         HITS_BY_DISTANCE, search_segment, search, lists, error);
    unsigned bits = search->queries->bits;
    for (size_t i = 0; status == COG_OK && i < lists->offsets[lists->queries]; i++)
        lists->items[i].similarity = (float)cos(M_PI * lists->items[i].distance / bits);
    return status;
}
