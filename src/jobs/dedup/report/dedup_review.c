#include "jobs/dedup/report/dedup_review.h"

#include <stdlib.h>

#include "base/strings.h"
#include "collection/options.h"
#include "jobs/dedup/report/boilerplate.h"
#include "jobs/dedup/report/report_page.h"
#include "join/sets/set_verify.h"

double dedup_report_floor(double threshold) {
    return threshold > REPORT_DEPTH + 0.05 ? threshold - REPORT_DEPTH : 0.05;
}

/* ---- As a table of rows ---------------------------------------------------------------------- */

static cog_status append_id(const void *context, uint32_t row, struct buffer *id,
                            cog_error *error) {
    return duplicates_id(context, row, false, id, error);
}

static cog_status append_reference_id(const void *context, uint32_t row, struct buffer *id,
                                      cog_error *error) {
    return duplicates_id(context, row, true, id, error);
}

static uint64_t reference_record(const void *context, uint32_t row) {
    return duplicates_twin_record(context, row);
}

static struct duplicate_row make_row(const struct duplicates *duplicates, uint32_t number) {
    struct duplicate_row row = {.record = duplicates_record(duplicates, number),
                                .cluster = NO_ROW,
                                .kept_row = number,
                                .nearest_row = NO_ROW,
                                .reference_row = NO_ROW,
                                .similarity = duplicates->similarity[number],
                                .identical = duplicates->reason[number] == REASON_IDENTICAL};
    if (duplicates->sets.rows) {
        const size_t at = duplicates->first_row + number;
        const struct set_row *set = &duplicates->sets.rows[at];
        row.text_bytes = duplicates->sets.facts[at].text_bytes;
        row.members = set->terms ? set->terms : set->words;
    } else {
        row.text_bytes = duplicates->corpus.items[number].text_bytes;
        row.members = duplicates->corpus.items[number].term_count;
    }
    if (duplicates->by_reference && !duplicates_keeps(duplicates, number))
        row.reference_row = duplicates->twin[number];
    else if (!duplicates->by_reference)
        row.kept_row = row.cluster = duplicates->twin[number];
    if (duplicates->nearest) {
        const float similarity = duplicates->nearest_similarity[number];
        row.nearest_row = duplicates->nearest[number];
        row.is_unknown = similarity < 0;
        row.nearest_similarity = row.is_unknown ? 0 : similarity;
    }
    return row;
}

static cog_status make_rows(const struct duplicates *duplicates, const cog_dedup_options *options,
                            struct duplicate_rows *rows, cog_error *error) {
    static const char *const measures[] = {"cosine", "jaccard", "containment"};
    const double threshold = options->pairs.threshold;
    *rows = (struct duplicate_rows){.count = duplicates->count,
                                    .threshold = threshold,
                                    .floor = duplicates->nearest ? duplicates->floor : threshold,
                                    .measure = measures[options->pairs.measure],
                                    .estimates = duplicates->estimates,
                                    .append_id = append_id,
                                    .append_reference_id =
                                        duplicates->by_reference ? append_reference_id : NULL,
                                    .id_context = duplicates,
                                    .reference = options->against,
                                    .reference_record = reference_record};
    TAKE(rows->rows, rows->count, "the report", error);
    for (uint32_t row = 0; row < rows->count; row++)
        rows->rows[row] = make_row(duplicates, row);
    return duplicate_rows_complete(rows, rows->count, error);
}

/* ---- Boilerplate ----------------------------------------------------------------------------- */

cog_status dedup_name_frequent(struct duplicates *duplicates, cog_documents *documents,
                               const cog_dedup_options *options, struct job *job,
                               cog_error *error) {
    struct frequent_ngram *frequent = &duplicates->frequent;
    const struct boilerplate_ngram ngram = {frequent->member, frequent->record};
    struct boilerplate boilerplate = {0};
    struct term_options terms;
    if (frequent->documents == 0)
        return COG_OK;
    TRY(options_set_terms(&options->pairs.sign.terms, options->pairs.measure, &terms, error));
    TRY(boilerplate_read(&boilerplate, documents, &terms, &ngram, 1, job, error));
    const struct bytes_view passage = boilerplate_passage(&boilerplate, 0);
    const struct bytes_view run = boilerplate_run(&boilerplate, 0);
    bool fits = true;
    /* A word that many short texts have is no boilerplate. */
    if (passage.size && !boilerplate.passages[0].is_short_word) {
        fits = buffer_append(&frequent->passage, passage.data, passage.size) &&
               buffer_append(&frequent->passage, "", 1);
        report_notice(job->report,
                      "%llu documents or more share '%.*s' without being near-duplicates, as in "
                      "'%.*s'; if it is boilerplate, remove it from the texts first, for speed "
                      "and better decisions",
                      (unsigned long long)frequent->documents, (int)run.size, run.data,
                      (int)passage.size, passage.data);
    }
    boilerplate_free(&boilerplate);
    return fits ? COG_OK : error_memory(error, passage.size, "a passage");
}

