#include "jobs/index/index_weights.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

struct part_weights {
    double *idf;   /* by column; NULL until it is needed; published by an atomic store */
    float *values; /* of all entries; the same */
};

struct index_weights {
    pthread_mutex_t lock; /* of whoever makes something */
    size_t count;
    struct part_weights parts[];
};

cog_status index_weights_create(size_t parts, struct index_weights **weights, cog_error *error) {
    *weights = calloc(1, sizeof **weights + parts * sizeof(struct part_weights));
    if (!*weights)
        return error_memory(error, parts * sizeof(struct part_weights), "weights");
    (*weights)->count = parts;
    pthread_mutex_init(&(*weights)->lock, NULL);
    return COG_OK;
}

void index_weights_free(struct index_weights *weights) {
    if (!weights)
        return;
    for (size_t part = 0; part < weights->count; part++) {
        free(weights->parts[part].idf);
        free(weights->parts[part].values);
    }
    pthread_mutex_destroy(&weights->lock);
    free(weights);
}

cog_status index_reset_weights(cog_index *index, cog_error *error) {
    index_weights_free(index->weights);
    index->weights = NULL;
    return index_weights_create(index->parts.manifest.count, &index->weights, error);
}

/* ---- Idf ------------------------------------------------------------------------------------- */

static cog_status fill_idf(const cog_index *index, size_t part, double **result, cog_error *error) {
    enum { AHEAD = 16 };
    const struct segment_terms *terms = &index->parts.segments[part].terms;
    const struct statistics *counts = index->statistics->counts;
    uint64_t documents = statistics_document_count(counts);
    struct idf_table table = {0};
    double *idf;
    TAKE_ZEROED(idf, terms->count + 1, "weights", error);
    cog_status status = terms->count > 1000 ? idf_table_fill(&table, counts, error) : COG_OK;
    for (size_t i = 0; i < terms->count && status == COG_OK; i++) {
        if (i + AHEAD < terms->count)
            statistics_prefetch(counts, terms->hashes[i + AHEAD]);
        if (terms->numbers[i] < terms->count)
            idf[terms->numbers[i]] = weighting_idf(&index->weighting, documents, &table,
                                                   statistics_find(counts, terms->hashes[i]), 0);
    }
    idf_table_free(&table);
    if (status == COG_OK)
        *result = idf;
    else
        free(idf);
    return status;
}

static cog_status take_idf(const cog_index *index, size_t part, const double **idf,
                           cog_error *error) {
    struct part_weights *own = &index->weights->parts[part];
    double *made = __atomic_load_n(&own->idf, __ATOMIC_ACQUIRE);
    cog_status status = COG_OK;
    if (!made) {
        pthread_mutex_lock(&index->weights->lock);
        made = own->idf;
        if (!made)
            status = fill_idf(index, part, &made, error);
        __atomic_store_n(&own->idf, made, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&index->weights->lock);
    }
    *idf = made;
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What weighing the rows of a part takes. */
struct weighing {
    const cog_index *index;
    size_t part;
    const double *idf;
    double mean_length;
    float *values; /* of the whole part */
};

/* The weights of a row's entries over their length, summed in the order of the columns. */
static void weigh_entries(const struct weighing *weighing, uint32_t row, const uint32_t *columns,
                          const float *frequencies, size_t count, float *values) {
    const cog_index *index = weighing->index;
    double saturation = weighting_saturation(&index->weighting, weighing->mean_length,
                                             index->parts.segments[weighing->part].lengths[row]);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        values[i] = weighting_weight(&index->weighting, weighing->idf[columns[i]],
                                     (double)frequencies[i], saturation);
        sum += (double)values[i] * (double)values[i];
    }
    double scale = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((double)values[i] * scale);
}

static cog_status start_weighing(const cog_index *index, size_t part, struct weighing *weighing,
                                 cog_error *error) {
    *weighing = (struct weighing){.index = index,
                                  .part = part,
                                  .mean_length = statistics_mean_length(index->statistics->counts)};
    return take_idf(index, part, &weighing->idf, error);
}

static cog_status damaged_row(const cog_index *index, size_t part, size_t row, cog_error *error) {
    return error_set(error, COG_ERR_FORMAT, "%s: the vector of row %zu is damaged",
                     index->parts.segments[part].container.path, row);
}

static cog_status weigh_rows(void *context, unsigned worker, size_t begin, size_t end,
                             cog_error *error) {
    (void)worker;
    const struct weighing *weighing = context;
    const uint64_t *offsets = weighing->index->parts.segments[weighing->part].vectors.offsets;
    for (size_t row = begin; row < end; row++) {
        const uint32_t *columns;
        const float *frequencies;
        size_t count;
        if (!index_row_vector(weighing->index, weighing->part, (uint32_t)row, &columns,
                              &frequencies, &count))
            return damaged_row(weighing->index, weighing->part, row, error);
        weigh_entries(weighing, (uint32_t)row, columns, frequencies, count,
                      weighing->values + offsets[row]);
    }
    return COG_OK;
}

static cog_status fill_values(const cog_index *index, size_t part, unsigned threads, float **result,
                              cog_error *error) {
    enum { GRAIN = 256 };
    const struct segment *segment = &index->parts.segments[part];
    uint64_t entries = segment_entries(segment);
    struct weighing weighing;
    TRY(start_weighing(index, part, &weighing, error));
    if (entries != segment->vectors.offsets[segment->rows])
        return damaged_row(index, part, segment->rows, error);
    TAKE(weighing.values, entries + 1, "the weights of documents", error);
    cog_status status = parallel_for(threads, segment->rows, GRAIN, weigh_rows, &weighing, error);
    if (status == COG_OK)
        *result = weighing.values;
    else
        free(weighing.values);
    return status;
}

cog_status index_part_vectors(const cog_index *index, size_t part, unsigned threads,
                              struct sparse_matrix *vectors, cog_error *error) {
    struct part_weights *own = &index->weights->parts[part];
    float *made = __atomic_load_n(&own->values, __ATOMIC_ACQUIRE);
    const double *idf;
    if (!made) {
        TRY(take_idf(index, part, &idf, error)); /* before the lock, which it takes itself */
        pthread_mutex_lock(&index->weights->lock);
        made = own->values;
        cog_status status = made ? COG_OK : fill_values(index, part, threads, &made, error);
        __atomic_store_n(&own->values, made, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&index->weights->lock);
        TRY(status);
    }
    *vectors = index->parts.segments[part].vectors;
    vectors->values = made;
    return COG_OK;
}

cog_status index_weigh_row(const cog_index *index, size_t part, uint32_t row,
                           struct row_weights *weights, cog_error *error) {
    const float *made = __atomic_load_n(&index->weights->parts[part].values, __ATOMIC_ACQUIRE);
    const float *frequencies;
    struct weighing weighing;
    if (!index_row_vector(index, part, row, &weights->columns, &frequencies, &weights->count))
        return damaged_row(index, part, row, error);
    if (made) {
        weights->values = made + index->parts.segments[part].vectors.offsets[row];
        return COG_OK;
    }
    TRY(start_weighing(index, part, &weighing, error));
    GROW(weights->own, weights->own_capacity, weights->count + 1, "a document's weights", error);
    weigh_entries(&weighing, row, weights->columns, frequencies, weights->count, weights->own);
    weights->values = weights->own;
    return COG_OK;
}
