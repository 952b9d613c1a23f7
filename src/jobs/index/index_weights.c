#include "jobs/index/index_weights.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/threads.h"

/* The weights of one segment with one version of the statistics; shared by states of the index. */
struct part_weights {
    unsigned owners;
    const struct shared_segment *segment; /* only for comparison */
    pthread_mutex_t lock;                 /* held while making idf or values */
    double *idf;   /* by column, see column_idf; NULL until needed; published by an atomic store */
    float *values; /* of all entries; NULL until needed; published by an atomic store */
    size_t looked_up; /* terms of single rows weighed without idf and values; atomic */
};

struct index_weights {
    const cog_statistics *statistics; /* only for comparison */
    size_t count;
    struct part_weights *parts[];
};

static struct part_weights *part_create(const struct shared_segment *segment) {
    struct part_weights *part = calloc(1, sizeof *part);
    if (part) {
        part->owners = 1;
        part->segment = segment;
        pthread_mutex_init(&part->lock, NULL);
    }
    return part;
}

static void part_release(struct part_weights *part) {
    if (!part || __atomic_sub_fetch(&part->owners, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    free(part->idf);
    free(part->values);
    pthread_mutex_destroy(&part->lock);
    free(part);
}

/* Finds the weights of the same segment and adds an owner; NULL if there are none. */
static struct part_weights *part_share(const struct index_weights *weights,
                                       const struct shared_segment *segment) {
    for (size_t i = 0; weights && i < weights->count; i++)
        if (weights->parts[i]->segment == segment) {
            __atomic_add_fetch(&weights->parts[i]->owners, 1, __ATOMIC_RELAXED);
            return weights->parts[i];
        }
    return NULL;
}

/* Makes weights of `count` segments, or of as many parts without a segment if `segments` is NULL;
 * reuses those of `known` (may be NULL). */
static cog_status create(struct shared_segment *const *segments, size_t count,
                         const struct index_weights *known, struct index_weights **result,
                         cog_error *error) {
    struct index_weights *weights = calloc(1, sizeof *weights + count * sizeof *weights->parts);
    bool fits = weights != NULL;
    for (size_t i = 0; i < count && fits; i++) {
        const struct shared_segment *segment = segments ? segments[i] : NULL;
        struct part_weights *part = part_share(known, segment);
        weights->parts[i] = part ? part : part_create(segment);
        fits = weights->parts[i] != NULL;
        weights->count += fits;
    }
    cog_status status =
        fits ? COG_OK : error_memory(error, count * sizeof(struct part_weights), "weights");
    return HAND_OUT(status, weights, index_weights_free, result);
}

static cog_status create_for(const cog_index *index, const struct index_weights *known,
                             struct index_weights **result, cog_error *error) {
    TRY(create(index->parts.owners, index->parts.manifest.count, known, result, error));
    (*result)->statistics = index->statistics;
    return COG_OK;
}

cog_status index_weights_create(size_t parts, struct index_weights **result, cog_error *error) {
    return create(NULL, parts, NULL, result, error);
}

void index_weights_free(struct index_weights *weights) {
    if (!weights)
        return;
    for (size_t part = 0; part < weights->count; part++)
        part_release(weights->parts[part]);
    free(weights);
}

cog_status index_reset_weights(cog_index *index, cog_error *error) {
    struct index_weights *fresh = NULL, *before = index->weights;
    if (index_is_of_sets(index) || !index->has_documents)
        return COG_OK;
    bool hold = index->exact && before && before->statistics == index->statistics;
    cog_status status = create_for(index, hold ? before : NULL, &fresh, error);
    index_weights_free(before);
    index->weights = fresh;
    return status;
}

cog_status index_share_weights(const cog_index *index, cog_index *other, cog_error *error) {
    bool hold = index->weights->statistics == other->statistics;
    return create_for(other, hold ? index->weights : NULL, &other->weights, error);
}

/* ---- Idf ------------------------------------------------------------------------------------- */

/* The idf of a segment's term. The statistics of a live index may lack a term of its newest rows,
 * which then counts as in queries: as the rarest, if the row has it often enough. Such an idf is
 * negative, because the frequency is known only per row. */
static double column_idf(const cog_index *index, const struct idf_table *table,
                         struct term_counts counts) {
    double idf =
        weighting_idf(&index->weighting, statistics_document_count(index->statistics->counts),
                      table, counts, UINT32_MAX);
    return counts.document_frequency ? idf : -idf;
}

static double row_idf(const cog_index *index, double column_idf, double frequency) {
    if (column_idf >= 0)
        return column_idf;
    return frequency < index->weighting.min_collection_frequency ? 0 : -column_idf;
}

static cog_status fill_idf(const cog_index *index, size_t part, double **result, cog_error *error) {
    enum { AHEAD = 16 };
    const struct segment_terms *terms = &index->parts.segments[part].terms;
    const struct statistics *counts = index->statistics->counts;
    struct idf_table table = {0};
    double *idf;
    TAKE_ZEROED(idf, terms->count + 1, "weights", error);
    cog_status status = terms->count > 1000 ? idf_table_fill(&table, counts, error) : COG_OK;
    for (size_t i = 0; i < terms->count && status == COG_OK; i++) {
        if (i + AHEAD < terms->count)
            statistics_prefetch(counts, terms->hashes[i + AHEAD]);
        if (terms->numbers[i] < terms->count)
            idf[terms->numbers[i]] =
                column_idf(index, &table, statistics_find(counts, terms->hashes[i]));
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
    struct part_weights *own = index->weights->parts[part];
    double *made = __atomic_load_n(&own->idf, __ATOMIC_ACQUIRE);
    cog_status status = COG_OK;
    if (!made) {
        pthread_mutex_lock(&own->lock);
        made = own->idf;
        if (!made)
            status = fill_idf(index, part, &made, error);
        __atomic_store_n(&own->idf, made, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&own->lock);
    }
    *idf = made;
    return status;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* The inputs for weighing the rows of a part. */
struct weighing {
    const cog_index *index;
    size_t part;
    const double *idf;
    bool is_of_row; /* idf is by entry of the row, not by column */
    double mean_length;
    float *values; /* of the whole part */
};

/* Weighs a row's entries and scales them to unit length, summing in the order of the columns. */
static void weigh_entries(const struct weighing *weighing, uint32_t row, const uint32_t *columns,
                          const float *frequencies, size_t count, float *values) {
    const cog_index *index = weighing->index;
    double saturation = weighting_saturation(&index->weighting, weighing->mean_length,
                                             index->parts.segments[weighing->part].lengths[row]);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double frequency = (double)frequencies[i];
        double idf = weighing->idf[weighing->is_of_row ? i : columns[i]];
        values[i] = weighting_weight(&index->weighting, row_idf(index, idf, frequency), frequency,
                                     saturation);
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
            return segment_damaged_row(&weighing->index->parts.segments[weighing->part], row,
                                       error);
        weigh_entries(weighing, (uint32_t)row, columns, frequencies, count,
                      weighing->values + offsets[row]);
    }
    return COG_OK;
}

cog_status index_weigh_part(const cog_index *index, size_t part, unsigned threads, float *values,
                            cog_error *error) {
    enum { GRAIN = 256 };
    const struct segment *segment = &index->parts.segments[part];
    struct weighing weighing;
    TRY(start_weighing(index, part, &weighing, error));
    if (segment_entries(segment) != segment->vectors.offsets[segment->rows])
        return segment_damaged_row(segment, segment->rows, error);
    weighing.values = values;
    return parallel_for(threads, segment->rows, GRAIN, weigh_rows, &weighing, error);
}

static cog_status fill_values(const cog_index *index, size_t part, unsigned threads, float **result,
                              cog_error *error) {
    float *values;
    TAKE(values, segment_entries(&index->parts.segments[part]) + 1, "the weights of documents",
         error);
    cog_status status = index_weigh_part(index, part, threads, values, error);
    if (status == COG_OK)
        *result = values;
    else
        free(values);
    return status;
}

cog_status index_part_vectors(const cog_index *index, size_t part, unsigned threads,
                              struct sparse_matrix *vectors, cog_error *error) {
    struct part_weights *own = index->weights->parts[part];
    float *made = __atomic_load_n(&own->values, __ATOMIC_ACQUIRE);
    const double *idf;
    if (!made) {
        TRY(take_idf(index, part, &idf, error)); /* before locking, as take_idf locks itself */
        pthread_mutex_lock(&own->lock);
        made = own->values;
        cog_status status = made ? COG_OK : fill_values(index, part, threads, &made, error);
        __atomic_store_n(&own->values, made, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&own->lock);
        TRY(status);
    }
    *vectors = index->parts.segments[part].vectors;
    vectors->values = made;
    return COG_OK;
}

/* Statistics of a live index change often, and computing the idf of all terms of a large segment
 * takes milliseconds. While only few rows have been weighed, only their terms are looked up. */
static bool looks_up(const cog_index *index, size_t part, size_t count) {
    enum { TIMES_FEWER = 4 };
    struct part_weights *own = index->weights->parts[part];
    if (!index->parts.owners || __atomic_load_n(&own->idf, __ATOMIC_ACQUIRE))
        return false;
    size_t before = __atomic_fetch_add(&own->looked_up, count, __ATOMIC_RELAXED);
    return before < index->parts.segments[part].terms.count / TIMES_FEWER;
}

static cog_status look_up_idf(const cog_index *index, size_t part, struct row_weights *weights,
                              cog_error *error) {
    const struct statistics *counts = index->statistics->counts;
    const uint64_t *hashes;
    TRY(shared_segment_columns(index->parts.owners[part], &hashes, error));
    GROW(weights->idf, weights->idf_capacity, weights->count + 1, "a document's weights", error);
    for (size_t i = 0; i < weights->count; i++)
        statistics_prefetch(counts, hashes[weights->columns[i]]);
    for (size_t i = 0; i < weights->count; i++)
        weights->idf[i] =
            column_idf(index, NULL, statistics_find(counts, hashes[weights->columns[i]]));
    return COG_OK;
}

void row_weights_free(struct row_weights *weights) {
    FREE(weights->own, weights->idf);
    *weights = (struct row_weights){0};
}

cog_status index_weigh_row(const cog_index *index, size_t part, uint32_t row,
                           struct row_weights *weights, cog_error *error) {
    const float *made = __atomic_load_n(&index->weights->parts[part]->values, __ATOMIC_ACQUIRE);
    const float *frequencies;
    struct weighing weighing;
    if (!index_row_vector(index, part, row, &weights->columns, &frequencies, &weights->count))
        return segment_damaged_row(&index->parts.segments[part], row, error);
    if (made) {
        weights->values = made + index->parts.segments[part].vectors.offsets[row];
        return COG_OK;
    }
    if (looks_up(index, part, weights->count)) {
        TRY(look_up_idf(index, part, weights, error));
        weighing =
            (struct weighing){.index = index,
                              .part = part,
                              .idf = weights->idf,
                              .is_of_row = true,
                              .mean_length = statistics_mean_length(index->statistics->counts)};
    } else {
        TRY(start_weighing(index, part, &weighing, error));
    }
    GROW(weights->own, weights->own_capacity, weights->count + 1, "a document's weights", error);
    weigh_entries(&weighing, row, weights->columns, frequencies, weights->count, weights->own);
    weights->values = weights->own;
    return COG_OK;
}
