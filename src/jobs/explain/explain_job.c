#include "jobs/explain/explain_job.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "collection/options.h"

static int compare_words(const char *a, size_t a_size, const char *b, size_t b_size) {
    const struct bytes_view x = view_of(a, a_size), y = view_of(b, b_size);
    return view_compare(&x, &y);
}

/* By descending share, then by the bytes of the words. */
static int by_share(const void *x, const void *y) {
    const cog_word_match *a = x, *b = y;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    int order = compare_words(a->from, a->from_size, b->from, b->from_size);
    return order ? order : compare_words(a->to, a->to_size, b->to, b->to_size);
}

static void sort_matches(cog_word_match *matches, size_t count) {
    if (count)
        qsort(matches, count, sizeof *matches, by_share);
}

/* ---- Across languages ------------------------------------------------------------------------ */

struct explaining {
    const struct link_space *space;
    uint32_t rows[2];
    struct column_sums sums; /* tf* of the source document */
    double cosine;
    cog_word_match *items;
    size_t count, capacity;
};

/* The value of a column in a row; 0 if the row does not have the column. */
static double value_of(const struct sparse_matrix *matrix, uint32_t row, uint32_t column) {
    uint64_t low;
    FIND_FIRST_NOT(low, matrix->offsets[row], matrix->offsets[row + 1],
                   matrix->columns[low] < column);
    bool found = low < matrix->offsets[row + 1] && matrix->columns[low] == column;
    return found ? (double)matrix->values[low] : 0;
}

/* A source term as spelled in the lexicon, or else in the text. */
static struct bytes_view source_word(const struct link_space *space, uint64_t hash) {
    uint32_t word = word_table_find(&space->lexicon->from, hash);
    if (word != WORD_NONE)
        return word_table_string(&space->lexicon->from, word);
    word = word_table_find(&space->unknown.strings, hash);
    return word != WORD_NONE ? word_table_string(&space->unknown.strings, word) : view_of("", 0);
}

static cog_status add_match(struct explaining *work, struct bytes_view from, struct bytes_view to,
                            double probability, double share, cog_error *error) {
    GROW(work->items, work->capacity, work->count + 1, "an explanation", error);
    work->items[work->count++] = (cog_word_match){.from = from.data,
                                                  .to = to.data,
                                                  .from_size = from.size,
                                                  .to_size = to.size,
                                                  .probability = probability,
                                                  .share = share};
    return COG_OK;
}

/* Adds a source term with each of its translations in the target document. A column's share of the
 * cosine is divided among source terms in proportion to their shares of its tf*. */
static cog_status explain_term(struct explaining *work, uint64_t hash, uint32_t frequency,
                               cog_error *error) {
    const struct link_space *space = work->space;
    const struct projection *projection = space->projection;
    uint32_t source = term_numbers_find(projection->sources, hash);
    cog_status status = COG_OK;
    for (uint64_t i = projection->offsets[source];
         i < projection->offsets[source + 1] && status == COG_OK; i++) {
        const struct projected_term *term = &projection->terms[i];
        double product = value_of(&space->vectors[0], work->rows[0], term->column) *
                         value_of(&space->vectors[1], work->rows[1], term->column);
        if (product <= 0)
            continue;
        double part = (double)term->weight * frequency / work->sums.sums[term->column];
        struct bytes_view from = source_word(space, hash), to = from;
        uint32_t word =
            word_table_find(&space->lexicon->to, projection->target_hashes[term->column]);
        if (word != WORD_NONE)
            to = word_table_string(&space->lexicon->to, word);
        status =
            add_match(work, from, to, (double)term->weight, product * part / work->cosine, error);
    }
    return status;
}

cog_status explain_link(const struct link_space *space, uint32_t from_row, uint32_t to_row,
                        cog_word_match **matches, size_t *count, cog_error *error) {
    struct explaining work = {.space = space, .rows = {from_row, to_row}};
    if (space->is_on_disk)
        return error_set(error, COG_ERR_USAGE,
                         "links that were found from disk keep no terms: raise the memory budget, "
                         "or prepare the two documents alone");
    struct bag_view bag = corpus_bag(&space->corpora[0], from_row);
    work.cosine = sparse_row_dot(&space->vectors[0], from_row, &space->vectors[1], to_row);
    cog_status status =
        column_sums_init(&work.sums, term_numbers_count(space->projection->targets), error);
    THEN(status, projection_add(space->projection, &bag, &work.sums, error));
    for (size_t i = 0; i < bag.count && work.cosine > 0 && status == COG_OK; i++)
        status = explain_term(&work, bag.hashes[i], bag.frequencies[i], error);
    column_sums_free(&work.sums);
    if (status != COG_OK) {
        free(work.items);
        return status;
    }
    sort_matches(work.items, work.count);
    *matches = work.items;
    *count = work.count;
    return COG_OK;
}

