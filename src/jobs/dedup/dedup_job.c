/* Deduplication: decides which documents stay (by sets, or by pairs), and writes the requested
 * outputs. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "collection/options.h"
#include "jobs/dedup/dedup_index.h"
#include "jobs/dedup/dedup_pairs.h"
#include "jobs/dedup/dedup_sets.h"
#include "jobs/dedup/keep_order.h"
#include "jobs/dedup/kept_records.h"
#include "jobs/dedup/report/dedup_review.h"
#include "jobs/pairs/set_pairs.h"
#include "plan/sampled_truth.h"
#include "run/job.h"

struct cog_clusters {
    struct duplicates duplicates;
    cog_cluster_member *members;
    size_t count, member_count;
    struct buffer id; /* the last one requested */
};

void cog_dedup_options_init(cog_dedup_options *options) {
    *options = (cog_dedup_options){.keep = COG_KEEP_LONGEST, .grouping = COG_GROUP_REPRESENTATIVE};
    cog_pairs_options_init(&options->pairs, COG_MEASURE_JACCARD);
}

void cog_clusters_free(cog_clusters *clusters) {
    if (!clusters)
        return;
    duplicates_free(&clusters->duplicates);
    free(clusters->members);
    buffer_free(&clusters->id);
    free(clusters);
}

size_t cog_clusters_count(const cog_clusters *clusters) {
    return clusters->count;
}

size_t cog_clusters_member_count(const cog_clusters *clusters) {
    return clusters->member_count;
}

cog_cluster_member cog_clusters_member(const cog_clusters *clusters, size_t index) {
    return index < clusters->member_count ? clusters->members[index] : (cog_cluster_member){0};
}

size_t cog_clusters_read(const cog_clusters *clusters, size_t first, size_t count,
                         cog_cluster_member *members) {
    size_t left = first < clusters->member_count ? clusters->member_count - first : 0;
    size_t read = count < left ? count : left;
    if (read)
        memcpy(members, clusters->members + first, read * sizeof *members);
    return read;
}

size_t cog_clusters_document_count(const cog_clusters *clusters) {
    return clusters->duplicates.count;
}

bool cog_clusters_is_kept(const cog_clusters *clusters, uint32_t row) {
    return row < clusters->duplicates.count && duplicates_keeps(&clusters->duplicates, row);
}

const char *cog_clusters_id(cog_clusters *clusters, uint32_t row, size_t *size) {
    *size = 0;
    buffer_reset(&clusters->id);
    if (row >= clusters->duplicates.count ||
        duplicates_id(&clusters->duplicates, row, false, &clusters->id, NULL) != COG_OK)
        return NULL;
    *size = clusters->id.size;
    return clusters->id.data;
}

uint64_t cog_clusters_position(const cog_clusters *clusters, uint32_t row) {
    return row < clusters->duplicates.count ? duplicates_record(&clusters->duplicates, row) : 0;
}

bool cog_clusters_twin(const cog_clusters *clusters, uint32_t row, uint32_t *twin,
                       double *similarity) {
    const struct duplicates *duplicates = &clusters->duplicates;
    if (row >= duplicates->count || duplicates_keeps(duplicates, row))
        return false;
    *twin = duplicates->twin[row];
    *similarity = (double)duplicates->similarity[row];
    return true;
}

uint64_t cog_clusters_twin_position(const cog_clusters *clusters, uint32_t twin) {
    return duplicates_twin_record(&clusters->duplicates, twin);
}

/* ---- The job --------------------------------------------------------------------------------- */

