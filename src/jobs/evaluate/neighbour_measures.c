#include "jobs/evaluate/neighbour_measures.h"

double cumulative_distance_ratio(const struct neighbour *truth, size_t truth_count,
                                 const struct neighbour *found, size_t found_count, size_t p,
                                 uint32_t missing_distance) {
    if (p > truth_count)
        p = truth_count;
    uint64_t true_sum = 0, found_sum = 0;
    double ratios = 0;
    for (size_t i = 0; i < p; i++) {
        true_sum += truth[i].distance;
        found_sum += i < found_count ? found[i].distance : missing_distance;
        ratios += found_sum ? (double)true_sum / (double)found_sum : 1;
    }
    return p ? ratios / (double)p : 1;
}

double neighbour_recall(const struct neighbour *truth, size_t truth_count,
                        const struct neighbour *found, size_t found_count, size_t k) {
    if (k > truth_count)
        k = truth_count;
    if (k == 0)
        return 1;
    size_t good = 0;
    for (size_t i = 0; i < k && i < found_count; i++)
        good += found[i].distance <= truth[k - 1].distance;
    return (double)good / (double)k;
}
