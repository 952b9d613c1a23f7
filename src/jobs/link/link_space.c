#include "jobs/link/link_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/foreign_documents.h"
#include "collection/language_tally.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Bytes on disk per byte of text: terms and vectors. */
static const double DISK_OF_PROJECTION = 3;
/* Statistics of both sides, and the terms that words become, in statistics of all text. */
static const double VOCABULARIES = 2;

static double text_bytes(cog_documents *const documents[2]) {
    return (double)ingest_text_bytes(documents[0]) + (double)ingest_text_bytes(documents[1]);
}

double link_space_predicted_bytes(cog_documents *const documents[2]) {
    return MEMORY_BASE_BYTES + text_bytes(documents) * MEMORY_OF_PROJECTION;
}

cog_status link_space_choose_place(struct link_space *space, struct job *job,
                                   cog_documents *const documents[2], cog_error *error) {
    const double whole = link_space_predicted_bytes(documents), text = text_bytes(documents);
    const double budget = (double)job->run.memory_bytes;
    bool has_pipe = reader_has_pipe(documents[0]->source) || reader_has_pipe(documents[1]->source);
    space->is_on_disk = budget > 0 && (whole > budget || has_pipe);
    if (!space->is_on_disk)
        return job_check_memory(job, whole, error);
    memory_budget_announce(budget, &job->run, job->report);
    disk_announce(text * DISK_OF_PROJECTION, &job->run, job->report);
    return memory_budget_keep(MEMORY_BASE_BYTES + VOCABULARIES * memory_of_statistics(text, 1),
                              &job->run, error);
}

/* ---- Terms of the source documents ----------------------------------------------------------- */

struct watching {
    const struct lexicon *lexicon;
    struct source_words *workers;
    unsigned count;
    struct language_tally tally;
};

static cog_status watch_terms(void *context, unsigned worker, const struct document *document,
                              struct term_list *terms, cog_error *error) {
    struct watching *watching = context;
    language_tally_count(&watching->tally, document->lang);
    return source_words_take(&watching->workers[worker], watching->lexicon, document->text,
                             document->lang, terms, error);
}

static cog_status watch_language(void *context, unsigned worker, const struct document *document,
                                 struct term_list *terms, cog_error *error) {
    (void)worker;
    (void)terms;
    (void)error;
    language_tally_count(context, document->lang);
    return COG_OK;
}

static cog_status watching_open(struct watching *watching, const struct term_options *terms,
                                unsigned threads, cog_error *error) {
    watching->count = threads;
    TAKE_ZEROED(watching->workers, threads, "workers", error);
    cog_status status = COG_OK;
    for (unsigned i = 0; i < threads && status == COG_OK; i++)
        status = source_words_init(&watching->workers[i], terms, error);
    return status;
}

static void watching_close(struct watching *watching) {
    for (unsigned i = 0; watching->workers && i < watching->count; i++)
        source_words_free(&watching->workers[i]);
    free(watching->workers);
}

static cog_status collect_unknown(const struct watching *watching,
                                  const struct term_options *target, struct unknown_words *unknown,
                                  cog_error *error) {
    struct term_options whole = *target;
    struct analyzer *analyzer = NULL;
    struct term_list list = {0};
    whole.drop_stop_words = false;
    cog_status status = analyzer_create(&whole, &analyzer, error);
    for (unsigned i = 0; i < watching->count && status == COG_OK; i++) {
        const struct word_table *words = &watching->workers[i].unknown;
        for (uint32_t w = 0; w < words->count && status == COG_OK; w++)
            status =
                unknown_words_add(unknown, analyzer, &list, word_table_string(words, w), error);
    }
    analyzer_free(analyzer);
    term_list_free(&list);
    return status;
}