/* ---- Inside one language --------------------------------------------------------------------- */

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
    struct word_table words; /* terms of the two documents, with their spelling */
};

static bool is_wanted(const struct pair_explaining *work, struct bytes_view id) {
    for (int i = 0; i < 2 && work->ids; i++)
        if (view_is(id, work->ids[i]))
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

void explain_note_others(int side, cog_report *report) {
    report_notice(report,
                  "the %s input has several documents and the first one is compared; to compare "
                  "others, give their ids and the collections that have them",
                  side == 0 ? "first" : "second");
}

static cog_status find_row(struct pair_explaining *work, int which, cog_error *error) {
    const struct corpus *corpus = &work->corpora[work->sides == 2 ? which : 0];
    if (!work->ids)
        return corpus->rows ? COG_OK : error_set(error, COG_ERR_INPUT, "no document to compare");
    struct bytes_view id = view_of_text(work->ids[which]);
    return corpus_find(corpus, id, &work->rows[which])
               ? COG_OK
               : error_set(error, COG_ERR_USAGE, "no document '%s'", work->ids[which]);
}

static cog_status make_vectors(struct pair_explaining *work, cog_error *error) {
    const struct corpus *corpora[2] = {&work->corpora[0], &work->corpora[1]};
    cog_status status =
        corpus_statistics(corpora, work->sides, work->threads, &work->statistics, error);
    THEN(status,
         term_numbers_create(work->statistics, 1, weighting_least_frequency(&work->weighting),
                             &work->columns, error));
    for (size_t side = 0; side < work->sides && status == COG_OK; side++)
        status = corpus_vectors_in(corpora[side], work->columns, work->statistics, &work->weighting,
                                   NULL, work->threads, &work->vectors[side], error);
    return status;
}

/* Lists the matches, followed by their words, in one block of memory. */
static cog_status list_matches(const struct pair_explaining *work, double cosine,
                               cog_word_match **matches, size_t *count, cog_error *error) {
    const struct sparse_matrix *x = &work->vectors[0], *y = &work->vectors[work->sides - 1];
    struct bag_view bag = corpus_bag(&work->corpora[0], work->rows[0]);
    float *dense = memory_zeroed_array((size_t)x->column_count + 1, 2 * sizeof *dense);
    float *other = dense ? dense + x->column_count : NULL;
    size_t room = bag.count * sizeof **matches;
    *matches = memory_array(room + work->words.strings.size + 1, 1);
    if (!dense || !*matches) {
        FREE(dense, *matches);
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
    sort_matches(*matches, *count);
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

cog_status explain_pair(struct job *job, cog_documents *const documents[2],
                        const char *const ids[2], const cog_sign_options *options,
                        cog_word_match **matches, size_t *count, double *cosine, cog_error *error) {
    struct pair_explaining work = {.ids = ids, .sides = documents[1] ? 2 : 1};
    struct corpus_options reading = {.terms = &work.terms,
                                     .want_frequencies = true,
                                     .amend = watch_words,
                                     .amend_context = &work};
    work.threads = job->threads;
    pthread_mutex_init(&work.lock, NULL);
    cog_status status = options_terms(&options->terms, &work.terms, error);
    THEN(status, options_weighting(&options->weights, &work.weighting, error));
    for (size_t side = 0; side < work.sides && status == COG_OK; side++)
        status = corpus_read(&work.corpora[side], documents[side], &reading, &job->run, job->report,
                             error);
    for (int which = 0; which < 2 && status == COG_OK; which++)
        status = find_row(&work, which, error);
    for (size_t side = 0; side < work.sides && status == COG_OK && !ids; side++)
        if (work.corpora[side].rows > 1)
            explain_note_others((int)side, job->report);
    THEN(status, make_vectors(&work, error));
    if (status == COG_OK) {
        *cosine = sparse_row_dot(&work.vectors[0], work.rows[0], &work.vectors[work.sides - 1],
                                 work.rows[1]);
        status = list_matches(&work, *cosine, matches, count, error);
    }
    free_explaining(&work);
    return status;
}
