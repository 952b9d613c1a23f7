/* Batches: the public functions of cognate_batch.h that link two languages in steps: terms
 * and vectors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/arrow_table.h"
#include "api/number_rows.h"
#include "base/arguments.h"
#include "base/threads.h"
#include "collection/foreign_documents.h"
#include "collection/statistics_job.h"
#include "jobs/lexicon/lexicon_job.h"
#include "jobs/link/link_options.h"
#include "jobs/link/link_side.h"
#include "jobs/link/link_vectors.h"

/* ---- Terms ----------------------------------------------------------------------------------- */

/* Statistics belong to a lexicon and a side. */
static cog_status record_side(const struct lexicon *lexicon, int side, struct settings *settings,
                              cog_error *error) {
    TRY(settings_set_u64(settings, "lexicon", lexicon_checksum(lexicon), error));
    return settings_set_text(settings, "side", side == 0 ? "from" : "to", error);
}

static cog_status count_terms(const struct corpus *corpus, const struct lexicon *lexicon, int side,
                              unsigned threads, cog_statistics **result, cog_error *error) {
    cog_statistics *statistics;
    TAKE_ZEROED(statistics, 1, "statistics", error);
    cog_status status = record_side(lexicon, side, &statistics->terms, error);
    THEN(status, statistics_create(&statistics->counts, error));
    THEN(status, corpus_count(corpus, threads, statistics->counts, error));
    return HAND_OUT(status, statistics, statistics_release, result);
}

static cog_status export_terms(const struct corpus *corpus, struct ArrowArrayStream *stream,
                               cog_error *error) {
    struct arrow_table table = {.rows = corpus->rows};
    if (corpus->term_count > INT32_MAX / 2)
        return error_set(error, COG_ERR_INPUT, "more than a billion terms in a batch: split it");
    int64_t *rows = arrow_table_int64(&table, "row");
    struct arrow_list terms = arrow_table_list(&table, "terms", 2 * corpus->term_count);
    for (size_t row = 0; row < corpus->rows && terms.offsets; row++) {
        struct bag_view bag = corpus_bag(corpus, row);
        int64_t *items = terms.items + terms.offsets[row];
        rows[row] = (int64_t)corpus->items[row].record;
        for (size_t i = 0; i < bag.count; i++) {
            items[2 * i] = (int64_t)bag.hashes[i];
            items[2 * i + 1] = bag.frequencies[i];
        }
        terms.offsets[row + 1] = terms.offsets[row] + 2 * (int32_t)bag.count;
    }
    return arrow_table_finish(&table, stream, error);
}

/* The words of all workers, each once. */
static cog_status export_words(const struct link_side *side, struct ArrowArrayStream *stream,
                               cog_error *error) {
    struct arrow_table table = {0};
    struct bytes_view *words;
    size_t total = 0, count = 0;
    for (unsigned i = 0; i < side->worker_count; i++)
        total += side->workers[i].unknown.count;
    TAKE(words, total, "unknown words", error);
    for (unsigned i = 0; i < side->worker_count; i++)
        for (uint32_t w = 0; w < side->workers[i].unknown.count; w++)
            words[count++] = word_table_string(&side->workers[i].unknown, w);
    if (total)
        qsort(words, total, sizeof *words, view_compare);
    for (size_t i = 0; i < total; i++)
        if (i == 0 || !view_equals(words[i], words[i - 1]))
            words[table.rows++] = words[i];
    struct arrow_table_column *column = arrow_table_text(&table, "word");
    for (size_t i = 0; i < table.rows && column; i++)
        arrow_table_append(&table, column, words[i]);
    free(words);
    return arrow_table_finish(&table, stream, error);
}

/* Of the two streams neither is left open after a failure. */
static cog_status export_side(const struct link_side *side, const struct corpus *corpus,
                              cog_link_terms *terms, cog_error *error) {
    terms->languages[0] = side->tally.own_count;
    terms->languages[1] = side->tally.other_count;
    terms->languages[2] = side->tally.foreign_count;
    TRY(export_terms(corpus, &terms->rows, error));
    cog_status status = export_words(side, &terms->words, error);
    if (status != COG_OK)
        terms->rows.release(&terms->rows);
    return status;
}

cog_status cog_link_terms_read(cog_documents *documents, const cog_lexicon *lexicon, int side,
                               const cog_run_options *run, cog_link_terms *terms,
                               cog_report *report, cog_error *error) {
    struct link_side own = {0};
    struct corpus corpus = {0};
    struct job job;
    TRY(check_given(documents, "documents", error));
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(terms, "terms", error));
    TRY(link_side_check(side, error));
    *terms = (cog_link_terms){0};
    job_begin(&job, run, report);
    cog_status status = link_side_init(&own, &lexicon->table, side, job.threads, error);
    THEN(status, link_side_read(&own, documents, NULL, &job.run, &corpus, job.report, error));
    THEN(status,
         count_terms(&corpus, &lexicon->table, side, job.threads, &terms->statistics, error));
    THEN(status, export_side(&own, &corpus, terms, error));
    if (status != COG_OK) {
        statistics_release(terms->statistics);
        terms->statistics = NULL;
    }
    corpus_free(&corpus);
    link_side_free(&own);
    job_end(&job);
    return status;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

