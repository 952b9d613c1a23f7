/* Linking two collections of different languages. */
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "jobs/link/link_candidates.h"
#include "jobs/link/link_job.h"
#include "jobs/pairs/list_pairs.h"
#include "jobs/result_table.h"
#include "run/memory_budget.h"
#include "run/progress.h"
#include "run/report.h"
#include "signature/signer.h"

void cog_link_options_init(cog_link_options *options) {
    *options = (cog_link_options){.calibrated = true,
                                  .threshold = COG_THRESHOLD_ACROSS,
                                  .method = COG_METHOD_AUTO,
                                  .bits = 1024,
                                  .recall = 0.99,
                                  .candidates = 30,
                                  .hub_neighbours = 10};
    cog_projection_options_init(&options->projection);
}

/* ---- Candidates ------------------------------------------------------------------------------ */

/* Mean cosines of all documents to their k nearest, source documents first. A neighbour that a
 * radius kept out is taken to lie at the radius. */
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

static cog_status take_candidates(const struct cosine_neighbours *neighbours, struct link **links,
                                  size_t *count, cog_error *error) {
    size_t total = 0;
    for (size_t row = 0; row < neighbours->queries; row++)
        total += neighbours->counts[row];
    *links = memory_array(total, sizeof **links);
    if (!*links)
        return error_memory(error, total * sizeof **links, "candidates");
    *count = 0;
    for (size_t row = 0; row < neighbours->queries; row++)
        for (size_t i = 0; i < neighbours->counts[row]; i++) {
            const struct cosine_neighbour *other = &neighbours->items[row * neighbours->k + i];
            (*links)[(*count)++] = (struct link){
                .from = (uint32_t)row, .to = other->row, .similarity = other->similarity};
        }
    return COG_OK;
}

/* Measured on 100 million to 10 billion pairs of sentences and of documents: the exact search takes
 * 25 ns for a pair of 575 terms on both sides together, lists a third to a half of its time, and
 * less than signatures at every size. */
static cog_method method_of(const struct link_space *space, const cog_link_options *options) {
    const double exact_term_ns = 25.0 / 575;
    if (options->method != COG_METHOD_AUTO)
        return options->method;
    return options->recall < 1 && list_pairs_pay(space->vectors, exact_term_ns) ? COG_METHOD_LISTS
                                                                                : COG_METHOD_EXACT;
}

/* The two means of every document that its candidates are measured by. */
static cog_status score_links(const struct link_candidates *candidates, size_t hubs,
                              struct link *links, size_t count, cog_error *error) {
    enum { RIVALS = 2 };
    const struct link_means none = {NULL, NULL};
    if (hubs == 0) {
        links_score(links, count, none, none);
        return COG_OK;
    }
    size_t from_rows = candidates->sides[0].queries;
    size_t rows = from_rows + candidates->sides[1].queries;
    float *means = memory_zeroed_array(2 * rows, sizeof *means);
    if (!means)
        return error_memory(error, 2 * rows * sizeof *means, "means");
    float *few = means, *many = means + rows;
    take_means(candidates, hubs < RIVALS ? hubs : RIVALS, few);
    take_means(candidates, hubs, many);
    links_score(links, count, (struct link_means){few, few + from_rows},
                (struct link_means){many, many + from_rows});
    free(means);
    return COG_OK;
}

/* The best candidates of each source document, scored. */
static cog_status find_candidates(const struct link_space *space, const cog_link_options *options,
                                  struct link **links, size_t *count, cog_error *error) {
    size_t hubs = options->hub_neighbours;
    struct link_search search = {
        .method = method_of(space, options),
        .options = options,
        .wanted = {options->candidates > hubs ? options->candidates : hubs, hubs}};
    struct link_candidates candidates = {0};
    double needed = MEMORY_BASE_BYTES + (double)link_space_memory_bytes(space) +
                    (double)link_candidates_memory_bytes(space, &search);
    cog_status status = memory_budget_keep(needed, space->run, error);
    THEN(status, link_candidates_find(&candidates, space, &search, error));
    THEN(status, take_candidates(&candidates.sides[0], links, count, error));
    THEN(status, score_links(&candidates, hubs, *links, *count, error));
    link_candidates_free(&candidates);
    return status;
}

/* ---- Links ----------------------------------------------------------------------------------- */

/* Cosines of true links depend on the languages and on how good the lexicon is; how far a link
 * stands out from its neighbours does less so (docs/crosslingual.md has the measurements). A cosine
 * of its own is enough for pages with near-identical siblings, which do not stand out. */
static bool is_kept(const struct link *link, const cog_link_options *options) {
    const double clear_score = 0.17, clear_cosine = 0.5;
    double cosine = (double)link->similarity;
    if (!options->calibrated)
        return cosine >= options->threshold;
    if (!options->hub_neighbours)
        return cosine >= COG_THRESHOLD_ACROSS;
    return (double)link->score >= clear_score || cosine >= clear_cosine;
}

static cog_status choose_links(cog_links *links, const cog_link_options *options, struct link *all,
                               size_t count, cog_error *error) {
    cog_status status = COG_OK;
    links->items = all;
    links->firsts = memory_array(count, sizeof *links->firsts);
    if (!links->firsts)
        return error_memory(error, count * sizeof *links->firsts, "links");
    if (count)
        memcpy(links->firsts, all, count * sizeof *all);
    links->first_count = links_best(links->firsts, count);
    size_t chosen;
    if (options->one_to_one)
        chosen = links_one_to_one(all, count, links->space.vectors[0].rows,
                                  links->space.vectors[1].rows, error, &status);
    else
        chosen = links_best(all, count);
    for (size_t i = 0; i < chosen && all; i++)
        if (is_kept(&all[i], options))
            all[links->count++] = all[i];
    return status;
}

