#include "jobs/dedup/duplicates.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/strings.h"
#include "jobs/result_table.h"

const char *duplicate_reason_name(enum duplicate_reason reason) {
    static const char *const names[] = {"kept", "identical", "near", "chain", "verdict"};
    return names[reason];
}

cog_status duplicates_init(struct duplicates *duplicates, size_t count, cog_error *error) {
    duplicates->count = count;
    TAKE(duplicates->twin, count, "duplicates", error);
    TAKE(duplicates->similarity, count, "duplicates", error);
    TAKE_ZEROED(duplicates->reason, count, "duplicates", error);
    for (size_t row = 0; row < count; row++) {
        duplicates->twin[row] = (uint32_t)row;
        duplicates->similarity[row] = 1;
    }
    return COG_OK;
}

void duplicates_free(struct duplicates *duplicates) {
    FREE(duplicates->twin, duplicates->similarity, duplicates->reason, duplicates->nearest,
         duplicates->nearest_similarity);
    buffer_free(&duplicates->frequent.passage);
    document_sets_close(&duplicates->sets);
    corpus_free(&duplicates->corpus);
    corpus_free(&duplicates->reference);
    *duplicates = (struct duplicates){0};
}

static size_t count_empty(const struct duplicates *duplicates) {
    size_t empty = 0;
    for (size_t row = 0; row < duplicates->count; row++) {
        const struct set_row *at = &duplicates->sets.rows[duplicates->first_row + row];
        empty += at->terms + at->words == 0;
    }
    return empty;
}

void duplicates_report_sets(const struct duplicates *duplicates, size_t reference, size_t tokenised,
                            cog_report *report) {
    const struct document_sets *sets = &duplicates->sets;
    const size_t empty = count_empty(duplicates);
    report_number(report, "bad_records", (double)sets->progress.bad_records);
    report_number(report, "documents", (double)duplicates->count);
    report_number(report, "reference_documents", (double)reference);
    report_number(report, "tokenised_documents", (double)tokenised);
    report_number(report, "empty_documents", (double)empty);
    report_number(report, "scratch_bytes", (double)sets->file.size_bytes);
    if (empty)
        report_notice(report, "%zu document%s no terms; %s compared by bytes", empty,
                      plural(empty, " has", "s have"), plural(empty, "it is", "they are"));
}

uint64_t duplicates_record(const struct duplicates *duplicates, size_t row) {
    return duplicates->sets.rows ? duplicates->sets.facts[duplicates->first_row + row].record
                                 : duplicates->corpus.items[row].record;
}

/* The number of rows that can be twins. */
static size_t twin_rows(const struct duplicates *duplicates) {
    if (!duplicates->by_reference)
        return duplicates->count;
    return duplicates->sets.rows ? duplicates->sets.count : duplicates->reference.rows;
}

uint64_t duplicates_twin_record(const struct duplicates *duplicates, size_t twin) {
    if (twin >= twin_rows(duplicates))
        return 0;
    if (!duplicates->by_reference)
        return duplicates_record(duplicates, twin);
    return duplicates->sets.rows ? duplicates->sets.facts[twin].record
                                 : duplicates->reference.items[twin].record;
}

cog_status duplicates_id(const struct duplicates *duplicates, size_t row, bool of_reference,
                         struct buffer *id, cog_error *error) {
    if (duplicates->sets.rows)
        return set_file_id(&duplicates->sets.file, of_reference ? row : duplicates->first_row + row,
                           id, error);
    struct bytes_view view =
        corpus_id(of_reference ? &duplicates->reference : &duplicates->corpus, row);
    return buffer_append(id, view.data, view.size) ? COG_OK
                                                   : error_memory(error, view.size, "an id");
}

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Whether a row may be in a cluster: with a reference collection, kept rows are in none. */
static bool may_belong(const struct duplicates *duplicates, size_t row) {
    return !duplicates->by_reference || !duplicates_keeps(duplicates, row);
}

/* Computes the sizes of clusters by kept row, then the positions of their first members. */
static size_t place_clusters(const struct duplicates *duplicates, uint32_t *places,
                             uint32_t *numbers, size_t *cluster_count) {
    const uint32_t least = duplicates->by_reference ? 1 : 2;
    size_t member_count = 0;
    for (size_t row = 0; row < duplicates->count; row++)
        places[duplicates->twin[row]] += may_belong(duplicates, row);
    for (size_t row = 0; row < duplicates->count; row++) {
        uint32_t kept = duplicates->twin[row];
        if (!may_belong(duplicates, row) || places[kept] < least || numbers[kept] != UINT32_MAX)
            continue;
        numbers[kept] = (uint32_t)(*cluster_count)++;
        size_t size = places[kept];
        places[kept] = (uint32_t)member_count;
        member_count += size;
    }
    return member_count;
}

