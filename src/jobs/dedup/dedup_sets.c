#include "jobs/dedup/dedup_sets.h"

#include <stdlib.h>

#include "base/memory.h"
#include "collection/options.h"
#include "jobs/dedup/dedup_index.h"
#include "jobs/dedup/keep_order.h"
#include "jobs/dedup/report/near_misses.h"
#include "jobs/index/index_job.h"
#include "jobs/pairs/set_memory.h"
#include "join/sets/set_verify.h"
#include "search/keys/key_sort.h"

enum {
    /* Memory per document in addition to its sets: leader, best, key, order, twin, partner,
     * similarities, marks. */
    BYTES_PER_DOCUMENT = 40,
    BYTES_PER_NEAREST = 64 /* the same for nearest documents and the table of the report */
};

struct set_dedup {
    const cog_dedup_options *options;
    struct duplicates *duplicates;
    struct job *job;
    uint32_t *leaders;             /* by row of the sets: the first equal row */
    uint32_t *best;                /* by leader: the row of its group that would stay */
    uint64_t *keys;                /* by row: larger keys stay; NULL with a reference collection */
    uint32_t *order;               /* leaders in the order of the join */
    size_t order_count, reference; /* leaders; how many are of the reference collection */
    struct set_join_result result;
};

static bool has_reference(const struct set_dedup *dedup) {
    return dedup->options->against || dedup->options->against_index;
}

/* ---- Order ----------------------------------------------------------------------------------- */

/* Finds the best row of each group of equal documents. */
static cog_status choose_best(struct set_dedup *dedup, cog_documents *documents, cog_error *error) {
    const struct document_sets *sets = &dedup->duplicates->sets;
    TAKE(dedup->keys, sets->count, "documents", error);
    TAKE(dedup->best, sets->count, "documents", error);
    for (uint32_t row = 0; row < sets->count; row++)
        dedup->keys[row] = sets->facts[dedup->duplicates->first_row + row].text_bytes;
    TRY(keep_order_keys(dedup->options, documents, sets->count, dedup->job, dedup->keys, error));
    for (uint32_t row = 0; row < sets->count; row++) {
        const uint32_t leader = dedup->leaders[row];
        if (row == leader || dedup->keys[row] > dedup->keys[dedup->best[leader]])
            dedup->best[leader] = row;
    }
    return COG_OK;
}

static uint64_t row_of_best(const void *context, uint32_t leader) {
    return ((const struct set_dedup *)context)->best[leader];
}

static uint64_t falling_key(const void *context, uint32_t leader) {
    const struct set_dedup *dedup = context;
    return ~dedup->keys[dedup->best[leader]];
}

static uint64_t falling_size(const void *context, uint32_t leader) {
    return UINT64_MAX - ((const struct set_dedup *)context)->duplicates->sets.rows[leader].terms;
}

/* Stable. */
static cog_status sort_order(struct set_dedup *dedup,
                             uint64_t (*key)(const void *context, uint32_t leader),
                             cog_error *error) {
    return rows_sort(dedup->order, dedup->order_count, key, dedup, dedup->job->threads, error);
}

/* Makes the order in which documents may stay for later ones: by the keep rule. For containment by
 * descending size first, as only the smaller of two is removed. The leaders of a reference
 * collection come first, in any order. */
static cog_status make_order(struct set_dedup *dedup, cog_error *error) {
    const struct duplicates *duplicates = dedup->duplicates;
    TAKE(dedup->order, duplicates->sets.count, "documents", error);
    for (uint32_t row = 0; row < duplicates->sets.count; row++) {
        if (dedup->leaders[row] != row)
            continue;
        dedup->reference += row < duplicates->first_row;
        dedup->order[dedup->order_count++] = row;
    }
    if (has_reference(dedup))
        return COG_OK;
    TRY(sort_order(dedup, row_of_best, error));
    TRY(sort_order(dedup, falling_key, error));
    return dedup->options->pairs.measure == COG_MEASURE_CONTAINMENT
               ? sort_order(dedup, falling_size, error)
               : COG_OK;
}

