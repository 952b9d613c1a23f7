#include "jobs/link/link_vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/threads.h"
#include "collection/language_tally.h"
#include "run/report.h"

/* ---- Terms of the source documents ----------------------------------------------------------- */

/* One worker's view of the words that the lexicon does not know: as they stand in the text, because
 * a stem of the one language is none of the other. */
struct word_watch {
    struct analyzer *words; /* as the documents' analyzer, without stems */
    struct term_list list;
    struct word_table unknown;
};

struct watching {
    const struct lexicon *lexicon;
    struct word_watch *watches;
    unsigned count;
    struct language_tally tally;
};

/* A term that the lexicon has stays; any other becomes the word itself. The two analyzers drop the
 * same stop words, so their lists run side by side. */
static cog_status watch_terms(void *context, unsigned worker, const struct document *document,
                              struct term_list *terms, cog_error *error) {
    struct watching *watching = context;
    struct word_watch *watch = &watching->watches[worker];
    language_tally_count(&watching->tally, document->lang);
    cog_status status =
        analyzer_run(watch->words, document->text, document->lang, &watch->list, error);
    for (size_t i = 0; i < terms->count && i < watch->list.count && status == COG_OK; i++) {
        if (word_table_find(&watching->lexicon->from, terms->hashes[i]) != WORD_NONE)
            continue;
        size_t begin = i ? watch->list.ends[i - 1] : 0;
        uint32_t number;
        terms->hashes[i] = watch->list.hashes[i];
        status =
            word_table_add(&watch->unknown, watch->list.hashes[i],
                           view_of(watch->list.strings.data + begin, watch->list.ends[i] - begin),
                           1, &number, error);
    }
    return status;
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
    struct term_options words = *terms;
    words.stem = false;
    watching->count = threads;
    watching->watches = memory_zeroed_array(threads, sizeof *watching->watches);
    if (!watching->watches)
        return error_memory(error, threads * sizeof *watching->watches, "workers");
    cog_status status = COG_OK;
    for (unsigned i = 0; i < threads && status == COG_OK; i++) {
        watching->watches[i].list.want_strings = true;
        status = analyzer_create(&words, &watching->watches[i].words, error);
    }
    return status;
}

static void watching_close(struct watching *watching) {
    for (unsigned i = 0; watching->watches && i < watching->count; i++) {
        analyzer_free(watching->watches[i].words);
        term_list_free(&watching->watches[i].list);
        word_table_free(&watching->watches[i].unknown);
    }
    free(watching->watches);
}

/* What the target language's analyzer makes of an unknown word: its own hash where that is not one
 * term. */
static cog_status add_unknown_word(struct unknown_words *unknown, struct analyzer *analyzer,
                                   struct term_list *list, struct bytes_view string,
                                   cog_error *error) {
    uint32_t number;
    size_t before = unknown->strings.count;
    cog_status status = word_table_add_string(&unknown->strings, string, 1, &number, error);
    if (status != COG_OK || number < before)
        return status;
    if (!memory_grow((void **)&unknown->target_hashes, &unknown->target_capacity, before + 1,
                     sizeof *unknown->target_hashes))
        return error_memory(error, before * sizeof *unknown->target_hashes, "unknown words");
    status = analyzer_run(analyzer, string, view_of("", 0), list, error);
    unknown->target_hashes[number] =
        status == COG_OK && list->count == 1 ? list->hashes[0] : unknown->strings.hashes[number];
    return status;
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
        const struct word_table *words = &watching->watches[i].unknown;
        for (uint32_t w = 0; w < words->count && status == COG_OK; w++)
            status = add_unknown_word(unknown, analyzer, &list, word_table_string(words, w), error);
    }
    analyzer_free(analyzer);
    term_list_free(&list);
    return status;
}

