/* Searchers answer one query after the other, with all preparations made in advance. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "base/strings.h"
#include "collection/row_signer.h"
#include "collection/statistics_job.h"
#include "input/documents/text_bytes.h"
#include "jobs/index/index_languages.h"
#include "jobs/lexicon/lexicon_job.h"
#include "jobs/search/search_job.h"
#include "jobs/search/search_task.h"
#include "jobs/search/set_search.h"
#include "plan/method_table.h"

/* How queries of one kind are answered. */
struct question {
    struct search_task task;
    bool is_checked;
    bool has_margins; /* the choice was made for queries with margins */
    size_t segments;  /* with scratch memory */
};

/* What the queries took so far. */
struct effort_spent {
    uint64_t queries, exact, compared, candidates, sure;
};

struct cog_searcher {
    const cog_index *index;
    cog_search_options options;
    struct question of_texts, of_signatures;
    /* For an index by Jaccard or containment, instead of these. */
    struct set_question of_sets;
    struct set_search set_search;
    /* Texts. */
    struct analyzer *analyzer;
    struct bag_counter *counter;
    struct term_list terms;
    struct corpus corpus; /* one row: the query */
    /* Texts of another language. */
    const struct foreign_documents *foreign; /* or NULL */
    struct foreign_documents *own_foreign;
    struct document_projector projector;
    struct projector_worker *projecting;
    bool is_projected; /* the current query */
    struct text_signer signer;
    struct text_signer_scratch signer_scratch;
    cog_statistics *signed_by; /* the signer's statistics; owned */
    struct query_spread spread;
    uint8_t is_empty;
    /* The current query. */
    uint8_t *signature; /* including padding */
    float *margins;
    cog_hits hits;
    struct effort_spent spent; /* without those of sets, which set_search counts */
};

/* ---- Questions ------------------------------------------------------------------------------- */

/* Scratch memory belongs to the chosen method. */
static void free_scratch(struct question *question) {
    const struct search_method *method = method_of(question->task.options.method);
    for (size_t part = 0; part < question->segments; part++)
        if (question->task.scratch[part])
            method->scratch_free(question->task.scratch[part]);
    free(question->task.scratch);
}

static void reset_question(struct question *question) {
    free_scratch(question);
    search_task_free(&question->task);
    *question = (struct question){0};
}

/* Call before the first query of a kind, and when queries start or stop having margins. */
static cog_status check_question(cog_searcher *searcher, struct question *question,
                                 bool has_margins, cog_error *error) {
    bool of_texts = question == &searcher->of_texts;
    if (question->is_checked && question->has_margins == has_margins)
        return COG_OK;
    reset_question(question);
    question->task = (struct search_task){.index = searcher->index,
                                          .options = searcher->options,
                                          .threads = 1,
                                          .queries = 1,
                                          .has_vectors = of_texts && searcher->index->has_vectors,
                                          .is_empty = of_texts ? &searcher->is_empty : NULL};
    question->task.options.recall_sample = 0;
    question->has_margins = question->task.has_margins = has_margins;
    TRY(search_task_check(&question->task, error));
    TRY(search_task_choose(&question->task, error));
    if (method_of(question->task.options.method)->scratch_free) {
        size_t segments = searcher->index->parts.manifest.count;
        TAKE_ZEROED(question->task.scratch, segments + 1, "a searcher", error);
        question->segments = segments;
    }
    question->is_checked = true;
    return COG_OK;
}

static struct signatures_view view_of_query(const cog_searcher *searcher) {
    unsigned bits = index_bits(searcher->index);
    return (struct signatures_view){searcher->signature, 1, bits, signature_stride_bytes(bits)};
}