cog_status link_space_read(struct link_space *space, struct job *job, const struct lexicon *lexicon,
                           cog_documents *const documents[2], cog_error *error) {
    struct watching watching = {.lexicon = lexicon};
    struct language_tally to_tally;
    space->lexicon = lexicon;
    TRY(lexicon_terms(lexicon, true, &space->terms[0], error));
    TRY(lexicon_terms(lexicon, false, &space->terms[1], error));
    language_tally_init(&watching.tally, space->terms[0].language, space->terms[1].language);
    language_tally_init(&to_tally, space->terms[1].language, space->terms[0].language);
    struct corpus_options from = {.terms = &space->terms[0],
                                  .want_frequencies = true,
                                  .amend = watch_terms,
                                  .amend_context = &watching};
    struct corpus_options to = {.terms = &space->terms[1],
                                .want_frequencies = true,
                                .amend = watch_language,
                                .amend_context = &to_tally};
    cog_status status = watching_open(&watching, &space->terms[0], job->threads, error);
    for (int side = 0; side < 2 && space->is_on_disk && status == COG_OK; side++)
        status = bag_spool_create("-", &space->spools[side], error);
    from.spool = space->spools[0];
    to.spool = space->spools[1];
    THEN(status,
         corpus_read(&space->corpora[0], documents[0], &from, &job->run, job->report, error));
    THEN(status, corpus_read(&space->corpora[1], documents[1], &to, &job->run, job->report, error));
    THEN(status, language_tally_judge(&watching.tally, "first", job->report, error));
    THEN(status, language_tally_judge(&to_tally, "second", job->report, error));
    THEN(status, collect_unknown(&watching, &space->terms[1], &space->unknown, error));
    watching_close(&watching);
    return status;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

enum { ROWS_PER_PIECE = 256 };

/* Building the vectors of one side, in two passes over its documents: the first measures rows, the
 * second fills them. */
struct vector_building {
    struct link_space *space;
    struct job *job;
    int side;
    const struct corpus *part; /* documents that are worked on, all if they are in memory */
    size_t first;              /* row of the part's first document */
    uint32_t *columns;         /* of the part */
    float *values;
    const cog_projection_options *options; /* k1 and b */
    struct column_sums *sums;              /* one per worker */
    double *lengths;                       /* by row: the sum of tf or tf* */
    double mean_length;
    float *idf; /* by column; 0 if the term has no weight */
};

/* Adds tf (target side) or tf* (source side) of a row to the sums. */
static cog_status sum_row(const struct vector_building *building, size_t row,
                          struct column_sums *sums, cog_error *error) {
    const struct link_space *space = building->space;
    struct bag_view bag = corpus_bag(building->part, row);
    if (building->side == 0)
        return projection_add(space->projection, &bag, sums, error);
    for (size_t i = 0; i < bag.count; i++)
        TRY(column_sums_add(sums, term_numbers_find(space->projection->targets, bag.hashes[i]),
                            bag.frequencies[i], error));
    return COG_OK;
}

static cog_status measure_rows(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    const struct vector_building *building = context;
    struct column_sums *sums = &building->sums[worker];
    uint64_t *counts = building->space->vectors[building->side].offsets + 1 + building->first;
    for (size_t row = begin; row < end; row++) {
        TRY(sum_row(building, row, sums, error));
        double length = 0;
        for (size_t i = 0; i < sums->count; i++) {
            length += sums->sums[sums->columns[i]];
            counts[row] += building->idf[sums->columns[i]] > 0;
        }
        building->lengths[building->first + row] = length;
        column_sums_clear(sums);
    }
    return COG_OK;
}

/* Weighs a row by BM25 and scales it to unit length. */
static void weigh_row(const struct vector_building *building, double length,
                      const struct column_sums *sums, uint32_t *columns, float *values) {
    double k1 = building->options->k1, b = building->options->b, squares = 0;
    double saturation = k1 * (1 - b + b * length / building->mean_length);
    size_t count = 0;
    for (size_t i = 0; i < sums->count; i++) {
        uint32_t column = sums->columns[i];
        double tf = sums->sums[column], idf = (double)building->idf[column];
        if (!(idf > 0))
            continue;
        double weight = idf * tf * (k1 + 1) / (tf + saturation);
        columns[count] = column;
        values[count++] = (float)weight;
        squares += weight * weight;
    }
    float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (size_t i = 0; i < count; i++)
        values[i] *= scale;
}

static cog_status fill_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    const struct vector_building *building = context;
    const uint64_t *offsets = building->space->vectors[building->side].offsets + building->first;
    const double *lengths = building->lengths + building->first;
    struct column_sums *sums = &building->sums[worker];
    for (size_t row = begin; row < end; row++) {
        size_t at = offsets[row] - offsets[0];
        TRY(sum_row(building, row, sums, error));
        column_sums_sort(sums);
        weigh_row(building, lengths[row], sums, building->columns + at, building->values + at);
        column_sums_clear(sums);
    }
    return COG_OK;
}

static float idf_of(double documents, double df) {
    double rest = documents > df ? documents - df : 0;
    return (float)portable_log(1 + (rest + 0.5) / (df + 0.5));
}

