#include "collection/corpus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "vector/term_numbers.h"

/* ---- Statistics ------------------------------------------------------------------------------ */

struct counting {
    const struct corpus *corpus;
    struct statistics *statistics;
    bool of_presence; /* count each term once per row, regardless of its frequency */
};

/* For so few rows, making a batch costs more than adding the terms directly. */
enum { UNBATCHED_ROWS = 64 };

/* Adds a row without a batch. */
static cog_status count_row(struct statistics *statistics, const struct bag_view *bag,
                            cog_error *error) {
    statistics_add_documents(statistics, 1, bag->length);
    for (size_t i = 0; i < bag->count; i++) {
        uint32_t frequency = bag->frequencies ? bag->frequencies[i] : 1;
        if (frequency)
            TRY(statistics_add_term(statistics, bag->hashes[i], (struct term_counts){1, frequency},
                                    error));
    }
    return COG_OK;
}

static cog_status count_rows(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    (void)worker;
    const struct counting *counting = context;
    struct statistics_batch *batch = NULL;
    cog_status status = COG_OK;
    if (end - begin > UNBATCHED_ROWS)
        status = statistics_batch_create(counting->statistics, &batch, error);
    for (size_t row = begin; row < end && status == COG_OK; row++) {
        struct bag_view bag = corpus_bag(counting->corpus, row);
        if (counting->of_presence)
            bag.frequencies = NULL;
        status = batch ? statistics_batch_add(batch, &bag, error)
                       : count_row(counting->statistics, &bag, error);
    }
    if (batch)
        THEN(status, statistics_batch_flush(batch, error));
    statistics_batch_free(batch);
    return status;
}

static cog_status count_corpus(const struct corpus *corpus, bool of_presence, unsigned threads,
                               struct statistics *statistics, cog_error *error) {
    enum { COUNT_GRAIN = 1024 };
    struct counting counting = {corpus, statistics, of_presence};
    return parallel_for(threads, corpus->rows, COUNT_GRAIN, count_rows, &counting, error);
}

cog_status corpus_count(const struct corpus *corpus, unsigned threads,
                        struct statistics *statistics, cog_error *error) {
    return count_corpus(corpus, false, threads, statistics, error);
}

cog_status corpus_presence(const struct corpus *corpus, unsigned threads,
                           struct statistics **result, cog_error *error) {
    struct statistics *statistics = NULL;
    cog_status status = statistics_create(&statistics, error);
    THEN(status, count_corpus(corpus, true, threads, statistics, error));
    return HAND_OUT(status, statistics, statistics_free, result);
}

cog_status corpus_statistics(const struct corpus *const *corpora, size_t count, unsigned threads,
                             struct statistics **result, cog_error *error) {
    struct statistics *statistics = NULL;
    cog_status status = statistics_create(&statistics, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = corpus_count(corpora[i], threads, statistics, error);
    return HAND_OUT(status, statistics, statistics_free, result);
}

/* ---- Sparse rows, in two passes: one counts, one fills --------------------------------------- */

enum { ROW_GRAIN = 256, PREFETCH_AHEAD = 12 };

struct row_filling {
    const struct corpus *corpus;
    const struct term_numbers *columns;
    const struct statistics *statistics;
    const struct weighting *weighting; /* NULL for sets and frequencies */
    const struct idf_table *idf;
    const uint8_t *selected; /* NULL: all rows */
    uint64_t *offsets;
    uint32_t *numbers;
    bool want_values; /* false for sets */
    float *values;
};

/* A term of a row, sortable by column: the column, and the position in the bag. */
static uint64_t entry_of(uint32_t column, size_t position) {
    return (uint64_t)column << 32 | (uint32_t)position;
}

static uint32_t entry_column(uint64_t entry) {
    return (uint32_t)(entry >> 32);
}

static uint32_t entry_position(uint64_t entry) {
    return (uint32_t)entry;
}

/* Lists the row's terms that have a column, unsorted. `entries` has room for the whole bag. */
static size_t find_columns(const struct row_filling *filling, const struct bag_view *bag,
                           uint64_t *entries) {
    size_t count = 0;
    for (size_t i = 0; i < bag->count; i++) {
        if (i + PREFETCH_AHEAD < bag->count)
            term_numbers_prefetch(filling->columns, bag->hashes[i + PREFETCH_AHEAD]);
        uint32_t column = term_numbers_find(filling->columns, bag->hashes[i]);
        entries[count] = entry_of(column, i);
        count += column != TERM_NUMBER_NONE;
    }
    return count;
}

static cog_status count_columns(void *context, unsigned worker, size_t begin, size_t end,
                                cog_error *error) {
    (void)worker;
    (void)error;
    const struct row_filling *filling = context;
    for (size_t row = begin; row < end; row++) {
        struct bag_view bag = corpus_bag(filling->corpus, row);
        uint64_t count = 0;
        if (filling->selected && !filling->selected[row])
            continue;
        for (size_t i = 0; i < bag.count; i++) {
            if (i + PREFETCH_AHEAD < bag.count)
                term_numbers_prefetch(filling->columns, bag.hashes[i + PREFETCH_AHEAD]);
            count += term_numbers_find(filling->columns, bag.hashes[i]) != TERM_NUMBER_NONE;
        }
        filling->offsets[row + 1] = count;
    }
    return COG_OK;
}

/* Normalises the weights of the entries to unit length, summing in the order of the columns. */
static void store_unit_weights(const uint64_t *entries, size_t count, const float *weights,
                               float *values) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = weights[entry_position(entries[i])];
        sum += weight * weight;
    }
    double scale = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((double)weights[entry_position(entries[i])] * scale);
}

