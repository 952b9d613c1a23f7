/* Links between two languages: the public functions. They check arguments and call the job. */
#include <stdlib.h>

#include "base/arguments.h"
#include "collection/options.h"
#include "jobs/link/link_job.h"
#include "jobs/link/link_options.h"
#include "jobs/link/link_pairs.h"
#include "jobs/pairs/pair_join.h"
#include "run/job.h"

void cog_projection_options_init(cog_projection_options *options) {
    struct projection_options usual;
    projection_options_init(&usual);
    *options = (cog_projection_options){.keep_unknown = usual.keep_unknown,
                                        .linkers = usual.compounds.linkers,
                                        .k1 = 1.2,
                                        .b = 0.75};
}

void cog_link_options_init(cog_link_options *options) {
    *options = (cog_link_options){.calibrated = true,
                                  .precision = 0.98,
                                  .threshold = COG_THRESHOLD_ACROSS,
                                  .method = COG_METHOD_AUTO,
                                  .bits = 1024,
                                  .recall = 0.99,
                                  .candidates = 30,
                                  .hub_neighbours = 10};
    cog_projection_options_init(&options->projection);
}

static cog_status check_sides(const cog_documents *from, const cog_documents *to,
                              const cog_lexicon *lexicon, const cog_projection_options *options,
                              const void *result, cog_error *error) {
    TRY(check_given(from, "from", error));
    TRY(check_given(to, "to", error));
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(result, "result", error));
    return projection_options_check(options, error);
}

cog_status cog_links_prepare(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                             const cog_projection_options *options, const cog_run_options *run,
                             cog_links **result, cog_report *report, cog_error *error) {
    cog_documents *const documents[2] = {from, to};
    cog_links *links = NULL;
    struct job job;
    TRY(check_sides(from, to, lexicon, options, result, error));
    TAKE_ZEROED(links, 1, "links", error);
    job_begin(&job, run, report);
    cog_status status = link_prepare(links, &job, documents, &lexicon->table, options, error);
    job_end(&job);
    return HAND_OUT(status, links, cog_links_free, result);
}

cog_status cog_link(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                    const cog_link_options *options, const cog_run_options *run, cog_links **result,
                    cog_report *report, cog_error *error) {
    cog_documents *const documents[2] = {from, to};
    cog_links *links = NULL;
    struct job job;
    TRY(link_options_check(options, error));
    TRY(check_sides(from, to, lexicon, &options->projection, result, error));
    TAKE_ZEROED(links, 1, "links", error);
    job_begin(&job, run, report);
    cog_status status = link_documents(links, &job, documents, &lexicon->table, options, error);
    job_end(&job);
    return HAND_OUT(status, links, cog_links_free, result);
}

void cog_links_free(cog_links *links) {
    if (!links)
        return;
    links_reset(links);
    free(links);
}

size_t cog_links_count(const cog_links *links) {
    return links->count;
}

bool cog_links_find(const cog_links *links, int side, const char *id, size_t id_size,
                    uint32_t *row) {
    return (side == 0 || side == 1) &&
           corpus_find(&links->space.corpora[side], view_of(id, id_size), row);
}

cog_link_item cog_links_item(const cog_links *links, size_t index) {
    if (index >= links->count)
        return (cog_link_item){0};
    const struct link *link = &links->items[index];
    struct bytes_view from = corpus_id(&links->space.corpora[0], link->from);
    struct bytes_view to = corpus_id(&links->space.corpora[1], link->to);
    return (cog_link_item){.from = from.data,
                           .to = to.data,
                           .from_size = from.size,
                           .to_size = to.size,
                           .from_row = link->from,
                           .to_row = link->to,
                           .similarity = (double)link->similarity,
                           .score = (double)link->score,
                           .probability = (double)link->probability};
}

uint64_t cog_links_position(const cog_links *links, int side, uint32_t row) {
    const struct corpus *corpus = &links->space.corpora[side == 1];
    return (side == 0 || side == 1) && row < corpus->rows ? corpus->items[row].record : 0;
}

cog_status cog_links_write(const cog_links *links, cog_output_format format, const char *path,
                           cog_error *error) {
    TRY(check_given(links, "links", error));
    TRY(check_given(path, "path", error));
    TRY(check_enum(format, COG_OUTPUT_NPY + 1, "output format", error));
    return links_write(links, format, path, error);
}

void cog_sentence_options_init(cog_sentence_options *options) {
    *options = (cog_sentence_options){.threshold = 0.5, .format = COG_SENTENCES_AUTO};
}

cog_status cog_links_sentences(const cog_links *links, cog_documents *from, cog_documents *to,
                               const cog_sentence_options *options, const char *path,
                               const cog_run_options *run, cog_report *report, cog_error *error) {
    cog_documents *const documents[2] = {from, to};
    TRY(check_given(options, "options", error));
    TRY(options_check_reserved(options->reserved, 4, "sentence", error));
    TRY(check_enum(options->format, COG_SENTENCES_TMX + 1, "sentence format", error));
    TRY(check_given(links, "links", error));
    TRY(check_given(from, "from", error));
    TRY(check_given(to, "to", error));
    TRY(check_given(path, "path", error));
    struct job job;
    job_begin(&job, run, report);
    cog_status status = links_write_sentences(links, &job, documents, options, path, error);
    job_end(&job);
    return status;
}

double cog_links_cosine(const cog_links *links, uint32_t from_row, uint32_t to_row) {
    const struct sparse_matrix *vectors = links->space.vectors;
    return from_row < vectors[0].rows && to_row < vectors[1].rows
               ? sparse_row_dot(&vectors[0], from_row, &vectors[1], to_row)
               : 0;
}

cog_status cog_pairs_find_across(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                                 const cog_projection_options *projection,
                                 const cog_pairs_options *options, const cog_run_options *run,
                                 cog_pairs **result, cog_report *report, cog_error *error) {
    cog_documents *const documents[2] = {from, to};
    struct pair_task task = {0};
    struct match_list matches = {0};
    TRY(check_sides(from, to, lexicon, projection, result, error));
    TRY(check_given(options, "options", error));
    if (options->measure != COG_MEASURE_COSINE)
        return error_set(error, COG_ERR_USAGE,
                         "documents of two languages are compared by their cosine");
    struct job job;
    job_begin(&job, run, report);
    cog_status status = pair_join_init(&task, options, 2, run, report, error);
    THEN(status, link_pairs_find(&task, &job, documents, &lexicon->table, projection,
                                 options->method, &matches, error));
    status = pairs_of_task(&task, status, &matches, result, error);
    job_end(&job);
    return status;
}
