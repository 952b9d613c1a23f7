/* Batches: the public functions of cognate_batch.h that join term sets in steps. */
#include <stdlib.h>

#include "api/arrow_table.h"
#include "base/arguments.h"
#include "collection/options.h"
#include "join/sets/set_keys.h"
#include "vector/member_set.h"

enum { SLOT_BITS_MOST = 40, FREQUENT_BITS_MOST = 32 };

_Static_assert((int)COG_KEY_SIDE == (int)KEY_SIDE && (int)COG_KEY_ACROSS == (int)KEY_ACROSS &&
                   (int)COG_KEY_HAS_TERMS == (int)KEY_HAS_TERMS &&
                   (int)COG_KEY_LARGER == (int)KEY_LARGER,
               "flags of keys");

static cog_status check_sets(const cog_set_list *sets, const char *name, cog_error *error) {
    TRY(check_given(sets, name, error));
    if (sets->count == 0)
        return COG_OK;
    TRY(check_given(sets->offsets, name, error));
    for (size_t i = 0; i < sets->count; i++)
        if (sets->offsets[i] < 0 || sets->offsets[i + 1] < sets->offsets[i])
            return error_set(error, COG_ERR_USAGE, "%s: set %zu ends before it begins", name, i);
    return sets->offsets[sets->count] > sets->offsets[0] ? check_given(sets->members, name, error)
                                                         : COG_OK;
}

static cog_status take_measure(cog_measure measure, double threshold, struct set_measure *own,
                               cog_error *error) {
    if (measure != COG_MEASURE_JACCARD && measure != COG_MEASURE_CONTAINMENT)
        return error_about(error, COG_ERR_USAGE, "measure",
                           "term sets are compared by Jaccard or containment");
    if (!(threshold > 0 && threshold <= 1))
        return error_about(error, COG_ERR_USAGE, "threshold",
                           "a threshold of %g: choose above 0 and at most 1", threshold);
    *own = (struct set_measure){measure == COG_MEASURE_CONTAINMENT, threshold};
    return COG_OK;
}

static cog_status take_counts(const cog_member_counts *counts, struct key_counts *own,
                              cog_error *error) {
    TRY(check_given(counts, "counts", error));
    TRY(options_check_reserved(counts->reserved, 2, "member_counts", error));
    TRY(check_given(counts->slots, "slots", error));
    TRY(check_given(counts->frequent, "frequent", error));
    if (counts->slot_bits < 1 || counts->slot_bits > SLOT_BITS_MOST ||
        counts->frequent_bits > FREQUENT_BITS_MOST)
        return error_set(error, COG_ERR_USAGE, "counts of 2^%u slots and 2^%u numbers",
                         counts->slot_bits, counts->frequent_bits);
    *own = (struct key_counts){counts->slots, counts->slot_bits, counts->frequent,
                               counts->frequent_bits};
    return COG_OK;
}

cog_status cog_member_counts_add(cog_member_counts *counts, const cog_set_list *sets,
                                 cog_error *error) {
    struct key_counts own;
    TRY(take_counts(counts, &own, error));
    TRY(check_sets(sets, "sets", error));
    if (sets->count && sets->members)
        key_counts_add(&own, sets->members + sets->offsets[0],
                       (size_t)(sets->offsets[sets->count] - sets->offsets[0]));
    return COG_OK;
}

cog_status cog_member_counts_merge(cog_member_counts *counts, const cog_member_counts *other,
                                   cog_error *error) {
    struct key_counts own, others;
    TRY(take_counts(counts, &own, error));
    TRY(take_counts(other, &others, error));
    if (own.slot_bits != others.slot_bits || own.frequent_bits != others.frequent_bits)
        return error_set(error, COG_ERR_USAGE, "counts of tables of different sizes do not merge");
    key_counts_merge(&own, &others);
    return COG_OK;
}

static cog_status export_keys(const struct set_key_list *list, struct ArrowArrayStream *stream,
                              cog_error *error) {
    struct arrow_table table = {.rows = list->count};
    int64_t *row = arrow_table_int64(&table, "row"), *key = arrow_table_int64(&table, "key");
    int32_t *place = arrow_table_int32(&table, "place"), *size = arrow_table_int32(&table, "size");
    int64_t *first = arrow_table_int64(&table, "first");
    int64_t *second = arrow_table_int64(&table, "second");
    for (size_t i = 0; i < list->count && second; i++) {
        const struct set_key *item = &list->items[i];
        row[i] = item->row;
        key[i] = item->key;
        place[i] = item->place;
        size[i] = item->size;
        first[i] = item->first;
        second[i] = item->second;
    }
    return arrow_table_finish(&table, stream, error);
}