static void fill_row(const struct row_filling *filling, size_t row, uint64_t *entries,
                     float *weights) {
    struct bag_view bag = corpus_bag(filling->corpus, row);
    uint64_t first = filling->offsets[row];
    if (filling->offsets[row + 1] == first)
        return;
    size_t count = find_columns(filling, &bag, entries);
    sort_u64(entries, count);
    for (size_t i = 0; i < count; i++)
        filling->numbers[first + i] = entry_column(entries[i]);
    for (size_t i = 0; !filling->weighting && filling->want_values && i < count; i++)
        filling->values[first + i] = (float)bag_weight(&bag, entry_position(entries[i]));
    if (!filling->weighting)
        return;
    weighting_apply(filling->weighting, filling->statistics, filling->idf, &bag, weights);
    store_unit_weights(entries, count, weights, filling->values + first);
}

static cog_status fill_rows(void *context, unsigned worker, size_t begin, size_t end,
                            cog_error *error) {
    (void)worker;
    const struct row_filling *filling = context;
    size_t longest = 0;
    for (size_t row = begin; row < end; row++)
        if (filling->corpus->items[row].term_count > longest)
            longest = filling->corpus->items[row].term_count;
    uint64_t *entries = memory_array(longest + 1, sizeof *entries);
    float *weights = memory_array(longest + 1, sizeof *weights);
    cog_status status = COG_OK;
    if (!entries || !weights)
        status = error_memory(error, longest * 12, "a document's terms");
    for (size_t row = begin; row < end && status == COG_OK; row++)
        fill_row(filling, row, entries, weights);
    FREE(entries, weights);
    return status;
}

/* Counts, allocates and fills the rows of one corpus; `filling` then owns the arrays for the
 * caller. */
static cog_status build_rows(struct row_filling *filling, unsigned threads, cog_error *error) {
    size_t rows = filling->corpus->rows;
    TAKE_ZEROED(filling->offsets, rows + 1, "vectors", error);
    TRY(parallel_for(threads, rows, ROW_GRAIN, count_columns, filling, error));
    for (size_t row = 0; row < rows; row++)
        filling->offsets[row + 1] += filling->offsets[row];
    uint64_t total = filling->offsets[rows];
    filling->numbers = memory_array(total, sizeof *filling->numbers);
    if (filling->want_values)
        filling->values = memory_array(total, sizeof *filling->values);
    if (!filling->numbers || (filling->want_values && !filling->values))
        return error_memory(error, total * 8, "vectors");
    return parallel_for(threads, rows, ROW_GRAIN, fill_rows, filling, error);
}

