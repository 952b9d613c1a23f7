#include "jobs/search/search_segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/method_choice.h"
#include "search/hits/graded_query.h"

bool index_serves(const cog_index *index, const struct search_method *method) {
    bool serves = !method->build || (index->streamed && method->is_for_radius);
    for (size_t part = 0; !serves && part < index->parts.manifest.count; part++)
        serves = segment_tables(&index->parts.segments[part], method) != NULL;
    return serves;
}

/* Removes hits of removed rows and renumbers the others across the index. *is_short is true if a
 * query has fewer than k hits left although the segment has more rows. */
static void drop_removed(struct hit_lists *lists, const struct manifest_entry *entry,
                         uint64_t first_row, size_t k, size_t asked, bool *is_short) {
    size_t at = 0, begin = 0;
    *is_short = false;
    for (size_t query = 0; query < lists->queries; query++) {
        size_t end = lists->offsets[query + 1], first = at;
        for (size_t i = begin; i < end; i++) {
            struct match hit = lists->items[i];
            if (entry->removed_count && manifest_is_removed(entry, hit.b))
                continue;
            hit.b += (uint32_t)first_row;
            lists->items[at++] = hit;
        }
        *is_short |= k && at - first < k && end - begin == asked && asked < entry->rows;
        begin = end;
        lists->offsets[query + 1] = at;
    }
}

/* Searches one segment; rows of the hits are counted from its first. */
static cog_status search_tables(const cog_index *index, size_t part,
                                const struct search_method *method, struct method_search *asked,
                                struct hit_lists *lists, cog_error *error) {
    const struct segment *segment = &index->parts.segments[part];
    const void *tables = segment_tables(segment, method);
    const bool streams = index->streamed && method->is_for_radius;
    struct method_build streamed = {.radius_bits = asked->radius_bits,
                                    .knobs =
                                        index->streamed == method ? &index->streamed_knobs : NULL};
    if ((method->build && !tables && !streams) ||
        !(method->answers & (asked->k ? COG_ANSWERS_NEAREST : COG_ANSWERS_WITHIN))) {
        method = method_of(method_exhaustive(false));
        asked->scratch = NULL;
    }
    struct sparse_matrix vectors;
    asked->rows = segment_method_rows(segment);
    asked->rows.vectors = NULL;
    if (method->needs & NEEDS_VECTORS) {
        TRY(index_part_vectors(index, part, asked->threads, &vectors, error));
        asked->rows.vectors = &vectors;
    }
    asked->streamed = streams ? &streamed : NULL;
    return method->search(streams ? NULL : tables, asked, lists, error);
}

/* Applies the plan's choice for a segment. */
static void follow_plan(const struct search_plan *plan, size_t part, struct method_search *own,
                        const struct search_method **method) {
    const struct effort_choice *choice = &plan->parts[part];
    own->effort = choice->effort;
    own->candidates = choice->proposed;
    if (plan->of_cosines)
        own->k = choice->proposed;
    if (*method != choice->method)
        own->scratch = NULL;
    *method = choice->method;
}

/* Selects candidates among the proposed rows by the margins of the queries. */
static cog_status keep_candidates(const struct search_plan *plan, size_t part, uint64_t first_row,
                                  const struct method_search *asked, struct hit_lists *lists,
                                  cog_error *error) {
    if (!plan || !plan->of_cosines || !plan->parts[part].uses_margins)
        return COG_OK;
    return hits_keep_graded(lists, &asked->rows, &asked->queries, (uint32_t)first_row,
                            plan->parts[part].candidates, asked->threads, error);
}