static cog_status link_documents(cog_links *links, const cog_link_options *options,
                                 cog_report *report, cog_error *error) {
    struct link *all = NULL;
    size_t count = 0;
    cog_status status = link_space_build(&links->space, &options->projection, error);
    if (status != COG_OK)
        return status;
    uint64_t start = clock_ns();
    status = find_candidates(&links->space, options, &all, &count, error);
    if (status == COG_OK)
        status = choose_links(links, options, all, count, error);
    else
        free(all);
    report_stage(report, "linking", clock_seconds_since(start));
    report_number(report, "links", (double)links->count);
    report_number(report, "peak_memory_bytes", (double)memory_peak_bytes());
    return status;
}

/* The documents of both sides, read and not yet in one space. */
static cog_status read_documents(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                                 const cog_run_options *run, cog_links **result, cog_report *report,
                                 cog_error *error) {
    double text_bytes = (double)ingest_text_bytes(from) + (double)ingest_text_bytes(to);
    TRY(memory_budget_check(MEMORY_BASE_BYTES + text_bytes * MEMORY_OF_PROJECTION, run, report,
                            error));
    *result = calloc(1, sizeof **result);
    return *result
               ? link_space_read(&(*result)->space, &lexicon->table, from, to, run, report, error)
               : error_memory(error, sizeof **result, "links");
}

static cog_status hand_out(cog_links *links, cog_status status, cog_links **result) {
    if (status == COG_OK)
        *result = links;
    else
        cog_links_free(links);
    return status;
}

cog_status cog_links_prepare(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                             const cog_projection_options *options, const cog_run_options *run,
                             cog_links **result, cog_report *report, cog_error *error) {
    cog_links *links = NULL;
    struct job_watch watch;
    job_watch_begin(&watch, run);
    cog_status status = read_documents(from, to, lexicon, run, &links, report, error);
    THEN(status, link_space_build(&links->space, options, error));
    job_watch_end(&watch);
    return hand_out(links, status, result);
}

cog_status cog_link(cog_documents *from, cog_documents *to, const cog_lexicon *lexicon,
                    const cog_link_options *options, const cog_run_options *run, cog_links **result,
                    cog_report *report, cog_error *error) {
    if (options->method != COG_METHOD_EXACT &&
        (options->bits < SIGNATURE_MIN_BITS || options->bits > SIGNATURE_MAX_BITS))
        return error_set(error, COG_ERR_USAGE, "signatures of %u bits: choose from %d to %d",
                         options->bits, SIGNATURE_MIN_BITS, SIGNATURE_MAX_BITS);
    if (!(options->recall > 0 && options->recall <= 1))
        return error_set(error, COG_ERR_USAGE, "a recall of %g: choose above 0 and at most 1",
                         options->recall);
    if (options->recall >= 1 && options->method != COG_METHOD_AUTO &&
        options->method != COG_METHOD_EXACT)
        return error_set(error, COG_ERR_USAGE,
                         "only the exact method finds every partner for certain: use the method "
                         "auto or exact, or a recall below 1");
    if (options->candidates == 0)
        return error_set(error, COG_ERR_USAGE, "linking needs a candidate or more for a document");
    cog_links *links = NULL;
    struct job_watch watch;
    job_watch_begin(&watch, run);
    cog_status status = read_documents(from, to, lexicon, run, &links, report, error);
    THEN(status, link_documents(links, options, report, error));
    job_watch_end(&watch);
    return hand_out(links, status, result);
}

void cog_links_free(cog_links *links) {
    if (!links)
        return;
    link_space_free(&links->space);
    free(links->items);
    free(links->firsts);
    free(links);
}

size_t cog_links_count(const cog_links *links) {
    return links->count;
}

bool cog_links_find(const cog_links *links, int side, const char *id, size_t id_size,
                    uint32_t *row) {
    return corpus_find(&links->space.corpora[side], view_of(id, id_size), row);
}

static struct bytes_view id_of(const cog_links *links, int side, uint32_t row) {
    return corpus_id(&links->space.corpora[side], row);
}

cog_link_item cog_links_item(const cog_links *links, size_t index) {
    const struct link *link = &links->items[index];
    struct bytes_view from = id_of(links, 0, link->from), to = id_of(links, 1, link->to);
    return (cog_link_item){.from = from.data,
                           .to = to.data,
                           .from_size = from.size,
                           .to_size = to.size,
                           .from_row = link->from,
                           .to_row = link->to,
                           .similarity = (double)link->similarity,
                           .score = (double)link->score};
}

cog_status cog_links_write(const cog_links *links, cog_output_format format, const char *path,
                           cog_error *error) {
    static const struct result_column columns[] = {{"from", RESULT_ID},
                                                   {"to", RESULT_ID},
                                                   {"similarity", RESULT_REAL},
                                                   {"score", RESULT_REAL}};
    struct result_table table = {0};
    cog_status status = result_table_open(&table, columns, 4, links->count, format, path, error);
    for (size_t i = 0; i < links->count && status == COG_OK; i++) {
        const struct link *link = &links->items[i];
        struct result_cell cells[] = {{link->from, id_of(links, 0, link->from)},
                                      {link->to, id_of(links, 1, link->to)},
                                      {.number = (double)link->similarity},
                                      {.number = (double)link->score}};
        status = result_table_add(&table, cells, error);
    }
    return result_table_close(&table, status, error);
}
