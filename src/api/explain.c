/* Explanations: the public functions. */
#include "base/arguments.h"
#include "collection/options.h"
#include "jobs/explain/explain_job.h"
#include "jobs/explain/overlap_job.h"
#include "jobs/link/link_job.h"

cog_status cog_links_explain(const cog_links *links, uint32_t from_row, uint32_t to_row,
                             cog_word_match **matches, size_t *count, cog_error *error) {
    TRY(check_given(links, "links", error));
    TRY(check_given(matches, "matches", error));
    TRY(check_given(count, "count", error));
    const struct link_space *space = &links->space;
    if (from_row >= space->vectors[0].rows || to_row >= space->vectors[1].rows)
        return error_set(error, COG_ERR_USAGE, "no document has row %u or %u", from_row, to_row);
    return explain_link(space, from_row, to_row, matches, count, error);
}

cog_status cog_pairs_explain(cog_documents *documents, cog_documents *against,
                             const char *const ids[2], const cog_sign_options *options,
                             const cog_run_options *run, cog_word_match **matches, size_t *count,
                             double *cosine, cog_report *report, cog_error *error) {
    cog_documents *const both[2] = {documents, against};
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(matches, "matches", error));
    TRY(check_given(count, "count", error));
    TRY(check_given(cosine, "cosine", error));
    TRY(options_check_signing(options, error));
    struct job job;
    job_begin(&job, run, report);
    cog_status status = explain_pair(&job, both, ids, options, matches, count, cosine, error);
    job_end(&job);
    return status;
}

cog_status cog_pairs_overlap(cog_documents *documents, cog_documents *against,
                             const char *const ids[2], cog_measure measure,
                             const cog_term_options *options, const cog_run_options *run,
                             cog_overlap **overlap, cog_report *report, cog_error *error) {
    cog_documents *const both[2] = {documents, against};
    struct term_options terms;
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "terms", error));
    TRY(check_given(overlap, "overlap", error));
    TRY(check_enum(measure, COG_MEASURE_CONTAINMENT + 1, "measure", error));
    if (measure == COG_MEASURE_COSINE)
        return error_about(error, COG_ERR_USAGE, "measure",
                           "the cosine weighs words and has no shared passages: choose Jaccard or "
                           "containment, or explain the pair by words");
    TRY(options_set_terms(options, measure, &terms, error));
    struct job job;
    job_begin(&job, run, report);
    cog_status status = overlap_find(&job, both, ids, measure, &terms, overlap, error);
    job_end(&job);
    return status;
}

void cog_overlap_free(cog_overlap *overlap) {
    overlap_free(overlap);
}

cog_overlap_summary cog_overlap_summarize(const cog_overlap *overlap) {
    return overlap_summarize(overlap);
}

static bool is_side(int side) {
    return side == 0 || side == 1;
}

const char *cog_overlap_id(const cog_overlap *overlap, int side, size_t *size) {
    *size = is_side(side) ? overlap->documents[side].id.size : 0;
    return is_side(side) ? overlap->documents[side].id.data : NULL;
}

const char *cog_overlap_text(const cog_overlap *overlap, int side, size_t *size) {
    *size = is_side(side) ? overlap->documents[side].text.size : 0;
    return is_side(side) ? overlap->documents[side].text.data : NULL;
}

size_t cog_overlap_span_count(const cog_overlap *overlap) {
    return overlap->shared.count;
}

cog_shared_span cog_overlap_span(const cog_overlap *overlap, size_t index) {
    return index < overlap->shared.count ? overlap->shared.spans[index] : (cog_shared_span){0};
}

size_t cog_overlap_mark_count(const cog_overlap *overlap, int side) {
    return is_side(side) ? overlap->shared.marks[side].count : 0;
}

cog_text_span cog_overlap_mark(const cog_overlap *overlap, int side, size_t index) {
    return index < cog_overlap_mark_count(overlap, side) ? overlap->shared.marks[side].items[index]
                                                         : (cog_text_span){0};
}

cog_status cog_overlap_write(const cog_overlap *overlap, cog_output_format format, const char *path,
                             cog_error *error) {
    TRY(check_given(overlap, "overlap", error));
    TRY(check_given(path, "path", error));
    TRY(check_enum(format, COG_OUTPUT_NPY + 1, "format", error));
    return overlap_write(overlap, format, path, error);
}