cog_status corpus_vectors_in(const struct corpus *corpus, const struct term_numbers *columns,
                             const struct statistics *statistics, const struct weighting *weighting,
                             const uint8_t *selected, unsigned threads,
                             struct sparse_matrix *matrix, cog_error *error) {
    struct idf_table idf = {0};
    struct row_filling filling = {.corpus = corpus,
                                  .columns = columns,
                                  .statistics = statistics,
                                  .weighting = weighting,
                                  .idf = &idf,
                                  .selected = selected,
                                  .want_values = true};
    /* Filling a table of up to 65,536 logarithms does not pay for a few queries. */
    enum { FEW_ROWS = 64 };
    cog_status status = corpus->rows > FEW_ROWS ? idf_table_fill(&idf, statistics, error) : COG_OK;
    THEN(status, build_rows(&filling, threads, error));
    idf_table_free(&idf);
    *matrix = (struct sparse_matrix){corpus->rows, term_numbers_count(columns), filling.offsets,
                                     filling.numbers, filling.values};
    return status;
}

cog_status corpus_frequencies_in(const struct corpus *corpus, const struct term_numbers *columns,
                                 unsigned threads, struct sparse_matrix *matrix, cog_error *error) {
    struct row_filling filling = {.corpus = corpus, .columns = columns, .want_values = true};
    cog_status status = build_rows(&filling, threads, error);
    *matrix = (struct sparse_matrix){corpus->rows, term_numbers_count(columns), filling.offsets,
                                     filling.numbers, filling.values};
    return status;
}

cog_status corpus_vectors(const struct corpus *const *corpora, size_t count,
                          const struct statistics *statistics, const struct weighting *weighting,
                          const uint8_t *const *selected, unsigned threads,
                          struct sparse_matrix *matrices, cog_error *error) {
    struct term_numbers *columns = NULL;
    cog_status status =
        term_numbers_create(statistics, 1, weighting_least_frequency(weighting), &columns, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = corpus_vectors_in(corpora[i], columns, statistics, weighting, selected[i], threads,
                                   &matrices[i], error);
    term_numbers_free(columns);
    return status;
}

cog_status corpus_sets(const struct corpus *const *corpora, size_t count,
                       const struct statistics *statistics, const uint8_t *const *selected,
                       unsigned threads, struct set_collection *sets, cog_error *error) {
    struct term_numbers *columns = NULL;
    cog_status status = term_numbers_create(statistics, 2, 0, &columns, error);
    for (size_t i = 0; i < count && status == COG_OK; i++) {
        const uint8_t *mask = selected[i];
        struct row_filling filling = {.corpus = corpora[i], .columns = columns, .selected = mask};
        status = build_rows(&filling, threads, error);
        sets[i] = (struct set_collection){corpora[i]->rows, term_numbers_count(columns),
                                          filling.offsets, filling.numbers, NULL};
        sets[i].sizes = memory_array(corpora[i]->rows, sizeof *sets[i].sizes);
        if (status == COG_OK && !sets[i].sizes)
            status = error_memory(error, corpora[i]->rows * sizeof *sets[i].sizes, "sets");
        for (size_t row = 0; status == COG_OK && row < corpora[i]->rows; row++)
            sets[i].sizes[row] = mask && !mask[row] ? 0 : corpora[i]->items[row].term_count;
    }
    term_numbers_free(columns);
    return status;
}

cog_status corpus_add_sets(const struct corpus *corpus, const uint8_t *selected,
                           struct document_sets *sets, cog_error *error) {
    enum { BATCH_BYTES = 1 << 20 };
    const struct document document = {0};
    struct term_list list = {0};
    struct set_batch batch = {0};
    cog_status status = COG_OK;
    for (size_t row = 0; row < corpus->rows && status == COG_OK; row++) {
        if (selected && !selected[row])
            continue;
        const struct bag_view bag = corpus_bag(corpus, row);
        status = GROWN(list.hashes, list.capacity, bag.count + 1, "a document's terms", error);
        if (status == COG_OK && bag.count)
            memcpy(list.hashes, bag.hashes, bag.count * sizeof *list.hashes);
        list.count = bag.count;
        const struct ingested item = {.document = &document, .terms = &list};
        THEN(status, set_batch_add(&batch, &item, false, error));
        if (batch.bytes.size >= BATCH_BYTES)
            THEN(status, document_sets_append(sets, &batch, error));
    }
    THEN(status, document_sets_append(sets, &batch, error));
    set_batch_free(&batch);
    free(list.hashes);
    return status;
}
