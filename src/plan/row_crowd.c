#include "plan/row_crowd.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "hamming/hamming.h"

/* Rows that each of the others stands for. */
static double crowd_scale(const struct signatures_view *first, const struct signatures_view *second,
                          bool shared) {
    if (!second)
        return 1;
    size_t around = first->rows > second->rows ? first->rows : second->rows;
    if (shared)
        around = first->rows + second->rows;
    return (double)around / (double)second->rows;
}

cog_status row_crowd(const struct signatures_view *first, const struct signatures_view *second,
                     bool shared, const uint32_t *places, size_t count,
                     double crowd[WINDOW_PREFIX_MAX + 1], cog_error *error) {
    const struct signatures_view *others = second ? second : first;
    const unsigned bits = others->bits;
    double scale = crowd_scale(first, second, shared);
    uint16_t *distances = memory_array(others->rows, sizeof *distances);
    uint32_t *histogram = memory_array(bits + 1, sizeof *histogram);
    bool fits = distances && histogram;
    memset(crowd, 0, (WINDOW_PREFIX_MAX + 1) * sizeof *crowd);
    for (size_t i = 0; i < count && fits; i++) {
        double of_row[WINDOW_PREFIX_MAX + 1];
        memset(histogram, 0, (bits + 1) * sizeof *histogram);
        hamming_scan(others, signature_row(first, places[i]), 0, others->rows, distances);
        for (size_t row = 0; row < others->rows; row++)
            histogram[distances[row]]++;
        if (!second)
            histogram[0]--; /* the row itself */
        window_crowd(histogram, bits, scale, of_row);
        for (int prefix = 0; prefix <= WINDOW_PREFIX_MAX; prefix++)
            crowd[prefix] += of_row[prefix] / (double)count;
    }
    free(histogram);
    free(distances);
    return fits ? COG_OK : error_memory(error, others->rows * sizeof *distances, "the plan");
}