static cog_status check(cog_documents *documents, const cog_dedup_options *options,
                        const cog_dedup_outputs *outputs, cog_error *error) {
    const cog_pairs_options *pairs = &options->pairs;
    TRY(check_enum(outputs->clusters_format, COG_OUTPUT_NPY + 1, "output format", error));
    TRY(keep_order_check(options, documents, error));
    TRY(check_share(pairs->threshold, "threshold", error));
    TRY(check_share(pairs->recall, "recall", error));
    if (pairs->measure == COG_MEASURE_CONTAINMENT && !pairs_are_by_sets(pairs))
        return error_about(error, COG_ERR_USAGE, "method",
                           "containment is computed exactly: use the method exact");
    if (options->work && !pairs_are_by_sets(pairs))
        return error_about(error, COG_ERR_USAGE, "work",
                           "a work folder is for exact Jaccard and containment");
    if (options->resume && !options->work)
        return error_about(error, COG_ERR_USAGE, "work",
                           "resuming needs the work folder of the job that was stopped: name "
                           "it");
    if (options->verdicts && !pairs_are_by_sets(pairs))
        return error_about(error, COG_ERR_USAGE, "verdicts",
                           "verdicts are applied to exact Jaccard and containment, not to other "
                           "measures and methods");
    if (options->against_index)
        TRY(dedup_index_check(options, error));
    if (outputs->mark)
        TRY(record_marks_check(outputs->mark, documents, error));
    return outputs->kept ? kept_records_check(documents, outputs->kept, error) : COG_OK;
}

/* Whether the input is read more than once; only then is the content of a pipe kept. */
static bool keeps_pipes(const cog_dedup_options *options, const cog_dedup_outputs *outputs) {
    return outputs->kept || outputs->report || options->keep == COG_KEEP_FIELD;
}

static bool reads_again(const cog_documents *documents, const cog_dedup_options *options,
                        const cog_dedup_outputs *outputs) {
    return keeps_pipes(options, outputs) || !documents->reader ||
           !reader_has_pipe(documents->reader);
}

static cog_status find(cog_documents *documents, const cog_dedup_options *options,
                       const cog_dedup_outputs *outputs, struct job *job,
                       struct duplicates *duplicates, cog_error *error) {
    const char *near_path = outputs->kept       ? outputs->kept
                            : outputs->clusters ? outputs->clusters
                            : outputs->removed  ? outputs->removed
                            : outputs->report   ? outputs->report
                                                : "-";
    struct output *rejects = NULL;
    if (outputs->report)
        duplicates->floor = dedup_report_floor(options->pairs.threshold);
    if (outputs->report && options->against)
        ingest_keep_pipes(options->against);
    if (keeps_pipes(options, outputs))
        ingest_keep_pipes(documents);
    cog_status status = outputs->rejects ? output_open(outputs->rejects, &rejects, error) : COG_OK;
    /* A decision needs only lookups; nearest documents and checkpoints need a join. */
    if (options->against_index && !outputs->report && !options->work)
        THEN(status,
             dedup_by_index(documents, options, rejects, near_path, job, duplicates, error));
    else if (pairs_are_by_sets(&options->pairs))
        THEN(status, dedup_by_sets(documents, options, rejects, near_path, job, duplicates, error));
    else
        THEN(status, dedup_by_pairs(documents, options, rejects, job, duplicates, error));
    if (pairs_are_by_sets(&options->pairs))
        report_exact(job->report);
    if (rejects)
        THEN(status, output_commit(rejects, error));
    output_close(rejects);
    return status;
}

static cog_status write_kept(const cog_clusters *clusters, cog_documents *documents,
                             const cog_dedup_outputs *outputs, struct job *job, cog_error *error) {
    const struct duplicates *duplicates = &clusters->duplicates;
    const size_t count = duplicates->count;
    const size_t records = count ? (size_t)duplicates_record(duplicates, count - 1) + 1 : 0;
    struct record_marks *marks = NULL;
    uint8_t *is_kept;
    TAKE_ZEROED(is_kept, records, "kept records", error);
    for (size_t row = 0; row < count; row++)
        is_kept[duplicates_record(duplicates, row)] = duplicates_keeps(duplicates, row);
    cog_status status = COG_OK;
    if (outputs->mark)
        status = record_marks_create(outputs->mark, documents->reader, duplicates,
                                     clusters->members, clusters->member_count, &marks, error);
    THEN(status, kept_records_write(documents, is_kept, records, marks, outputs->kept, &job->run,
                                    job->report, error));
    record_marks_free(marks);
    free(is_kept);
    return status;
}