/* ---- The decision ---------------------------------------------------------------------------- */

static void set_twin(struct duplicates *duplicates, size_t row, uint32_t twin, double similarity,
                     enum duplicate_reason reason) {
    duplicates->twin[row] = twin;
    duplicates->similarity[row] = (float)similarity;
    duplicates->reason[row] = (uint8_t)reason;
}

/* The similarity of a leader to the document kept for it, and the reason for its removal. In chains
 * the two may be far apart. Rounded similarities are not compared with the threshold. */
static cog_status similarity_to(const struct set_dedup *dedup, uint32_t rank, uint32_t partner,
                                double *similarity, enum duplicate_reason *reason,
                                cog_error *error) {
    const cog_pairs_options *pairs = &dedup->options->pairs;
    const struct set_measure measure = {pairs->measure == COG_MEASURE_CONTAINMENT, 0};
    *similarity = (double)dedup->result.similarity[rank];
    *reason = rank == partner ? REASON_IDENTICAL : REASON_NEAR;
    if (rank == partner || *similarity > 0)
        return COG_OK;
    TRY(set_pair_similarity(&dedup->duplicates->sets.file, dedup->order[rank],
                            dedup->order[partner], &measure, similarity, error));
    if (*similarity < pairs->threshold)
        *reason = REASON_CHAIN;
    return COG_OK;
}

/* Sets the twin of each leader, then of each row. */
static cog_status decide(struct set_dedup *dedup, cog_error *error) {
    struct duplicates *duplicates = dedup->duplicates;
    for (uint32_t rank = 0; rank < dedup->order_count; rank++) {
        const uint32_t partner = dedup->result.partner[rank], leader = dedup->order[rank];
        enum duplicate_reason reason;
        double similarity;
        TRY(similarity_to(dedup, rank, partner, &similarity, &reason, error));
        set_twin(duplicates, leader, dedup->best[dedup->order[partner]], similarity, reason);
    }
    for (uint32_t row = (uint32_t)duplicates->count; row-- > 0;) {
        const uint32_t leader =
            dedup->leaders[row]; /* leader <= row, so it is not overwritten yet */
        const uint32_t twin = duplicates->twin[leader];
        set_twin(duplicates, row, twin, (double)duplicates->similarity[leader],
                 row == twin ? REASON_KEPT : duplicates->reason[leader]);
    }
    return COG_OK;
}