cog_status link_space_read(struct link_space *space, const struct lexicon *lexicon,
                           cog_documents *from, cog_documents *to, const cog_run_options *run,
                           cog_report *report, cog_error *error) {
    struct watching watching = {.lexicon = lexicon};
    struct language_tally to_tally;
    space->lexicon = lexicon;
    space->run = run;
    space->report = report;
    space->threads = threads_resolve(run ? run->threads : 0);
    cog_status status = lexicon_terms(lexicon, true, &space->terms[0], error);
    THEN(status, lexicon_terms(lexicon, false, &space->terms[1], error));
    language_tally_init(&watching.tally, space->terms[0].language, space->terms[1].language);
    language_tally_init(&to_tally, space->terms[1].language, space->terms[0].language);
    THEN(status, watching_open(&watching, &space->terms[0], space->threads, error));
    struct corpus_options options = {.terms = &space->terms[0],
                                     .want_frequencies = true,
                                     .amend = watch_terms,
                                     .amend_context = &watching};
    THEN(status, corpus_read(&space->corpora[0], from, &options, run, report, error));
    options = (struct corpus_options){.terms = &space->terms[1],
                                      .want_frequencies = true,
                                      .amend = watch_language,
                                      .amend_context = &to_tally};
    THEN(status, corpus_read(&space->corpora[1], to, &options, run, report, error));
    THEN(status, language_tally_judge(&watching.tally, "first", report, error));
    THEN(status, language_tally_judge(&to_tally, "second", report, error));
    THEN(status, collect_unknown(&watching, &space->terms[1], &space->unknown, error));
    watching_close(&watching);
    return status;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

enum { ROWS_A_CHUNK = 256 };

/* Rows [first, first + ROWS_A_CHUNK) of a side, made by one worker. */
struct row_chunk {
    uint32_t *columns;
    float *values;
    uint64_t row_ends[ROWS_A_CHUNK];
    size_t count, column_capacity, value_capacity;
    size_t short_documents;
};

struct vector_building {
    struct link_space *space;
    int side;
    const cog_projection_options *options; /* k1 and b */
    struct column_sums *sums;              /* one a worker */
    double *lengths;                       /* of the rows: the sum of tf or tf* */
    double mean_length;
    float *idf; /* by column; 0 where the term weighs nothing */
    struct row_chunk *chunks;
};

/* tf, or tf*, of a row into the sums. */
static cog_status sum_row(const struct vector_building *building, size_t row,
                          struct column_sums *sums, cog_error *error) {
    const struct link_space *space = building->space;
    struct bag_view bag = corpus_bag(&space->corpora[building->side], row);
    if (building->side == 0)
        return projection_add(space->projection, &bag, sums, error);
    cog_status status = COG_OK;
    for (size_t i = 0; i < bag.count && status == COG_OK; i++)
        status = column_sums_add(sums, term_numbers_find(space->projection->targets, bag.hashes[i]),
                                 bag.frequencies[i], error);
    return status;
}

static cog_status measure_rows(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    const struct vector_building *building = context;
    struct column_sums *sums = &building->sums[worker];
    cog_status status = COG_OK;
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        status = sum_row(building, row, sums, error);
        double length = 0;
        for (size_t i = 0; i < sums->count; i++)
            length += sums->sums[sums->columns[i]];
        building->lengths[row] = length;
        column_sums_clear(sums);
    }
    return status;
}

/* Appends the row in the sums to the chunk: BM25, unit length. */
static cog_status weigh_row(const struct vector_building *building, double length,
                            const struct column_sums *sums, struct row_chunk *chunk,
                            cog_error *error) {
    size_t first = chunk->count, needed = first + sums->count;
    if (!memory_grow((void **)&chunk->columns, &chunk->column_capacity, needed,
                     sizeof *chunk->columns) ||
        !memory_grow((void **)&chunk->values, &chunk->value_capacity, needed,
                     sizeof *chunk->values))
        return error_memory(error, needed * 8, "vectors");
    double k1 = building->options->k1, b = building->options->b, squares = 0;
    double saturation = k1 * (1 - b + b * length / building->mean_length);
    for (size_t i = 0; i < sums->count; i++) {
        uint32_t column = sums->columns[i];
        double tf = sums->sums[column], idf = (double)building->idf[column];
        double weight = idf * tf * (k1 + 1) / (tf + saturation);
        if (!(weight > 0))
            continue;
        chunk->columns[chunk->count] = column;
        chunk->values[chunk->count++] = (float)weight;
        squares += weight * weight;
    }
    chunk->short_documents += chunk->count - first < LINK_SHORT_TERMS;
    float scale = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (size_t i = first; i < chunk->count; i++)
        chunk->values[i] *= scale;
    return COG_OK;
}

