/* Evaluation: the public functions. */
#include "base/arguments.h"
#include "base/strings.h"
#include "jobs/evaluate/link_scores.h"
#include "jobs/evaluate/neighbour_evaluation.h"
#include "jobs/evaluate/signature_evaluation.h"
#include "jobs/search/search_job.h"
#include "run/job.h"

cog_status cog_evaluate_signatures(cog_documents *documents, const cog_sign_options *options,
                                   const cog_signature_options *kinds, size_t kind_count,
                                   size_t sample, unsigned seeds, const cog_run_options *run,
                                   cog_signature_error *results, cog_report *report,
                                   cog_error *error) {
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(kinds, "kinds", error));
    TRY(check_given(results, "results", error));
    if (seeds == 0)
        return error_set(error, COG_ERR_USAGE, "no seeds to average over");
    struct job job;
    job_begin(&job, run, report);
    cog_status status = evaluate_signatures(&job, documents, options, kinds, kind_count, sample,
                                            seeds, results, error);
    job_end(&job);
    return status;
}

cog_status cog_links_score(const cog_links *links, const char *gold_path, cog_link_scores *scores,
                           cog_error *error) {
    TRY(check_given(links, "links", error));
    TRY(check_given(gold_path, "the path of known links", error));
    TRY(check_given(scores, "scores", error));
    return evaluate_links(links, gold_path, scores, error);
}

cog_status cog_evaluate_link_file(const char *found, const char *gold_path,
                                  const cog_run_options *run, cog_link_scores *scores,
                                  cog_error *error) {
    return cog_evaluate_link_probabilities(found, gold_path, NULL, NULL, run, scores, error);
}

cog_status cog_evaluate_link_probabilities(const char *found, const char *gold_path,
                                           const char *calibration_path, const char *curve_path,
                                           const cog_run_options *run, cog_link_scores *scores,
                                           cog_error *error) {
    TRY(check_given(found, "the path of links", error));
    TRY(check_given(gold_path, "the path of known links", error));
    TRY(check_given(scores, "scores", error));
    return evaluate_link_file(found, gold_path, NULL, calibration_path, curve_path,
                              run ? run->memory_bytes : 0, scores, error);
}

cog_status cog_evaluate_wiki_links(const char *found, const char *langlinks_path,
                                   const char *from_pages, const char *to_pages,
                                   const char *calibration_path, const char *curve_path,
                                   const cog_run_options *run, cog_link_scores *scores,
                                   cog_error *error) {
    TRY(check_given(found, "the path of links", error));
    TRY(check_given(langlinks_path, "the path of language links", error));
    TRY(check_given(from_pages, "the dump of the source language", error));
    TRY(check_given(to_pages, "the dump of the target language", error));
    TRY(check_given(scores, "scores", error));
    const char *const dumps[2] = {from_pages, to_pages};
    return evaluate_link_file(found, langlinks_path, dumps, calibration_path, curve_path,
                              run ? run->memory_bytes : 0, scores, error);
}

cog_status cog_evaluate_neighbour_files(const char *found, const char *truth, size_t k,
                                        uint32_t missing_distance_bits,
                                        cog_neighbour_quality *quality, cog_error *error) {
    TRY(check_given(found, "the path of neighbours", error));
    TRY(check_given(truth, "the path of true neighbours", error));
    TRY(check_given(quality, "quality", error));
    return evaluate_neighbour_files(found, truth, k, missing_distance_bits, quality, error);
}

cog_status cog_evaluate_hits(const cog_hits *found, const cog_hits *truth, size_t k,
                             cog_neighbour_quality *quality, cog_error *error) {
    TRY(check_given(found, "found", error));
    TRY(check_given(truth, "truth", error));
    TRY(check_given(quality, "quality", error));
    if (found->lists.queries != truth->lists.queries)
        return error_set(error, COG_ERR_USAGE, "answers to %zu and to %zu %s do not compare",
                         found->lists.queries, truth->lists.queries,
                         plural(truth->lists.queries, "query", "queries"));
    evaluate_hits(&found->lists, &truth->lists, k, found->has_distances && truth->has_distances,
                  index_bits(truth->index), quality);
    return COG_OK;
}
