/* Candidates by signatures: exhaustively, or by slice lists. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/flat.h"
#include "job/search_task.h"

static cog_status take_flat(const struct flat_results *results, struct hit_lists *lists,
                            cog_error *error) {
    size_t total = results->offsets[results->queries];
    cog_status status = hit_lists_init(lists, results->queries, total, error);
    if (status != COG_OK)
        return status;
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
    if (status == COG_OK)
        status = take_flat(&results, lists, error);
    flat_results_free(&results);
    return status;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

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

/* How far to read for a wanted recall@10, as measured in docs/index.md. */
static struct slices_request usual_request(const struct signature_search *search) {
    static const struct {
        double recall;
        unsigned expand, admit;
        size_t probes;
    } steps[] = {{0.85, 2, 2, 2000}, {0.95, 3, 3, 16000}, {1, 4, 4, 64000}};
    size_t step = 0;
    while (search->recall > steps[step].recall)
        step++;
    return (struct slices_request){
        .expand = steps[step].expand, .admit = steps[step].admit, .probes = steps[step].probes};
}

static cog_status search_slices(struct signature_search *search, const struct segment *segment,
                                size_t k, struct hit_lists *lists, cog_error *error) {
    size_t queries = search->queries->rows;
    struct slices_request request = usual_request(search);
    request.k = k;
    request.radius_bits = search->radius_bits;
    request.certain = search->recall >= 1;
    if (search->expand >= 0) {
        request.expand = request.admit = (unsigned)search->expand;
        request.probes = 0;
    }
    if (search->admit >= 0)
        request.admit = (unsigned)search->admit;
    struct slices_collection collection = {
        memory_zeroed_array(queries + 1, sizeof *collection.answers)};
    if (!collection.answers)
        return error_memory(error, queries * sizeof *collection.answers, "answers");
    cog_status status =
        slices_search_all(&segment->slices, &segment->signatures, search->queries, search->weights,
                          &request, search->threads, collect_answer, &collection, error);
    if (status == COG_OK)
        status = take_answers(search, collection.answers, lists, error);
    for (size_t query = 0; query < queries; query++)
        free((void *)collection.answers[query].hits);
    free(collection.answers);
    return status;
}

/* A segment without lists is small: it is searched exhaustively. */
static cog_status search_segment(void *context, size_t part, size_t k, struct hit_lists *lists,
                                 cog_error *error) {
    struct signature_search *search = context;
    const struct segment *segment = &search->index->parts.segments[part];
    return search->method == COG_METHOD_SLICES && segment->slices.offsets
               ? search_slices(search, segment, k, lists, error)
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