struct cog_link_projector {
    struct projection *projection;
    struct link_weigher weighers[2];
};

void cog_link_projector_free(cog_link_projector *projector) {
    if (!projector)
        return;
    link_weigher_free(&projector->weighers[0]);
    link_weigher_free(&projector->weighers[1]);
    projection_free(projector->projection);
    free(projector);
}

/* The statistics must be those of the lexicon's terms of this side. */
static cog_status check_known(const cog_link_side *side, const struct lexicon *lexicon, int number,
                              cog_error *error) {
    struct settings wanted = {0};
    char difference[SETTINGS_DIFFERENCE_BYTES];
    TRY(check_given(side, "side", error));
    TRY(check_given(side->statistics, "statistics", error));
    TRY(options_check_reserved(side->reserved, 2, "link_side", error));
    cog_status status = record_side(lexicon, number, &wanted, error);
    if (status == COG_OK && !settings_equal(&wanted, &side->statistics->terms, difference))
        status = error_set(error, COG_ERR_USAGE,
                           "the statistics of the %s side are not of this lexicon: %s; read the "
                           "terms again with it",
                           number == 0 ? "first" : "second", difference);
    settings_free(&wanted);
    return status;
}

static cog_status judge_languages(const cog_link_side *side, const struct lexicon *lexicon,
                                  int number, cog_report *report, cog_error *error) {
    struct language_tally tally;
    TRY(link_tally_init(&tally, lexicon, number, error));
    tally.own_count = side->languages[0];
    tally.other_count = side->languages[1];
    tally.foreign_count = side->languages[2];
    return link_tally_judge(&tally, number, report, error);
}

static cog_status take_words(const cog_link_side *side, const struct lexicon *lexicon,
                             struct unknown_words *unknown, cog_error *error) {
    struct word_table words = {0};
    struct term_options target;
    uint32_t number;
    if (side->word_count == 0)
        return COG_OK;
    TRY(offsets_check(side->word_offsets, side->word_count, "words", error));
    TRY(check_given(side->words, "words", error));
    TRY(lexicon_terms(lexicon, false, &target, error));
    cog_status status = COG_OK;
    for (size_t i = 0; i < side->word_count && status == COG_OK; i++) {
        const int64_t begin = side->word_offsets[i], end = side->word_offsets[i + 1];
        struct bytes_view word = view_of(side->words + begin, (size_t)(end - begin));
        status = word_table_add_string(&words, word, 1, &number, error);
    }
    THEN(status, link_words_add(unknown, &target, &words, error));
    word_table_free(&words);
    return status;
}

static cog_status projector_fill(cog_link_projector *projector, const struct lexicon *lexicon,
                                 const cog_link_side *const sides[2],
                                 const cog_projection_options *options, unsigned threads,
                                 cog_error *error) {
    struct unknown_words unknown = {0};
    const struct statistics *statistics[2] = {sides[0]->statistics->counts,
                                              sides[1]->statistics->counts};
    cog_status status = take_words(sides[0], lexicon, &unknown, error);
    THEN(status, link_projection_create(lexicon, options, statistics, &unknown,
                                        &projector->projection, error));
    for (int side = 0; side < 2 && status == COG_OK; side++)
        status = link_weigher_init(&projector->weighers[side], projector->projection, side, options,
                                   statistics, threads, error);
    unknown_words_free(&unknown);
    return status;
}

cog_status cog_link_projector_create(const cog_lexicon *lexicon, const cog_link_side *from,
                                     const cog_link_side *to, const cog_projection_options *options,
                                     const cog_run_options *run, cog_link_projector **result,
                                     cog_report *report, cog_error *error) {
    const cog_link_side *const sides[2] = {from, to};
    cog_link_projector *projector;
    TRY(check_given(lexicon, "lexicon", error));
    TRY(check_given(result, "projector", error));
    TRY(projection_options_check(options, error));
    for (int side = 0; side < 2; side++) {
        TRY(check_known(sides[side], &lexicon->table, side, error));
        TRY(judge_languages(sides[side], &lexicon->table, side, report, error));
    }
    TAKE_ZEROED(projector, 1, "a projector", error);
    cog_status status = projector_fill(projector, &lexicon->table, sides, options,
                                       threads_resolve(run ? run->threads : 0), error);
    if (status == COG_OK)
        link_projection_report(projector->projection, report);
    return HAND_OUT(status, projector, cog_link_projector_free, result);
}