static cog_status fill_target_idf(struct vector_building *building, cog_error *error) {
    const struct link_space *space = building->space;
    struct term_cursor terms = {.statistics = space->statistics[1]};
    while (term_cursor_next(&terms, error))
        building->idf[term_numbers_find(space->projection->targets, terms.hash)] =
            idf_of((double)space->corpora[1].rows, terms.counts.document_frequency);
    return term_cursor_end(&terms, COG_OK);
}

static cog_status fill_idf(struct vector_building *building, cog_error *error) {
    const struct projection *projection = building->space->projection;
    if (building->side == 1)
        return fill_target_idf(building, error);
    double documents = (double)building->space->corpora[0].rows;
    for (uint32_t c = 0; c < term_numbers_count(projection->targets); c++) {
        double df = projection->document_frequencies[c];
        building->idf[c] = df > 0 ? idf_of(documents, df) : 0;
    }
    return COG_OK;
}

static cog_status building_init(struct vector_building *building, size_t rows, cog_error *error) {
    struct sparse_matrix *vectors = &building->space->vectors[building->side];
    unsigned threads = building->job->threads;
    vectors->rows = rows;
    vectors->column_count = term_numbers_count(building->space->projection->targets);
    TAKE_ZEROED(vectors->offsets, rows + 1, "vectors", error);
    TAKE_ZEROED(building->sums, threads, "vectors", error);
    TAKE(building->lengths, rows, "vectors", error);
    TAKE_ZEROED(building->idf, vectors->column_count, "vectors", error);
    for (unsigned i = 0; i < threads; i++)
        TRY(column_sums_init(&building->sums[i], vectors->column_count, error));
    return fill_idf(building, error);
}

/* After the first pass: the mean length, and room for the rows. */
static cog_status make_room(struct vector_building *building, cog_error *error) {
    struct sparse_matrix *vectors = &building->space->vectors[building->side];
    float **lengths = &building->space->lengths[building->side];
    double sum = 0;
    TAKE(*lengths, vectors->rows, "lengths", error);
    for (size_t row = 0; row < vectors->rows; row++) {
        sum += building->lengths[row];
        (*lengths)[row] = (float)portable_log(1 + building->lengths[row]);
        building->space->short_documents += vectors->offsets[row + 1] < LINK_SHORT_TERMS;
        vectors->offsets[row + 1] += vectors->offsets[row];
    }
    building->mean_length = sum > 0 ? sum / (double)vectors->rows : 1;
    if (building->space->is_on_disk)
        return vector_files_open(&building->space->files[building->side], error);
    uint64_t total = vectors->offsets[vectors->rows];
    TAKE(vectors->columns, total, "vectors", error);
    return TAKEN(vectors->values, total, "vectors", error);
}

/* ---- Passes over the documents --------------------------------------------------------------- */

typedef cog_status part_work(struct vector_building *building, cog_error *error);

/* All documents of the side, a part after the other if they are on disk. */
static cog_status for_parts(struct vector_building *building, part_work *work, cog_error *error) {
    enum { PART_TERMS = 1 << 20 };
    struct link_space *space = building->space;
    struct bag_spool *spool = space->spools[building->side];
    struct corpus part = {0};
    cog_status status = COG_OK;
    building->first = 0;
    building->part = &space->corpora[building->side];
    if (!spool)
        return work(building, error);
    bag_spool_rewind(spool);
    do {
        status = corpus_next_spooled(&part, spool, PART_TERMS, error);
        building->part = &part;
        job_part(building->job, building->first, space->corpora[building->side].rows);
        THEN(status, work(building, error));
        building->first += part.rows;
    } while (part.rows && status == COG_OK);
    corpus_free(&part);
    return status;
}

static cog_status count_part(struct vector_building *building, cog_error *error) {
    return corpus_count(building->part, building->job->threads,
                        building->space->statistics[building->side], error);
}

static cog_status measure_part(struct vector_building *building, cog_error *error) {
    return parallel_for(building->job->threads, building->part->rows, ROWS_PER_PIECE, measure_rows,
                        building, error);
}

static cog_status fill_part(struct vector_building *building, cog_error *error) {
    struct link_space *space = building->space;
    const struct sparse_matrix *vectors = &space->vectors[building->side];
    const uint64_t *offsets = vectors->offsets + building->first;
    const size_t rows = building->part->rows, count = offsets[rows] - offsets[0];
    building->columns = vectors->columns;
    building->values = vectors->values;
    if (!space->is_on_disk)
        return parallel_for(building->job->threads, rows, ROWS_PER_PIECE, fill_rows, building,
                            error);
    TAKE(building->columns, count, "vectors", error);
    cog_status status = TAKEN(building->values, count, "vectors", error);
    THEN(status,
         parallel_for(building->job->threads, rows, ROWS_PER_PIECE, fill_rows, building, error));
    THEN(status, vector_files_add(&space->files[building->side], building->columns,
                                  building->values, count, error));
    free(building->columns);
    free(building->values);
    return status;
}