static void decide_by_reference(struct set_dedup *dedup) {
    struct duplicates *duplicates = dedup->duplicates;
    const size_t first = duplicates->first_row;
    for (uint32_t rank = (uint32_t)dedup->reference; rank < dedup->order_count; rank++) {
        const uint32_t partner = dedup->result.partner[rank];
        if (partner != rank)
            set_twin(duplicates, dedup->order[rank] - first, dedup->order[partner],
                     (double)dedup->result.similarity[rank], REASON_NEAR);
    }
    for (size_t row = 0; row < duplicates->count; row++) {
        const uint32_t leader = dedup->leaders[first + row];
        if (leader < first)
            set_twin(duplicates, row, leader, 1, REASON_IDENTICAL);
        else if (!duplicates_keeps(duplicates, leader - first))
            set_twin(duplicates, row, duplicates->twin[leader - first],
                     (double)duplicates->similarity[leader - first], REASON_NEAR);
    }
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status take_terms(const cog_dedup_options *options, struct term_options *terms,
                             cog_error *error) {
    if (options->against_index) {
        *terms = options->against_index->terms;
        return COG_OK;
    }
    return options_set_terms(&options->pairs.sign.terms, options->pairs.measure, terms, error);
}

/* Describes how the sets of a work folder are made, and from which files. */
static cog_status describe_sets(const struct set_dedup *dedup, const cog_documents *documents,
                                const struct term_options *terms, struct settings *made_by,
                                cog_error *error) {
    const cog_documents *against = dedup->options->against;
    const cog_index *index = dedup->options->against_index;
    if (!documents->reader || reader_has_pipe(documents->reader) ||
        (against && (!against->reader || reader_has_pipe(against->reader))))
        return error_about(error, COG_ERR_USAGE, "work",
                           "a work folder needs inputs that can be read again: files, not pipes");
    TRY(options_record_terms(&dedup->options->pairs.sign.terms, made_by, error));
    TRY(settings_set_u64(made_by, "short texts", terms->short_texts, error));
    TRY(settings_set_u64(made_by, "input files", reader_identity(documents->reader), error));
    if (index)
        TRY(settings_set_u64(made_by, "reference index", dedup_index_identity(index), error));
    return against ? settings_set_u64(made_by, "reference files", reader_identity(against->reader),
                                      error)
                   : COG_OK;
}

static cog_status open_sets(struct set_dedup *dedup, const cog_documents *documents,
                            const struct term_options *terms, const char *near_path,
                            cog_error *error) {
    struct document_sets *sets = &dedup->duplicates->sets;
    struct settings made_by = {0};
    if (!dedup->options->work)
        return document_sets_open(sets, near_path, error);
    cog_status status = describe_sets(dedup, documents, terms, &made_by, error);
    THEN(status, document_sets_open_work(sets, dedup->options->work, &made_by,
                                         dedup->options->resume, error));
    settings_free(&made_by);
    return status;
}

static cog_status read_sides(struct set_dedup *dedup, cog_documents *documents,
                             struct output *rejects, const char *near_path, cog_error *error) {
    struct duplicates *duplicates = dedup->duplicates;
    struct document_sets *sets = &duplicates->sets;
    struct term_options terms;
    TRY(take_terms(dedup->options, &terms, error));
    cog_documents *const both[2] = {documents, dedup->options->against};
    const cog_index *index = dedup->options->against_index;
    TRY(set_memory_announce_disk(both, &terms, dedup->options->pairs.threshold,
                                 index ? index_set_bytes(index) : 0, dedup->job, error));
    TRY(open_sets(dedup, documents, &terms, near_path, error));
    const size_t kept = sets->count; /* from an earlier job */
    if (index)
        TRY(dedup_index_append(index, sets, error));
    else if (dedup->options->against)
        TRY(document_sets_read(sets, dedup->options->against, &terms, false, NULL, dedup->job,
                               error));
    TRY(document_sets_read(sets, documents, &terms, true, rejects, dedup->job, error));
    duplicates->first_row = sets->progress.first_row;
    duplicates->by_reference = has_reference(dedup);
    duplicates->count = sets->count - duplicates->first_row;
    duplicates_report_sets(duplicates, duplicates->first_row, sets->count - kept,
                           dedup->job->report);
    return COG_OK;
}

/* The job's memory in addition to the sets. */
static uint64_t held_bytes(const struct set_dedup *dedup) {
    const bool has_nearest = dedup->duplicates->floor > 0;
    return (uint64_t)dedup->duplicates->sets.count *
           (BYTES_PER_DOCUMENT + (has_nearest ? BYTES_PER_NEAREST : 0));
}

/* The part of the budget for a join; 0: no limit. */
static cog_status join_memory(const struct set_dedup *dedup, uint64_t *bytes, cog_error *error) {
    return set_memory_room(&dedup->duplicates->sets, held_bytes(dedup), dedup->job, bytes, error);
}

static cog_status join(struct set_dedup *dedup, const char *near_path, cog_error *error) {
    const cog_pairs_options *pairs = &dedup->options->pairs;
    const bool connected = dedup->options->grouping == COG_GROUP_CONNECTED && !dedup->reference;
    const struct join_folder work = join_folder_in(dedup->options->work, "join");
    struct set_join_options options = {
        .mode = connected ? SET_JOIN_CONNECTED : SET_JOIN_REPRESENTATIVES,
        .measure = {pairs->measure == COG_MEASURE_CONTAINMENT, pairs->threshold},
        .reference = dedup->reference,
        .near_path = near_path,
        .work = dedup->options->work ? &work : NULL};
    TRY(join_memory(dedup, &options.memory_bytes, error));
    struct set_memory memory = {&dedup->duplicates->sets, held_bytes(dedup), dedup->job};
    set_memory_predict(&memory, &options);
    if (has_reference(dedup) && dedup->reference == 0)
        options.reference =
            dedup->order_count; /* the reference has no documents, so nothing is compared */
    return set_join_run(&dedup->duplicates->sets.file, dedup->order, dedup->order_count, &options,
                        dedup->job, &dedup->result, error);
}

/* ---- Nearest kept documents ------------------------------------------------------------------ */

/* Lists the rows to compare documents with: leaders of those that stay, or of the reference
 * collection. */
static size_t list_kept(const struct set_dedup *dedup, uint32_t *rows) {
    size_t count = 0;
    for (uint32_t rank = 0; rank < dedup->order_count; rank++)
        if (has_reference(dedup) ? rank < dedup->reference : dedup->result.partner[rank] == rank)
            rows[count++] = dedup->order[rank];
    return count;
}

static size_t list_leaders(const struct set_dedup *dedup, uint32_t *rows) {
    const struct duplicates *duplicates = dedup->duplicates;
    size_t count = 0;
    for (size_t row = duplicates->first_row; row < duplicates->sets.count; row++)
        if (dedup->leaders[row] == row)
            rows[count++] = (uint32_t)row;
    return count;
}

/* Gives all equal documents the nearest document of their leader: one that stays in another group,
 * or a leader of the reference collection. */
static void spread_nearest(const struct set_dedup *dedup, const uint32_t *asked,
                           const struct near_found *found) {
    struct duplicates *duplicates = dedup->duplicates;
    const size_t first = duplicates->first_row;
    for (size_t i = 0; i < found->count; i++) {
        const size_t row = asked[found->at[i]] - first;
        const uint32_t leader = found->nearest[i];
        duplicates->nearest[row] =
            leader == UINT32_MAX || !dedup->best ? leader : dedup->best[leader];
        duplicates->nearest_similarity[row] = leader == UINT32_MAX ? 0 : found->similarity[i];
    }
    for (size_t row = 0; row < duplicates->count; row++) {
        const size_t leader = dedup->leaders[first + row];
        const bool is_inside = leader >= first;
        duplicates->nearest[row] =
            is_inside ? duplicates->nearest[leader - first] : (uint32_t)leader;
        duplicates->nearest_similarity[row] =
            is_inside ? duplicates->nearest_similarity[leader - first] : 1;
    }
}

static cog_status search_nearest(struct set_dedup *dedup, uint32_t *kept, uint32_t *asked,
                                 const char *near_path, cog_error *error) {
    /* Reading a document costs as much as this number of comparisons. A report may at most double
     * the time of the run. */
    enum { DOCUMENT_COST = 500 };
    struct duplicates *duplicates = dedup->duplicates;
    const cog_pairs_options *pairs = &dedup->options->pairs;
    const struct join_folder work = join_folder_in(dedup->options->work, "near");
    struct near_found found = {0};
    struct near_search search = {
        .file = &duplicates->sets.file,
        .measure = {pairs->measure == COG_MEASURE_CONTAINMENT, pairs->threshold},
        .floor = duplicates->floor,
        .kept = kept,
        .asked = asked,
        .kept_count = list_kept(dedup, kept),
        .asked_count = list_leaders(dedup, asked),
        .budget = near_search_cost(&dedup->result) + DOCUMENT_COST * duplicates->sets.count,
        .near_path = near_path,
        .work = dedup->options->work ? &work : NULL};
    TRY(join_memory(dedup, &search.memory_bytes, error));
    cog_status status = near_search_run(&search, dedup->job, &found, error);
    const bool is_sample = search.kept_count && found.count < search.asked_count;
    for (size_t row = 0; row < duplicates->count; row++) {
        duplicates->nearest[row] = UINT32_MAX;
        duplicates->nearest_similarity[row] = is_sample ? NEAREST_UNKNOWN : 0;
    }
    if (status == COG_OK)
        spread_nearest(dedup, asked, &found);
    if (status == COG_OK && is_sample)
        report_notice(dedup->job->report,
                      "very many pairs are just below the threshold: the report shows them for %zu "
                      "of %zu documents, chosen at random",
                      found.count, search.asked_count);
    near_found_free(&found);
    return status;
}

static cog_status take_nearest(struct set_dedup *dedup, const char *near_path, cog_error *error) {
    struct duplicates *duplicates = dedup->duplicates;
    uint32_t *kept = NULL, *asked = NULL;
    if (duplicates->floor <= 0)
        return COG_OK;
    TAKE(duplicates->nearest, duplicates->count, "duplicates", error);
    TAKE(duplicates->nearest_similarity, duplicates->count, "duplicates", error);
    cog_status status = TAKEN(kept, dedup->order_count, "documents", error);
    THEN(status, TAKEN(asked, dedup->order_count, "documents", error));
    THEN(status, search_nearest(dedup, kept, asked, near_path, error));
    free(kept);
    free(asked);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Records the n-gram of the longest posting list read, if a hundredth of the documents have it. */
static void note_frequent(const struct set_dedup *dedup) {
    enum { LEAST_DOCUMENTS = 1000, LEAST_SHARE = 100 };
    struct duplicates *duplicates = dedup->duplicates;
    const struct heavy_member *heavy = &dedup->result.heavy;
    if (heavy->documents < LEAST_DOCUMENTS || heavy->documents < dedup->order_count / LEAST_SHARE ||
        dedup->order[heavy->rank] < duplicates->first_row)
        return;
    duplicates->frequent.member = heavy->member;
    duplicates->frequent.documents = heavy->documents;
    duplicates->frequent.record = duplicates->sets.facts[dedup->order[heavy->rank]].record;
}

static void report_join(const struct set_dedup *dedup, size_t groups) {
    const struct set_join_result *result = &dedup->result;
    cog_report *report = dedup->job->report;
    report_number(report, "equal_groups", (double)groups);
    set_join_report(result, report);
    report_number(report, "disk_bytes",
                  (double)(dedup->duplicates->sets.file.size_bytes + result->disk_bytes));
}

cog_status dedup_by_sets(cog_documents *documents, const cog_dedup_options *options,
                         struct output *rejects, const char *near_path, struct job *job,
                         struct duplicates *duplicates, cog_error *error) {
    struct set_dedup dedup = {.options = options, .duplicates = duplicates, .job = job};
    size_t groups = 0;
    cog_status status = read_sides(&dedup, documents, rejects, near_path, error);
    THEN(status, document_sets_group(&duplicates->sets, &dedup.leaders, &groups, error));
    if (!has_reference(&dedup))
        THEN(status, choose_best(&dedup, documents, error));
    THEN(status, make_order(&dedup, error));
    THEN(status, join(&dedup, near_path, error));
    THEN(status, duplicates_init(duplicates, duplicates->count, error));
    if (status == COG_OK && has_reference(&dedup))
        decide_by_reference(&dedup);
    else
        THEN(status, decide(&dedup, error));
    THEN(status, take_nearest(&dedup, near_path, error));
    if (status == COG_OK) {
        note_frequent(&dedup);
        report_join(&dedup, groups);
    }
    FREE(dedup.leaders, dedup.best, dedup.keys, dedup.order);
    set_join_result_free(&dedup.result);
    return status;
}