/* ---- Verdicts -------------------------------------------------------------------------------- */

struct comparing {
    const struct duplicates *duplicates;
    struct set_measure measure;
};

static cog_status compare(void *context, uint32_t a, uint32_t b, float *similarity, bool *identical,
                          cog_error *error) {
    const struct comparing *comparing = context;
    const struct duplicates *duplicates = comparing->duplicates;
    const struct set_row *rows = duplicates->sets.rows + duplicates->first_row;
    double value = 0;
    TRY(set_pair_similarity(&duplicates->sets.file, (uint32_t)(duplicates->first_row + a),
                            (uint32_t)(duplicates->first_row + b), &comparing->measure, &value,
                            error));
    *similarity = (float)value;
    *identical = value >= 1 && rows[a].terms == rows[b].terms && rows[a].words == rows[b].words;
    return COG_OK;
}

static enum duplicate_reason reason_of(const struct duplicate_rows *rows, uint32_t number) {
    const struct duplicate_row *row = &rows->rows[number];
    if (duplicate_row_is_kept(rows, number))
        return REASON_KEPT;
    return row->identical                               ? REASON_IDENTICAL
           : (double)row->similarity >= rows->threshold ? REASON_NEAR
                                                        : REASON_VERDICT;
}

/* Copies changes made by verdicts back into the result. Documents removed for a reference
 * collection are not compared with each other, so verdicts can only restore them. */
static void take_back(const struct duplicate_rows *rows, struct duplicates *duplicates) {
    for (uint32_t row = 0; row < rows->count; row++) {
        const struct duplicate_row *item = &rows->rows[row];
        if (duplicates->by_reference) {
            const bool returns =
                item->reference_row == NO_ROW && !duplicates_keeps(duplicates, row);
            duplicates->twin[row] = returns ? row : duplicates->twin[row];
            duplicates->similarity[row] = returns ? 1 : duplicates->similarity[row];
            duplicates->reason[row] = returns ? (uint8_t)REASON_KEPT : duplicates->reason[row];
            continue;
        }
        if (duplicates->nearest) {
            duplicates->nearest[row] = item->nearest_row;
            duplicates->nearest_similarity[row] =
                item->is_unknown ? NEAREST_UNKNOWN : item->nearest_similarity;
        }
        if (duplicates->twin[row] == item->kept_row)
            continue;
        duplicates->twin[row] = item->kept_row;
        duplicates->similarity[row] = item->similarity;
        duplicates->reason[row] = (uint8_t)reason_of(rows, row);
    }
}

cog_status dedup_judge(struct duplicates *duplicates, const cog_dedup_options *options,
                       const struct verdicts *verdicts, struct job *job, cog_error *error) {
    struct duplicate_rows rows = {0};
    struct comparing comparing = {duplicates,
                                  {options->pairs.measure == COG_MEASURE_CONTAINMENT, 0}};
    cog_status status = make_rows(duplicates, options, &rows, error);
    THEN(status, verdicts_apply(verdicts, &rows, compare, &comparing, job->report, error));
    if (status == COG_OK)
        take_back(&rows, duplicates);
    free(rows.rows);
    return status;
}

cog_status dedup_report(const struct duplicates *duplicates, cog_documents *documents,
                        const cog_dedup_options *options, const char *path, struct job *job,
                        cog_error *error) {
    struct duplicate_rows rows = {0};
    const struct frequent_ngram *frequent = &duplicates->frequent;
    const struct shared_passage passage = {
        view_of(frequent->passage.data, frequent->passage.size ? frequent->passage.size - 1 : 0),
        frequent->documents};
    cog_status status = make_rows(duplicates, options, &rows, error);
    rows.boilerplate = &passage;
    rows.boilerplate_count = frequent->passage.size > 1;
    THEN(status, report_page_write(documents, &rows, path, &job->run, job->report, error));
    free(rows.rows);
    return status;
}
