#include "jobs/link/link_vectors.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"

enum { ROWS_PER_PIECE = 256 };

cog_status link_projection_create(const struct lexicon *lexicon,
                                  const cog_projection_options *options,
                                  const struct statistics *const statistics[2],
                                  const struct unknown_words *unknown,
                                  struct projection **projection, cog_error *error) {
    struct projection_options own;
    struct term_options from_terms;
    projection_options_init(&own);
    own.source_given_target = options->source_given_target;
    own.keep_unknown = options->keep_unknown;
    own.compounds.linkers = options->linkers;
    TRY(lexicon_terms(lexicon, true, &from_terms, error));
    return projection_create(lexicon, &own, &from_terms, statistics[0], statistics[1], unknown,
                             projection, error);
}

void link_projection_report(const struct projection *projection, cog_report *report) {
    report_number(report, "known_terms", (double)projection->known);
    report_number(report, "split_terms", (double)projection->split);
    report_number(report, "unknown_terms", (double)(projection->passed + projection->dropped));
}

/* ---- Weights of columns ---------------------------------------------------------------------- */

static float idf_of(double documents, double df) {
    double rest = documents > df ? documents - df : 0;
    return (float)portable_log(1 + (rest + 0.5) / (df + 0.5));
}

static cog_status fill_target_idf(struct link_weigher *weigher, const struct statistics *to,
                                  cog_error *error) {
    const double documents = (double)statistics_document_count(to);
    struct term_cursor terms = {.statistics = to};
    while (term_cursor_next(&terms, error))
        weigher->idf[term_numbers_find(weigher->projection->targets, terms.hash)] =
            idf_of(documents, terms.counts.document_frequency);
    return term_cursor_end(&terms, COG_OK);
}

static void fill_source_idf(struct link_weigher *weigher, const struct statistics *from) {
    const double documents = (double)statistics_document_count(from);
    const uint32_t columns = term_numbers_count(weigher->projection->targets);
    for (uint32_t c = 0; c < columns; c++) {
        double df = weigher->projection->document_frequencies[c];
        weigher->idf[c] = df > 0 ? idf_of(documents, df) : 0;
    }
}

cog_status link_weigher_init(struct link_weigher *weigher, const struct projection *projection,
                             int side, const cog_projection_options *options,
                             const struct statistics *const statistics[2], unsigned threads,
                             cog_error *error) {
    const uint32_t columns = term_numbers_count(projection->targets);
    *weigher = (struct link_weigher){.projection = projection,
                                     .side = side,
                                     .k1 = options->k1,
                                     .b = options->b,
                                     .mean_length = 1,
                                     .threads = threads};
    TAKE_ZEROED(weigher->sums, threads, "vectors", error);
    TAKE_ZEROED(weigher->idf, columns, "vectors", error);
    for (unsigned i = 0; i < threads; i++)
        TRY(column_sums_init(&weigher->sums[i], columns, error));
    if (side == 1)
        return fill_target_idf(weigher, statistics[1], error);
    fill_source_idf(weigher, statistics[0]);
    return COG_OK;
}

void link_weigher_free(struct link_weigher *weigher) {
    for (unsigned i = 0; weigher->sums && i < weigher->threads; i++)
        column_sums_free(&weigher->sums[i]);
    free(weigher->sums);
    free(weigher->idf);
    *weigher = (struct link_weigher){0};
}

float link_length(double length) {
    return (float)portable_log(1 + length);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

struct row_work {
    const struct link_weigher *weigher;
    const struct corpus *rows;
    double *lengths;
    uint64_t *entries;
    const double *known_lengths;
    const uint64_t *offsets;
    uint32_t *columns;
    float *values;
};

/* Adds tf (target side) or tf* (source side) of a row to the sums. Terms without a column are left
 * out; only rows not counted in the statistics have any. */
static cog_status sum_row(const struct row_work *work, size_t row, struct column_sums *sums,
                          cog_error *error) {
    const struct projection *projection = work->weigher->projection;
    struct bag_view bag = corpus_bag(work->rows, row);
    if (work->weigher->side == 0)
        return projection_add(projection, &bag, sums, error);
    for (size_t i = 0; i < bag.count; i++) {
        uint32_t column = term_numbers_find(projection->targets, bag.hashes[i]);
        if (column != TERM_NUMBER_NONE)
            TRY(column_sums_add(sums, column, bag.frequencies[i], error));
    }
    return COG_OK;
}

static cog_status measure_rows(void *context, unsigned worker, size_t begin, size_t end,
                               cog_error *error) {
    const struct row_work *work = context;
    const float *idf = work->weigher->idf;
    struct column_sums *sums = &work->weigher->sums[worker];
    for (size_t row = begin; row < end; row++) {
        TRY(sum_row(work, row, sums, error));
        double length = 0;
        uint64_t entries = 0;
        for (size_t i = 0; i < sums->count; i++) {
            length += sums->sums[sums->columns[i]];
            entries += idf[sums->columns[i]] > 0;
        }
        work->lengths[row] = length;
        work->entries[row] = entries;
        column_sums_clear(sums);
    }
    return COG_OK;
}

/* Weighs a row by BM25 and scales it to unit length. */
static void weigh_row(const struct link_weigher *weigher, double length,
                      const struct column_sums *sums, uint32_t *columns, float *values) {
    double k1 = weigher->k1, b = weigher->b, squares = 0;
    double saturation = k1 * (1 - b + b * length / weigher->mean_length);
    size_t count = 0;
    for (size_t i = 0; i < sums->count; i++) {
        uint32_t column = sums->columns[i];
        double tf = sums->sums[column], idf = (double)weigher->idf[column];
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
    const struct row_work *work = context;
    struct column_sums *sums = &work->weigher->sums[worker];
    for (size_t row = begin; row < end; row++) {
        size_t at = work->offsets[row] - work->offsets[0];
        TRY(sum_row(work, row, sums, error));
        column_sums_sort(sums);
        weigh_row(work->weigher, work->known_lengths[row], sums, work->columns + at,
                  work->values + at);
        column_sums_clear(sums);
    }
    return COG_OK;
}

cog_status link_rows_measure(const struct link_weigher *weigher, const struct corpus *rows,
                             double *lengths, uint64_t *entries, cog_error *error) {
    struct row_work work = {
        .weigher = weigher, .rows = rows, .lengths = lengths, .entries = entries};
    return parallel_for(weigher->threads, rows->rows, ROWS_PER_PIECE, measure_rows, &work, error);
}

cog_status link_rows_fill(const struct link_weigher *weigher, const struct corpus *rows,
                          const double *lengths, const uint64_t *offsets, uint32_t *columns,
                          float *values, cog_error *error) {
    struct row_work work = {.weigher = weigher,
                            .rows = rows,
                            .known_lengths = lengths,
                            .offsets = offsets,
                            .columns = columns,
                            .values = values};
    return parallel_for(weigher->threads, rows->rows, ROWS_PER_PIECE, fill_rows, &work, error);
}
