/* Explanations: the public functions. */
#include "api/arguments.h"
#include "jobs/explain/explain_job.h"
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
    struct job job;
    job_begin(&job, run, report);
    cog_status status = explain_pair(&job, both, ids, options, matches, count, cosine, error);
    job_end(&job);
    return status;
}