/* If rows are removed, requests slightly more than k hits, and again more until k are left. */
static cog_status search_part(const cog_index *index, size_t part, uint64_t first_row,
                              const struct search_method *method, const struct search_plan *plan,
                              const struct query_parts *queries, struct method_search *all,
                              struct hit_lists *lists, cog_error *error) {
    enum { SPARE_HITS = 16 };
    const struct manifest_entry *entry = &index->parts.manifest.entries[part];
    struct method_search copy = *all, *asked = &copy;
    if (plan)
        follow_plan(plan, part, asked, &method);
    size_t k = asked->k;
    size_t spare = entry->removed_count < SPARE_HITS ? entry->removed_count : SPARE_HITS;
    for (;;) {
        bool is_short = false;
        struct method_search own = *asked;
        own.scratch = asked->scratch ? asked->scratch + part : NULL;
        own.queries = query_parts_of(queries, part);
        if (plan && !plan->parts[part].uses_margins)
            own.queries.margins = NULL;
        own.k = k < entry->rows - spare ? k + (k ? spare : 0) : entry->rows;
        own.first = asked->first && entry->removed_count == 0; /* the first may be removed */
        TRY(search_tables(index, part, method, &own, lists, error));
        drop_removed(lists, entry, first_row, k, own.k, &is_short);
        if (!is_short) {
            all->is_exact_out &= own.is_exact_out;
            all->compared_out += own.compared_out;
            all->chunks_out += own.chunks_out;
            return keep_candidates(plan, part, first_row, &own, lists, error);
        }
        hit_lists_free(lists);
        spare = spare * 4 < entry->removed_count ? spare * 4 : entry->removed_count;
    }
}

/* Merges the lists of all segments into one list per query. */
static cog_status merge_parts(const struct hit_lists *parts, size_t part_count, size_t queries,
                              size_t k, enum hit_order order, struct hit_lists *lists,
                              cog_error *error) {
    size_t total = 0, at = 0;
    for (size_t part = 0; part < part_count; part++)
        total += parts[part].offsets[queries];
    cog_status status = hit_lists_init(lists, queries, total, error);
    for (size_t query = 0; query < queries && status == COG_OK; query++) {
        size_t first = at;
        for (size_t part = 0; part < part_count; part++) {
            size_t begin = parts[part].offsets[query];
            size_t count = parts[part].offsets[query + 1] - begin;
            if (count)
                memcpy(lists->items + at, parts[part].items + begin, count * sizeof *lists->items);
            at += count;
        }
        hits_sort(lists->items + first, at - first, order);
        if (k && at - first > k)
            at = first + k;
        lists->offsets[query + 1] = at;
    }
    return status;
}

static bool all_have_hits(const struct hit_lists *lists) {
    for (size_t query = 0; query < lists->queries; query++)
        if (lists->offsets[query] == lists->offsets[query + 1])
            return false;
    return true;
}

cog_status search_segments(const cog_index *index, const struct search_method *method,
                           const struct search_plan *plan, const struct query_parts *queries,
                           struct method_search *asked, struct hit_lists *lists, cog_error *error) {
    bool of_vectors = method->needs & NEEDS_VECTORS;
    size_t count = index->parts.manifest.count, searched = 0;
    uint64_t first_row = 0;
    struct hit_lists *parts = memory_zeroed_array(count + 1, sizeof *parts);
    cog_status status = parts ? COG_OK : error_memory(error, count * sizeof *parts, "segments");
    asked->is_exact_out = true;
    asked->compared_out = asked->chunks_out = 0;
    plan = plan && plan->parts ? plan : NULL;
    for (size_t part = 0; part < count && status == COG_OK; part++) {
        const struct manifest_entry *entry = &index->parts.manifest.entries[part];
        if (entry->rows > entry->removed_count)
            status = search_part(index, part, first_row, method, plan, queries, asked,
                                 &parts[searched++], error);
        first_row += entry->rows;
        if (status == COG_OK && asked->first && searched && all_have_hits(&parts[searched - 1]))
            break;
    }
    size_t k = plan && plan->of_cosines ? 0 : asked->k;
    THEN(status, merge_parts(parts, searched, queries->queries, k,
                             of_vectors ? HITS_BY_SIMILARITY : HITS_BY_DISTANCE, lists, error));
    for (size_t part = 0; part < searched; part++)
        hit_lists_free(&parts[part]);
    free(parts);
    for (size_t i = 0; status == COG_OK && !of_vectors && i < lists->offsets[queries->queries]; i++)
        lists->items[i].similarity = (float)index_estimate(index, lists->items[i].distance);
    return status;
}