/* Rows of terms as a corpus without ids. */
static cog_status take_terms(const cog_number_rows *rows, struct corpus *corpus, cog_error *error) {
    uint64_t *hashes = NULL;
    uint32_t *frequencies = NULL;
    size_t capacities[2] = {0};
    cog_status status = COG_OK;
    for (size_t row = 0; row < rows->count && status == COG_OK; row++) {
        const int64_t *items = rows->items + rows->offsets[row];
        size_t count = (size_t)(rows->offsets[row + 1] - rows->offsets[row]) / 2;
        struct bag_view bag = {.count = count};
        status = GROWN(hashes, capacities[0], count, "terms", error);
        THEN(status, GROWN(frequencies, capacities[1], count, "terms", error));
        for (size_t i = 0; i < count && status == COG_OK; i++) {
            hashes[i] = (uint64_t)items[2 * i];
            frequencies[i] = (uint32_t)items[2 * i + 1];
            bag.length += frequencies[i];
        }
        bag.hashes = hashes;
        bag.frequencies = frequencies;
        THEN(status, corpus_add_bag(corpus, &bag, error));
    }
    free(hashes);
    free(frequencies);
    return status;
}

/* The rows of a side of the projector, measured. */
struct measured_rows {
    struct corpus corpus;
    double *lengths;
    uint64_t *offsets; /* entries before each row */
};

static void measured_free(struct measured_rows *rows) {
    corpus_free(&rows->corpus);
    free(rows->lengths);
    free(rows->offsets);
}

static cog_status measure(const struct link_weigher *weigher, const cog_number_rows *terms,
                          struct measured_rows *rows, cog_error *error) {
    TRY(take_terms(terms, &rows->corpus, error));
    TAKE(rows->lengths, terms->count, "lengths", error);
    TAKE_ZEROED(rows->offsets, terms->count + 1, "lengths", error);
    TRY(link_rows_measure(weigher, &rows->corpus, rows->lengths, rows->offsets + 1, error));
    for (size_t row = 0; row < terms->count; row++)
        rows->offsets[row + 1] += rows->offsets[row];
    return COG_OK;
}

cog_status cog_link_lengths(cog_link_projector *projector, int side, const cog_number_rows *terms,
                            double *lengths, cog_error *error) {
    struct measured_rows rows = {0};
    TRY(check_given(projector, "projector", error));
    TRY(link_side_check(side, error));
    TRY(number_rows_check(terms, "terms", error));
    if (terms->count == 0)
        return COG_OK;
    TRY(check_given(lengths, "lengths", error));
    cog_status status = measure(&projector->weighers[side], terms, &rows, error);
    if (status == COG_OK)
        memcpy(lengths, rows.lengths, terms->count * sizeof *lengths);
    measured_free(&rows);
    return status;
}

static int64_t entry_of(uint32_t column, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int64_t)((uint64_t)column << 32 | bits);
}

static cog_status export_vectors(const struct measured_rows *rows, const uint32_t *columns,
                                 const float *values, struct ArrowArrayStream *stream,
                                 cog_error *error) {
    struct arrow_table table = {.rows = rows->corpus.rows};
    const uint64_t total = rows->offsets[table.rows];
    struct arrow_list entries = arrow_table_list(&table, "entries", total);
    for (size_t row = 0; row < table.rows && entries.offsets; row++)
        entries.offsets[row + 1] = (int32_t)rows->offsets[row + 1];
    for (size_t i = 0; i < total && entries.offsets; i++)
        entries.items[i] = entry_of(columns[i], values[i]);
    return arrow_table_finish(&table, stream, error);
}

static cog_status make_vectors(const struct link_weigher *weigher, const cog_number_rows *terms,
                               struct measured_rows *rows, struct ArrowArrayStream *stream,
                               cog_error *error) {
    uint32_t *columns;
    float *values = NULL;
    TRY(measure(weigher, terms, rows, error));
    const uint64_t total = rows->offsets[terms->count];
    if (total > INT32_MAX)
        return error_set(error, COG_ERR_INPUT, "more than 2 billion entries in a batch: split it");
    TAKE(columns, total, "vectors", error);
    cog_status status = TAKEN(values, total, "vectors", error);
    THEN(status, link_rows_fill(weigher, &rows->corpus, rows->lengths, rows->offsets, columns,
                                values, error));
    THEN(status, export_vectors(rows, columns, values, stream, error));
    free(columns);
    free(values);
    return status;
}

cog_status cog_link_vectors(cog_link_projector *projector, int side, const cog_number_rows *terms,
                            double mean_length, struct ArrowArrayStream *stream, cog_error *error) {
    struct measured_rows rows = {0};
    TRY(check_given(projector, "projector", error));
    TRY(check_given(stream, "stream", error));
    TRY(link_side_check(side, error));
    TRY(number_rows_check(terms, "terms", error));
    if (!(mean_length > 0) || !isfinite(mean_length))
        return error_set(error, COG_ERR_USAGE, "a mean length of %g: give one above 0",
                         mean_length);
    struct link_weigher *weigher = &projector->weighers[side];
    weigher->mean_length = mean_length;
    cog_status status = make_vectors(weigher, terms, &rows, stream, error);
    measured_free(&rows);
    return status;
}