static cog_status write_outputs(const cog_clusters *clusters, cog_documents *documents,
                                const cog_dedup_options *options, const cog_dedup_outputs *outputs,
                                struct job *job, cog_error *error) {
    const struct duplicates *duplicates = &clusters->duplicates;
    if (outputs->clusters)
        TRY(duplicates_write_clusters(duplicates, clusters->members, clusters->member_count,
                                      outputs->clusters_format, outputs->clusters, error));
    if (outputs->removed)
        TRY(duplicates_write_removed(duplicates, outputs->clusters_format, outputs->removed,
                                     error));
    if (outputs->report)
        TRY(dedup_report(duplicates, documents, options, outputs->report, job, error));
    return outputs->kept ? write_kept(clusters, documents, outputs, job, error) : COG_OK;
}

static void report_duplicates(const cog_clusters *clusters, cog_report *report) {
    size_t of_reason[REASON_VERDICT + 1] = {0};
    for (size_t row = 0; row < clusters->duplicates.count; row++)
        of_reason[clusters->duplicates.reason[row]]++;
    const size_t kept = of_reason[REASON_KEPT];
    report_number(report, "clusters", (double)clusters->count);
    report_number(report, "removed", (double)(clusters->duplicates.count - kept));
    report_number(report, "removed_identical", (double)of_reason[REASON_IDENTICAL]);
    report_number(report, "kept", (double)kept);
}

/* Readers know the fields of keep rules and marks by other names. */
static const char *option_of_caller(const char *option) {
    return strcmp(option, "extra_field") == 0   ? "keep"
           : strcmp(option, "added_field") == 0 ? "mark"
                                                : option;
}

cog_status cog_dedup(cog_documents *documents, const cog_dedup_options *options,
                     const cog_dedup_outputs *outputs, const cog_run_options *run,
                     cog_clusters **result, cog_report *report, cog_error *error) {
    static const cog_dedup_outputs none;
    struct job job;
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "clusters", error));
    TRY(check_enum(options->keep, COG_KEEP_FIELD + 1, "keep", error));
    TRY(check_enum(options->grouping, COG_GROUP_CONNECTED + 1, "grouping", error));
    TRY(check_enum(options->pairs.measure, COG_MEASURE_CONTAINMENT + 1, "measure", error));
    TRY(options_check_reserved(options->reserved, 7, "dedup", error));
    cog_clusters *clusters;
    outputs = outputs ? outputs : &none;
    TAKE_ZEROED(clusters, 1, "clusters", error);
    job_begin(&job, run, report);
    struct verdicts *verdicts = NULL;
    cog_status status = check(documents, options, outputs, error);
    if (options->verdicts)
        THEN(status, verdicts_read(options->verdicts, &verdicts, error));
    THEN(status, find(documents, options, outputs, &job, &clusters->duplicates, error));
    if (reads_again(documents, options, outputs))
        THEN(status, dedup_name_frequent(&clusters->duplicates, documents, options, &job, error));
    if (verdicts)
        THEN(status, dedup_judge(&clusters->duplicates, options, verdicts, &job, error));
    THEN(status, duplicates_clusters(&clusters->duplicates, &clusters->members,
                                     &clusters->member_count, &clusters->count, error));
    THEN(status, write_outputs(clusters, documents, options, outputs, &job, error));
    if (status == COG_OK)
        report_duplicates(clusters, report);
    if (status != COG_OK && error && error->option)
        error->option = option_of_caller(error->option);
    verdicts_free(verdicts);
    job_end(&job);
    return HAND_OUT(status, clusters, cog_clusters_free, result);
}