/* ---- Chosen rows ----------------------------------------------------------------------------- */

cog_status query_spread_init(struct query_spread *spread, const struct query_parts *queries,
                             cog_error *error) {
    *spread = (struct query_spread){0};
    return query_spread_fit(spread, queries, error);
}

cog_status query_spread_fit(struct query_spread *spread, const struct query_parts *queries,
                            cog_error *error) {
    size_t columns = 0;
    spread->queries = queries;
    spread->query = SIZE_MAX;
    spread->filled_count = 0;
    GROW(spread->starts, spread->start_capacity, queries->count + 1, "a query", error);
    GROW(spread->filled, spread->filled_capacity, queries->count + 1, "a query", error);
    GROW(spread->is_filled, spread->is_filled_capacity, queries->count + 1, "a query", error);
    memset(spread->is_filled, 0, queries->count + 1);
    for (size_t part = 0; part < queries->count; part++) {
        spread->starts[part] = columns;
        columns += queries->items[part].vectors.column_count;
    }
    if (columns < spread->value_capacity)
        return COG_OK;
    free(spread->values);
    spread->values = NULL;
    spread->value_capacity = 0;
    size_t room = columns + columns / 4 + 1;
    TRY(TAKEN_ZEROED(spread->values, room, "a query", error));
    spread->value_capacity = room;
    return COG_OK;
}

void query_spread_free(struct query_spread *spread) {
    FREE(spread->values, spread->starts, spread->filled, spread->is_filled);
    row_weights_free(&spread->row);
    *spread = (struct query_spread){0};
}

/* Writes, or clears, the columns of a segment. */
static void fill_part(struct query_spread *spread, const struct sparse_matrix *vectors, size_t part,
                      bool clear) {
    float *values = spread->values + spread->starts[part];
    for (uint64_t i = vectors->offsets[spread->query]; i < vectors->offsets[spread->query + 1]; i++)
        values[vectors->columns[i]] = clear ? 0 : vectors->values[i];
}

static cog_status spread_part(struct query_spread *spread, size_t part, cog_error *error) {
    const struct sparse_matrix *vectors;
    TRY(query_parts_vectors(spread->queries, part, &vectors, error));
    fill_part(spread, vectors, part, false);
    spread->is_filled[part] = 1;
    spread->filled[spread->filled_count++] = part;
    return COG_OK;
}

void query_spread_clear(struct query_spread *spread) {
    for (size_t i = 0; i < spread->filled_count; i++) {
        size_t part = spread->filled[i];
        fill_part(spread, &spread->queries->items[part].vectors, part, true);
        spread->is_filled[part] = 0;
    }
    spread->filled_count = 0;
    spread->query = SIZE_MAX;
}

void query_spread_set(struct query_spread *spread, size_t query) {
    query_spread_clear(spread);
    spread->query = query;
}

cog_status query_spread_similarity(struct query_spread *spread, const cog_index *index,
                                   uint32_t row, double *similarity, cog_error *error) {
    uint64_t first_row;
    size_t part = index_part_of(index, row, &first_row);
    const struct row_weights *weights = &spread->row;
    const float *values = spread->values + spread->starts[part];
    if (!spread->is_filled[part])
        TRY(spread_part(spread, part, error));
    TRY(index_weigh_row(index, part, (uint32_t)(row - first_row), &spread->row, error));
    double sum = 0;
    for (size_t i = 0; i < weights->count; i++)
        sum += (double)values[weights->columns[i]] * (double)weights->values[i];
    *similarity = sum;
    return COG_OK;
}
