#include "jobs/link/link_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "jobs/link/link_candidates.h"
#include "jobs/link/link_decision.h"
#include "jobs/link/link_decoys.h"
#include "jobs/link/link_options.h"
#include "jobs/result_table.h"
#include "plan/method_choice.h"

/* ---- Choosing -------------------------------------------------------------------------------- */

static float against(const struct link *link, struct link_means means) {
    return means.from ? 2 * link->similarity - means.from[link->from] - means.to[link->to]
                      : link->similarity;
}

void links_score(struct link *links, size_t count, struct link_means few, struct link_means many) {
    for (size_t i = 0; i < count; i++) {
        links[i].contrast = against(&links[i], few);
        links[i].score = against(&links[i], many);
    }
}

static int by_rows(const void *x, const void *y) {
    const struct link *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return ORDER(a->to, b->to);
}

static int by_contrast(const void *x, const void *y) {
    const struct link *a = x, *b = y;
    if (a->contrast != b->contrast)
        return a->contrast > b->contrast ? -1 : 1;
    return by_rows(x, y);
}

static int by_source(const void *x, const void *y) {
    const struct link *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return by_contrast(x, y);
}

void links_best(struct link *links, size_t *count, size_t per_source) {
    size_t kept = 0, of_source = 0;
    if (*count)
        qsort(links, *count, sizeof *links, by_source);
    for (size_t i = 0; i < *count; i++) {
        of_source = kept && links[kept - 1].from == links[i].from ? of_source + 1 : 1;
        if (of_source <= per_source)
            links[kept++] = links[i];
    }
    *count = kept;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* The mean cosines of all documents to their k nearest, source documents first. Neighbours outside
 * the radius of the search are assumed to be at the radius. */
static void take_means(const struct link_candidates *candidates, size_t k, float *means) {
    for (int side = 0; side < 2; side++) {
        const struct cosine_neighbours *neighbours = &candidates->sides[side];
        size_t others = candidates->sides[!side].queries, used = k < others ? k : others;
        for (size_t row = 0; row < neighbours->queries; row++) {
            double sum = 0;
            size_t found = neighbours->counts[row] < used ? neighbours->counts[row] : used;
            for (size_t i = 0; i < found; i++)
                sum += (double)neighbours->items[row * neighbours->k + i].similarity;
            sum += (double)candidates->beyond * (double)(used - found);
            *means++ = used ? (float)(sum / (double)used) : 0;
        }
    }
}

/* Computes the two means of every document, or none if the cosine itself decides. */
static cog_status take_both_means(const struct link_candidates *candidates, size_t hubs,
                                  float **means, struct link_means both[2], cog_error *error) {
    size_t from_rows = candidates->sides[0].queries;
    size_t rows = from_rows + candidates->sides[1].queries;
    if (hubs == 0)
        return COG_OK;
    TAKE_ZEROED(*means, 2 * rows, "means", error);
    for (int i = 0; i < 2; i++) {
        float *own = *means + (size_t)i * rows;
        take_means(candidates, i == 0 && hubs > LINK_RIVALS ? LINK_RIVALS : hubs, own);
        both[i] = (struct link_means){own, own + from_rows};
    }
    return COG_OK;
}

/* Scores the candidates of a source document. */
static size_t score_row(const struct cosine_neighbours *neighbours, size_t row,
                        const struct link_means both[2], struct link *links) {
    size_t count = neighbours->counts[row];
    for (size_t i = 0; i < count; i++) {
        const struct cosine_neighbour *other = &neighbours->items[row * neighbours->k + i];
        links[i] =
            (struct link){.from = (uint32_t)row, .to = other->row, .similarity = other->similarity};
    }
    links_score(links, count, both[0], both[1]);
    return count;
}

/* Lists up to `most` best candidates of each source document, scored and sorted, and separately the
 * best one of each. */
static cog_status list_best(cog_links *links, const struct link_candidates *candidates,
                            const struct link_means both[2], size_t most, cog_error *error) {
    const struct cosine_neighbours *neighbours = &candidates->sides[0];
    struct link *row_links;
    size_t total = 0;
    for (size_t row = 0; row < neighbours->queries; row++)
        total += neighbours->counts[row] < most ? neighbours->counts[row] : most;
    TAKE(links->items, total, "candidates", error);
    TAKE(links->firsts, neighbours->queries, "candidates", error);
    TAKE(row_links, neighbours->k, "candidates", error);
    for (size_t row = 0; row < neighbours->queries; row++) {
        size_t count = score_row(neighbours, row, both, row_links);
        links_best(row_links, &count, most ? most : 1);
        if (count)
            links->firsts[links->first_count++] = row_links[0];
        count = count < most ? count : most;
        memcpy(links->items + links->count, row_links, count * sizeof *row_links);
        links->count += count;
    }
    free(row_links);
    return COG_OK;
}

/* Lists the candidates that may become links: per source document, or one-to-one. */
static cog_status take_candidates(cog_links *links, const struct link_candidates *candidates,
                                  const cog_link_options *options, cog_error *error) {
    struct link_means both[2] = {{NULL, NULL}, {NULL, NULL}};
    float *means = NULL;
    size_t most = options->one_to_one ? 0 : link_options_listed(options);
    cog_status status = take_both_means(candidates, options->hub_neighbours, &means, both, error);
    THEN(status, list_best(links, candidates, both, most, error));
    if (status == COG_OK && options->one_to_one) {
        FREE(links->items);
        links->items = NULL;
        status = links_one_to_one(&candidates->sides[0], candidates->sides[1].queries, both,
                                  &links->items, &links->count, error);
    }
    free(means);
    return status;
}

/* Memory of the decision, which follows the search: means, the best link of each source document
 * with its views and their orders, and the links. */
static double decision_bytes(const struct link_space *space) {
    enum { SOURCE_BYTES = 240, TARGET_BYTES = 16 };
    return (double)space->vectors[0].rows * SOURCE_BYTES +
           (double)space->vectors[1].rows * TARGET_BYTES;
}

/* Memory already held by the space, its vocabularies and the job is counted as it is. */
static double needed_bytes(const struct link_space *space, struct link_search search,
                           cog_method method, unsigned threads) {
    const uint64_t known = link_space_memory_bytes(space), held = memory_job_held_bytes();
    search.method = method;
    return MEMORY_BASE_BYTES + (double)(known > held ? known : held) +
           (double)link_candidates_memory_bytes(space, &search, threads) + decision_bytes(space);
}

/* Fails if the budget is too small. Methods that list all pairs at once need more than flat and
 * lists, which propose in blocks. */
static cog_status keep_budget(const struct link_space *space, const struct link_search *search,
                              const struct job *job, cog_error *error) {
    const double budget = (double)job->run.memory_bytes;
    double needed = needed_bytes(space, *search, search->method, job->threads);
    double least = needed_bytes(space, *search, COG_METHOD_LISTS, job->threads);
    if (budget == 0 || needed <= budget || least > budget)
        return memory_budget_keep(needed, &job->run, error);
    return error_about(error, COG_ERR_MEMORY, "memory_bytes",
                       "linking these documents by the method %s needs about %.0f MB of memory and "
                       "the budget is %.0f MB; raise the budget, or use the method lists, which "
                       "needs %.0f MB",
                       method_name(search->method), needed / (1 << 20), budget / (1 << 20),
                       least / (1 << 20));
}

/* Documents that fit in memory may leave too little for the search; their vectors then go to disk.
 */
static cog_status make_room(struct link_space *space, const struct link_search *search,
                            struct job *job, cog_error *error) {
    const double budget = (double)job->run.memory_bytes;
    if (budget > 0 && !space->is_on_disk &&
        needed_bytes(space, *search, search->method, job->threads) > budget)
        TRY(link_space_move_to_disk(space, job, error));
    return keep_budget(space, search, job, error);
}

static cog_status find_candidates(struct link_space *space, struct job *job,
                                  const cog_link_options *options,
                                  struct link_candidates *candidates, cog_error *error) {
    struct link_search search = {.method = options->method == COG_METHOD_AUTO
                                               ? method_for_links(space->vectors, options->recall)
                                               : options->method,
                                 .options = options};
    link_options_wanted(options, search.wanted);
    TRY(make_room(space, &search, job, error));
    return link_candidates_find(candidates, job, space, &search, error);
}

/* ---- Links ----------------------------------------------------------------------------------- */

static void report_expectation(cog_report *report, const char *name,
                               const struct link_expectation *expected) {
    char low[48], high[48];
    snprintf(low, sizeof low, "%s_low", name);
    snprintf(high, sizeof high, "%s_high", name);
    report_number(report, name, expected->share);
    report_number(report, low, expected->low);
    report_number(report, high, expected->high);
}

static void report_decision(cog_report *report, const struct link_decision *decision,
                            const struct link_choice *choice, double precision) {
    report_number(report, "wanted_precision", precision);
    report_number(report, "partnerless_share", decision->null_share);
    if (!choice->kept && decision->count) {
        report_notice(report,
                      "no link is known to reach a precision of %g: ask for a lower precision, or "
                      "for the best links of each document, whatever their probability",
                      precision);
        return;
    }
    report_number(report, "least_probability", choice->least_probability);
    report_expectation(report, "expected_precision", &choice->precision);
    report_expectation(report, "expected_recall", &choice->recall);
}

/* Sets probabilities, and keeps the links that the options request. */
static void keep_links(cog_links *links, const struct link_candidates *candidates,
                       const struct link_decision *decision, const cog_link_options *options,
                       cog_report *report) {
    struct link_choice choice = {.least_strength = -INFINITY};
    bool decides = options->calibrated && !options->per_document;
    if (decides) {
        choice = link_decision_choose(decision, options->precision);
        report_decision(report, decision, &choice, options->precision);
    }
    size_t kept = 0;
    for (size_t i = 0; i < links->count; i++) {
        struct link *link = &links->items[i];
        struct link_view view = link_view_of(candidates, link);
        float strength = link_strength_of(&decision->strength, &view);
        link->probability = (float)link_probability(decision, strength);
        if (options->calibrated ? strength >= choice.least_strength
                                : (double)link->similarity >= options->threshold)
            links->items[kept++] = *link;
    }
    links->count = kept;
}

/* Probabilities are derived from the best links of all source documents, even for one-to-one links:
 * the links above a margin of 0 are the same, and decoys do not depend on which documents are
 * taken. */
static cog_status decide_links(cog_links *links, const struct link_candidates *candidates,
                               const cog_link_options *options, unsigned threads,
                               cog_report *report, cog_error *error) {
    struct link_sample sample = {0};
    struct link_decision decision = {0};
    size_t hubs = options->hub_neighbours;
    cog_status status = link_sample_take(&sample, candidates, links->firsts, links->first_count,
                                         hubs < LINK_RIVALS ? hubs : LINK_RIVALS, threads, error);
    THEN(status, link_decision_fit(&decision, &sample, options->precision, error));
    if (status == COG_OK)
        keep_links(links, candidates, &decision, options, report);
    link_sample_free(&sample);
    link_decision_free(&decision);
    return status;
}

cog_status links_choose(cog_links *links, const struct link_candidates *candidates,
                        const cog_link_options *options, unsigned threads, cog_report *report,
                        cog_error *error) {
    TRY(take_candidates(links, candidates, options, error));
    TRY(decide_links(links, candidates, options, threads, report, error));
    report_number(report, "links", (double)links->count);
    return COG_OK;
}

static cog_status make_space(cog_links *links, struct job *job, cog_documents *const documents[2],
                             const struct lexicon *lexicon, const cog_projection_options *options,
                             cog_error *error) {
    TRY(link_space_read(&links->space, job, lexicon, documents, error));
    return link_space_build(&links->space, job, options, error);
}

cog_status link_prepare(cog_links *links, struct job *job, cog_documents *const documents[2],
                        const struct lexicon *lexicon, const cog_projection_options *options,
                        cog_error *error) {
    TRY(job_check_memory(job, link_space_predicted_bytes(documents), error));
    return make_space(links, job, documents, lexicon, options, error);
}

cog_status link_documents(cog_links *links, struct job *job, cog_documents *const documents[2],
                          const struct lexicon *lexicon, const cog_link_options *options,
                          cog_error *error) {
    TRY(link_space_choose_place(&links->space, job, documents, error));
    TRY(make_space(links, job, documents, lexicon, &options->projection, error));
    job_stage(job, "linking");
    struct link_candidates candidates = {0};
    cog_status status = find_candidates(&links->space, job, options, &candidates, error);
    THEN(status, links_choose(links, &candidates, options, job->threads, job->report, error));
    link_candidates_free(&candidates);
    job_stage(job, NULL);
    return status;
}

void links_reset(cog_links *links) {
    link_space_free(&links->space);
    free(links->items);
    free(links->firsts);
}

cog_status links_write(const cog_links *links, cog_output_format format, const char *path,
                       cog_error *error) {
    static const struct result_column columns[] = {{"from", RESULT_ID},
                                                   {"to", RESULT_ID},
                                                   {"similarity", RESULT_REAL},
                                                   {"score", RESULT_REAL},
                                                   {"probability", RESULT_REAL}};
    const struct corpus *corpora = links->space.corpora;
    struct result_table table = {0};
    cog_status status = result_table_open(&table, columns, 5, links->count, format, path, error);
    for (size_t i = 0; i < links->count && status == COG_OK; i++) {
        const struct link *link = &links->items[i];
        struct result_cell cells[] = {{link->from, corpus_id(&corpora[0], link->from)},
                                      {link->to, corpus_id(&corpora[1], link->to)},
                                      {.number = (double)link->similarity},
                                      {.number = (double)link->score},
                                      {.number = (double)link->probability}};
        status = result_table_add(&table, cells, error);
    }
    return result_table_close(&table, status, error);
}