static cog_status build_chunk(void *context, unsigned worker, size_t begin, size_t end,
                              cog_error *error) {
    const struct vector_building *building = context;
    struct column_sums *sums = &building->sums[worker];
    struct row_chunk *chunk = &building->chunks[begin / ROWS_A_CHUNK];
    cog_status status = COG_OK;
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        status = sum_row(building, row, sums, error);
        column_sums_sort(sums);
        THEN(status, weigh_row(building, building->lengths[row], sums, chunk, error));
        chunk->row_ends[row - begin] = chunk->count;
        column_sums_clear(sums);
    }
    return status;
}

static cog_status join_chunks(const struct vector_building *building, size_t rows,
                              size_t chunk_count, struct sparse_matrix *matrix, cog_error *error) {
    uint64_t total = 0;
    for (size_t c = 0; c < chunk_count; c++)
        total += building->chunks[c].count;
    matrix->rows = rows;
    matrix->column_count = term_numbers_count(building->space->projection->targets);
    matrix->offsets = memory_zeroed_array(rows + 1, sizeof *matrix->offsets);
    matrix->columns = memory_array(total, sizeof *matrix->columns);
    matrix->values = memory_array(total, sizeof *matrix->values);
    if (!matrix->offsets || !matrix->columns || !matrix->values)
        return error_memory(error, total * 8, "vectors");
    uint64_t at = 0;
    for (size_t c = 0; c < chunk_count; c++) {
        const struct row_chunk *chunk = &building->chunks[c];
        size_t first = c * ROWS_A_CHUNK;
        if (chunk->count) {
            memcpy(matrix->columns + at, chunk->columns, chunk->count * sizeof *chunk->columns);
            memcpy(matrix->values + at, chunk->values, chunk->count * sizeof *chunk->values);
        }
        for (size_t row = first; row < rows && row < first + ROWS_A_CHUNK; row++)
            matrix->offsets[row + 1] = at + chunk->row_ends[row - first];
        at += chunk->count;
        building->space->short_documents[building->side] += chunk->short_documents;
    }
    return COG_OK;
}

/* ---- idf ------------------------------------------------------------------------------------- */

static float idf_of(double documents, double df) {
    double rest = documents > df ? documents - df : 0;
    return (float)portable_log(1 + (rest + 0.5) / (df + 0.5));
}

static cog_status take_native_idf(void *context, uint64_t hash, struct term_counts counts,
                                  cog_error *error) {
    (void)error;
    const struct vector_building *building = context;
    const struct link_space *space = building->space;
    building->idf[term_numbers_find(space->projection->targets, hash)] =
        idf_of((double)space->corpora[1].rows, counts.document_frequency);
    return COG_OK;
}

static cog_status fill_idf(struct vector_building *building, cog_error *error) {
    const struct projection *projection = building->space->projection;
    if (building->side == 1)
        return statistics_visit(building->space->statistics[1], take_native_idf, building, error);
    double documents = (double)building->space->corpora[0].rows;
    for (uint32_t c = 0; c < term_numbers_count(projection->targets); c++) {
        double df = projection->document_frequencies[c];
        building->idf[c] = df > 0 ? idf_of(documents, df) : 0;
    }
    return COG_OK;
}

static double mean_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum > 0 ? sum / (double)count : 1;
}

static cog_status building_init(struct vector_building *building, size_t rows, size_t chunk_count,
                                cog_error *error) {
    unsigned threads = building->space->threads;
    size_t columns = term_numbers_count(building->space->projection->targets);
    building->sums = memory_zeroed_array(threads, sizeof *building->sums);
    building->lengths = memory_array(rows, sizeof *building->lengths);
    building->idf = memory_zeroed_array(columns, sizeof *building->idf);
    building->chunks = memory_zeroed_array(chunk_count, sizeof *building->chunks);
    if (!building->sums || !building->lengths || !building->idf || !building->chunks)
        return error_memory(error, rows * sizeof *building->lengths, "vectors");
    cog_status status = COG_OK;
    for (unsigned i = 0; i < threads && status == COG_OK; i++)
        status = column_sums_init(&building->sums[i], columns, error);
    return status == COG_OK ? fill_idf(building, error) : status;
}