cog_status cog_set_keys(const cog_set_list *sets, const cog_member_counts *counts,
                        cog_measure measure, double threshold, struct ArrowArrayStream *stream,
                        cog_error *error) {
    struct key_counts own;
    struct set_measure how;
    struct set_key_list list = {0};
    TRY(check_sets(sets, "sets", error));
    TRY(take_counts(counts, &own, error));
    TRY(take_measure(measure, threshold, &how, error));
    TRY(check_given(stream, "stream", error));
    cog_status status = COG_OK;
    for (size_t i = 0; i < sets->count && status == COG_OK; i++) {
        const size_t count = (size_t)(sets->offsets[i + 1] - sets->offsets[i]);
        if (count)
            status = set_keys_add(&list, (int64_t)i, sets->members + sets->offsets[i], count, &own,
                                  &how, error);
    }
    THEN(status, export_keys(&list, stream, error));
    set_key_list_free(&list);
    return status;
}

static cog_status check_key_rows(const cog_key_rows *rows, cog_error *error) {
    TRY(check_given(rows, "rows", error));
    if (rows->count == 0)
        return COG_OK;
    TRY(check_given(rows->keys, "keys", error));
    TRY(check_given(rows->first, "first", error));
    TRY(check_given(rows->second, "second", error));
    TRY(check_given(rows->places, "places", error));
    TRY(check_given(rows->sizes, "sizes", error));
    TRY(check_given(rows->flags, "flags", error));
    for (size_t i = 0; i < rows->count; i++)
        if (rows->places[i] < 0 || rows->sizes[i] <= rows->places[i] ||
            (i && rows->keys[i] < rows->keys[i - 1]))
            return error_set(error, COG_ERR_USAGE,
                             "row %zu: keys rise, and a place is below the size of its set", i);
    return COG_OK;
}

cog_status cog_key_pairs(const cog_key_rows *rows, cog_measure measure, double threshold,
                         uint64_t *comparisons, struct ArrowArrayStream *stream, cog_error *error) {
    struct set_measure how;
    struct key_pairs pairs = {0};
    struct arrow_table table = {0};
    TRY(check_key_rows(rows, error));
    TRY(take_measure(measure, threshold, &how, error));
    TRY(check_given(stream, "stream", error));
    const struct key_rows own = {rows->keys,  rows->first, rows->second, rows->places,
                                 rows->sizes, rows->flags, rows->count};
    cog_status status = key_pairs_find(&own, &how, &pairs, error);
    if (status == COG_OK) {
        table.rows = pairs.count;
        int64_t *a = arrow_table_int64(&table, "a"), *b = arrow_table_int64(&table, "b");
        for (size_t i = 0; i < pairs.count && b; i++) {
            a[i] = pairs.a[i];
            b[i] = pairs.b[i];
        }
        status = arrow_table_finish(&table, stream, error);
    }
    if (comparisons)
        *comparisons = pairs.comparisons;
    key_pairs_free(&pairs);
    return status;
}

/* The measure of one pair of lists. */
static double measure_lists(const cog_set_list *a, const cog_set_list *b, size_t i,
                            const struct set_measure *measure) {
    const size_t counts[2] = {(size_t)(a->offsets[i + 1] - a->offsets[i]),
                              (size_t)(b->offsets[i + 1] - b->offsets[i])};
    if (counts[0] == 0 || counts[1] == 0)
        return 0;
    const uint64_t *members[2] = {(const uint64_t *)a->members + a->offsets[i],
                                  (const uint64_t *)b->members + b->offsets[i]};
    return set_similarity(measure, counts[0], counts[1],
                          member_set_overlap(members[0], counts[0], members[1], counts[1], 0));
}

static bool is_empty(const cog_set_list *sets, size_t i) {
    return sets->offsets[i] == sets->offsets[i + 1];
}

cog_status cog_measure_sets(const cog_set_list *a_terms, const cog_set_list *b_terms,
                            const cog_set_list *a_words, const cog_set_list *b_words,
                            cog_measure measure, double *similarities, cog_error *error) {
    struct set_measure how;
    const cog_set_list *all[4] = {a_terms, b_terms, a_words, b_words};
    const size_t lists = a_words && b_words ? 4 : 2;
    TRY(take_measure(measure, 1, &how, error));
    for (size_t i = 0; i < lists; i++) {
        TRY(check_sets(all[i], i < 2 ? "terms" : "words", error));
        if (all[i]->count != a_terms->count)
            return error_set(error, COG_ERR_USAGE, "%zu and %zu sets do not make pairs",
                             a_terms->count, all[i]->count);
    }
    if (a_terms->count)
        TRY(check_given(similarities, "similarities", error));
    for (size_t i = 0; i < a_terms->count; i++)
        similarities[i] = lists == 4 && (is_empty(a_terms, i) || is_empty(b_terms, i))
                              ? measure_lists(a_words, b_words, i, &how)
                              : measure_lists(a_terms, b_terms, i, &how);
    return COG_OK;
}
