/* Why two documents of one language are similar: the words that both have, and what each adds to
 * the cosine. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "base/word_table.h"
#include "collection/corpus.h"
#include "collection/options.h"
#include "jobs/explain/word_matches.h"

struct pair_explaining {
    const char *const *ids; /* NULL: the first document of each collection */
    struct term_options terms;
    struct weighting weighting;
    struct corpus corpora[2];
    size_t sides;
    uint32_t rows[2];
    struct statistics *statistics;
    struct term_numbers *columns;
    struct sparse_matrix vectors[2];
    unsigned threads;
    pthread_mutex_t lock;
    struct word_table words; /* terms of the two documents, as they are compared */
};

static bool is_wanted(const struct pair_explaining *work, struct bytes_view id) {
    for (int i = 0; i < 2 && work->ids; i++)
        if (view_equals(id, view_of(work->ids[i], strlen(work->ids[i]))))
            return true;
    return !work->ids;
}

static cog_status add_words(struct pair_explaining *work, const struct document *document,
                            cog_error *error) {
    struct analyzer *analyzer = NULL;
    struct term_list list = {.want_strings = true};
    cog_status status = analyzer_create(&work->terms, &analyzer, error);
    THEN(status, analyzer_run(analyzer, document->text, document->lang, &list, error));
    for (size_t i = 0; i < list.count && status == COG_OK; i++) {
        size_t begin = i ? list.ends[i - 1] : 0;
        uint32_t number;
        status = word_table_add(&work->words, list.hashes[i],
                                view_of(list.strings.data + begin, list.ends[i] - begin), 1,
                                &number, error);
    }
    term_list_free(&list);
    analyzer_free(analyzer);
    return status;
}

static cog_status watch_words(void *context, unsigned worker, const struct document *document,
                              struct term_list *terms, cog_error *error) {
    (void)worker;
    (void)terms;
    struct pair_explaining *work = context;
    if (!is_wanted(work, document->id))
        return COG_OK;
    pthread_mutex_lock(&work->lock);
    cog_status status = add_words(work, document, error);
    pthread_mutex_unlock(&work->lock);
    return status;
}

static cog_status find_row(struct pair_explaining *work, int which, cog_error *error) {
    const struct corpus *corpus = &work->corpora[work->sides == 2 ? which : 0];
    if (!work->ids)
        return corpus->rows ? COG_OK : error_set(error, COG_ERR_INPUT, "no document to compare");
    struct bytes_view id = view_of(work->ids[which], strlen(work->ids[which]));
    return corpus_find(corpus, id, &work->rows[which])
               ? COG_OK
               : error_set(error, COG_ERR_USAGE, "no document '%s'", work->ids[which]);
}

static cog_status make_vectors(struct pair_explaining *work, cog_error *error) {
    const struct corpus *corpora[2] = {&work->corpora[0], &work->corpora[1]};
    cog_status status =
        corpus_statistics(corpora, work->sides, work->threads, &work->statistics, error);
    THEN(status, term_numbers_create(work->statistics, 1, work->weighting.min_collection_frequency,
                                     &work->columns, error));
    for (size_t side = 0; side < work->sides && status == COG_OK; side++)
        status = corpus_vectors_in(corpora[side], work->columns, work->statistics, &work->weighting,
                                   1, NULL, work->threads, &work->vectors[side], error);
    return status;
}

/* ---- Matches --------------------------------------------------------------------------------- */

/* The matches with their words behind them: one piece of memory. */
static cog_status list_matches(const struct pair_explaining *work, double cosine,
                               cog_word_match **matches, size_t *count, cog_error *error) {
    const struct sparse_matrix *x = &work->vectors[0], *y = &work->vectors[work->sides - 1];
    struct bag_view bag = corpus_bag(&work->corpora[0], work->rows[0]);
    float *dense = memory_zeroed_array((size_t)x->column_count + 1, 2 * sizeof *dense);
    float *other = dense ? dense + x->column_count : NULL;
    size_t room = bag.count * sizeof **matches;
    *matches = memory_array(room + work->words.strings.size + 1, 1);
    if (!dense || !*matches) {
        free(dense);
        free(*matches);
        return error_memory(error, room, "an explanation");
    }
    char *strings = (char *)*matches + room;
    if (work->words.strings.size)
        memcpy(strings, work->words.strings.data, work->words.strings.size);
    sparse_spread(x, work->rows[0], dense);
    sparse_spread(y, work->rows[1], other);
    *count = 0;
    for (size_t i = 0; i < bag.count && cosine > 0; i++) {
        uint32_t column = term_numbers_find(work->columns, bag.hashes[i]);
        uint32_t number = word_table_find(&work->words, bag.hashes[i]);
        if (column == TERM_NUMBER_NONE || number == WORD_NONE ||
            !(dense[column] * other[column] > 0))
            continue;
        struct bytes_view word = word_table_string(&work->words, number);
        const char *text = strings + (word.data - work->words.strings.data);
        (*matches)[(*count)++] =
            (cog_word_match){.from = text,
                             .to = text,
                             .from_size = word.size,
                             .to_size = word.size,
                             .probability = 1,
                             .share = (double)dense[column] * (double)other[column] / cosine};
    }
    word_matches_sort(*matches, *count);
    free(dense);
    return COG_OK;
}

static void free_explaining(struct pair_explaining *work) {
    for (int side = 0; side < 2; side++) {
        corpus_free(&work->corpora[side]);
        sparse_matrix_free(&work->vectors[side]);
    }
    statistics_free(work->statistics);
    term_numbers_free(work->columns);
    word_table_free(&work->words);
    pthread_mutex_destroy(&work->lock);
}

cog_status cog_pairs_explain(cog_documents *documents, cog_documents *against,
                             const char *const ids[2], const cog_sign_options *options,
                             const cog_run_options *run, cog_word_match **matches, size_t *count,
                             double *cosine, cog_report *report, cog_error *error) {
    struct pair_explaining work = {.ids = ids, .sides = against ? 2 : 1};
    cog_documents *const both[2] = {documents, against};
    struct corpus_options reading = {.terms = &work.terms,
                                     .want_frequencies = true,
                                     .amend = watch_words,
                                     .amend_context = &work};
    work.threads = threads_resolve(run ? run->threads : 0);
    pthread_mutex_init(&work.lock, NULL);
    cog_status status = options_terms(&options->terms, &work.terms, error);
    THEN(status, options_weighting(&options->weights, &work.weighting, error));
    for (size_t side = 0; side < work.sides && status == COG_OK; side++)
        status = corpus_read(&work.corpora[side], both[side], &reading, run, report, error);
    for (int which = 0; which < 2 && status == COG_OK; which++)
        status = find_row(&work, which, error);
    THEN(status, make_vectors(&work, error));
    if (status == COG_OK) {
        *cosine = sparse_row_dot(&work.vectors[0], work.rows[0], &work.vectors[work.sides - 1],
                                 work.rows[1]);
        status = list_matches(&work, *cosine, matches, count, error);
    }
    free_explaining(&work);
    return status;
}
