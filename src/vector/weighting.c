#include "vector/weighting.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"

enum { PREFETCH_AHEAD = 12, IDF_TABLE_MAX = 65536 };

void weighting_init(struct weighting *weighting, enum weighting_scheme scheme) {
    *weighting = (struct weighting){.scheme = scheme, .k1 = 1.2, .b = 0.75};
    weighting->min_collection_frequency = weighting_needs_statistics(weighting) ? 2 : 0;
}

bool weighting_needs_statistics(const struct weighting *weighting) {
    return weighting->scheme == WEIGHTING_BM25 || weighting->scheme == WEIGHTING_TFIDF;
}

double inverse_document_frequency(uint64_t documents, uint32_t document_frequency) {
    double df = document_frequency;
    double rest = (double)documents > df ? (double)documents - df : 0;
    return portable_log(1 + (rest + 0.5) / (df + 0.5));
}

cog_status idf_table_fill(struct idf_table *table, const struct statistics *statistics,
                          cog_error *error) {
    uint64_t documents = statistics_document_count(statistics);
    uint32_t count = documents < IDF_TABLE_MAX ? (uint32_t)documents + 1 : IDF_TABLE_MAX;
    table->values = memory_array(count, sizeof *table->values);
    if (!table->values)
        return error_memory(error, count * sizeof *table->values, "weights");
    for (uint32_t df = 0; df < count; df++)
        table->values[df] = inverse_document_frequency(documents, df);
    table->count = count;
    return COG_OK;
}

void idf_table_free(struct idf_table *table) {
    free(table->values);
    *table = (struct idf_table){0};
}

static void apply_with_statistics(const struct weighting *weighting,
                                  const struct statistics *statistics,
                                  const struct idf_table *table, const struct bag_view *bag,
                                  float *weights) {
    uint64_t documents = statistics_document_count(statistics);
    double relative_length = (double)bag->length / statistics_mean_length(statistics);
    double saturation = weighting->k1 * (1 - weighting->b + weighting->b * relative_length);
    for (size_t i = 0; i < bag->count && i < PREFETCH_AHEAD; i++)
        statistics_prefetch(statistics, bag->hashes[i]);
    for (size_t i = 0; i < bag->count; i++) {
        if (i + PREFETCH_AHEAD < bag->count)
            statistics_prefetch(statistics, bag->hashes[i + PREFETCH_AHEAD]);
        struct term_counts counts = statistics_find(statistics, bag->hashes[i]);
        if (counts.document_frequency == 0 ||
            counts.collection_frequency < weighting->min_collection_frequency) {
            weights[i] = 0;
            continue;
        }
        uint32_t df = counts.document_frequency;
        double idf = table && df < table->count ? table->values[df]
                                                : inverse_document_frequency(documents, df);
        double tf = bag_weight(bag, i);
        double factor =
            weighting->scheme == WEIGHTING_BM25 ? tf * (weighting->k1 + 1) / (tf + saturation) : tf;
        weights[i] = (float)(idf * factor);
    }
}

void weighting_apply(const struct weighting *weighting, const struct statistics *statistics,
                     const struct idf_table *idf, const struct bag_view *bag, float *weights) {
    if (weighting_needs_statistics(weighting)) {
        apply_with_statistics(weighting, statistics, idf, bag, weights);
        return;
    }
    for (size_t i = 0; i < bag->count; i++)
        weights[i] = weighting->scheme == WEIGHTING_TF ? (float)bag_weight(bag, i) : 1.0f;
}