static void building_reset(struct vector_building *building, size_t chunk_count) {
    for (unsigned i = 0; building->sums && i < building->space->threads; i++)
        column_sums_free(&building->sums[i]);
    for (size_t c = 0; building->chunks && c < chunk_count; c++) {
        free(building->chunks[c].columns);
        free(building->chunks[c].values);
    }
    free(building->sums);
    free(building->lengths);
    free(building->idf);
    free(building->chunks);
}

static cog_status build_side(struct link_space *space, int side,
                             const cog_projection_options *options, cog_error *error) {
    size_t rows = space->corpora[side].rows;
    size_t chunk_count = (rows + ROWS_A_CHUNK - 1) / ROWS_A_CHUNK;
    struct vector_building building = {.space = space, .side = side, .options = options};
    cog_status status = building_init(&building, rows, chunk_count, error);
    THEN(status, parallel_for(space->threads, rows, ROWS_A_CHUNK, measure_rows, &building, error));
    if (status == COG_OK) {
        building.mean_length = mean_of(building.lengths, rows);
        status = parallel_for(space->threads, rows, ROWS_A_CHUNK, build_chunk, &building, error);
    }
    THEN(status, join_chunks(&building, rows, chunk_count, &space->vectors[side], error));
    building_reset(&building, chunk_count);
    return status;
}

void cog_projection_options_init(cog_projection_options *options) {
    struct projection_options usual;
    projection_options_init(&usual);
    *options = (cog_projection_options){.keep_unknown = usual.keep_unknown,
                                        .linkers = usual.compounds.linkers,
                                        .k1 = 1.2,
                                        .b = 0.75};
}

static void report_space(const struct link_space *space) {
    const struct projection *projection = space->projection;
    cog_report *report = space->report;
    report_number(report, "from_documents", (double)space->corpora[0].rows);
    report_number(report, "to_documents", (double)space->corpora[1].rows);
    report_number(report, "known_terms", (double)projection->known);
    report_number(report, "split_terms", (double)projection->split);
    report_number(report, "unknown_terms", (double)(projection->passed + projection->dropped));
    size_t too_short = space->short_documents[0] + space->short_documents[1];
    report_number(report, "short_documents", (double)too_short);
    if (too_short)
        report_notice(report, "%zu document%s fewer than %d weighted terms: %s links are weak",
                      too_short, plural(too_short, " has", "s have"), LINK_SHORT_TERMS,
                      plural(too_short, "its", "their"));
}

cog_status link_space_build(struct link_space *space, const cog_projection_options *options,
                            cog_error *error) {
    uint64_t start = clock_ns();
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
    for (int side = 0; side < 2 && status == COG_OK; side++) {
        const struct corpus *corpus = &space->corpora[side];
        status = corpus_statistics(&corpus, 1, space->threads, &space->statistics[side], error);
    }
    THEN(status,
         projection_create(space->lexicon, &projection, &space->terms[0], space->statistics[0],
                           space->statistics[1], &space->unknown, &space->projection, error));
    for (int side = 0; side < 2 && status == COG_OK; side++)
        status = build_side(space, side, options, error);
    report_stage(space->report, "projecting", clock_seconds_since(start));
    if (status == COG_OK)
        report_space(space);
    return status;
}

void link_space_free(struct link_space *space) {
    for (int side = 0; side < 2; side++) {
        corpus_free(&space->corpora[side]);
        statistics_free(space->statistics[side]);
        sparse_matrix_free(&space->vectors[side]);
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
        uint64_t entries = vectors->offsets ? vectors->offsets[vectors->rows] : 0;
        bytes += corpus_memory_bytes(&space->corpora[side]) +
                 entries * (sizeof *vectors->columns + sizeof *vectors->values);
    }
    return bytes;
}