static cog_status list_clusters(const struct duplicates *duplicates, cog_cluster_member **result,
                                size_t *member_count, size_t *cluster_count, cog_error *error) {
    const size_t twins = twin_rows(duplicates);
    uint32_t *places = NULL, *numbers = NULL;
    cog_cluster_member *members = NULL;
    *member_count = *cluster_count = 0;
    *result = NULL;
    cog_status status = TAKEN_ZEROED(places, twins, "clusters", error);
    THEN(status, TAKEN(numbers, twins, "clusters", error));
    for (size_t row = 0; row < twins && status == COG_OK; row++)
        numbers[row] = UINT32_MAX;
    if (status == COG_OK)
        *member_count = place_clusters(duplicates, places, numbers, cluster_count);
    THEN(status, TAKEN(members, *member_count, "clusters", error));
    for (uint32_t row = 0; row < duplicates->count && status == COG_OK; row++) {
        uint32_t kept = duplicates->twin[row];
        if (may_belong(duplicates, row) && numbers[kept] != UINT32_MAX)
            members[places[kept]++] =
                (cog_cluster_member){numbers[kept], row, kept, (double)duplicates->similarity[row]};
    }
    free(places);
    free(numbers);
    return HAND_OUT(status, members, free, result);
}

cog_status duplicates_clusters(const struct duplicates *duplicates, cog_cluster_member **result,
                               size_t *member_count, size_t *cluster_count, cog_error *error) {
    *member_count = *cluster_count = 0;
    *result = NULL;
    return duplicates->by_reference
               ? COG_OK
               : list_clusters(duplicates, result, member_count, cluster_count, error);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Loads the ids of a row and of its twin into one buffer. */
static cog_status load_ids(const struct duplicates *duplicates, size_t row, size_t twin,
                           struct buffer *ids, struct bytes_view views[2], cog_error *error) {
    buffer_reset(ids);
    TRY(duplicates_id(duplicates, row, false, ids, error));
    const size_t first = ids->size;
    TRY(duplicates_id(duplicates, twin, duplicates->by_reference, ids, error));
    views[0] = view_of(ids->data, first);
    views[1] = view_of(ids->data + first, ids->size - first);
    return COG_OK;
}

static cog_status write_clusters(const struct duplicates *duplicates,
                                 const cog_cluster_member *members, size_t count,
                                 cog_output_format format, const char *path, cog_error *error) {
    const char *measure = duplicates->estimates ? "estimate" : "similarity";
    const struct result_column columns[] = {{"cluster", RESULT_NUMBER},
                                            {"id", RESULT_ID},
                                            {"representative", RESULT_ID},
                                            {measure, RESULT_REAL},
                                            {"kept", RESULT_NUMBER}};
    struct result_table table = {0};
    struct buffer ids = {0};
    cog_status status = result_table_open(&table, columns, 5, count, format, path, error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        const cog_cluster_member *member = &members[i];
        struct bytes_view id[2];
        status = load_ids(duplicates, member->row, member->representative, &ids, id, error);
        if (status != COG_OK)
            break;
        const struct result_cell cells[] = {{.number = member->cluster},
                                            {member->row, id[0]},
                                            {member->representative, id[1]},
                                            {.number = member->similarity},
                                            {.number = duplicates_keeps(duplicates, member->row)}};
        status = result_table_add(&table, cells, error);
    }
    buffer_free(&ids);
    return result_table_close(&table, status, error);
}

cog_status duplicates_write_clusters(const struct duplicates *duplicates,
                                     const cog_cluster_member *members, size_t count,
                                     cog_output_format format, const char *path, cog_error *error) {
    cog_cluster_member *own = NULL;
    size_t clusters;
    cog_status status = COG_OK;
    if (duplicates->by_reference)
        status = list_clusters(duplicates, &own, &count, &clusters, error);
    THEN(status, write_clusters(duplicates, duplicates->by_reference ? own : members, count, format,
                                path, error));
    free(own);
    return status;
}

static size_t count_removed(const struct duplicates *duplicates) {
    size_t removed = 0;
    for (size_t row = 0; row < duplicates->count; row++)
        removed += !duplicates_keeps(duplicates, row);
    return removed;
}

cog_status duplicates_write_removed(const struct duplicates *duplicates, cog_output_format format,
                                    const char *path, cog_error *error) {
    const char *measure = duplicates->estimates ? "estimate" : "similarity";
    const struct result_column columns[] = {
        {"id", RESULT_ID}, {"kept", RESULT_ID}, {measure, RESULT_REAL}, {"reason", RESULT_ID}};
    struct result_table table = {0};
    struct buffer ids = {0};
    cog_status status =
        result_table_open(&table, columns, 4, count_removed(duplicates), format, path, error);
    for (size_t row = 0; row < duplicates->count && status == COG_OK; row++) {
        struct bytes_view id[2];
        if (duplicates_keeps(duplicates, row))
            continue;
        status = load_ids(duplicates, row, duplicates->twin[row], &ids, id, error);
        if (status != COG_OK)
            break;
        const char *reason = duplicate_reason_name(duplicates->reason[row]);
        const struct result_cell cells[] = {{(double)row, id[0]},
                                            {duplicates->twin[row], id[1]},
                                            {.number = (double)duplicates->similarity[row]},
                                            {duplicates->reason[row], view_of_text(reason)}};
        status = result_table_add(&table, cells, error);
    }
    buffer_free(&ids);
    return result_table_close(&table, status, error);
}