static cog_status build_side(struct link_space *space, int side, struct job *job,
                             const cog_projection_options *options, cog_error *error) {
    size_t rows = space->corpora[side].rows;
    struct vector_building building = {
        .space = space, .job = job, .side = side, .options = options};
    cog_status status = building_init(&building, rows, error);
    THEN(status, for_parts(&building, measure_part, error));
    THEN(status, make_room(&building, error));
    THEN(status, for_parts(&building, fill_part, error));
    if (status == COG_OK && space->is_on_disk)
        status = vector_files_lend(&space->files[side], &space->vectors[side], error);
    for (unsigned i = 0; building.sums && i < job->threads; i++)
        column_sums_free(&building.sums[i]);
    free(building.sums);
    free(building.lengths);
    free(building.idf);
    return status;
}

static cog_status count_side(struct link_space *space, int side, struct job *job,
                             cog_error *error) {
    struct vector_building building = {.space = space, .job = job, .side = side};
    TRY(statistics_create(&space->statistics[side], error));
    return for_parts(&building, count_part, error);
}

static void report_space(const struct link_space *space, cog_report *report) {
    const struct projection *projection = space->projection;
    report_number(report, "from_documents", (double)space->corpora[0].rows);
    report_number(report, "to_documents", (double)space->corpora[1].rows);
    report_number(report, "known_terms", (double)projection->known);
    report_number(report, "split_terms", (double)projection->split);
    report_number(report, "unknown_terms", (double)(projection->passed + projection->dropped));
    size_t too_short = space->short_documents;
    report_number(report, "short_documents", (double)too_short);
    if (too_short)
        report_notice(report, "%zu document%s fewer than %d weighted terms: %s links are weak",
                      too_short, plural(too_short, " has", "s have"), LINK_SHORT_TERMS,
                      plural(too_short, "its", "their"));
}

cog_status link_space_build(struct link_space *space, struct job *job,
                            const cog_projection_options *options, cog_error *error) {
    job_stage(job, "projecting");
    struct projection_options projection;
    space->options = *options;
    space->options.linkers = options->linkers ? strdup(options->linkers) : NULL;
    if (options->linkers && !space->options.linkers)
        return error_memory(error, strlen(options->linkers), "linkers");
    projection_options_init(&projection);
    projection.source_given_target = options->source_given_target;
    projection.keep_unknown = options->keep_unknown;
    projection.compounds.linkers = options->linkers;
    cog_status status = COG_OK;
    for (int side = 0; side < 2 && status == COG_OK; side++)
        status = count_side(space, side, job, error);
    THEN(status,
         projection_create(space->lexicon, &projection, &space->terms[0], space->statistics[0],
                           space->statistics[1], &space->unknown, &space->projection, error));
    for (int side = 0; side < 2 && status == COG_OK; side++)
        status = build_side(space, side, job, options, error);
    for (int side = 0; side < 2; side++) { /* their place on disk is needed no more */
        bag_spool_free(space->spools[side]);
        space->spools[side] = NULL;
    }
    job_stage(job, NULL);
    if (status == COG_OK)
        report_space(space, job->report);
    return status;
}

void link_space_free(struct link_space *space) {
    for (int side = 0; side < 2; side++) {
        vector_files_close(&space->files[side], &space->vectors[side]);
        bag_spool_free(space->spools[side]);
        corpus_free(&space->corpora[side]);
        statistics_free(space->statistics[side]);
        sparse_matrix_free(&space->vectors[side]);
        free(space->lengths[side]);
    }
    unknown_words_free(&space->unknown);
    projection_free(space->projection);
    free((void *)space->options.linkers);
    *space = (struct link_space){0};
}

uint64_t link_space_memory_bytes(const struct link_space *space) {
    uint64_t bytes = 0;
    for (int side = 0; side < 2; side++) {
        const struct sparse_matrix *vectors = &space->vectors[side];
        uint64_t entries =
            vectors->offsets && !space->is_on_disk ? vectors->offsets[vectors->rows] : 0;
        bytes += corpus_memory_bytes(&space->corpora[side]) +
                 entries * (sizeof *vectors->columns + sizeof *vectors->values) +
                 vectors->rows * sizeof *space->lengths[side];
    }
    return bytes;
}