/* Answers the current query; its signature, margins and vector are in place as far as needed. */
static cog_status answer(cog_searcher *searcher, struct question *question, const cog_hits **hits,
                         cog_error *error) {
    struct search_task *task = &question->task;
    TRY(search_task_run(task, error));
    hit_lists_free(&searcher->hits.lists);
    searcher->hits.lists = task->hits;
    searcher->hits.estimates = task->estimates;
    searcher->hits.has_distances = task->has_distances;
    task->hits = (struct hit_lists){0};
    searcher->spent.queries++;
    searcher->spent.exact += task->is_exact;
    searcher->spent.compared += task->compared;
    searcher->spent.candidates += task->candidates;
    searcher->spent.sure += task->sure;
    *hits = &searcher->hits;
    return COG_OK;
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static cog_status take_bag(cog_searcher *searcher, const struct bag_view *bag, cog_error *error) {
    searcher->corpus.rows = searcher->corpus.term_count = 0;
    TRY(corpus_add_bag(&searcher->corpus, bag, error));
    return index_mark_empty(searcher->index, &searcher->corpus, &searcher->is_empty, error);
}

static cog_status sign_text(cog_searcher *searcher, bool wants_margins, cog_error *error) {
    const cog_index *index = searcher->index;
    if (!searcher->signer_scratch.workspace) {
        text_signer_reset(&searcher->signer);
        if (!searcher->signed_by)
            searcher->signed_by = statistics_retain(index->statistics);
        TRY(text_signer_init(&searcher->signer, &index->sign, index->statistics->counts, error));
        TRY(text_signer_scratch_init(&searcher->signer_scratch, &searcher->signer, error));
    }
    return query_parts_sign_one(&searcher->of_texts.task.parts, index, &searcher->corpus,
                                wants_margins, &searcher->signer, &searcher->signer_scratch, error);
}

static cog_status weigh_text(cog_searcher *searcher, cog_error *error) {
    struct search_task *task = &searcher->of_texts.task;
    if (search_task_needs_signatures(task)) /* only rows that these propose are compared */
        TRY(query_parts_weigh_later(&task->parts, searcher->index, &searcher->corpus, error));
    else
        TRY(query_parts_weigh(&task->parts, searcher->index, &searcher->corpus, 1, error));
    if (!searcher->spread.queries)
        TRY(query_spread_fit(&searcher->spread, &task->parts, error));
    task->spread = &searcher->spread;
    return COG_OK;
}

static cog_status find_sets(cog_searcher *searcher, const struct bag_view *bag,
                            const cog_hits **hits, cog_error *error) {
    struct set_search *search = &searcher->set_search;
    struct hit_lists *lists = &searcher->hits.lists;
    TRY(set_search_run(search, searcher->index, &searcher->of_sets, bag, error));
    hit_lists_free(lists);
    TRY(hit_lists_init(lists, 1, search->count, error));
    if (search->count)
        memcpy(lists->items, search->hits, search->count * sizeof *lists->items);
    lists->offsets[1] = search->count;
    *hits = &searcher->hits;
    return COG_OK;
}

cog_status searcher_find_bag(cog_searcher *searcher, const struct bag_view *bag,
                             const cog_hits **hits, cog_error *error) {
    if (index_is_of_sets(searcher->index))
        return find_sets(searcher, bag, hits, error);
    bool wants_margins = search_task_wants_margins(searcher->index, &searcher->options);
    TRY(check_question(searcher, &searcher->of_texts, wants_margins, error));
    searcher->of_texts.task.counted_from = searcher->is_projected ? COG_THRESHOLD_ACROSS : 0;
    TRY(take_bag(searcher, bag, error));
    if (searcher->of_texts.task.has_vectors)
        TRY(weigh_text(searcher, error));
    if (search_task_needs_signatures(&searcher->of_texts.task))
        TRY(sign_text(searcher, wants_margins, error));
    return answer(searcher, &searcher->of_texts, hits, error);
}

/* Reads the text as terms of the index's language. */
static cog_status read_text(cog_searcher *searcher, struct bytes_view text,
                            struct bytes_view language, struct bag_view *bag, cog_error *error) {
    static const struct bytes_view no_id;
    searcher->is_projected = false;
    if (searcher->foreign && searcher->index->measure != COG_MEASURE_COSINE)
        return error_about(error, COG_ERR_USAGE, "lexicon",
                           "an index by jaccard or containment compares texts of one language: "
                           "leave the lexicon out");
    if (searcher->foreign)
        TRY(foreign_is_projected(searcher->foreign, language, no_id, &searcher->is_projected,
                                 error));
    else if (searcher->index->is_multilingual)
        TRY(index_check_language(searcher->index, language, text, no_id, error));
    if (searcher->is_projected)
        return projector_worker_run(searcher->projecting, text, bag, error);
    TRY(analyzer_run(searcher->analyzer, text, language, &searcher->terms, error));
    if (index_is_of_sets(searcher->index))
        TRY(set_bag_mark(&searcher->terms, text, error));
    return bag_count(searcher->counter, searcher->terms.hashes, searcher->terms.count, bag, error);
}

cog_status cog_searcher_find_text(cog_searcher *searcher, const char *text, size_t text_size,
                                  const char *lang, const cog_hits **hits, cog_error *error) {
    struct bag_view bag;
    TRY(check_given(searcher, "searcher", error));
    TRY(check_given(hits, "hits", error));
    if (text_size)
        TRY(check_given(text, "text", error));
    if (!searcher->index->has_documents)
        return error_set(
            error, COG_ERR_USAGE,
            "the index contains only signatures and does not record how they were made: give the "
            "query as a signature");
    if (!utf8_is_valid(text, text_size))
        return error_set(error, COG_ERR_INPUT, "the text is not valid UTF-8");
    TRY(read_text(searcher, view_of(text, text_size), view_of(lang, lang ? strlen(lang) : 0), &bag,
                  error));
    return searcher_find_bag(searcher, &bag, hits, error);
}

/* ---- Signatures ------------------------------------------------------------------------------ */

cog_status cog_searcher_find_signature(cog_searcher *searcher, const uint8_t *signature,
                                       const float *margins, const cog_hits **hits,
                                       cog_error *error) {
    TRY(check_given(searcher, "searcher", error));
    TRY(check_given(signature, "signature", error));
    TRY(check_given(hits, "hits", error));
    unsigned bits = index_bits(searcher->index);
    TRY(check_question(searcher, &searcher->of_signatures, margins != NULL, error));
    memcpy(searcher->signature, signature, (bits + 7) / 8);
    if (margins)
        memcpy(searcher->margins, margins, bits * sizeof *margins);
    struct signatures_view query = view_of_query(searcher);
    TRY(query_parts_given(&searcher->of_signatures.task.parts, &query,
                          margins ? searcher->margins : NULL, error));
    return answer(searcher, &searcher->of_signatures, hits, error);
}

/* ---- Reporting ------------------------------------------------------------------------------- */

static void report_sets(cog_searcher *const *searchers, size_t count, cog_report *report) {
    uint64_t compared = 0, postings = 0;
    for (size_t i = 0; i < count; i++) {
        compared += searchers[i]->set_search.compared;
        postings += searchers[i]->set_search.postings;
    }
    set_search_report(compared, postings, report);
}

cog_status searchers_report(cog_searcher *const *searchers, size_t count, cog_report *report,
                            cog_error *error) {
    const struct search_task *last = NULL;
    struct effort_spent spent = {0};
    for (size_t i = 0; i < count; i++) {
        const struct effort_spent *own = &searchers[i]->spent;
        if (own->queries)
            last = &searchers[i]->of_texts.task;
        spent.queries += own->queries;
        spent.exact += own->exact;
        spent.compared += own->compared;
        spent.candidates += own->candidates;
        spent.sure += own->sure;
    }
    if (count && index_is_of_sets(searchers[0]->index))
        report_sets(searchers, count, report);
    if (!last)
        return COG_OK;
    struct search_task all = *last; /* borrows */
    all.report = report;
    all.is_exact = spent.exact == spent.queries;
    all.compared = spent.compared;
    all.candidates = spent.candidates;
    all.sure = spent.sure;
    search_task_report(&all);
    search_report_statistics(all.index, report);
    return search_task_measure(&all, error);
}

/* ---- Making ---------------------------------------------------------------------------------- */

cog_status cog_searcher_create(const cog_index *index, const cog_search_options *options,
                               cog_searcher **result, cog_error *error) {
    TRY(check_given(index, "index", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "searcher", error));
    TRY(options_check_reserved(options->reserved, 4, "search", error));
    TRY(index_prepare(index, error));
    unsigned bits = index_bits(index);
    cog_searcher *searcher;
    TAKE_ZEROED(searcher, 1, "a searcher", error);
    searcher->index = searcher->hits.index = index;
    searcher->options = *options;
    cog_status status =
        TAKEN_ZEROED(searcher->signature, signature_stride_bytes(bits) + 1, "a searcher", error);
    THEN(status, TAKEN_ZEROED(searcher->margins, (size_t)bits + 1, "a searcher", error));
    if (status == COG_OK && index->has_documents) {
        status = analyzer_create(&index->terms, &searcher->analyzer, error);
        THEN(status, bag_counter_create(&searcher->counter, error));
    }
    /* Reject invalid questions here, not with the first query. */
    if (index_is_of_sets(index))
        THEN(status, set_question_take(index, options, &searcher->of_sets, error));
    else
        THEN(status,
             check_question(searcher,
                            index->has_documents ? &searcher->of_texts : &searcher->of_signatures,
                            false, error));
    THEN(status, hit_lists_init(&searcher->hits.lists, 0, 0, error));
    return HAND_OUT(status, searcher, cog_searcher_free, result);
}

static void forget_lexicon(cog_searcher *searcher) {
    projector_worker_free(searcher->projecting);
    document_projector_free(&searcher->projector);
    foreign_documents_free(searcher->own_foreign);
    searcher->projecting = NULL;
    searcher->own_foreign = NULL;
    searcher->foreign = NULL;
}

cog_status searcher_project(cog_searcher *searcher, const struct foreign_documents *foreign,
                            cog_error *error) {
    forget_lexicon(searcher);
    if (!searcher->index->has_documents)
        return error_set(error, COG_ERR_USAGE,
                         "the index holds signatures, which have no language: search it without a "
                         "lexicon");
    TRY(index_check_lexicon(searcher->index, foreign, NULL, error));
    TRY(foreign_projector_init(foreign, &searcher->index->terms, &searcher->projector, error));
    TRY(projector_worker_create(&searcher->projector, &searcher->projecting, error));
    searcher->foreign = foreign;
    return COG_OK;
}

cog_status cog_searcher_project(cog_searcher *searcher, const cog_lexicon *lexicon,
                                const cog_projection_options *options, cog_error *error) {
    cog_projection_options usual;
    struct foreign_documents *foreign = NULL;
    TRY(check_given(searcher, "searcher", error));
    cog_projection_options_init(&usual);
    if (!lexicon) {
        forget_lexicon(searcher);
        return COG_OK;
    }
    TRY(foreign_documents_create(&lexicon->table, options ? options : &usual, &foreign, error));
    cog_status status = searcher_project(searcher, foreign, error);
    if (status == COG_OK)
        searcher->own_foreign = foreign;
    else
        foreign_documents_free(foreign);
    return status;
}

/* Clears data that depends on the state of the index. */
static void forget_state(cog_searcher *searcher) {
    if (searcher->spread.queries)
        query_spread_clear(&searcher->spread);
    searcher->spread.queries = NULL;
    reset_question(&searcher->of_texts);
    reset_question(&searcher->of_signatures);
}

static void forget_signer(cog_searcher *searcher) {
    text_signer_reset(&searcher->signer);
    text_signer_scratch_reset(&searcher->signer_scratch);
    statistics_release(searcher->signed_by);
    searcher->signed_by = NULL;
}

cog_status cog_searcher_move(cog_searcher *searcher, const cog_index *index, cog_error *error) {
    TRY(check_given(searcher, "searcher", error));
    TRY(check_given(index, "index", error));
    TRY(index_prepare(index, error));
    TRY(index_check_lexicon(index, searcher->foreign, NULL, error));
    forget_state(searcher);
    if (searcher->signed_by != index->statistics)
        forget_signer(searcher);
    searcher->index = searcher->hits.index = index;
    return COG_OK;
}

void cog_searcher_free(cog_searcher *searcher) {
    if (!searcher)
        return;
    forget_state(searcher);
    forget_signer(searcher);
    forget_lexicon(searcher);
    query_spread_free(&searcher->spread);
    analyzer_free(searcher->analyzer);
    bag_counter_free(searcher->counter);
    term_list_free(&searcher->terms);
    corpus_free(&searcher->corpus);
    free(searcher->signature);
    free(searcher->margins);
    hit_lists_free(&searcher->hits.lists);
    set_search_free(&searcher->set_search);
    free(searcher);
}
