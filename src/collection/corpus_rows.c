/* From the bags of a corpus to sparse rows: two passes, one that counts and one that fills. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"
#include "collection/corpus.h"
#include "vector/term_numbers.h"

enum { ROW_GRAIN = 256, PREFETCH_AHEAD = 12 };

struct row_filling {
    const struct corpus *corpus;
    const struct term_numbers *columns;
    const struct statistics *statistics;
    const struct weighting *weighting; /* NULL for sets */
    const struct idf_table *idf;
    uint32_t min_terms;
    const uint8_t *selected; /* NULL: all rows */
    uint64_t *offsets;
    uint32_t *numbers;
    float *values; /* NULL for sets */
};

struct entry {
    uint32_t column;
    uint32_t position; /* of the term in its bag */
};

static int by_column(const void *a, const void *b) {
    const struct entry *p = a, *q = b;
    return (p->column > q->column) - (p->column < q->column);
}

/* The row's terms that have a column, in no order yet. entries has room for the whole bag. */
static size_t find_columns(const struct row_filling *filling, const struct bag_view *bag,
                           struct entry *entries) {
    size_t count = 0;
    for (size_t i = 0; i < bag->count; i++) {
        if (i + PREFETCH_AHEAD < bag->count)
            term_numbers_prefetch(filling->columns, bag->hashes[i + PREFETCH_AHEAD]);
        entries[count].column = term_numbers_find(filling->columns, bag->hashes[i]);
        entries[count].position = (uint32_t)i;
        count += entries[count].column != TERM_NUMBER_NONE;
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
        filling->offsets[row + 1] = count < filling->min_terms ? 0 : count;
    }
    return COG_OK;
}

/* The weights of the entries over their length, summed in the order of the columns. */
static void store_unit_weights(const struct entry *entries, size_t count, const float *weights,
                               float *values) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double weight = weights[entries[i].position];
        sum += weight * weight;
    }
    double scale = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((double)weights[entries[i].position] * scale);
}

static void fill_row(const struct row_filling *filling, size_t row, struct entry *entries,
                     float *weights) {
    struct bag_view bag = corpus_bag(filling->corpus, row);
    uint64_t first = filling->offsets[row];
    if (filling->offsets[row + 1] == first)
        return;
    size_t count = find_columns(filling, &bag, entries);
    qsort(entries, count, sizeof *entries, by_column);
    for (size_t i = 0; i < count; i++)
        filling->numbers[first + i] = entries[i].column;
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
    struct entry *entries = memory_array(longest + 1, sizeof *entries);
    float *weights = memory_array(longest + 1, sizeof *weights);
    cog_status status = COG_OK;
    if (!entries || !weights)
        status = error_memory(error, longest * 12, "a document's terms");
    for (size_t row = begin; row < end && status == COG_OK; row++)
        fill_row(filling, row, entries, weights);
    free(entries);
    free(weights);
    return status;
}

/* Counts, allocates and fills the rows of one corpus; the arrays go to the caller through
 * `filling`. */
static cog_status build_rows(struct row_filling *filling, unsigned threads, cog_error *error) {
    size_t rows = filling->corpus->rows;
    filling->offsets = memory_zeroed_array(rows + 1, sizeof *filling->offsets);
    if (!filling->offsets)
        return error_memory(error, (rows + 1) * sizeof *filling->offsets, "vectors");
    TRY(parallel_for(threads, rows, ROW_GRAIN, count_columns, filling, error));
    for (size_t row = 0; row < rows; row++)
        filling->offsets[row + 1] += filling->offsets[row];
    uint64_t total = filling->offsets[rows];
    filling->numbers = memory_array(total, sizeof *filling->numbers);
    if (filling->weighting)
        filling->values = memory_array(total, sizeof *filling->values);
    if (!filling->numbers || (filling->weighting && !filling->values))
        return error_memory(error, total * 8, "vectors");
    return parallel_for(threads, rows, ROW_GRAIN, fill_rows, filling, error);
}

cog_status corpus_vectors_in(const struct corpus *corpus, const struct term_numbers *columns,
                             const struct statistics *statistics, const struct weighting *weighting,
                             uint32_t min_terms, const uint8_t *selected, unsigned threads,
                             struct sparse_matrix *matrix, cog_error *error) {
    struct idf_table idf = {0};
    struct row_filling filling = {.corpus = corpus,
                                  .columns = columns,
                                  .statistics = statistics,
                                  .weighting = weighting,
                                  .idf = &idf,
                                  .min_terms = min_terms,
                                  .selected = selected};
    /* A table of up to 65,536 logarithms is not worth it for a query or two. */
    enum { FEW_ROWS = 64 };
    cog_status status = corpus->rows > FEW_ROWS ? idf_table_fill(&idf, statistics, error) : COG_OK;
    THEN(status, build_rows(&filling, threads, error));
    idf_table_free(&idf);
    *matrix = (struct sparse_matrix){corpus->rows, term_numbers_count(columns), filling.offsets,
                                     filling.numbers, filling.values};
    return status;
}

cog_status corpus_vectors(const struct corpus *const *corpora, size_t count,
                          const struct statistics *statistics, const struct weighting *weighting,
                          uint32_t min_terms, const uint8_t *const *selected, unsigned threads,
                          struct sparse_matrix *matrices, cog_error *error) {
    struct term_numbers *columns = NULL;
    cog_status status =
        term_numbers_create(statistics, 1, weighting->min_collection_frequency, &columns, error);
    for (size_t i = 0; i < count && status == COG_OK; i++)
        status = corpus_vectors_in(corpora[i], columns, statistics, weighting, min_terms,
                                   selected[i], threads, &matrices[i], error);
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
