#include "join/sets/set_measure.h"

double set_similarity(const struct set_measure *measure, uint64_t a, uint64_t b, uint64_t overlap) {
    uint64_t smaller = a < b ? a : b;
    if (smaller == 0)
        return 0;
    return (double)overlap / (double)(measure->containment ? smaller : a + b - overlap);
}

uint64_t set_needed_overlap(const struct set_measure *measure, uint64_t a, uint64_t b) {
    const double t = measure->threshold;
    uint64_t smaller = a < b ? a : b;
    double guess = measure->containment ? t * (double)smaller : t / (1 + t) * (double)(a + b);
    uint64_t overlap = guess < (double)smaller ? (uint64_t)guess : smaller;
    while (overlap > 0 && set_similarity(measure, a, b, overlap - 1) >= t)
        overlap--;
    while (overlap <= smaller && set_similarity(measure, a, b, overlap) < t)
        overlap++;
    return overlap;
}

uint64_t set_least_overlap(const struct set_measure *measure, uint64_t size) {
    const struct set_measure of_smaller = {true, measure->threshold};
    return set_needed_overlap(&of_smaller, size, size);
}

uint64_t set_prefix_places(const struct set_measure *measure, uint64_t size) {
    return size ? size - set_least_overlap(measure, size) + 1 : 0;
}
