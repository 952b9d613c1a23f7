/* Candidates by signatures: exhaustively, by slice lists, or by columns. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/search/search_short.h"
#include "search/columns/columns_method.h"
#include "search/flat/flat_method.h"
#include "search/slices/slices_method.h"

/* By the method, or exhaustively. */
static cog_status search_by(const struct search_method *method, const void *tables,
                            struct signature_search *search, const struct segment *segment,
                            size_t k, struct hit_lists *lists, cog_error *error) {
    struct method_search asked = {
        .rows = {.signatures = &segment->signatures},
        .queries = {.signatures = search->queries, .margins = search->weights},
        .k = k,
        .radius_bits = search->radius_bits,
        .recall = search->certain ? 1 : search->recall,
        .effort = search->step,
        .candidates = search->effort.candidates,
        .knobs = search->knobs,
        .threads = search->threads};
    TRY(method->search(tables, &asked, lists, error));
    search->is_exact &= asked.is_exact_out;
    return COG_OK;
}

/* A segment without what the method needs is small: it is searched exhaustively, as is a radius
 * that columns are asked for. */
static cog_status search_segment(void *context, size_t part, size_t k, struct hit_lists *lists,
                                 cog_error *error) {
    struct signature_search *search = context;
    const struct segment *segment = &search->index->parts.segments[part];
    const struct slice_lists slices = {.view = segment->slices};
    const struct bit_columns columns = {.view = segment->columns};
    if (search_short_serves(search, segment))
        return search_short(search, part, lists, error);
    if (search->method == COG_METHOD_COLUMNS && segment->columns.words && k)
        return search_by(&columns_method, &columns, search, segment, k, lists, error);
    if (search->method == COG_METHOD_SLICES && segment->slices.offsets)
        return search_by(&slices_method, &slices, search, segment, k, lists, error);
    return search_by(&flat_method, NULL, search, segment, k, lists, error);
}

cog_status search_signatures(struct signature_search *search, struct hit_lists *lists,
                             cog_error *error) {
    search->is_exact = true;
    cog_status status = hit_lists_search(search->index, search->queries->rows, search->k,
                                         HITS_BY_DISTANCE, search_segment, search, lists, error);
    unsigned bits = search->queries->bits;
    for (size_t i = 0; status == COG_OK && i < lists->offsets[lists->queries]; i++)
        lists->items[i].similarity = (float)hamming_cosine(lists->items[i].distance, bits);
    return status;
}
