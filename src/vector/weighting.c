#include "vector/weighting.h"

#include "base/portable_math.h"

enum { PREFETCH_AHEAD = 12 };

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

static void apply_with_statistics(const struct weighting *weighting,
                                  const struct statistics *statistics, const struct bag_view *bag,
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
        double idf = inverse_document_frequency(documents, counts.document_frequency);
        double tf = bag->frequencies[i];
        double factor =
            weighting->scheme == WEIGHTING_BM25 ? tf * (weighting->k1 + 1) / (tf + saturation) : tf;
        weights[i] = (float)(idf * factor);
    }
}

void weighting_apply(const struct weighting *weighting, const struct statistics *statistics,
                     const struct bag_view *bag, float *weights) {
    if (weighting_needs_statistics(weighting)) {
        apply_with_statistics(weighting, statistics, bag, weights);
        return;
    }
    for (size_t i = 0; i < bag->count; i++)
        weights[i] = weighting->scheme == WEIGHTING_TF ? (float)bag->frequencies[i] : 1.0f;
}
